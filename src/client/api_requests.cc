// SPDX-License-Identifier: Apache-2.0
#include "client/api_requests.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "client/wire.h"
#include "net/url.h"
#include "util/recycling.h"

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

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

struct ApiRequests::Call {
  Call(ApiRequest&& request_in, Pacer* pacer_in, Done&& done_in)
      : request(std::move(request_in)), pacer(pacer_in), done(std::move(done_in)) {}

  ApiRequest request;
  Pacer* pacer;
  Done done;
  Authorization authorization;  // as it was sent
  int retries = 0;
  bool renewed = false;
  std::chrono::steady_clock::time_point asked;  // if there is an observer
  bool paced = false;                           // its turn has come, as the observer knows
};

ObservedServer ObservedServer::Of(RequestObserver* by, const std::string& url) {
  const Result<net::Url> parsed = net::ParseUrl(url);
  return {by, parsed.ok() ? parsed->authority : "none", url.substr(0, url.find_last_not_of('/') + 1)};
}

ApiRequests::ApiRequests(std::unique_ptr<net::HttpClient> client, Credentials& credentials, std::string user_agent,
                         ObservedServer observed)
    : credentials_(credentials),
      user_agent_(std::move(user_agent)),
      observed_(std::move(observed)),
      client_(std::move(client)) {}

void ApiRequests::Tried(const Call& call, int code) const {
  if (observed_.by == nullptr) return;
  observed_.by->Tried(observed_.host, call.request.method, code, call.request.body.size(),
                      call.retries > 0 || call.renewed);
}

void ApiRequests::Finish(const Call& call, ApiReply&& reply, size_t bytes) const {
  if (observed_.by != nullptr)
    observed_.by->Finished(observed_.host, call.request.method, SecondsSince(call.asked), bytes);
  call.done(std::move(reply));
}

ApiRequests::~ApiRequests() {
  owner_.Leave();
  std::set<std::shared_ptr<Call>> left;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;  // answers that are still to come must not wait any more
    left = std::exchange(waiting_, {});
  }
  for (const std::shared_ptr<Call>& call : left) Refuse(*call);
}

// Whoever still holds the call, as the one who is asked for credentials does, holds no callback.
void ApiRequests::Refuse(Call& call) {
  ApiReply reply;
  reply.status = {0, "not sent: the client is closed", ErrorKind::kUnsent};
  std::exchange(call.done, nullptr)(std::move(reply));
}

std::shared_ptr<const net::CommonHeaders> ApiRequests::HeadersWith(const Authorization& authorization, Encoding accept,
                                                                   std::string_view content_type) {
  const std::lock_guard lock(mutex_);
  if (known_authorization_ != authorization) {
    if (!known_authorization_ || *known_authorization_ != *authorization) known_.clear();
    known_authorization_ = authorization;
  }
  for (const Known& known : known_)
    if (known.accept == accept && known.content_type == content_type) return known.headers;
  net::Headers headers;
  headers.Add("Accept", std::string(AcceptOf(accept)));
  headers.Add("User-Agent", user_agent_);
  if (!authorization->empty()) headers.Add("Authorization", *authorization);
  for (const auto& [name, value] : credentials_.impersonation().list()) headers.Add(name, value);
  if (!content_type.empty()) headers.Add("Content-Type", std::string(content_type));
  known_.push_back({accept, content_type, std::make_shared<net::CommonHeaders>(headers)});
  return known_.back().headers;
}

void ApiRequests::Send(ApiRequest&& request, Pacer* pacer, Done done) {
  const auto call = std::allocate_shared<Call>(util::Recycling<Call>(), std::move(request), pacer, std::move(done));
  if (observed_.by != nullptr) call->asked = std::chrono::steady_clock::now();
  if (call->request.withdrawn && *call->request.withdrawn) return Drop(call);
  Pace(call);
}

void ApiRequests::Pace(const std::shared_ptr<Call>& call) {
  if (call->pacer == nullptr || call->pacer->TakeTurn()) return Go(call);
  const auto rank = static_cast<uint8_t>(call->request.rank);
  if (!call->pacer->Run([this, call] { Go(call); }, call->request.send_by, rank)) Drop(call);
}

void ApiRequests::Drop(const std::shared_ptr<Call>& call, const std::string& why) {
  ApiReply reply;
  const bool withdrawn = call->request.withdrawn && *call->request.withdrawn;
  reply.status = {0, withdrawn ? "not sent: withdrawn" : "not sent: " + why, ErrorKind::kUnsent};
  call->done(std::move(reply));
}

void ApiRequests::Go(const std::shared_ptr<Call>& call) {
  if (util::IsOver(call->request.send_by)) return Drop(call);
  if (observed_.by != nullptr && call->pacer != nullptr && !std::exchange(call->paced, true)) {
    const ApiRequest& asked = call->request;
    observed_.by->Paced({observed_.host, asked.method, observed_.url, asked.path, SecondsSince(call->asked)});
  }
  if (Authorization known = credentials_.Known()) return SendWith(call, std::move(known));
  bool closed = false;
  {
    const std::lock_guard lock(mutex_);
    closed = closing_;
    if (!closed) waiting_.insert(call);
  }
  if (closed) return Refuse(*call);
  credentials_.Ask(
      [owner = owner_.link(), call](const Result<std::string>& authorization) {
        owner.Call([&](ApiRequests& self) { self.Resume(call, authorization); });
      },
      std::min(call->request.send_by, call->request.answer_by));
}

