// SPDX-License-Identifier: Apache-2.0
#include "serving/authentication_config_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "net/tls_test_util.h"
#include "serving/review_test_util.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ConfigMap(const std::string& version, const std::vector<std::pair<std::string, std::string>>& data) {
  std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"extension-apiserver-authentication",)"
                     R"("namespace":"kube-system","resourceVersion":")" +
                     version + R"("},"data":{)";
  for (size_t i = 0; i < data.size(); ++i)
    text += (i > 0 ? ",\"" : "\"") + data[i].first + "\":\"" + JsonEscaped(data[i].second) + "\"";
  return text + "}}";
}

class AuthenticationConfigMapTest : public ReviewTest {
 protected:
  AuthenticationConfigMapTest() {
    targets_.client_authorities = std::make_shared<TrustedAuthorities>("client-ca-file");
    targets_.request_headers = std::make_shared<RequestHeaderRules>(
        std::make_shared<TrustedAuthorities>("requestheader-client-ca-file"), RequestHeaderNames{});
  }
  void End() override {
    map_ = nullptr;
    ReviewTest::End();
  }
  Serving Make(client::FakeApiServer::Answer answer) {
    Begin(std::move(answer));
    ConfigMapOptions options;
    options.first_wait = options.longest_wait = Duration::Millis(1);
    options.warn = [this](const std::string& sentence) { warnings_.Put(sentence); };
    map_ = std::make_unique<AuthenticationConfigMap>(*link_, targets_, options);
    return Serving(*this);
  }
  std::vector<std::string> Users() { return targets_.request_headers->names()->user; }
  bool HasClients() { return targets_.client_authorities->Current() != nullptr; }

  const std::string one_ = net::MakeIdentity("one").certificate_pem, two_ = net::MakeIdentity("two").certificate_pem;
  ConfigMapTargets targets_;
  Box<std::string> warnings_;
  std::unique_ptr<AuthenticationConfigMap> map_;
};

