// SPDX-License-Identifier: Apache-2.0
#include "bench/live_requests.h"

#include <utility>
#include <vector>

#include "api/json_value.h"
#include "client/http2_settings.h"
#include "net/http_client.h"

namespace berth::bench {
namespace {

constexpr Duration kLookAtTokenEvery = Duration::Seconds(10);
constexpr uint64_t kMaxObjectBytes = uint64_t{8} << 20;  // of an answer about one object; no server stores so much

}  // namespace

LiveRequests::LiveRequests(const client::Kubeconfig& config, util::Inbox& inbox,
                           std::function<void(const std::string&)> warn)
    : inbox_(inbox), credentials_(config, kLookAtTokenEvery, std::move(warn)), pacer_(0, 1) {}

Result<std::unique_ptr<LiveRequests>> LiveRequests::Connect(const client::Kubeconfig& config, util::Inbox& inbox,
                                                            std::function<void(const std::string&)> warn) {
  std::unique_ptr<LiveRequests> made(new LiveRequests(config, inbox, warn));
  net::ClientOptions http;
  http.url = config.server;
  http.proxy = config.proxy;
  http.tls = config.tls;
  http.tls.identity = made->credentials_.identity();
  http.tls.on_warning = [warn](const Error& error) {
    if (warn) warn(error.text());
  };
  http.http2 = client::Http2Settings::FromEnvironment(nullptr).enabled;
  http.max_connections = kRequestsUnderWay;
  http.max_response_bytes = kMaxObjectBytes;
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Create(http);
  if (!client.ok()) return client.error().Wrap(config.source);
  made->requests_ = std::make_unique<client::ApiRequests>(std::move(client).value(), made->credentials_, "berth-bench");
  return made;
}

LiveRequests::~LiveRequests() { pacer_.Stop(); }

void LiveRequests::Send(const char* method, const std::string& path, const Value& body, std::string_view type,
                        Done done) {
  client::ApiRequest request;
  request.method = method;
  request.path = path;
  if (!body.is_null()) request.body = body.ToJson();
  request.content_type = type;
  requests_->Send(std::move(request), &pacer_, [this, done = std::move(done)](client::ApiReply reply) {
    LiveAnswer answer;
    answer.status = std::move(reply.status);
    std::vector<FieldError> errors;
    if (!reply.body.empty()) answer.body = ParseJson(reply.body, errors);
    if (!errors.empty()) answer.body = Value();
    inbox_.Post([done, answer = std::move(answer)] { done(answer); });
  });
}

}  // namespace berth::bench
