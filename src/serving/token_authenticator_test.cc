// SPDX-License-Identifier: Apache-2.0
#include "serving/token_authenticator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "serving/review_test_util.h"
#include "util/virtual_clock.h"

namespace berth::serving {
namespace {

class TokenAuthenticatorTest : public ReviewTest {
 protected:
  Serving Make(client::FakeApiServer::Answer answer, Duration keep = Duration::Seconds(10)) {
    Begin(std::move(answer));
    ReviewOptions options;
    options.kind = "TokenReview";
    options.path = "/apis/authentication.k8s.io/v1/tokenreviews";
    options.retries = kQuickRetries;
    options.most_under_way = 2;
    reviews_ = std::make_unique<ReviewClient>(*link_, options);
    tokens_ = std::make_unique<TokenAuthenticator>(*reviews_, keep, clock_);
    return Serving(*this);
  }
  TokenAnswer Ask(const std::string& token) {
    Box<TokenAnswer> box;
    tokens_->Authenticate(token, [&](const TokenAnswer& answer) { box.Put(answer); });
    return box.Wait(1).at(0);
  }
  util::VirtualClock clock_{Time{1'000'000'000}};
  std::unique_ptr<ReviewClient> reviews_;
  std::unique_ptr<TokenAuthenticator> tokens_;
};

client::FakeReply TokenReply(const std::string& status) { return {201, TokenReviewJson(status), ""}; }

TEST_F(TokenAuthenticatorTest, AUserIsWhoTheReviewSays) {
  const Serving serving = Make([](const client::FakeRequest&) {
    return TokenReply(R"({"authenticated":true,"user":{"username":"bob","uid":"7","groups":["g1","g2"],)"
                      R"("extra":{"k":["a","b"]}}})");
  });
  const TokenAnswer answer = Ask("to\"ken\xff");
  ASSERT_TRUE(answer.user);
  EXPECT_EQ(*answer.user, (UserInfo{"bob", "7", {"g1", "g2"}, {{"k", {"a", "b"}}}}));
  EXPECT_EQ(server_->requests().at(0).body,
            "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"metadata\":{},\"spec\":{\"token\":"
            "\"to\\\"ken\xef\xbf\xbd\"},\"status\":{\"user\":{}}}");
}

TEST_F(TokenAuthenticatorTest, YesAndNoAreKeptForAWhile) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest& request) {
    ++count;
    return TokenReply(request.body.find("good") != std::string::npos
                          ? R"({"authenticated":true,"user":{"username":"bob"}})"
                          : R"({"authenticated":false})");
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Ask("good").user);
    EXPECT_FALSE(Ask("evil").user);
  }
  EXPECT_EQ(count, 2);
  clock_.MoveTo(clock_.Now() + Duration::Seconds(10));
  EXPECT_TRUE(Ask("good").user);
  EXPECT_EQ(count, 3);
}

TEST_F(TokenAuthenticatorTest, WithoutTimeNothingIsKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make(
      [&](const client::FakeRequest&) {
        ++count;
        return TokenReply(R"({"authenticated":true,"user":{"username":"bob"}})");
      },
      Duration{});
  Ask("good");
  Ask("good");
  EXPECT_EQ(count, 2);
}

TEST_F(TokenAuthenticatorTest, WhatComesWithAProblemIsNotKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    return ++count == 1 ? TokenReply(R"({"authenticated":false,"error":"invalid bearer token"})")
                        : client::FakeReply{403, client::StatusJson(403, "no rights"), ""};
  });
  EXPECT_EQ(Ask("x").problem, "invalid bearer token");
  const TokenAnswer second = Ask("x");
  EXPECT_EQ(second.problem, "no rights");
  EXPECT_FALSE(second.busy);
  EXPECT_EQ(count, 2);
}

TEST_F(TokenAuthenticatorTest, AVeryLargeUserIsNotKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++count;
    return TokenReply(R"({"authenticated":true,"user":{"username":"bob","groups":[")" +
                      std::string(TokenAuthenticator::kLargestKept, 'g') + R"("]}})");
  });
  EXPECT_TRUE(Ask("x").user);
  EXPECT_TRUE(Ask("x").user);
  EXPECT_EQ(count, 2);
}

TEST_F(TokenAuthenticatorTest, ThoseWhoAskTheSameShareAReview) {
  Gate gate;
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++count;
    gate.Wait();
    return TokenReply(R"({"authenticated":true,"user":{"username":"bob"}})");
  });
  Box<TokenAnswer> box;
  for (int i = 0; i < 20; ++i) tokens_->Authenticate("one", [&](const TokenAnswer& answer) { box.Put(answer); });
  tokens_->Authenticate("two", [&](const TokenAnswer& answer) { box.Put(answer); });
  tokens_->Authenticate("three", [&](const TokenAnswer& answer) { box.Put(answer); });
  const auto first = box.Wait(1);
  EXPECT_TRUE(first.at(0).busy) << "two are under way, and no more are allowed";
  EXPECT_FALSE(first.at(0).user);
  gate.Open();
  EXPECT_EQ(box.Wait(22).size(), 22);
  EXPECT_EQ(count, 2);
}

TEST_F(TokenAuthenticatorTest, FieldsOfAnotherTypeAreNothing) {
  const Serving serving =
      Make([](const client::FakeRequest&) { return TokenReply(R"({"authenticated":"true","user":[],"error":7})"); });
  EXPECT_FALSE(Ask("x").user);
  const Serving again = Make([](const client::FakeRequest&) {
    return TokenReply(R"({"authenticated":true,"user":{"username":1,"groups":"a","extra":{"k":"v"}}})");
  });
  const TokenAnswer answer = Ask("x");
  ASSERT_TRUE(answer.user);
  EXPECT_EQ(*answer.user, (UserInfo{"", "", {}, {{"k", {}}}}));
}

}  // namespace
}  // namespace berth::serving
