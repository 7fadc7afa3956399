// SPDX-License-Identifier: Apache-2.0
// A client's request as text.
#pragma once

#include <string>

#include "berth/error.h"
#include "net/http_client.h"
#include "net/proxy.h"
#include "net/url.h"

namespace berth::net {

// What would make a message other than the one meant. Errors name no value of a header: it may be a secret.
Error CheckRequest(const ClientRequest& request);
// Everything in front of the body. `forwarder`, if not null, is a proxy that reads it and sends it on.
// REQUIRES: CheckRequest is Ok.
std::string HeadOf(const ClientRequest& request, const Url& url, const Proxy* forwarder = nullptr);
// Whether asking twice does no harm.
bool MayRepeat(const std::string& method);

}  // namespace berth::net
