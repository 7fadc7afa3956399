// SPDX-License-Identifier: Apache-2.0
#include "serving/replies.h"

#include <utility>

#include "serving/yaml_document.h"
#include "util/text.h"

namespace berth::serving {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr size_t kMostOfPath = 2048;
constexpr MediaType kStatusForms[] = {MediaType::kJson, MediaType::kYaml, MediaType::kProtobuf};

Value String(std::string_view text) { return Value::String(util::ValidUtf8(text)); }

Value Failure(std::string_view message, std::string_view reason, int code, bool details = false) {
  Value status = Value::Object();
  status.Set("kind", String("Status")).Set("apiVersion", String("v1")).Set("metadata", Value::Object());
  status.Set("status", String("Failure")).Set("message", String(message)).Set("reason", String(reason));
  if (details) status.Set("details", Value::Object());
  status.Set("code", Value::Int(code));
  return status;
}

bool NoConversion(MediaType, const std::optional<Conversion>& conversion) { return !conversion; }

// What a browser could take for markup.
std::string Harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string GoQuoted(std::string_view text) {
  std::string out = "\"";
  util::AppendEscaped(out, text, util::Escapes::kQuoted);
  return out + "\"";
}

net::HttpResponse PlainText(int status, std::string text) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = kText;
  response.body = std::move(text);
  return response;
}

net::HttpResponse TextError(int status, std::string_view text) {
  net::HttpResponse response = PlainText(status, std::string(text) + "\n");
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

net::HttpResponse Document(int status, const Value& document, const Negotiated& form) {
  net::HttpResponse response;
  response.status = status;
  const bool yaml = form.type == MediaType::kYaml;
  response.content_type = NameOf(yaml ? MediaType::kYaml : MediaType::kJson);
  if (yaml)
    response.body = ToSortedYaml(document);
  else
    response.body = form.pretty ? document.ToJson(2) : document.ToJson() + "\n";
  return response;
}

net::HttpResponse StatusReply(const net::HttpRequest& request, const Value& status, int code) {
  const std::optional<Negotiated> form = Negotiate(request, kStatusForms, NoConversion);
  return Document(code, status, form.value_or(Negotiated{MediaType::kJson, std::nullopt, true}));
}

net::HttpResponse Unauthorized(const net::HttpRequest& request) {
  return StatusReply(request, Failure("Unauthorized", "Unauthorized", 401), 401);
}

net::HttpResponse Forbidden(const net::HttpRequest& request, std::string_view user, std::string_view verb,
                            std::string_view path, std::string_view reason) {
  // Whoever asks chooses them, and each byte may become six.
  const std::string asked = util::Shortened(path, kMostOfPath), who = util::Shortened(user, kMostOfPath);
  std::string message =
      "forbidden: " + Harmless("User " + GoQuoted(who) + " cannot " + std::string(verb) + " path " + GoQuoted(asked));
  if (!reason.empty()) message += ": " + std::string(reason);
  net::HttpResponse response = StatusReply(request, Failure(message, "Forbidden", 403, true), 403);
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

net::HttpResponse TooManyRequests(const net::HttpRequest& request) {
  net::HttpResponse response =
      StatusReply(request, Failure("too many requests, please try again later", "TooManyRequests", 429), 429);
  response.headers.Add("Retry-After", "1");
  return response;
}

net::HttpResponse NotAcceptable(std::span<const MediaType> offers) {
  std::string message = "only the following media types are accepted: ";
  for (size_t i = 0; i < offers.size(); ++i) message += (i > 0 ? ", " : "") + std::string(NameOf(offers[i]));
  return Document(406, Failure(message, "NotAcceptable", 406), {MediaType::kJson, std::nullopt, true});
}

net::HttpResponse InternalError(const net::HttpRequest& request, std::string_view problem) {
  const std::string uri = request.query.empty() ? request.path : request.path + "?" + request.query;
  return TextError(500, Harmless("Internal Server Error: " + GoQuoted(util::Shortened(uri, kMostOfPath)) + ": " +
                                 std::string(problem)));
}

net::HttpResponse NotFound() { return TextError(404, "404 page not found"); }

}  // namespace berth::serving
