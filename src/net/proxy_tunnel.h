// SPDX-License-Identifier: Apache-2.0
// A way through a proxy: what is said to it before what is behind it can be spoken to. For client_connection.cc alone.
#pragma once

#include "berth/error.h"
#include "net/proxy.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/url.h"

namespace berth::net {

// The value of Proxy-Authorization; empty: none.
std::string ProxyAuthorization(const Proxy& proxy);

// Asks the proxy at the other end of the stream for a connection to the server: CONNECT, or what SOCKS has for it. From
// Ok on the stream leads to the server. What the proxy answers is bounded. Deadline and cancelling are the stream's.
Task<Error> OpenTunnel(Stream* stream, const Proxy* proxy, const Url* server);

}  // namespace berth::net
