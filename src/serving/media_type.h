// SPDX-License-Identifier: Apache-2.0
// Which form of an answer a client wants: the Accept header, read as kube-scheduler reads it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace berth::serving {

enum class MediaType : uint8_t { kJson, kYaml, kProtobuf, kText };
// "application/json", …
std::string_view NameOf(MediaType type);

// One of the forms that a client takes, the one that it likes best first.
struct AcceptClause {
  std::string type, subtype;
  double quality = 1;
  std::map<std::string, std::string> params;  // without q
};
std::vector<AcceptClause> ParseAccept(std::string_view header);

// What a clause asks to have the object turned into.
struct Conversion {
  std::string group, version, kind;
  bool operator==(const Conversion&) const = default;
};

struct Negotiated {
  MediaType type = MediaType::kJson;
  std::optional<Conversion> conversion;
  bool pretty = false;
};
// The first form of the request's list that is one of `offers`, and that `allows` agrees to; without a list the first
// offer. No value: there is none.
std::optional<Negotiated> Negotiate(const net::HttpRequest& request, std::span<const MediaType> offers,
                                    bool (*allows)(MediaType, const std::optional<Conversion>&));

// Whether the client is a person: ?pretty says so, or else the name of its program.
bool WantsPretty(const net::HttpRequest& request);
// Whether the client takes an answer in gzip.
bool TakesGzip(const net::HttpRequest& request);

}  // namespace berth::serving
