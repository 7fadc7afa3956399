// SPDX-License-Identifier: Apache-2.0
#include "serving/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <new>
#include <string>
#include <thread>

#include "net/http_text.h"
#include "serving/recorded_answers_test_util.h"
#include "serving/review_test_util.h"
#include "util/virtual_clock.h"

namespace berth::serving {
namespace {

using testing::HasSubstr;

constexpr Time kStart{1'794'782'713'490'000'000};

class EndpointsTest : public ::testing::Test {
 protected:
  EndpointsTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    sources_.process_start = kStart;
    const HealthCheck good{"leaderElection", [] { return Error::Ok(); }};
    sources_.healthz = {good};
    sources_.readyz = {
        good, {"shutdown", [] { return Error::Ok(); }}, {"sched-handler-sync", [] { return Error::Ok(); }}};
    sources_.metrics = [] { return std::string("# TYPE a counter\na 1\n"); };
    sources_.reset_metrics = [this] { ++resets_; };
    sources_.resource_metrics = [this](const EndpointSources::GiveText& give) { give(resources_); };
    sources_.configz = [] { return std::string(R"({"kind":"KubeSchedulerConfiguration"})"); };
    sources_.flagz = [] { return Flagz::Flags{{"v", "2"}, {"allow-metric-labels", "[]"}, {"write-config-to", ""}}; };
    sources_.runtime_version = "go1.26.8";
    sources_.binary_version = "1.36.4";
    sources_.emulation_version = "1.36";
    sources_.set_verbosity = [this](int32_t level) {
      verbosity_ = level;
      return level < 100 ? Error::Ok() : Error("too much");
    };
  }
  Endpoints& Made() {
    if (!endpoints_) {
      endpoints_ = std::make_unique<Endpoints>(std::move(sources_), clock_, [this] { return random_; });
    }
    return *endpoints_;
  }
  static net::HttpRequest Request(const std::string& method, const std::string& path, const std::string& body = "") {
    net::HttpRequest request;
    request.method = method;
    request.path = path.substr(0, path.find('?'));
    if (path.find('?') != std::string::npos) request.query = path.substr(path.find('?') + 1);
    request.body = body;
    request.headers.Add("User-Agent", "curl/8.0");
    return request;
  }
  net::HttpResponse Ask(net::HttpRequest request) {
    auto box = std::make_shared<Box<net::HttpResponse>>();
    Made().Handle(std::move(request), [box](net::HttpResponse response) { box->Put(std::move(response)); });
    return box->Wait(1).at(0);
  }
  net::HttpResponse Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    return Ask(Request(method, path, body));
  }
  net::HttpResponse Accepting(const std::string& path, const std::string& accept) {
    net::HttpRequest request = Request("GET", path);
    request.headers.Add("Accept", accept);
    return Ask(std::move(request));
  }
  // Everything but who may be told, which is not decided here.
  static void ExpectSame(const net::HttpResponse& got, const RecordedAnswer& want) {
    EXPECT_EQ(got.status, want.status);
    size_t others = 0;
    for (const auto& [name, value] : want.headers) {
      if (name == "cache-control") continue;
      if (name == "content-type") {
        EXPECT_EQ(got.content_type, value);
        continue;
      }
      ++others;
      const std::string* header = got.headers.Find(name);
      ASSERT_NE(header, nullptr) << name;
      if (name != "process-start-time-unix") {
        EXPECT_EQ(*header, value) << name;
      }
    }
    EXPECT_EQ(got.headers.list().size(), others) << "headers that kube-scheduler does not send";
    if (!want.shortened) {
      EXPECT_EQ(got.body, want.body);
    }
  }

