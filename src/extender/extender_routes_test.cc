// SPDX-License-Identifier: Apache-2.0
// Messages in, messages out: the presets' stories, and what a client may do wrong.
#include "extender/extender_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extender/extender_test_util.h"
#include "extender/preset_plugins.h"
#include "extender/presets.h"

namespace berth::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPod[] = R"("Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"}})";

// A node with a label, as JSON.
std::string NodeJson(const std::string& name, const std::string& value = "") {
  return R"({"metadata":{"name":")" + name + "\"" +
         (value.empty() ? "" : R"(,"labels":{"priority.lixueduan.com":")" + value + "\"}") + "}}";
}
std::string NodesBody(const std::vector<std::string>& nodes) {
  std::string items;
  for (const std::string& node : nodes) items += (items.empty() ? "" : ",") + node;
  return "{" + std::string(kPod) + R"(,"Nodes":{"metadata":{},"items":[)" + items + R"(]},"NodeNames":null})";
}
std::string NamesBody(const std::string& names) {
  return "{" + std::string(kPod) + R"(,"Nodes":null,"NodeNames":[)" + names + "]}";
}

class ExtenderRoutesTest : public ::testing::Test {
 protected:
  ExtenderRoutesTest() {
    registry_.Add<Heat>();
    RegisterPresetPlugins(registry_);
  }
  void Serve(const config::Profile& profile, const ServiceOptions& options, const std::vector<Route>& routes,
             bool with_cluster = false) {
    auto service = ExtenderService::Make(profile, registry_, clock_, with_cluster ? &nodes_ : nullptr,
                                         with_cluster ? &binder_ : nullptr, options);
    ASSERT_TRUE(service.ok()) << service.error().text();
    service_ = std::move(service).value();
    auto made = ExtenderRoutes::Make(*service_, routes,
                                     {.on_call = [this](const Call& call) { calls_.push_back(call); },
                                      .on_stray =
                                          [this](int status, const std::string& method, const std::string& path) {
                                            strays_.push_back(std::to_string(status) + " " + method + " " + path);
                                          }});
    ASSERT_TRUE(made.ok()) << made.error().text();
    routes_ = std::move(made).value();
  }
  void ServePreset(const std::string& name, const std::string& label = "", bool with_cluster = false) {
    const Result<Preset> preset = MakePreset(name, label);
    ASSERT_TRUE(preset.ok()) << preset.error().text();
    Serve(preset->profile, preset->options, preset->routes, with_cluster);
  }
  net::HttpResponse Send(const std::string& method, const std::string& path, std::string body = "") {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = std::move(body);
    net::HttpResponse answer;
    answer.status = 0;
    routes_->Handle(std::move(request), [&](net::HttpResponse response) { answer = std::move(response); });
    return answer;
  }
  std::string Post(const std::string& path, std::string body) {
    const net::HttpResponse response = Send("POST", path, std::move(body));
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    return response.body;
  }

  Registry registry_;
  ManualClock clock_;
  TestNodes nodes_;
  TestBinder binder_;
  std::unique_ptr<ExtenderService> service_;
  std::unique_ptr<ExtenderRoutes> routes_;
  std::vector<Call> calls_;
  std::vector<std::string> strays_;
};

TEST_F(ExtenderRoutesTest, TheDemoLetsEverythingPassAndBindsNothing) {
  ServePreset("demo");
  EXPECT_EQ(Post("/scheduler/predicates/TruePredicate", NodesBody({NodeJson("a"), NodeJson("b")})),
            R"({"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]},)"
            R"("NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
  EXPECT_EQ(Post("/scheduler/predicates/TruePredicate", NamesBody(R"("a","b")")),
            R"({"Nodes":null,"NodeNames":["a","b"],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
  EXPECT_EQ(Post("/scheduler/priorities/ZeroPriority", NamesBody(R"("a","b")")),
            R"([{"Host":"a","Score":0},{"Host":"b","Score":0}])");
  EXPECT_EQ(Post("/scheduler/preemption", "{" + std::string(kPod) +
                                              R"(,"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"v"}}],)"
                                              R"("NumPDBViolations":1}},"NodeNameToMetaVictims":null})"),
            R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"v"}],"NumPDBViolations":1}}})");
  EXPECT_EQ(Post("/scheduler/bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"),
            R"({"Error":"the demo extender binds nothing"})");
}

