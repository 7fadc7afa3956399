// SPDX-License-Identifier: Apache-2.0
// An API server for tests of live runs: keeps objects, tells of pods, and binds them as a scheduler would.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/json_value.h"
#include "bench/value_edit.h"
#include "berth/value.h"
#include "client/fake_api_server_test_util.h"

namespace berth::bench {

// Thread safety: set up before config is asked for; asked after the run.
class FakeCluster {
 public:
  FakeCluster()
      : server_([this](const client::FakeRequest& request) { return Answer(request); }), teller_([this] { Tell(); }) {}
  ~FakeCluster() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    teller_.join();
  }
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  client::Kubeconfig config() {
    server_.Settle();  // what was set up before is seen by those who answer
    return server_.config();
  }
  // Pods are bound as soon as they are there.
  bool binds = true;
  // Deleted namespaces go at once, as if a controller saw to it.
  bool has_controller = true;
  // Looked at first; a status of 0: the connection is closed without a word, but with `stored` the request has effect.
  struct Rule {
    std::string method, path;  // how they begin
    client::FakeReply reply;
    int times = 1;
    bool stored = false;
  };
  std::vector<Rule> rules;
  // Called with every request, on a thread of the server.
  std::function<void(const client::FakeRequest&)> on_request;

  void Put(const std::string& path, const std::string& json) {
    const std::lock_guard lock(mutex_);
    std::vector<FieldError> errors;
    objects_[path] = ParseJson(json, errors);
  }
  std::vector<std::string> Paths() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    for (const auto& [path, object] : objects_) paths.push_back(path);
    return paths;
  }
  // "METHOD path body", of all requests that begin so.
  std::vector<std::string> Requests(const std::string& beginning) const {
    std::vector<std::string> found;
    for (const client::FakeRequest& request : server_.requests()) {
      std::string text = request.method + " " + request.target + " " + request.body;
      if (text.starts_with(beginning)) found.push_back(std::move(text));
    }
    return found;
  }

 private:
  static client::FakeReply Failure(int code, const std::string& message) {
    return {code, client::StatusJson(code, message), ""};
  }
  static Value Merged(const Value& object, const Value& patch) {
    if (patch.kind() != Value::Kind::kObject) return patch;
    Value out = object.kind() == Value::Kind::kObject ? object : Value::Object();
    for (const auto& [key, value] : patch.members()) out = With(out, key, Merged(At(out, key), value));
    return out;
  }

  client::FakeReply Answer(const client::FakeRequest& request) {
    if (on_request) on_request(request);
    const std::lock_guard lock(mutex_);
    for (Rule& rule : rules) {
      if (rule.times == 0 || rule.method != request.method || !request.target.starts_with(rule.path)) continue;
      --rule.times;
      if (rule.stored) (void)Do(request);
      return rule.reply;
    }
    return Do(request);
  }
  client::FakeReply Do(const client::FakeRequest& request) {
    std::string path = request.target.substr(0, request.target.find('?'));
    std::vector<FieldError> errors;
    const Value body = request.body.empty() ? Value() : ParseJson(request.body, errors);
    if (request.method == "GET" && path == "/api/v1/pods") {
      ++lists_;
      return {200, client::ListJson("PodList", "1", {}), ""};
    }
    if (request.method == "GET" && path == "/api/v1/namespaces")
      return {200, client::ListJson("NamespaceList", "1", {}), ""};
    if (request.method == "POST") return Create(path, body);
    for (const char* half : {"/status", "/finalize"})
      if (path.ends_with(half)) path.resize(path.size() - std::string(half).size());
    const auto found = objects_.find(path);
    if (found == objects_.end()) return Failure(404, "not found");
    Value& object = found->second;
    const std::string uid = At(At(object, "metadata"), "uid").text();
    if (request.method == "DELETE") {
      if (At(At(body, "preconditions"), "uid").text() != uid) return Failure(409, "another uid");
      return Delete(path, object);
    }
    if (request.method == "GET") return {200, object.ToJson(), ""};
    if (At(At(body, "metadata"), "uid").text() != uid) return Failure(409, "another uid");
    if (request.target.ends_with("/finalize")) {
      const Value last = object;
      objects_.erase(found);
      return {200, last.ToJson(), ""};
    }
    object = request.method == "PATCH" ? Merged(object, body) : body;
    return {200, object.ToJson(), ""};
  }
  client::FakeReply Create(const std::string& collection, const Value& body) {
    const std::string path = collection + "/" + At(At(body, "metadata"), "name").text();
    if (objects_.contains(path)) return Failure(409, "already exists");
    Value object = Merged(body, Value::Object({{"metadata", Value::Object({{"uid", Value::String(Next("u"))}})}}));
    if (collection == "/api/v1/nodes") {
      Value taint = Value::Object({{"key", Value::String("node.kubernetes.io/not-ready")}});
      taint.Set("effect", Value::String("NoSchedule"));
      object = Merged(object, Value::Object({{"spec", Value::Object({{"taints", Value::Array({taint})}})}}));
    }
    objects_[path] = object;
    if (collection.ends_with("/pods")) {
      Event("ADDED", object);
      if (binds && At(At(object, "spec"), "schedulingGates").items().empty()) {
        object = Merged(object, Value::Object({{"spec", Value::Object({{"nodeName", Value::String("node-0-0")}})}}));
        objects_[path] = object;
        Event("MODIFIED", object);
      }
    }
    return {201, object.ToJson(), ""};
  }
  client::FakeReply Delete(const std::string& path, Value& object) {
    if (path.starts_with("/api/v1/namespaces/") && path.find('/', 19) == std::string::npos && !has_controller)
      return {200, object.ToJson(), ""};
    const Value last = object;
    objects_.erase(path);
    if (path.find("/pods/") != std::string::npos) Event("DELETED", last);
    return {200, last.ToJson(), ""};
  }
  std::string Next(const std::string& prefix) { return prefix + std::to_string(++serial_); }
  void Event(const std::string& type, const Value& pod) {
    const Value versioned =
        Merged(pod, Value::Object({{"metadata", Value::Object({{"resourceVersion", Value::String(Next("1"))}})}}));
    events_.push_back({lists_, type, versioned.ToJson()});
    changed_.notify_all();
  }
  struct Told {
    size_t lists;  // before it; each has a watch
    std::string type, object;
  };
  // Events, in order, to the watch of the run.
  void Tell() {
    for (;;) {
      Told event;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return over_ || !events_.empty(); });
        if (over_) return;
        event = std::move(events_.front());
        events_.pop_front();
      }
      if (event.lists > 0 && AwaitWatch(event.lists))
        server_.WaitForWatch(event.lists - 1)->Event(event.type, event.object);
    }
  }
  // False: the run has ended, or another has begun, and no watch has come. Then nobody wants to hear.
  bool AwaitWatch(size_t lists) {
    while (server_.watches() < lists) {
      std::unique_lock lock(mutex_);
      const auto late = [&] { return over_ || lists_ > lists; };
      if (changed_.wait_for(lock, std::chrono::milliseconds(1), late)) return false;
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Value> objects_;  // by path
  std::deque<Told> events_;
  size_t lists_ = 0;
  uint64_t serial_ = 0;
  bool over_ = false;
  client::FakeApiServer server_;
  std::thread teller_;
};

}  // namespace berth::bench