  util::VirtualClock clock_{Time{kStart.ns + 29'000'000'000}};
  uint64_t random_ = 0;
  EndpointSources sources_;
  std::atomic<int> resets_{0}, verbosity_{-1};
  EndpointSources::MakeText resources_;
  std::unique_ptr<Endpoints> endpoints_;
};

TEST_F(EndpointsTest, AreTheRecordedOnes) {
  const auto one = [](const char* title) {
    const std::vector<RecordedAnswer> answers = Recorded(title);
    EXPECT_EQ(answers.size(), 1) << title;
    return answers.empty() ? RecordedAnswer{} : answers[0];
  };
  ExpectSame(Ask("GET", "/nosuch"), one("GET /nosuch, admin"));
  ExpectSame(Ask("GET", "/statusz"),
             one("GET /statusz, admin (text; the delimiter is drawn per request from ':', ': ', '=', ' ')"));
  ExpectSame(Accepting("/statusz", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz"),
             one("GET /statusz, Accept: application/json;v=v1beta1;g=config.k8s.io;as=Statusz"));
  ExpectSame(Accepting("/statusz", "application/yaml;v=v1alpha1;g=config.k8s.io;as=Statusz"),
             one("GET /statusz, same with application/yaml and v1alpha1"));
  ExpectSame(Accepting("/statusz", "application/json"), one("GET /statusz, Accept: application/json"));
  ExpectSame(Ask("GET", "/flagz"), one("GET /flagz, admin (text, sorted; shortened)"));
  ExpectSame(Accepting("/flagz", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"),
             one("GET /flagz, Accept: application/json;v=v1beta1;g=config.k8s.io;as=Flagz (shortened)"));
  const RecordedAnswer resources = one("GET /metrics/resources, admin, leader");
  resources_ = [text = resources.body] { return text; };
  ExpectSame(Ask("GET", "/metrics/resources"), resources);
  Ask("GET", "/livez");
  Ask("GET", "/readyz");
  ExpectSame(Ask("GET", "/metrics/slis"), one("GET /metrics/slis, admin"));
  ExpectSame(Ask("DELETE", "/metrics"), one("DELETE /metrics, admin"));
  EXPECT_EQ(resets_, 1);
  const std::vector<RecordedAnswer> flags = Recorded("PUT /debug/flags/v with body 4; GET of the same");
  ASSERT_EQ(flags.size(), 2);
  ExpectSame(Ask("PUT", "/debug/flags/v", "4"), flags[0]);
  EXPECT_EQ(verbosity_, 4);
  ExpectSame(Ask("GET", "/debug/flags/v"), flags[1]);
  ExpectSame(Ask("PUT", "/debug/flags/v", "x"), one("PUT /debug/flags/v with body x"));
}

TEST_F(EndpointsTest, FlagsAreShownSortedAndTheirTextIsMadeOnce) {
  random_ = 2;
  const std::string text = Ask("GET", "/flagz").body;
  EXPECT_EQ(text,
            "\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine parseable, has no formatting "
            "compatibility guarantees and is for debugging purposes only.\nallow-metric-labels=[]\nv=2\n"
            "write-config-to=\n");
  random_ = 0;
  EXPECT_EQ(Accepting("/flagz", "*/*").body, text);
  EXPECT_EQ(Accepting("/flagz", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz").body,
            "{\n  \"kind\": \"Flagz\",\n  \"apiVersion\": \"config.k8s.io/v1beta1\",\n  \"metadata\": {\n    \"name\": "
            "\"kube-scheduler\"\n  },\n  \"flags\": {\n    \"allow-metric-labels\": \"[]\",\n    \"v\": \"2\",\n    "
            "\"write-config-to\": \"\"\n  }\n}");
  const net::HttpResponse old = Accepting("/flagz", "application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz");
  ASSERT_NE(old.headers.Find("Warning"), nullptr);
  EXPECT_THAT(*old.headers.Find("Warning"), HasSubstr("This version of the flagz endpoint is deprecated"));
  EXPECT_EQ(Accepting("/flagz", "application/json;v=v1;g=config.k8s.io;as=Flagz").status, 406);
  EXPECT_EQ(Accepting("/flagz", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz").status, 406);
}

TEST_F(EndpointsTest, MetricsAreTextAndSmallForThoseWhoAsk) {
  const net::HttpResponse plain = Ask("GET", "/metrics");
  EXPECT_EQ(plain.body, "# TYPE a counter\na 1\n");
  EXPECT_EQ(plain.content_type, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
  EXPECT_EQ(*plain.headers.Find("Process-Start-Time-Unix"), "1794782713");
  EXPECT_EQ(Ask("POST", "/metrics").body, plain.body);
  net::HttpRequest request = Request("GET", "/metrics");
  request.headers.Add("Accept-Encoding", "gzip");
  const net::HttpResponse small = Ask(std::move(request));
  ASSERT_NE(small.headers.Find("Content-Encoding"), nullptr);
  EXPECT_EQ(*small.headers.Find("Content-Encoding"), "gzip");
  EXPECT_TRUE(small.body.starts_with("\x1f\x8b"));
}

TEST_F(EndpointsTest, WhoDoesNotLeadHasNoResourceMetrics) {
  const net::HttpResponse response = Ask("GET", "/metrics/resources");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "");
  EXPECT_EQ(response.body, "");
  EXPECT_TRUE(response.headers.list().empty());
}

TEST_F(EndpointsTest, ATextThatComesLaterThanTheEndIsNobodys) {
  EndpointSources::GiveText late;
  sources_.resource_metrics = [&](EndpointSources::GiveText give) { late = std::move(give); };
  auto box = std::make_shared<Box<net::HttpResponse>>();
  Made().Handle(Request("GET", "/metrics/resources"), [box](net::HttpResponse r) { box->Put(std::move(r)); });
  endpoints_ = nullptr;
  late([] { return std::string("text"); });
  EXPECT_EQ(box->Wait(1).at(0).status, 503);
}

TEST_F(EndpointsTest, AScrapeThatCannotBeMadeIsOneAnswerLess) {
  std::atomic<int> count = 0;
  sources_.metrics = [&]() -> std::string {
    if (++count == 1) throw std::bad_alloc();
    return "metrics";
  };
  auto dropped = std::make_shared<Box<int>>();
  {
    // As the server's: what is dropped is answered, too.
    const auto last = std::shared_ptr<void>(nullptr, [dropped](void*) { dropped->Put(500); });
    Made().Handle(Request("GET", "/metrics"), [last](const net::HttpResponse&) {});
  }
  dropped->Wait(1);
  EXPECT_EQ(Ask("GET", "/metrics").body, "metrics");
}

TEST_F(EndpointsTest, SlisAreResetAlone) {
  Ask("GET", "/readyz");
  EXPECT_THAT(Ask("GET", "/metrics/slis").body, HasSubstr("kubernetes_healthcheck"));
  EXPECT_EQ(Ask("DELETE", "/metrics/slis").body, "metrics reset\n");
  EXPECT_THAT(Ask("GET", "/metrics/slis").body, testing::Not(HasSubstr("kubernetes_healthcheck")));
  EXPECT_EQ(resets_, 0);
}

TEST_F(EndpointsTest, TheConfigurationIsWrapped) {
  const net::HttpResponse response = Ask("GET", "/configz");
  EXPECT_EQ(response.body, R"({"componentconfig":{"kind":"KubeSchedulerConfiguration"}})");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(*response.headers.Find("X-Content-Type-Options"), "nosniff");
}

TEST_F(EndpointsTest, VerbosityIsANumber) {
  EXPECT_THAT(Ask("PUT", "/debug/flags/v", "").body, "strconv.ParseUint: parsing \"\": invalid syntax\n");
  EXPECT_THAT(Ask("PUT", "/debug/flags/v", "-1").body, "strconv.ParseUint: parsing \"-1\": invalid syntax\n");
  EXPECT_THAT(Ask("PUT", "/debug/flags/v", "4\n").body, "strconv.ParseUint: parsing \"4\\n\": invalid syntax\n");
  EXPECT_THAT(Ask("PUT", "/debug/flags/v", "4294967296").body,
              "strconv.ParseUint: parsing \"4294967296\": value out of range\n");
  EXPECT_THAT(Ask("PUT", "/debug/flags/v", "4294967295").body,
              "failed set klog.logging.verbosity 4294967295: strconv.ParseInt: parsing \"4294967295\": value out of "
              "range\n");
  EXPECT_EQ(verbosity_, -1);
  EXPECT_EQ(Ask("PUT", "/debug/flags/v", "100").status, 400);
  EXPECT_THAT(Ask("GET", "/debug/flags").body, HasSubstr("<tr>v<br>"));
  EXPECT_THAT(Ask("GET", "/debug/flags/other").body, HasSubstr("<tr>v<br>"));
}

TEST_F(EndpointsTest, WhatIsNotThereIsNotFound) {
  for (const char* path : {"/", "/version", "/api", "/debug/pprof", "/debug/pprof/", "/debug/pprof/profile",
                           "/metrics/", "/healthz/", "/healthz/ping", "/flagz/", "", "/configz/x"}) {
    EXPECT_EQ(Ask("GET", path).status, 404) << path;
  }
  EXPECT_EQ(Ask("GET", "/livez/ping").status, 200);
  endpoints_ = nullptr;
  sources_ = {};
  sources_.statusz = false;
  for (const char* path : {"/metrics", "/metrics/resources", "/configz", "/flagz", "/statusz", "/debug/flags/v"})
    EXPECT_EQ(Ask("GET", path).status, 404) << path;
  EXPECT_EQ(Ask("GET", "/healthz").body, "ok");
}

TEST_F(EndpointsTest, OthersMayAddPaths) {
  sources_.extra["/debug/decisions"] = [](const net::HttpRequest& request, const net::Respond& respond) {
    net::HttpResponse response;
    response.body = request.query;
    respond(std::move(response));
  };
  EXPECT_EQ(Ask("GET", "/debug/decisions?pod=a/b").body, "pod=a/b");
  EXPECT_EQ(Ask("GET", "/debug/decisions/x").status, 404);
  EXPECT_THAT(Ask("GET", "/statusz").body, HasSubstr("Paths: /configz /flagz /healthz /livez /metrics /readyz\n"));
}

RC_GTEST_FIXTURE_PROP(EndpointsTest, WhateverComesIsAnswered, ()) {
  static constexpr const char* kPaths[] = {"/healthz",       "/readyz",           "/metrics/slis", "/configz",
                                           "/flagz",         "/statusz",          "/nosuch",       "/debug/flags",
                                           "/debug/flags/v", "/metrics/resources"};
  net::HttpRequest request;
  request.method = *rc::gen::element<std::string>("GET", "PUT", "DELETE", "POST", "");
  request.path = *rc::gen::elementOf(std::vector<std::string>(std::begin(kPaths), std::end(kPaths)));
  if (*rc::gen::inRange(0, 4) == 0) request.path += *rc::gen::arbitrary<std::string>();
  request.query = *rc::gen::arbitrary<std::string>();
  request.body = *rc::gen::arbitrary<std::string>();
  const auto piece =
      rc::gen::element<std::string>("application", "json", "text", "*", "/", ";", ",", "=", "q", "as", "g", "v",
                                    "Statusz", "v1beta1", "0.5", "config.k8s.io", "\xff", " ", "");
  for (const char* name : {"Accept", "Accept-Encoding", "User-Agent"}) {
    std::string value;
    for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) value += part;
    request.headers.Add(name, value);
  }
  const net::HttpResponse response = Ask(std::move(request));
  RC_ASSERT(response.status >= 200);
  RC_ASSERT(response.status < 600);
}

}  // namespace
}  // namespace berth::serving
