// SPDX-License-Identifier: Apache-2.0
// The answers that a request may get before anybody has looked at what it asks for, byte for byte kube-scheduler's.
#pragma once

#include <string>
#include <string_view>

#include "berth/value.h"
#include "net/http.h"
#include "serving/media_type.h"

namespace berth::serving {

// text/plain, with the text as it is.
net::HttpResponse PlainText(int status, std::string text);
// The same as Go's http.Error writes it: a line break behind it, and no guessing of its type.
net::HttpResponse TextError(int status, std::string_view text);
// A document in the form that the client wants. REQUIRES: `form` is JSON or YAML.
net::HttpResponse Document(int status, const Value& document, const Negotiated& form);

// A Status. A client that takes neither JSON nor YAML gets JSON.
net::HttpResponse StatusReply(const net::HttpRequest& request, const Value& status, int code);
net::HttpResponse Unauthorized(const net::HttpRequest& request);
net::HttpResponse Forbidden(const net::HttpRequest& request, std::string_view user, std::string_view verb,
                            std::string_view path, std::string_view reason);
// Too much is asked at the moment.
net::HttpResponse TooManyRequests(const net::HttpRequest& request);
// None of the forms that a client takes is to be had.
net::HttpResponse NotAcceptable(std::span<const MediaType> offers);
net::HttpResponse InternalError(const net::HttpRequest& request, std::string_view problem);
net::HttpResponse NotFound();

// As Go's %q.
std::string GoQuoted(std::string_view text);

}  // namespace berth::serving
