// SPDX-License-Identifier: Apache-2.0
// For tests of HttpExtender: questions in a line, and servers that hear them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/source_text.h"
#include "berth/testing.h"
#include "extender_client/http_extender.h"
#include "net/http_client_test_util.h"

namespace berth::extender_client {

using framework::Extender;

inline Ptr<Pod> P() {
  return WithSource(MakePod("p").Uid("u-p").Build(), R"({"metadata":{"name":"p"},"spec":{"x":1}})");
}
inline Extender::Nodes N(const std::vector<std::string>& names) {
  std::vector<Ptr<Node>> nodes;
  for (const std::string& name : names)
    nodes.push_back(WithSource<Node>(MakeNode(name), R"({"metadata":{"name":")" + name + R"("},"extra":true})"));
  return nodes;
}

// A server that keeps what it hears and says what the test wants.
class Server {
 public:
  explicit Server(std::string answer = "{}", int status = 200) : answer_(std::move(answer)), status_(status) {
    server_ = net::Serve([this](net::HttpRequest request, const net::Respond& respond) {
      net::HttpResponse response;
      {
        const std::lock_guard lock(mutex_);
        heard_.push_back(request.method + " " + request.path + (request.query.empty() ? "" : "?" + request.query) +
                         " " + *request.headers.Find("Content-Type") + " " + request.body);
        response.status = status_;
        response.body = answer_;
      }
      respond(std::move(response));
    });
  }
  std::string url(const std::string& prefix = "") const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + prefix;
  }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  void Say(std::string answer, int status = 200) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    status_ = status;
  }

 private:
  std::mutex mutex_;
  std::string answer_;
  int status_;
  std::vector<std::string> heard_;
  std::unique_ptr<net::HttpServer> server_;
};

inline config::Extender Config(const std::string& url) {
  config::Extender config;
  config.url_prefix = url;
  config.filter_verb = "filter";
  config.prioritize_verb = "prioritize";
  config.preempt_verb = "preempt";
  config.bind_verb = "bind";
  config.weight = 3;
  config.http_timeout = Duration::Seconds(5);
  config.node_cache_capable = true;
  return config;
}

inline std::unique_ptr<HttpExtender> Made(const config::Extender& config, HttpExtenderOptions options = {}) {
  auto made = HttpExtender::Make(config, std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(made).value();
}

template <class T>
T Wait(const std::function<void(std::function<void(T)>)>& ask) {
  auto promise = std::make_shared<std::promise<std::optional<T>>>();
  ask([promise](T answer) { promise->set_value(std::move(answer)); });
  return *promise->get_future().get();
}
inline Result<Extender::Filtered> Filter(HttpExtender& extender, const std::vector<std::string>& nodes) {
  return Wait<Result<Extender::Filtered>>([&](auto done) { extender.Filter(P(), N(nodes), done); });
}
inline Result<Extender::Scores> Prioritize(HttpExtender& extender, const std::vector<std::string>& nodes) {
  return Wait<Result<Extender::Scores>>([&](auto done) { extender.Prioritize(P(), N(nodes), done); });
}
inline std::vector<PreemptionCandidate> Candidates() {
  return {{"n2", {WithSource(MakePod("v").Uid("u-v").Build(), R"({"metadata":{"name":"v"}})")}, 1},
          {"n1", {WithSource(MakePod("w").Uid("u-w").Build(), R"({"metadata":{"name":"w"}})")}, 0}};
}
inline Result<Extender::VictimMap> Preempt(HttpExtender& extender) {
  return Wait<Result<Extender::VictimMap>>([&](auto done) { extender.Preempt(P(), Candidates(), done); });
}
inline Error Bind(HttpExtender& extender) {
  return Wait<Error>([&](auto done) { extender.Bind(P(), "n1", done); });
}
// What Filter says about a failure.
inline std::string Failure(HttpExtender& extender) {
  const Result<Extender::Filtered> answer = Filter(extender, {"n1", "n2"});
  return answer.ok() ? "no failure" : answer.error().text();
}

// Answers when it is told to, and knows who asked.
class Patient {
 public:
  Patient()
      : server_(net::Serve([this](net::HttpRequest request, const net::Respond& respond) {
          const size_t at = request.body.find("\"name\":\"") + 8;
          const std::lock_guard lock(mutex_);
          asked_.push_back(request.body.substr(at, request.body.find('"', at) - at));
          held_.push_back(respond);
        })) {}
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  // Waits until so many have asked in all; their names.
  std::vector<std::string> Wait(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (asked_.size() >= count) break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for one more, who should not come
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // The oldest question.
  void Answer(const std::string& body = "null") {
    net::Respond respond;
    {
      const std::lock_guard lock(mutex_);
      respond = std::move(held_.at(0));
      held_.erase(held_.begin());
    }
    respond({200, "application/json", body, {}});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<net::Respond> held_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace berth::extender_client