TEST_F(ExtenderRoutesTest, TheLabelDecidesWhoPassesAndTheScore) {
  ServePreset("label-priority");
  EXPECT_THAT(Post("/filter", NodesBody({NodeJson("a"), NodeJson("b")})),
              HasSubstr(R"("Error":"all node do not have label priority.lixueduan.com"})"));
  const std::vector<std::string> nodes = {NodeJson("a"), NodeJson("b", "20"), NodeJson("c", "300"), NodeJson("d", "x"),
                                          NodeJson("e", "300")};
  const std::string passed = Post("/filter", NodesBody(nodes));
  EXPECT_THAT(passed, HasSubstr(R"("FailedAndUnresolvableNodes":{"a":"node(s) didn't have label)"));
  EXPECT_THAT(passed, HasSubstr(R"("items":[{"metadata":{"name":"b")"));
  EXPECT_EQ(Post("/prioritize", NodesBody(nodes)),
            R"([{"Host":"a","Score":0},{"Host":"b","Score":20},{"Host":"c","Score":300},{"Host":"d","Score":0},)"
            R"({"Host":"e","Score":300}])");
  EXPECT_EQ(Post("/prioritize", NodesBody({NodeJson("b", "20")})), R"([{"Host":"b","Score":20}])");
  EXPECT_THAT(Post("/prioritize", NodesBody({NodeJson("b", "9000000000000000000")})),
              HasSubstr("\"Score\":1000000000000000}"));
  EXPECT_THAT(Post("/filter_onlyone", NodesBody(nodes)), HasSubstr("\"items\":[" + nodes[2] + "]}"));
}

TEST_F(ExtenderRoutesTest, AnotherLabelMayDecide) {
  ServePreset("label-priority", "acme.example/rank");
  EXPECT_EQ(Post("/prioritize",
                 NodesBody({R"({"metadata":{"name":"n","labels":{"acme.example/rank":"4"}}})", NodeJson("b", "7")})),
            R"([{"Host":"n","Score":4},{"Host":"b","Score":0}])");
}

TEST_F(ExtenderRoutesTest, TheIndexIsTheScoreInBothShapesAndUnderBothNames) {
  ServePreset("demo-index");
  const std::string want = R"([{"Host":"z","Score":0},{"Host":"a","Score":1},{"Host":"m","Score":2}])";
  for (const char* path : {"/priority", "/prioritize"}) {
    EXPECT_EQ(Post(path, NamesBody(R"("z","a","m")")), want);
    EXPECT_EQ(Post(path, NodesBody({NodeJson("z"), NodeJson("a"), NodeJson("m")})), want);
  }
  EXPECT_EQ(Send("GET", "/filter").status, 405);
  EXPECT_THAT(Post("/bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"),
              HasSubstr("cannot bind: no API server is configured"));
}

TEST_F(ExtenderRoutesTest, PresetsWithAnApiServerBind) {
  ServePreset("demo-index", "", /*with_cluster=*/true);
  binder_.pods["d/p"] = MakePod("p").Namespace("d").Uid("u");
  EXPECT_EQ(Post("/bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"), R"({"Error":""})");
  EXPECT_THAT(binder_.bound, ElementsAre("d/p to n"));
}

TEST_F(ExtenderRoutesTest, AnUnknownPresetIsAnErrorThatNamesTheOthers) {
  EXPECT_EQ(MakePreset("dmeo").error().text(),
            "no preset is named \"dmeo\"; there are demo, label-priority, demo-index");
}

TEST_F(ExtenderRoutesTest, OtherMethodsAndPathsAreRefused) {
  ServePreset("demo");
  for (const char* method : {"GET", "PUT", "DELETE", "post"}) {
    const net::HttpResponse response = Send(method, "/scheduler/bind");
    EXPECT_EQ(response.status, 405);
    ASSERT_EQ(response.headers.list().size(), 1u);
    EXPECT_EQ(response.headers.list()[0], (std::pair<std::string, std::string>{"Allow", "POST"}));
  }
  EXPECT_EQ(Send("POST", "/version").status, 405);
  for (const char* path : {"/", "", "/scheduler", "/scheduler/bind/", "/filter", "//version"}) {
    EXPECT_EQ(Send("POST", path).status, 404) << path;
  }
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(strays_.size(), 11u);
  EXPECT_EQ(strays_.front(), "405 GET /scheduler/bind");
  EXPECT_EQ(strays_.back(), "404 POST //version");
  Send("GET", "/version");
  Post("/scheduler/bind", "{}");
  EXPECT_EQ(strays_.size(), 11u);
}

TEST_F(ExtenderRoutesTest, HealthAndVersionAreAnswered) {
  Serve(ProfileOf({"Heat"}), {}, {{"/filter", Verb::kFilter}}, /*with_cluster=*/true);
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"}) EXPECT_EQ(Send("GET", path).status, 200);
  nodes_.synced = false;
  EXPECT_EQ(Send("GET", "/readyz").status, 503);
  EXPECT_EQ(Send("GET", "/livez").status, 200);
}

TEST_F(ExtenderRoutesTest, BadBodiesAre400AndTheNextRequestWorks) {
  ServePreset("demo");
  for (const char* path : {"/scheduler/predicates/TruePredicate", "/scheduler/priorities/ZeroPriority",
                           "/scheduler/preemption", "/scheduler/bind"}) {
    for (const char* body : {"", "{", "[]", "nonsense", "{\"Pod\":1,\"PodName\":1}", "\xff\xfe", "{\"x\":[}"}) {
      const net::HttpResponse response = Send("POST", path, body);
      EXPECT_EQ(response.status, 400) << path << ' ' << body;
      EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
      EXPECT_FALSE(response.body.empty());
    }
  }
  EXPECT_EQ(Send("POST", "/scheduler/priorities/ZeroPriority", "{}").status, 400);
  EXPECT_EQ(Send("POST", "/scheduler/preemption", "{}").status, 400);
  EXPECT_THAT(Post("/scheduler/predicates/TruePredicate", "{}"), HasSubstr(R"("Error":"Pod: Required value"})"));
  EXPECT_THAT(Post("/scheduler/predicates/TruePredicate", NamesBody("\"a\"")), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(ExtenderRoutesTest, NodesWithoutANameAreNodesLikeOthers) {
  ServePreset("demo-index");
  EXPECT_EQ(Post("/filter", NodesBody({"null", "{}", NodeJson("a")})),
            R"({"Nodes":{"metadata":{},"items":[null,{},{"metadata":{"name":"a"}}]},"NodeNames":null,)"
            R"("FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
  EXPECT_EQ(Post("/prioritize", NamesBody(R"("","",null,"a","a")")),
            R"([{"Host":"","Score":0},{"Host":"","Score":0},{"Host":"","Score":0},{"Host":"a","Score":1},)"
            R"({"Host":"a","Score":1}])");
}

TEST_F(ExtenderRoutesTest, FailuresOfVerbsWithoutAnErrorFieldAre500WithTheSentence) {
  Serve(ProfileOf({"Heat"}), {},
        {{"/filter", Verb::kFilter}, {"/prioritize", Verb::kPrioritize}, {"/preempt", Verb::kPreempt}});
  EXPECT_THAT(Post("/filter", NamesBody("\"a\"")), HasSubstr("no API server is configured"));
  const net::HttpResponse scores = Send("POST", "/prioritize", NamesBody("\"a\""));
  EXPECT_EQ(scores.status, 500);
  EXPECT_THAT(scores.body, HasSubstr("no API server is configured"));
  EXPECT_EQ(
      Send("POST", "/preempt", "{" + std::string(kPod) + R"(,"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"x"}]}}})")
          .status,
      500);
}

