// SPDX-License-Identifier: Apache-2.0
#include "serving/authorizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "serving/review_test_util.h"
#include "util/virtual_clock.h"

namespace berth::serving {
namespace {

TEST(AllowedPathsTest, WholeOnesAndBeginnings) {
  const auto paths = AllowedPaths::Parse({"/healthz", "livez", "metr*", "/"});
  ASSERT_TRUE(paths.ok());
  for (const char* path : {"/healthz", "/livez", "/metrics", "/metrics/slis", "/", ""})
    EXPECT_TRUE(paths->Covers(path)) << path;
  for (const char* path : {"/healthz/leaderElection", "/healthz/", "/met", "//", "/livezz"})
    EXPECT_FALSE(paths->Covers(path)) << path;
  EXPECT_EQ(AllowedPaths::Parse({"/a*b"}).error().text(), "only trailing * allowed in \"a*b\"");
  EXPECT_EQ(AllowedPaths::Parse({"a**"}).error().text(), "only trailing * allowed in \"a**\"");
  const auto all = AllowedPaths::Parse({"*"});
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->Covers("/anything"));
}

class AuthorizerTest : public ReviewTest {
 protected:
  Serving Make(client::FakeApiServer::Answer answer, Duration keep_allowed = Duration::Seconds(10),
               Duration keep_denied = Duration::Seconds(10)) {
    Begin(std::move(answer));
    ReviewOptions options;
    options.kind = "SubjectAccessReview";
    options.path = "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s";
    options.retries = kQuickRetries;
    reviews_ = std::make_unique<ReviewClient>(*link_, options);
    authorizer_ = std::make_unique<Authorizer>(*AllowedPaths::Parse({"/healthz"}), reviews_.get(), keep_allowed,
                                               keep_denied, clock_);
    return Serving(*this);
  }
  AccessAnswer Ask(const UserInfo& user, const std::string& path = "/metrics", const std::string& verb = "get") {
    Box<AccessAnswer> box;
    authorizer_->Authorize(user, verb, path, [&](const AccessAnswer& answer) { box.Put(answer); });
    return box.Wait(1).at(0);
  }
  util::VirtualClock clock_{Time{1'000'000'000}};
  std::unique_ptr<ReviewClient> reviews_;
  std::unique_ptr<Authorizer> authorizer_;
};

client::FakeReply AccessReply(const std::string& status) { return {201, AccessReviewJson(status), ""}; }

TEST_F(AuthorizerTest, MastersAndAllowedPathsNeedNoReview) {
  const Serving serving = Make([](const client::FakeRequest&) { return client::FakeReply{500, "", ""}; });
  EXPECT_TRUE(Ask({"root", "", {"x", "system:masters"}, {}}).allowed);
  EXPECT_TRUE(Ask({"nobody", "", {}, {}}, "/healthz").allowed);
  EXPECT_TRUE(server_->requests().empty());
}

TEST_F(AuthorizerTest, TheQuestionHasEverythingThatIsKnown) {
  const Serving serving =
      Make([](const client::FakeRequest&) { return AccessReply(R"({"allowed":true,"reason":"RBAC"})"); });
  EXPECT_TRUE(Ask({"bob", "u7", {"g1", "system:authenticated"}, {{"foo", {"x"}}, {"bar", {}}}}).allowed);
  EXPECT_EQ(server_->requests().at(0).body,
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"bob",)"
            R"("groups":["g1","system:authenticated"],"extra":{"bar":[],"foo":["x"]},"uid":"u7"},)"
            R"("status":{"allowed":false}})");
  EXPECT_EQ(server_->requests().at(0).target, "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s");
}

TEST_F(AuthorizerTest, AnswersAreKeptByTheWholeQuestion) {
  std::atomic<int> count = 0;
  const Serving serving = Make(
      [&](const client::FakeRequest& request) {
        ++count;
        return AccessReply(request.body.find("\"bob\"") != std::string::npos ? R"({"allowed":true})"
                                                                             : R"({"allowed":false,"reason":"no"})");
      },
      Duration::Seconds(10), Duration::Seconds(5));
  const UserInfo bob{"bob", "", {}, {}}, eve{"eve", "", {}, {}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Ask(bob).allowed);
    EXPECT_EQ(Ask(eve).reason, "no");
  }
  EXPECT_EQ(count, 2);
  Ask(bob, "/configz");
  Ask(bob, "/metrics", "delete");
  Ask({"bob", "", {"g"}, {}});
  EXPECT_EQ(count, 5);
  clock_.MoveTo(clock_.Now() + Duration::Seconds(5));
  Ask(bob);
  EXPECT_EQ(count, 5);
  EXPECT_FALSE(Ask(eve).allowed);
  EXPECT_EQ(count, 6);
}

TEST_F(AuthorizerTest, ALongPathIsNotKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++count;
    return AccessReply(R"({"allowed":false})");
  });
  const std::string path = "/" + std::string(Authorizer::kLongQuestion, 'x');
  Ask({"eve", "", {}, {}}, path);
  Ask({"eve", "", {}, {}}, path);
  EXPECT_EQ(count, 2);
}

TEST_F(AuthorizerTest, ALongReasonIsNotKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++count;
    return AccessReply(R"({"allowed":false,"reason":")" + std::string(Authorizer::kLongReason, 'r') + "\"}");
  });
  EXPECT_EQ(Ask({"eve", "", {}, {}}).reason.size(), Authorizer::kLongReason);
  Ask({"eve", "", {}, {}});
  EXPECT_EQ(count, 2);
}

TEST_F(AuthorizerTest, AFailureIsAProblemAndNotKept) {
  std::atomic<int> count = 0;
  const Serving serving = Make([&](const client::FakeRequest&) {
    ++count;
    return client::FakeReply{403, client::StatusJson(403, "injected"), ""};
  });
  const AccessAnswer answer = Ask({"bob", "", {}, {}});
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.problem.text(), "injected");
  Ask({"bob", "", {}, {}});
  EXPECT_EQ(count, 2);
}

TEST_F(AuthorizerTest, DeniedGoesBeforeAllowed) {
  const Serving serving =
      Make([&](const client::FakeRequest&) { return AccessReply(R"({"allowed":true,"denied":true})"); });
  const AccessAnswer answer = Ask({"bob", "", {}, {}});
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.problem.text(), "webhook subject access review returned both allow and deny response");
}

TEST(AuthorizerWithoutReviewsTest, EverythingElseIsDenied) {
  util::VirtualClock clock{Time{}};
  Authorizer authorizer(*AllowedPaths::Parse({"/healthz"}), nullptr, Duration{}, Duration{}, clock);
  const auto ask = [&](const UserInfo& user, const char* path) {
    bool allowed = false;
    authorizer.Authorize(user, "get", path, [&](const AccessAnswer& answer) { allowed = answer.allowed; });
    return allowed;
  };
  EXPECT_TRUE(ask({"x", "", {}, {}}, "/healthz"));
  EXPECT_FALSE(ask({"x", "", {}, {}}, "/metrics"));
  EXPECT_TRUE(ask({"x", "", {"system:masters"}, {}}, "/metrics"));
}

}  // namespace
}  // namespace berth::serving
