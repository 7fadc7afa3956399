// SPDX-License-Identifier: Apache-2.0
// LiveRequests: what a run asks of an API server; answers arrive in its inbox.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/error.h"
#include "berth/value.h"
#include "client/api_requests.h"
#include "client/credentials.h"
#include "client/kubeconfig.h"
#include "client/pacer.h"
#include "util/inbox.h"

namespace berth::bench {

// How many requests of a run may be under way. The API server is to be kept busy, not to be drowned: scheduler_perf's
// own program has 30.
inline constexpr size_t kRequestsUnderWay = 32;

// An answer. `body` is null where there was none, or none that is JSON.
struct LiveAnswer {
  client::ApiStatus status;
  Value body;
};

// Requests are not held back by a rate; whoever sends keeps within kRequestsUnderWay. What the server puts off (429, or
// 5xx with Retry-After) is sent again when it says.
//
// REQUIRES: the inbox outlives it, and is not drained after its end.
// Thread safety: the inbox's thread.
class LiveRequests {
 public:
  using Done = std::function<void(const LiveAnswer&)>;

  // Errors name the kubeconfig and what is wrong with it. Nothing is asked of the server yet. `warn` is told of files
  // with credentials that cannot be used any more, on any thread.
  static Result<std::unique_ptr<LiveRequests>> Connect(const client::Kubeconfig& config, util::Inbox& inbox,
                                                       std::function<void(const std::string&)> warn);
  ~LiveRequests();
  LiveRequests(const LiveRequests&) = delete;
  LiveRequests& operator=(const LiveRequests&) = delete;

  void Get(const std::string& path, Done done) { Send("GET", path, {}, kJson, std::move(done)); }
  void Post(const std::string& path, const Value& body, Done done) { Send("POST", path, body, kJson, std::move(done)); }
  void Put(const std::string& path, const Value& body, Done done) { Send("PUT", path, body, kJson, std::move(done)); }
  // A JSON merge patch.
  void Patch(const std::string& path, const Value& patch, Done done) {
    Send("PATCH", path, patch, "application/merge-patch+json", std::move(done));
  }
  void Delete(const std::string& path, const Value& options, Done done) {
    Send("DELETE", path, options, kJson, std::move(done));
  }

 private:
  static constexpr std::string_view kJson = "application/json";

  LiveRequests(const client::Kubeconfig& config, util::Inbox& inbox, std::function<void(const std::string&)> warn);
  void Send(const char* method, const std::string& path, const Value& body, std::string_view type, Done done);

  util::Inbox& inbox_;
  client::Credentials credentials_;
  client::Pacer pacer_;
  std::unique_ptr<client::ApiRequests> requests_;
};

}  // namespace berth::bench
