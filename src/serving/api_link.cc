// SPDX-License-Identifier: Apache-2.0
#include "serving/api_link.h"

#include <utility>

#include "net/http_client.h"

namespace berth::serving {
namespace {

// As kube-scheduler has them for these clients.
constexpr double kQps = 200;
constexpr int kBurst = 400;

constexpr Duration kTokenLookEvery = Duration::Seconds(10);
// Neither a review nor the one ConfigMap comes near it.
constexpr uint64_t kMaxAnswer = uint64_t{4} << 20;

}  // namespace

ApiLink::ApiLink(const client::Kubeconfig& config, std::function<void(const std::string&)> warn)
    : credentials_(config, kTokenLookEvery, std::move(warn)), pacer_(kQps, kBurst) {}

Result<std::unique_ptr<ApiLink>> ApiLink::Connect(const client::Kubeconfig& config, const std::string& user_agent,
                                                  std::function<void(const std::string&)> warn,
                                                  client::RequestObserver* observer) {
  std::unique_ptr<ApiLink> link(new ApiLink(config, warn));
  net::ClientOptions http;
  http.url = config.server;
  http.proxy = config.proxy;
  http.tls = config.tls;
  http.tls.identity = link->credentials_.identity();
  http.tls.on_warning = [warn](const Error& error) {
    if (warn) warn(error.text());
  };
  http.max_response_bytes = kMaxAnswer;
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Create(http);
  if (!client.ok()) return client.error().Wrap(config.source);
  link->requests_ = std::make_unique<client::ApiRequests>(std::move(client).value(), link->credentials_, user_agent,
                                                          client::ObservedServer::Of(observer, config.server));
  return link;
}

ApiLink::~ApiLink() { Close(); }

void ApiLink::Send(client::ApiRequest request, client::ApiRequests::Done done) {
  if (closed_) {
    client::ApiReply reply;
    reply.status = {0, "the server is being stopped", ErrorKind::kUnsent};
    return done(std::move(reply));
  }
  requests_->Send(std::move(request), &pacer_, std::move(done));
}

std::unique_ptr<net::ResponseStream> ApiLink::Stream(const std::string& path, Duration silence,
                                                     net::HttpClient::OnHead on_head, net::HttpClient::OnChunk on_chunk,
                                                     net::HttpClient::OnEnd on_end) {
  net::ClientRequest request;
  request.path = path;
  request.read_timeout = silence;
  return requests_->Stream(std::move(request), client::Encoding::kJson, nullptr, std::move(on_head),
                           std::move(on_chunk), std::move(on_end));
}

void ApiLink::Close() {
  if (closed_.exchange(true)) return;
  pacer_.Stop();
  requests_ = nullptr;
}

}  // namespace berth::serving