TEST_F(ExtenderRoutesTest, EveryCallIsTold) {
  ServePreset("label-priority");
  Post("/filter", NodesBody({NodeJson("a"), NodeJson("b", "1")}));
  Send("POST", "/prioritize", "{");
  ASSERT_EQ(calls_.size(), 2u);
  EXPECT_EQ(calls_[0].path, "/filter");
  EXPECT_EQ(calls_[0].pod, "d/p");
  EXPECT_EQ(calls_[0].nodes_in, 2u);
  EXPECT_EQ(calls_[0].nodes_out, 1u);
  EXPECT_EQ(calls_[1].status, 400);
  EXPECT_FALSE(calls_[1].error.empty());
}

TEST_F(ExtenderRoutesTest, PathsAreBuiltAsKubeSchedulerBuildsThem) {
  const Result<std::vector<Route>> routes = RoutesOf("/api/scheduler//", {"filter", "", "a/b", "bind", true});
  ASSERT_TRUE(routes.ok()) << routes.error().text();
  EXPECT_THAT(*routes,
              ElementsAre(Route{"/api/scheduler/filter", Verb::kFilterBest},
                          Route{"/api/scheduler/a/b", Verb::kPreempt}, Route{"/api/scheduler/bind", Verb::kBind}));
  EXPECT_EQ(RoutesOf("", {"f", "", "", "", false})->front().path, "/f");
  EXPECT_EQ(RoutesOf("p", {"f", "", "", "", false})->front().path, "/p/f");
  EXPECT_THAT(RoutesOf("", {"same", "same", "", "", false}).error().text(),
              HasSubstr("prioritize verb: Duplicate value: \"same\""));
  EXPECT_EQ(RoutesOf("a b?x", {"", "", "", "", false}).error().text(),
            "prefix: Invalid value: \"a b?x\": must be a path without query, fragment or blanks, and what URLs do not "
            "have percent-encoded");
  EXPECT_THAT(RoutesOf("", {"a?b", "", "", "", false}).error().text(), HasSubstr("Invalid value: \"a?b\""));
  // Go would send these otherwise than they are written.
  for (const char* odd : {"filt\xc3\xa9r", "a\"b", "a|b", "a%b", "a%2"}) {
    EXPECT_FALSE(RoutesOf("", {odd, "", "", "", false}).ok()) << odd;
  }
  EXPECT_EQ(RoutesOf("", {"filt%C3%A9r~(1)", "", "", "", false})->front().path, "/filt%C3%A9r~(1)");
}

TEST_F(ExtenderRoutesTest, APathWithAMeaningOfItsOwnIsNotTaken) {
  ServePreset("demo");
  EXPECT_THAT(ExtenderRoutes::Make(*service_, {{"/version", Verb::kFilter}}).error().text(),
              HasSubstr("\"/version\" cannot be served as filter"));
  EXPECT_THAT(ExtenderRoutes::Make(*service_, {{"/x", Verb::kFilter}, {"/x", Verb::kBind}}).error().text(),
              HasSubstr("given twice"));
}

}  // namespace
}  // namespace berth::extender
