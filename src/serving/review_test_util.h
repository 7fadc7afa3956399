// SPDX-License-Identifier: Apache-2.0
// An API server that answers reviews as the test says, and the way to it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/fake_api_server_test_util.h"
#include "serving/api_link.h"
#include "serving/review_client.h"

namespace berth::serving {

// Without waiting between tries for longer than a test can bear.
inline constexpr ReviewRetries kQuickRetries{.tries = 5, .first_wait = Duration::Millis(1), .factor = 1.5, .jitter = 0};

// Of a certificate or a list of names, as a string of JSON has it.
inline std::string JsonEscaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\n" : c == '"' ? "\\\"" : std::string(1, c);
  return out;
}

inline std::string TokenReviewJson(const std::string& status) {
  return R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{},"status":)" + status +
         "}";
}
inline std::string AccessReviewJson(const std::string& status) {
  return R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{},"status":)" +
         status + "}";
}

// Waits until somebody says that it is there.
template <class T>
class Box {
 public:
  void Put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  // All of them, as soon as there are so many.
  std::vector<T> Wait(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return values_.size() >= count; }))
        << "it does not come";
    return values_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

class ReviewTest : public ::testing::Test {
 protected:
  // While it lives, the server answers. A test declares it after everything that its answers use, so that a late
  // request finds no server rather than variables that are gone.
  class [[nodiscard]] Serving {
   public:
    explicit Serving(ReviewTest& test) : test_(test) {}
    ~Serving() { test_.End(); }
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;

   private:
    ReviewTest& test_;
  };

  ~ReviewTest() override { Close(); }
  Serving Serve(client::FakeApiServer::Answer answer) {
    Begin(std::move(answer));
    return Serving(*this);
  }
  void Begin(client::FakeApiServer::Answer answer) {
    End();
    server_ = std::make_unique<client::FakeApiServer>(std::move(answer));
    auto link = ApiLink::Connect(server_->config(), "test", nullptr);
    ASSERT_TRUE(link.ok()) << link.error().text();
    link_ = std::move(link).value();
  }
  virtual void End() {
    Close();
    server_ = nullptr;
  }
  void Close() {
    if (link_) link_->Close();
  }
  static void Until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(done()) << "it does not come";
  }

  std::unique_ptr<client::FakeApiServer> server_;
  std::unique_ptr<ApiLink> link_;
};

// An answer that is given when the test says so.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace berth::serving
