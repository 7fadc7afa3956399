// SPDX-License-Identifier: Apache-2.0
// ApiLink: the API server that is asked about those who ask us.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "berth/error.h"
#include "client/api_requests.h"
#include "client/credentials.h"
#include "client/kubeconfig.h"
#include "client/pacer.h"

namespace berth::serving {

// A client of its own, so that nobody's reviews wait for a scheduler's lists, nor the other way round.
//
// Thread safety: Send, Later and requests from any thread; Close once, from the owner.
class ApiLink {
 public:
  // Errors name the kubeconfig and what is wrong with it. Nothing is asked of the server yet. `warn` is told of files
  // that cannot be used any more, on any thread; `observer`, which may be null and outlives it, of requests.
  static Result<std::unique_ptr<ApiLink>> Connect(const client::Kubeconfig& config, const std::string& user_agent,
                                                  std::function<void(const std::string&)> warn,
                                                  client::RequestObserver* observer = nullptr);
  ~ApiLink();
  ApiLink(const ApiLink&) = delete;
  ApiLink& operator=(const ApiLink&) = delete;

  // As ApiRequests::Send, at kube-scheduler's rate for reviews. Closed: answered at once, as unsent. Dropped when it
  // closes meanwhile.
  void Send(client::ApiRequest request, client::ApiRequests::Done done);
  // On a thread of the link; dropped when it closes before.
  void Later(std::chrono::nanoseconds delay, std::function<void()> call) { pacer_.RunLater(delay, std::move(call)); }
  // REQUIRES: not closed.
  [[nodiscard]] std::unique_ptr<net::ResponseStream> Stream(const std::string& path, Duration silence,
                                                            net::HttpClient::OnHead on_head,
                                                            net::HttpClient::OnChunk on_chunk,
                                                            net::HttpClient::OnEnd on_end);
  // What is under way ends with an error, and when it returns nothing is called any more. REQUIRES: nobody is in Send
  // or Stream meanwhile but callbacks of this link; not called by one of them.
  void Close();

 private:
  ApiLink(const client::Kubeconfig& config, std::function<void(const std::string&)> warn);

  client::Credentials credentials_;
  client::Pacer pacer_;
  std::atomic<bool> closed_{false};
  std::unique_ptr<client::ApiRequests> requests_;
};

}  // namespace berth::serving
