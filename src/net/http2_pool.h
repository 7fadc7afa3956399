// SPDX-License-Identifier: Apache-2.0
// Http2Pool: the sessions of one client that serve one purpose, and how they come about. For http_client.cc alone.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/client_connection.h"
#include "net/http2_session.h"
#include "net/task.h"

namespace berth::net {

// Connects when somebody has to wait for a session, once for all who do. A server that chooses HTTP/1.1 is not asked
// about HTTP/2 again for a while.
//
// REQUIRES: loop, connector, url, limits and owner outlive it. Thread safety: the loop's thread.
class Http2Pool final : private Http2Listener {
 public:
  class Owner {
   public:
    // As Http2Listener.
    virtual void OnStreamEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) = 0;
    virtual void OnStreamRoom() = 0;

   protected:
    ~Owner() = default;
  };

  // `connect_timeout` is for the server's first words, once it is connected.
  Http2Pool(EventLoop& loop, Connector& connector, const Url& url, const Http2Limits& limits, Duration connect_timeout,
            Owner& owner);
  virtual ~Http2Pool() = default;

  // A session that takes another stream and shows today's certificate; null: none.
  Http2Session* Find();
  // Streams that all usable sessions together allow.
  size_t capacity() const;
  // Whether streams are under way.
  bool busy() const;
  // The server has chosen HTTP/1.1, not long ago.
  bool speaks_http1() const;

  // Waits until there is another session, or a connection for HTTP/1.1, which one of those who wait gets (`plain`).
  // Then Find may have one; others may have taken its streams. REQUIRES: as Connector::Connect.
  Task<Error> Connect(Exchange* exchange, std::unique_ptr<Connection>* plain);

  // Ends streams whose connection was made with certificates that have changed.
  void EndOutdated();
  // Everything ends as cancelled, and nothing begins any more.
  void Close();

 private:
  struct Waiter;
  Detached ConnectForAll();
  Task<Error> Settle(std::unique_ptr<Connection> connection);
  void Tell(const Error& error, std::unique_ptr<Connection> plain);

  void OnReady(Http2Session& session) override;
  void OnEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) override;
  void OnRoom(Http2Session& session) override;
  void OnGone(Http2Session& session, const Error& why) override;

  EventLoop& loop_;
  Connector& connector_;
  const Url& url_;
  const Http2Limits& limits_;
  const Duration connect_timeout_;
  Owner& owner_;

  std::vector<std::unique_ptr<Http2Session>> sessions_;
  std::vector<std::shared_ptr<Waiter>> waiters_;
  bool connecting_ = false, closed_ = false;
  Cancellable attempt_;               // while connecting
  Http2Session* settling_ = nullptr;  // whose first words are waited for
  Watch* settling_watch_ = nullptr;   // by this
  Error settling_failure_ = Error::Ok();
  Deadline http1_until_ = {};
};

}  // namespace berth::net