// Calls nobody who might wait for this to end: what there is to tell is told on the client's thread.
void ApiRequests::Resume(const std::shared_ptr<Call>& call, const Result<std::string>& authorization) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.erase(call);
  }
  if (!authorization.ok()) {
    return client_->Post([call, failure = authorization.error()] {
      ApiReply reply;
      reply.status = {0, failure.text(), ErrorKind::kUnsent};
      call->done(std::move(reply));
    });
  }
  client_->Post([this, call, header = std::make_shared<const std::string>(*authorization)] {
    if (util::IsOver(call->request.send_by)) return Drop(call, "credentials came too late");
    SendWith(call, header);
  });
}

void ApiRequests::SendWith(const std::shared_ptr<Call>& call, Authorization authorization) {
  call->authorization = std::move(authorization);
  const ApiRequest& asked = call->request;
  net::ClientRequest request{.method = asked.method, .path = {}};
  request.kept_path = &asked.path;
  request.kept_body = &asked.body;
  request.common = HeadersWith(call->authorization, asked.accept, asked.body.empty() ? "" : asked.content_type);
  request.few_headers = true;
  request.usual_type = ContentTypeOf(asked.accept);
  request.timeout = call->request.timeout;
  request.timeout_from_turn = true;
  request.large = call->request.large;
  request.patient = call->request.patient && call->retries == 0 && !call->renewed;
  request.rank = static_cast<uint8_t>(call->request.rank);
  request.withdrawn = call->request.withdrawn;
  request.send_by = call->request.send_by;
  request.answer_by = call->request.answer_by;
  client_->Send(std::move(request), [this, call](Result<net::HttpResponse>&& answer) { OnAnswer(call, answer); });
}

// A stream that may have to wait for credentials before it begins.
class ApiRequests::PendingStream final : public net::ResponseStream {
 public:
  ~PendingStream() override { owner_.Leave(); }
  util::OwnerLink<PendingStream> link() const { return owner_.link(); }
  void Hold(std::unique_ptr<net::ResponseStream> stream) { stream_ = std::move(stream); }

 private:
  std::unique_ptr<net::ResponseStream> stream_;
  util::Owner<PendingStream> owner_{this};
};

std::unique_ptr<net::ResponseStream> ApiRequests::Stream(net::ClientRequest request, Encoding accept,
                                                         std::shared_ptr<std::string> shown,
                                                         net::HttpClient::OnHead on_head,
                                                         net::HttpClient::OnChunk on_chunk,
                                                         net::HttpClient::OnEnd on_end) {
  struct Plan {
    net::ClientRequest request;
    Encoding accept;
    std::shared_ptr<std::string> shown;
    net::HttpClient::OnHead on_head;
    net::HttpClient::OnChunk on_chunk;
    net::HttpClient::OnEnd on_end;

    std::unique_ptr<net::ResponseStream> Begin(ApiRequests& requests, const Authorization& authorization) {
      if (shown) *shown = *authorization;
      request.common = requests.HeadersWith(authorization, accept, "");
      if (requests.observed_.by != nullptr) {
        on_head = [&observed = requests.observed_, tell = std::move(on_head)](int status, const net::Headers& headers) {
          observed.by->Tried(observed.host, "GET", status, 0, false);
          tell(status, headers);
        };
      }
      return requests.client_->Stream(std::move(request), std::move(on_head), std::move(on_chunk), std::move(on_end));
    }
  };
  Plan plan{std::move(request), accept, std::move(shown), std::move(on_head), std::move(on_chunk), std::move(on_end)};
  if (const Authorization known = credentials_.Known()) return plan.Begin(*this, known);
  auto pending = std::make_unique<PendingStream>();
  auto waiting = std::make_shared<Plan>(std::move(plan));
  credentials_.Ask([owner = owner_.link(), stream = pending->link(), waiting](const Result<std::string>& header) {
    // On the client's thread, as everything that a stream tells.
    owner.Call([&](ApiRequests& self) {
      self.client_->Post([&self, stream, waiting, header] {
        stream.Call([&](PendingStream& held) {
          if (header.ok()) return held.Hold(waiting->Begin(self, std::make_shared<const std::string>(*header)));
          waiting->on_end(header.error());
        });
      });
    });
  });
  return pending;
}

void ApiRequests::OnAnswer(const std::shared_ptr<Call>& call, Result<net::HttpResponse>& answer) {
  ApiReply reply;
  if (!answer.ok()) {
    reply.status = {0, answer.error().text(), answer.error().kind()};
    Tried(*call, 0);
    return Finish(*call, std::move(reply), 0);
  }
  net::HttpResponse& response = answer.value();
  Tried(*call, response.status);
  if (response.status == 401 && !call->renewed && credentials_.Renew(*call->authorization)) {
    call->renewed = true;
    return Go(call);
  }
  const int wait = RetryAfter(response);
  const auto in_time = [&] {
    return std::chrono::steady_clock::now() + std::chrono::seconds(wait) < call->request.send_by;
  };
  if (wait >= 0 && call->pacer != nullptr && call->retries < kMaxRetries && in_time()) {
    ++call->retries;
    const auto rank = static_cast<uint8_t>(call->request.rank);
    return call->pacer->RunLater(
        std::chrono::seconds(wait), [this, call] { Go(call); }, rank);
  }
  const size_t bytes = response.body.size();
  reply.status.code = response.status;
  reply.encoding = response.usual_type ? call->request.accept : EncodingOf(response.content_type);
  if (reply.status.ok()) {
    reply.body = std::move(response.body);
  } else {
    Refusal refusal = ReadRefusal(response.body, reply.encoding);
    reply.status.message = std::move(refusal.message);
    reply.version_too_large = refusal.version_too_large;
    reply.invalid_uid = refusal.invalid_uid;
  }
  Finish(*call, std::move(reply), bytes);
}

}  // namespace berth::client
