// SPDX-License-Identifier: Apache-2.0
// Exchange: one request of a client on its way, and who hears of it. For the client's own files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/error.h"
#include "net/client_connection.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "util/owner_link.h"

namespace berth::net {

class Http2Session;

// Thread safety: the loop's thread, once it has been handed over.
struct Exchange : Cancellable {
  explicit Exchange(ClientRequest&& request_in) : request(std::move(request_in)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  ClientRequest request;
  Deadline deadline = kNoDeadline;
  Deadline begin_by = kNoDeadline;  // not after `deadline`

  // Send.
  HttpClient::Done done;
  Result<HttpResponse> answer = HttpResponse{.content_type = {}, .body = {}, .headers = {}};
  HttpResponse& response = answer.value();  // until `done` has it
  // Stream.
  bool streamed = false;
  HttpClient::OnHead on_head;
  HttpClient::OnChunk on_chunk;
  HttpClient::OnEnd on_end;
  util::OwnerLink<ResponseStream> stream;  // whose callbacks these are

  Connection* connection = nullptr;  // of HTTP/1.1, while there is one
  bool outdated = false;             // it was ended because its certificates are those of yesterday
  bool heard = false;                // a byte of the response has come
  int attempts = 0;                  // that were made over HTTP/2, the present one included
  int connects = 0;                  // that it has waited for
  Error failure = Error::Ok();
  SendFacts facts;
  std::optional<EventLoop::Haste> haste;  // of Send, unless nothing is left to do but to be patient

  // Of HTTP/2: which stream it is, and how far it is.
  struct OnSession {
    Http2Session* session = nullptr;  // that has it
    int32_t stream = 0;               // 0: not begun
    size_t place = 0;                 // among the session's
    uint64_t begins_at = 0;           // bytes that the session had written before it
    Deadline began = {};
    size_t body_sent = 0;
    size_t header_bytes = 0;   // of the answer
    uint64_t expected = 0;     // bytes of the answer's body, if it says so
    uint64_t received = 0;     // of them
    bool says_length = false;  // the answer does
    int status = 0;            // of the head that is being read
    bool has_head = false;     // the final one
    bool first = false;        // the session was new
  };
  OnSession http2;

  void StartTimeout() {
    deadline = std::min(After(request.timeout), request.answer_by);
    begin_by = std::min(deadline, request.send_by);
  }
  // All of it has been handed to the connection.
  void Sent() {
    if (request.patient) haste.reset();
  }
  // It did not get through.
  void SentInVain(EventLoop& loop) {
    request.patient = false;
    if (!streamed && !haste) haste.emplace(loop);
  }
  // Why it must not be sent any more, wherever it has waited; Ok: it may.
  Error Late() const {
    if (request.withdrawn && *request.withdrawn) return Error("withdrawn before it was sent", ErrorKind::kUnsent);
    if (util::IsOver(begin_by)) return Error("timed out before it was sent", ErrorKind::kUnsent);
    return Error::Ok();
  }
  void Cancel();
  // Calls unless the stream has ended; it may end within the call.
  template <class Call>
  void Tell(const Call& call) {
    stream.Call([&call](ResponseStream&) { call(); });
  }
  void TellHead(int status, const Headers& headers);
  // False when the caller of Send gets more than he wants.
  bool TellPiece(std::string_view piece, uint64_t expected, uint64_t max_bytes);
};

inline Error AnswerTooLarge(uint64_t max_bytes) {
  return Error("the answer exceeds " + std::to_string(max_bytes) + " bytes", ErrorKind::kTooLarge);
}

}  // namespace berth::net
