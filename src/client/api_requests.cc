// SPDX-License-Identifier: Apache-2.0
#include "client/api_requests.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "client/wire.h"

namespace berth::client {
namespace {

// As client-go has it.
constexpr int kMaxRetries = 10;
constexpr int kMaxWaitSeconds = 300;

// Seconds to wait before asking again; -1: the server did not say. A date, which API servers do not send, is no number.
int RetryAfter(const net::HttpResponse& response) {
  if (response.status != 429 && response.status < 500) return -1;
  const std::string* text = response.headers.Find("Retry-After");
  if (text == nullptr) return -1;
  int seconds = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc() || stop != end || seconds < 0) return -1;
  return std::min(seconds, kMaxWaitSeconds);
}

}  // namespace

struct ApiRequests::Call {
  ApiRequest request;
  Pacer* pacer = nullptr;
  Done done;
  std::string authorization;  // as it was sent
  int retries = 0;
  bool renewed = false;
};

ApiRequests::ApiRequests(std::unique_ptr<net::HttpClient> client, Credentials& credentials, std::string user_agent)
    : credentials_(credentials), user_agent_(std::move(user_agent)), client_(std::move(client)) {}

net::Headers ApiRequests::HeadersWith(const std::string& authorization) const {
  net::Headers headers;
  headers.Add("Accept", "application/json");
  headers.Add("User-Agent", user_agent_);
  if (!authorization.empty()) headers.Add("Authorization", authorization);
  for (const auto& [name, value] : credentials_.impersonation().list()) headers.Add(name, value);
  return headers;
}

void ApiRequests::Send(ApiRequest request, Pacer* pacer, Done done) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->pacer = pacer;
  call->done = std::move(done);
  if (call->request.withdrawn && *call->request.withdrawn) return Drop(call);
  Pace(call);
}

void ApiRequests::Pace(const std::shared_ptr<Call>& call) {
  if (call->pacer == nullptr) return Go(call);
  const auto rank = static_cast<uint8_t>(call->request.rank);
  if (!call->pacer->Run([this, call] { Go(call); }, call->request.send_by, rank)) Drop(call);
}

void ApiRequests::Drop(const std::shared_ptr<Call>& call) {
  ApiReply reply;
  const bool withdrawn = call->request.withdrawn && *call->request.withdrawn;
  reply.status = {0, withdrawn ? "not sent: withdrawn" : "not sent: too many requests wait for their turn",
                  ErrorKind::kUnsent};
  call->done(std::move(reply));
}

void ApiRequests::Go(const std::shared_ptr<Call>& call) {
  if (util::IsOver(call->request.send_by)) return Drop(call);
  call->authorization = credentials_.Header();
  net::ClientRequest request;
  request.method = call->request.method;
  request.path = call->request.path;
  request.headers = HeadersWith(call->authorization);
  if (!call->request.body.empty()) request.headers.Add("Content-Type", call->request.content_type);
  request.body = call->request.body;
  request.timeout = call->request.timeout;
  request.timeout_from_turn = true;
  request.rank = static_cast<uint8_t>(call->request.rank);
  request.withdrawn = call->request.withdrawn;
  request.send_by = call->request.send_by;
  request.answer_by = call->request.answer_by;
  client_->Send(std::move(request),
                [this, call](Result<net::HttpResponse> answer) { OnAnswer(call, std::move(answer)); });
}

void ApiRequests::OnAnswer(const std::shared_ptr<Call>& call, Result<net::HttpResponse> answer) {
  ApiReply reply;
  if (!answer.ok()) {
    reply.status = {0, answer.error().text(), answer.error().kind()};
    return call->done(std::move(reply));
  }
  net::HttpResponse response = std::move(answer).value();
  if (response.status == 401 && !call->renewed && credentials_.Renew(call->authorization)) {
    call->renewed = true;
    return Go(call);
  }
  const int wait = RetryAfter(response);
  const bool in_time = std::chrono::steady_clock::now() + std::chrono::seconds(wait) < call->request.send_by;
  if (wait >= 0 && in_time && call->pacer != nullptr && call->retries < kMaxRetries) {
    ++call->retries;
    const auto rank = static_cast<uint8_t>(call->request.rank);
    return call->pacer->RunLater(
        std::chrono::seconds(wait), [this, call] { Go(call); }, rank);
  }
  reply.status.code = response.status;
  if (reply.status.ok()) {
    reply.body = std::move(response.body);
  } else {
    Refusal refusal = ReadRefusal(response.body);
    reply.status.message = std::move(refusal.message);
    reply.version_too_large = refusal.version_too_large;
    reply.invalid_uid = refusal.invalid_uid;
  }
  call->done(std::move(reply));
}

}  // namespace berth::client
