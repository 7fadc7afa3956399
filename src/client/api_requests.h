// SPDX-License-Identifier: Apache-2.0
// ApiRequests: requests to an API server with our credentials, at a bounded rate, put off as the server asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "client/cluster_api.h"
#include "client/credentials.h"
#include "client/encodings.h"
#include "client/pacer.h"
#include "client/request_observer.h"
#include "net/http_client.h"
#include "util/deadline.h"
#include "util/owner_link.h"
#include "util/unique_call.h"

namespace berth::client {

// Who goes first when requests have to wait, for the rate or for a connection: what a pod waits for before what people
// read.
enum class Rank : uint8_t { kBinding, kStatus, kEvent };

struct ApiRequest {
  std::string method = "GET";
  std::string path = {};  // with the query
  std::string body = {};
  std::string_view content_type = ContentTypeOf(Encoding::kJson);  // never destroyed
  Encoding accept = Encoding::kJson;
  bool large = false, patient = false;  // as net::ClientRequest has them
  Rank rank = Rank::kBinding;
  Duration timeout = Duration::Seconds(30);  // of the answer, once it is this request's turn
  // Until when it is worth sending, wherever it waits: for its turn, for credentials, or because the server puts it
  // off. And until when somebody waits for the answer.
  util::Deadline send_by = util::kNoDeadline, answer_by = util::kNoDeadline;
  // True when its turn comes: it is not sent (unsent). May be null.
  std::shared_ptr<const std::atomic<bool>> withdrawn = nullptr;
};

struct ApiReply {
  ApiStatus status;                     // code 0 with kTooLarge: the answer was, for the HTTP client
  bool version_too_large = false;       // the server has not come so far yet
  bool invalid_uid = false;             // the object has another uid than the request says
  std::string body;                     // only of an ok() status
  Encoding encoding = Encoding::kJson;  // of the body
};

// The observer of requests to a server, which may be null, and the names by which it knows that server.
struct ObservedServer {
  RequestObserver* by = nullptr;
  std::string host = {};
  std::string url = {};  // without a slash at the end
  static ObservedServer Of(RequestObserver* by, const std::string& url);
};

// Thread safety: Send from any thread; callbacks come on the HTTP client's thread.
class ApiRequests {
 public:
  using Done = util::UniqueCall<void(ApiReply&&)>;

  // REQUIRES: `credentials` and the observer outlive it.
  ApiRequests(std::unique_ptr<net::HttpClient> client, Credentials& credentials, std::string user_agent,
              ObservedServer observed = {});
  // Callbacks run, with a failure, until it returns. REQUIRES: pacers that were used are stopped.
  ~ApiRequests();
  ApiRequests(const ApiRequests&) = delete;
  ApiRequests& operator=(const ApiRequests&) = delete;

  // Calls `done` once, unless `pacer` (null: no limit) is stopped before. An answer of 429, or of 5xx with Retry-After,
  // is waited out by the pacer, a few times; a 401 is tried once more if there is another token by now. What is not
  // sent in time is answered so (unsent), as soon as that is known; what the server puts off beyond it, with its
  // answer.
  void Send(ApiRequest&& request, Pacer* pacer, Done done);

  // As HttpClient::Stream, with the headers that every request has, as soon as there are credentials. `shown`, if not
  // null, is set to those before anything is called but for a failure to get them. After the end of this nothing is
  // called.
  [[nodiscard]] std::unique_ptr<net::ResponseStream> Stream(net::ClientRequest request, Encoding accept,
                                                            std::shared_ptr<std::string> shown,
                                                            net::HttpClient::OnHead on_head,
                                                            net::HttpClient::OnChunk on_chunk,
                                                            net::HttpClient::OnEnd on_end);

 private:
  struct Call;
  class PendingStream;
  using Authorization = std::shared_ptr<const std::string>;  // of Credentials; not null
  // What every request says, kept for the next one that says the same.
  std::shared_ptr<const net::CommonHeaders> HeadersWith(const Authorization& authorization, Encoding accept,
                                                        std::string_view content_type);
  void Pace(const std::shared_ptr<Call>& call);
  static void Drop(const std::shared_ptr<Call>& call, const std::string& why = "too many requests wait for their turn");
  static void Refuse(Call& call);
  void Go(const std::shared_ptr<Call>& call);
  // Credentials have come, or not.
  void Resume(const std::shared_ptr<Call>& call, const Result<std::string>& authorization);
  void SendWith(const std::shared_ptr<Call>& call, Authorization authorization);
  void OnAnswer(const std::shared_ptr<Call>& call, Result<net::HttpResponse>& answer);

  // For the observer.
  void Tried(const Call& call, int code) const;
  void Finish(const Call& call, ApiReply&& reply, size_t bytes) const;

  Credentials& credentials_;
  const std::string user_agent_;
  const ObservedServer observed_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Call>> waiting_;  // for credentials; under mutex_
  struct Known {
    Encoding accept;
    std::string_view content_type;
    std::shared_ptr<const net::CommonHeaders> headers;
  };
  Authorization known_authorization_;        // of all of `known_`, which are none if it is null; under mutex_
  std::vector<Known> known_;                 // under mutex_
  bool closing_ = false;                     // under mutex_
  util::Owner<ApiRequests> owner_{this};     // of answers about credentials
  std::unique_ptr<net::HttpClient> client_;  // last: its end runs callbacks
};

}  // namespace berth::client
