// SPDX-License-Identifier: Apache-2.0
#include "serving/review_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "serving/review_test_util.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;

class ReviewClientTest : public ReviewTest {
 protected:
  ReviewOptions Options() {
    ReviewOptions options;
    options.kind = "TokenReview";
    options.path = "/reviews?timeout=10s";
    options.retries = kQuickRetries;
    options.on_answer = [this](std::string_view code, double) { codes_.Put(std::string(code)); };
    return options;
  }
  ReviewClient& Reviews(ReviewOptions options) {
    kept_ = std::make_unique<ReviewClient>(*link_, std::move(options));
    return *kept_;
  }
  // The status as JSON, or the error in brackets.
  std::string Ask(ReviewClient& reviews) {
    Box<std::string> box;
    reviews.Post("{}", [&](const Result<Value>& status) {
      box.Put(status.ok() ? status->ToJson() : "(" + status.error().text() + ")");
    });
    return box.Wait(1).at(0);
  }
  Box<std::string> codes_;
  std::unique_ptr<ReviewClient> kept_;  // goes after the link is closed
};

TEST_F(ReviewClientTest, TheStatusIsTheAnswer) {
  const Serving serving = Serve([](const client::FakeRequest&) {
    return client::FakeReply{201, TokenReviewJson(R"({"a":1})"), ""};
  });
  ReviewClient& reviews = Reviews(Options());
  EXPECT_EQ(Ask(reviews), R"({"a":1})");
  const auto request = server_->requests().at(0);
  EXPECT_EQ(request.method + " " + request.target, "POST /reviews?timeout=10s");
  EXPECT_TRUE(request.Has("User-Agent: test\r\n"));
  EXPECT_THAT(codes_.Wait(1), ElementsAre("201"));
  Until([&] { return reviews.under_way() == 0; });
}

TEST_F(ReviewClientTest, WhatPassesIsAskedAgainFiveTimesInAll) {
  for (const int status : {429, 500, 504}) {
    std::atomic<int> count = 0;
    const Serving serving = Serve([&](const client::FakeRequest&) {
      if (++count == 5) return client::FakeReply{200, TokenReviewJson("{}"), ""};
      return client::FakeReply{status, client::StatusJson(status, "wait"), ""};
    });
    ReviewClient& reviews = Reviews(Options());
    EXPECT_EQ(Ask(reviews), "{}") << status;
    EXPECT_EQ(count, 5);
  }
  std::atomic<int> count = 0;
  const Serving serving = Serve([&](const client::FakeRequest&) {
    ++count;
    return client::FakeReply{500, client::StatusJson(500, "injected"), ""};
  });
  ReviewClient& reviews = Reviews(Options());
  EXPECT_EQ(Ask(reviews), "(injected)");
  EXPECT_EQ(count, 5);
}

TEST_F(ReviewClientTest, WhatDoesNotPassIsNotAskedAgain) {
  std::atomic<int> count = 0;
  const Serving serving = Serve([&](const client::FakeRequest&) {
    ++count;
    return client::FakeReply{403, client::StatusJson(403, "you may not"), ""};
  });
  ReviewClient& reviews = Reviews(Options());
  EXPECT_EQ(Ask(reviews), "(you may not)");
  EXPECT_EQ(count, 1);
}

TEST_F(ReviewClientTest, ABrokenConnectionIsReplacedOnce) {
  std::atomic<int> count = 0;
  const Serving serving = Serve([&](const client::FakeRequest&) {
    if (++count == 2) return client::FakeReply{0, "", ""};  // closes without a word
    return client::FakeReply{200, TokenReviewJson("{}"), ""};
  });
  ReviewClient& reviews = Reviews(Options());
  EXPECT_EQ(Ask(reviews), "{}");
  EXPECT_EQ(Ask(reviews), "{}");
  EXPECT_EQ(count, 3);
  count = 1'000;
  server_ = nullptr;
  EXPECT_THAT(Ask(reviews), testing::StartsWith("("));
}

TEST_F(ReviewClientTest, AnAnswerThatIsNoReviewIsAnError) {
  for (const char* body : {"", "{", "null", "[]", "{}", R"({"kind":"Status","status":"Success"})",
                           R"({"kind":"TokenReview"})", R"({"kind":"TokenReview","status":1})", "\xff"}) {
    const Serving serving = Serve([&](const client::FakeRequest&) { return client::FakeReply{200, body, ""}; });
    ReviewClient& reviews = Reviews(Options());
    EXPECT_EQ(Ask(reviews), "(the API server's answer is not a TokenReview with a status)") << body;
  }
}

TEST_F(ReviewClientTest, ThereAreNeverTooManyUnderWay) {
  Gate gate;
  const Serving serving = Serve([&](const client::FakeRequest&) {
    gate.Wait();
    return client::FakeReply{200, TokenReviewJson("{}"), ""};
  });
  ReviewOptions options = Options();
  options.most_under_way = 3;
  ReviewClient& reviews = Reviews(options);
  Box<std::string> box;
  for (int i = 0; i < 10; ++i) {
    reviews.Post("{}", [&](const Result<Value>& status) {
      box.Put(status.ok() ? "ok" : status.error().kind() == ErrorKind::kUnsent ? "busy" : "?");
    });
  }
  EXPECT_THAT(box.Wait(7), ElementsAre("busy", "busy", "busy", "busy", "busy", "busy", "busy"));
  EXPECT_EQ(reviews.under_way(), 3);
  gate.Open();
  box.Wait(10);
  Until([&] { return reviews.under_way() == 0; });
  EXPECT_EQ(Ask(reviews), "{}");
}

TEST_F(ReviewClientTest, ItsTimeIsBounded) {
  Gate gate;
  const Serving serving = Serve([&](const client::FakeRequest&) {
    gate.Wait();
    return client::FakeReply{200, TokenReviewJson("{}"), ""};
  });
  ReviewOptions options = Options();
  options.patience = Duration::Millis(30);
  ReviewClient& reviews = Reviews(options);
  EXPECT_THAT(Ask(reviews), testing::StartsWith("("));
  gate.Open();
}

TEST_F(ReviewClientTest, WhatIsUnderWayEndsWithTheLink) {
  const Serving serving = Serve([&](const client::FakeRequest&) {
    return client::FakeReply{500, client::StatusJson(500, "wait"), ""};
  });
  ReviewOptions options = Options();
  options.retries.first_wait = Duration::Seconds(3600);
  ReviewClient& reviews = Reviews(options);
  Box<std::string> box;
  const auto note = [&](const Result<Value>& status) { box.Put(status.ok() ? "ok" : status.error().text()); };
  reviews.Post("{}", note);
  codes_.Wait(1);  // it waits for its next try, or is about to
  Close();
  reviews.Post("{}", note);
  EXPECT_THAT(box.Wait(2), testing::Each("the server is being stopped"));
  EXPECT_EQ(reviews.under_way(), 0);
}

}  // namespace
}  // namespace berth::serving
