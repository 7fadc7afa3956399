// SPDX-License-Identifier: Apache-2.0
// One exchange over HTTP/1.1, on a connection that nobody else uses meanwhile. For http_client.cc alone.
#pragma once

#include "net/client_connection.h"
#include "net/client_exchange.h"
#include "net/http_client.h"
#include "net/proxy.h"
#include "net/task.h"
#include "net/url.h"

namespace berth::net {

class MessageParser;

// REQUIRES: options, url and forwarder outlive it. Thread safety: the loop's thread.
class Http1Exchange {
 public:
  // `forwarder`: a proxy that reads our requests and sends them on; null without one.
  Http1Exchange(const ClientOptions& options, const Url& url, const Proxy* forwarder)
      : options_(options), url_(url), forwarder_(forwarder) {}

  // Sends and receives all of it. False with exchange->failure set. `keep`: the connection can be used again.
  Task<bool> Run(Exchange* exchange, Connection* connection, bool* keep) const;

 private:
  Task<bool> Receive(Exchange* exchange, Connection* connection, bool* keep) const;
  Task<bool> ReceiveHead(Exchange* exchange, Connection* connection, std::unique_ptr<MessageParser>* parser) const;
  Task<bool> ReceiveBody(Exchange* exchange, Connection* connection, MessageParser* parser, bool* keep) const;

  const ClientOptions& options_;
  const Url& url_;
  const Proxy* const forwarder_;
};

}  // namespace berth::net