TEST_F(AuthenticationConfigMapTest, IsReadByName) {
  const Serving serving = Make([&](const client::FakeRequest&) {
    return client::FakeReply{200,
                             ConfigMap("7", {{"client-ca-file", one_},
                                             {"requestheader-client-ca-file", two_},
                                             {"requestheader-username-headers", R"(["X-Remote-User"])"},
                                             {"requestheader-uid-headers", R"(["X-Remote-Uid"])"},
                                             {"requestheader-group-headers", R"(["X-Remote-Group","G2"])"},
                                             {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"},
                                             {"requestheader-allowed-names", R"(["front-proxy-client"])"}}),
                             ""};
  });
  EXPECT_TRUE(map_->ReadOnce().ok());
  EXPECT_EQ(server_->targets().at(0), "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
  EXPECT_TRUE(HasClients());
  EXPECT_NE(targets_.request_headers->authorities().Current(), nullptr);
  EXPECT_EQ(
      *targets_.request_headers->names(),
      (RequestHeaderNames{
          {"X-Remote-User"}, {"X-Remote-Uid"}, {"X-Remote-Group", "G2"}, {"X-Remote-Extra-"}, {"front-proxy-client"}}));
}

TEST_F(AuthenticationConfigMapTest, NoneIsNoErrorAndOthersAre) {
  const Serving serving = Make([](const client::FakeRequest&) {
    return client::FakeReply{404, client::StatusJson(404, "none"), ""};
  });
  EXPECT_TRUE(map_->ReadOnce().ok());
  EXPECT_FALSE(HasClients());
  const Serving again = Make([](const client::FakeRequest&) {
    return client::FakeReply{403, client::StatusJson(403, "forbidden"), ""};
  });
  EXPECT_EQ(map_->ReadOnce().text(), "forbidden");
  EXPECT_THAT(warnings_.Wait(1).at(0), HasSubstr("Usually fixed by 'kubectl create rolebinding"));
  for (const char* body : {"", "[]", "{\"data\":", "\xff"}) {
    const Serving each = Make([&](const client::FakeRequest&) { return client::FakeReply{200, body, ""}; });
    EXPECT_EQ(map_->ReadOnce().text(), "the API server's answer is not a JSON object") << body;
  }
}

TEST_F(AuthenticationConfigMapTest, NamesThatMakeNoSenseAreAnErrorAndAuthoritiesAreTold) {
  const Serving serving = Make([&](const client::FakeRequest&) {
    return client::FakeReply{200, ConfigMap("7", {{"requestheader-username-headers", "[1]"}}), ""};
  });
  EXPECT_THAT(map_->ReadOnce().text(), HasSubstr("requestheader-username-headers: must be a list of strings in JSON"));
  const Serving again = Make([&](const client::FakeRequest&) {
    return client::FakeReply{200, ConfigMap("7", {{"requestheader-client-ca-file", "no PEM"}}), ""};
  });
  EXPECT_TRUE(map_->ReadOnce().ok());
  EXPECT_THAT(warnings_.Wait(3),
              testing::Contains(HasSubstr("requestheader-client-ca-file: no PEM certificate in it")));
}

TEST_F(AuthenticationConfigMapTest, ChangesApplyAsTheyCome) {
  std::atomic<int> lists = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++lists;
    return client::FakeReply{
        200,
        client::ListJson("ConfigMapList", "10", {ConfigMap("7", {{"requestheader-username-headers", R"(["A"])"}})}),
        ""};
  });
  map_->Start();
  auto watch = server_->WaitForWatch(0);
  ASSERT_NE(watch, nullptr);
  EXPECT_THAT(Users(), ElementsAre("A"));
  EXPECT_THAT(watch->request().target, HasSubstr("fieldSelector=metadata.name%3Dextension-apiserver-authentication"));
  EXPECT_THAT(watch->request().target, HasSubstr("resourceVersion=10&"));
  const std::string event =
      R"({"type":"MODIFIED","object":)" +
      ConfigMap("11", {{"client-ca-file", one_}, {"requestheader-username-headers", R"(["B"])"}}) + "}\n";
  watch->Send(event.substr(0, 50));
  watch->Send(event.substr(50));
  Until([&] { return Users() == std::vector<std::string>{"B"} && HasClients(); });
  watch->Event("DELETED", ConfigMap("12", {}));
  watch->Event("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})");
  watch->End();
  auto second = server_->WaitForWatch(1);
  ASSERT_NE(second, nullptr);
  EXPECT_THAT(second->request().target, HasSubstr("resourceVersion=20&")) << "it goes on where it was";
  EXPECT_THAT(Users(), ElementsAre("B"));
  EXPECT_TRUE(HasClients());
  EXPECT_EQ(lists, 1);
  second->Event("ERROR", client::StatusJson(410, "too old", "Expired"));
  second->End();
  auto third = server_->WaitForWatch(2);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(lists, 2) << "what is too old is listed again";
  EXPECT_THAT(Users(), ElementsAre("A"));
}

TEST_F(AuthenticationConfigMapTest, IsAskedForUntilItComes) {
  std::atomic<int> lists = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    if (++lists < 4) return client::FakeReply{lists == 2 ? 200 : 403, "{}", ""};
    return client::FakeReply{200, client::ListJson("ConfigMapList", "10", {ConfigMap("7", {{"client-ca-file", one_}})}),
                             ""};
  });
  map_->Start();
  Until([&] { return HasClients(); });
  EXPECT_GE(lists, 4);
  EXPECT_THAT(warnings_.Wait(1).at(0), HasSubstr("Failed to watch"));
}

TEST_F(AuthenticationConfigMapTest, ARefusedWatchIsListedAgain) {
  std::atomic<int> lists = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++lists;
    return client::FakeReply{200, client::ListJson("ConfigMapList", "10", {}), ""};
  });
  server_->RefuseWatches({410, client::StatusJson(410, "gone"), ""});
  map_->Start();
  Until([&] { return lists >= 3; });
}

TEST_F(AuthenticationConfigMapTest, WhateverAWatchSaysNothingBreaks) {
  const Serving serving = Make([&](const client::FakeRequest&) {
    return client::FakeReply{200, client::ListJson("ConfigMapList", "10", {}), ""};
  });
  map_->Start();
  size_t n = 0;
  for (const char* line : {"garbage\n", "\n\n[]\n", "{\"type\":\"ADDED\"}\n", "{\"type\":1,\"object\":{}}\n\xff\n"}) {
    auto watch = server_->WaitForWatch(n++);
    ASSERT_NE(watch, nullptr);
    watch->Send(line);
    watch->Cut();
  }
  ASSERT_NE(server_->WaitForWatch(n), nullptr);
  map_->Stop();
}

}  // namespace
}  // namespace berth::serving
