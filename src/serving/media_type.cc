// SPDX-License-Identifier: Apache-2.0
#include "serving/media_type.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "net/http_text.h"
#include "serving/url_text.h"

namespace berth::serving {
namespace {

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Up to the separator, which goes with it.
std::string_view Next(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// What is no number counts as none at all.
double ParseQuality(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  return end != nullptr && *end == '\0' && !copy.empty() && value == value ? value : 0;
}

std::pair<std::string_view, std::string_view> PartsOf(MediaType type) {
  const std::string_view name = NameOf(type);
  const size_t slash = name.find('/');
  return {name.substr(0, slash), name.substr(slash + 1)};
}

bool Matches(const AcceptClause& clause, MediaType offer) {
  const auto [type, subtype] = PartsOf(offer);
  return (clause.type == type && (clause.subtype == subtype || clause.subtype == "*")) ||
         (clause.type == "*" && clause.subtype == "*");
}

// What the parameters of a clause ask for; no value: something that is not to be had.
std::optional<Negotiated> Wishes(const AcceptClause& clause, MediaType offer) {
  Negotiated wishes{offer, std::nullopt, false};
  for (const auto& [key, value] : clause.params) {
    if (key == "as" || key == "g" || key == "v") {
      if (!wishes.conversion) wishes.conversion.emplace();
      (key == "as"  ? wishes.conversion->kind
       : key == "g" ? wishes.conversion->group
                    : wishes.conversion->version) = value;
    } else if ((key == "stream" || key == "sv") && !value.empty()) {
      return std::nullopt;
    } else if (key == "pretty") {
      wishes.pretty = value == "1";
    }
  }
  return wishes;
}

}  // namespace

std::string_view NameOf(MediaType type) {
  switch (type) {
    case MediaType::kJson:
      return "application/json";
    case MediaType::kYaml:
      return "application/yaml";
    case MediaType::kProtobuf:
      return "application/vnd.kubernetes.protobuf";
    case MediaType::kText:
      return "text/plain";
  }
  return "";
}

std::vector<AcceptClause> ParseAccept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  while (!header.empty()) {
    std::string_view params = Trim(Next(header, ','));
    std::string_view form = Next(params, ';');
    AcceptClause clause;
    clause.type = Trim(Next(form, '/'));
    if (form.empty() && clause.type != "*") continue;
    if (form.find('/') != std::string_view::npos) continue;
    clause.subtype = form.empty() ? "*" : Trim(form);
    while (!params.empty()) {
      std::string_view value = Next(params, ';');
      const std::string_view key = Trim(Next(value, '='));
      if (value.empty() || value.find('=') != std::string_view::npos) continue;
      if (key == "q")
        clause.quality = ParseQuality(value);
      else
        clause.params[std::string(key)] = Trim(value);
    }
    clauses.push_back(std::move(clause));
  }
  std::ranges::stable_sort(clauses, std::less<>(), [](const AcceptClause& clause) {
    return std::tuple(-clause.quality, clause.type == "*", clause.subtype == "*");
  });
  return clauses;
}

std::optional<Negotiated> Negotiate(const net::HttpRequest& request, std::span<const MediaType> offers,
                                    bool (*allows)(MediaType, const std::optional<Conversion>&)) {
  const bool pretty = WantsPretty(request);
  const std::string* header = request.headers.Find("Accept");
  if (header == nullptr || header->empty()) return Negotiated{offers[0], std::nullopt, pretty};
  for (const AcceptClause& clause : ParseAccept(*header)) {
    for (const MediaType offer : offers) {
      if (!Matches(clause, offer)) continue;
      std::optional<Negotiated> wishes = Wishes(clause, offer);
      if (!wishes || !allows(offer, wishes->conversion)) continue;
      wishes->pretty = wishes->pretty || pretty;
      return wishes;
    }
  }
  return std::nullopt;
}

bool WantsPretty(const net::HttpRequest& request) {
  if (request.query.find("pretty") != std::string::npos) {
    const std::string value = Query(request.query).Get("pretty");
    static constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
    if (!value.empty()) return std::ranges::find(kTrue, value) != std::end(kTrue);
  }
  const std::string* agent = request.headers.Find("User-Agent");
  return agent != nullptr &&
         (agent->starts_with("curl") || agent->starts_with("Wget") || agent->starts_with("Mozilla/5.0"));
}

bool TakesGzip(const net::HttpRequest& request) {
  bool any = false;
  for (const auto& [name, value] : request.headers.list()) {
    if (!net::EqualIgnoringCase(name, "Accept-Encoding")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      std::string_view params = Trim(Next(rest, ','));
      const std::string_view coding = Trim(Next(params, ';'));
      double quality = 1;
      while (!params.empty()) {
        std::string_view text = Next(params, ';');
        if (Trim(Next(text, '=')) == "q") quality = ParseQuality(Trim(text));
      }
      if (net::EqualIgnoringCase(coding, "gzip")) return quality > 0;
      if (coding == "*") any = quality > 0;
    }
  }
  return any;
}

}  // namespace berth::serving
