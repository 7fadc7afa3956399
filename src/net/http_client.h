// SPDX-License-Identifier: Apache-2.0
// HttpClient: an asynchronous client of one server, over HTTP/1.1 or HTTP/2, with connections that are kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/common_headers.h"
#include "net/http.h"
#include "net/tls.h"
#include "util/deadline.h"
#include "util/inbox.h"
#include "util/unique_call.h"

namespace berth::net {

struct ClientOptions {
  std::string url;  // http(s)://host[:port][/prefix]; the prefix goes before every path
  // The URL of a proxy (ParseProxy); empty: none. One that speaks TLS is believed as the server is, under its own name,
  // and shown nothing.
  std::string proxy;
  TlsClientOptions tls;
  // HTTP/2 where the server has it, which only one that speaks TLS is asked about. Requests of Send share a connection
  // then; it is more than one if the server allows fewer streams on it than max_connections. Each eight Streams have
  // one.
  bool http2 = false;
  size_t max_connections = 16;  // for Send; what comes meanwhile waits. Over HTTP/1.1 every Stream has its own
  Duration connect_timeout = Duration::Seconds(10);  // with name lookup and TLS handshake
  Duration idle_timeout = Duration::Seconds(90);     // a kept connection is not used after that long
  Duration look_every = Duration::Seconds(5);        // at connections, to let closed and outdated ones go; 0: never
  // Answers and pieces that keep coming are taken together, this far apart at the most: fewer wake-ups, more in each.
  // 0: each as it comes. What comes after a pause is not kept waiting, except, without a thread, after a request over
  // HTTP/2 to a server that usually answers within this time: then nothing is read until it has passed.
  Duration gather;
  // Without it nothing happens but in turns of guest(), which the owner sees to; the client's thread is the one that
  // takes them.
  bool own_thread = true;
  uint64_t max_response_bytes = uint64_t{1} << 30;  // of a body that Send collects
  size_t max_header_bytes = size_t{64} << 10;
  // Over HTTP/2: how long a server may be silent while somebody waits, before it is asked whether it is there, and how
  // long it has to say so (0: it is not asked). As client-go has them.
  Duration ping_after = Duration::Seconds(30), ping_timeout = Duration::Seconds(15);
};

// How far a request came, for callers who have words of their own for that.
struct SendFacts {
  int connect_errno = 0;  // of the last address that was tried; 0: connected, or nobody knows
  int status = 0;         // of the answer, as soon as its head is there; 0: it never was
  bool closed = false;    // the server ended the connection before the answer was complete
};

struct ClientRequest {
  std::string method = "GET";
  std::string path = "/";  // with the query, encoded already
  Headers headers = {};    // Host, Content-Length and Connection are ours
  std::string body = {};
  std::shared_ptr<const CommonHeaders> common = nullptr;  // further headers; may be null
  // Send: not null, they are meant instead of path and body. Whoever gives them keeps them until `done` has gone.
  const std::string *kept_path = nullptr, *kept_body = nullptr;
  bool few_headers = false;  // Send: of the answer's, content_type and Retry-After are enough
  // With few_headers: an answer of exactly this type may say so (usual_type) instead of naming it. Must
  // outlive the request.
  std::string_view usual_type = {};
  Duration timeout =
      Duration::Seconds(30);       // Send: until the answer is complete; Stream: until its head is there; 0: none
  bool timeout_from_turn = false;  // Send: the timeout counts from when it is this request's turn, not from the call
  uint8_t rank = 0;                // Send: among those that wait for a connection the lower ones go first
  bool large = false;              // its answer may be: it goes over HTTP/1.1, which is twice as fast with megabytes
  // Send: once it is sent, its answer may be left alone as long as news may (util::Inbox::Guest). Not if the client has
  // to send it again: then it has waited already.
  bool patient = false;
  Duration read_timeout = {};  // Stream: the longest silence between pieces; 0: any
  // Send: begun before that, or not at all, wherever it has waited; and given up then, whatever the timeout.
  util::Deadline send_by = util::kNoDeadline, answer_by = util::kNoDeadline;
  // Send: true when its turn comes: it is not sent (kUnsent). May be null.
  std::shared_ptr<const std::atomic<bool>> withdrawn = nullptr;
  std::shared_ptr<SendFacts> facts = nullptr;  // Send: filled in before `done` is called, however it ended. May be null

  const std::string& PathOf() const { return kept_path != nullptr ? *kept_path : path; }
  const std::string& BodyOf() const { return kept_body != nullptr ? *kept_body : body; }
};

// A response that is being received. Its end cancels: nothing is called after the destructor has returned, which waits
// for a call that is under way on another thread; the caller holds no lock that the callbacks take.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
};

// Errors are of kind kTooLarge for an answer of more than max_response_bytes, kUnsent for a request whose time was over
// before anything of it was sent, kTimedOut and kCancelled.
//
// Thread safety: Send and Stream from any thread. Callbacks come on the client's thread and must not wait for another
// answer of this client.
class HttpClient {
 public:
  using Done = util::UniqueCall<void(Result<HttpResponse>&&)>;
  using OnHead = std::function<void(int status, const Headers& headers)>;
  using OnChunk = std::function<void(std::string_view piece)>;
  using OnEnd = std::function<void(Error)>;

  // Errors name the URL, or file and reason. Nothing is connected yet.
  static Result<std::unique_ptr<HttpClient>> Create(const ClientOptions& options);
  // What is under way ends with an error. REQUIRES: not called by a callback.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Calls `done` once. What is sent by one thread without a pause goes out together, if HTTP/2 is spoken. A connection
  // is kept unless the server refused us (401), and used again as long as the files with certificates are those that it
  // was made with. A status of 400 and more is a response, not an error. A kept connection that turns out to be closed
  // is replaced by a new one for GET, HEAD and OPTIONS; whether another method was heard is for the caller to find out.
  // What a server of HTTP/2 says it has not processed is sent again, a few times, and then kUnsent.
  void Send(ClientRequest&& request, Done done);
  // Calls on_head once, then on_chunk for every piece as it comes, then on_end once, with Ok if the response was
  // complete. Without a head only on_end is called.
  // One whose connection was made with certificates that have changed since is ended, within look_every.
  [[nodiscard]] std::unique_ptr<ResponseStream> Stream(ClientRequest request, OnHead on_head, OnChunk on_chunk,
                                                       OnEnd on_end);
  // Calls `call` on the client's thread, also if the client is about to end: its destructor waits for that.
  void Post(std::function<void()> call);
  // Of a client without a thread. The client's end takes the turns that it needs itself.
  util::Inbox::Guest& guest();

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
