// SPDX-License-Identifier: Apache-2.0
#include "extender_client/extender_reply.h"

#include <memory>
#include <utility>

#include "api/go_key.h"
#include "api/json_reader.h"
#include "api/json_scan.h"
#include "api/lone_surrogates.h"
#include "extender_client/plain_reply.h"
#include "util/text.h"

namespace berth::extender_client {
namespace {

using simdjson::ondemand::json_type;
using Reasons = std::map<std::string, std::string, std::less<>>;

// What a server writes may be of any length, and ends up in events and logs.
constexpr size_t kMaxSentence = 500;

// Whether the text is the beginning of a JSON value that goes on.
bool EndsEarly(std::string_view text) {
  bool in_string = false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return in_string || depth > 0;
}

// Hands the one value in `body` to read(context, value), unless it is null.
template <class Fn>
Error ReadReply(std::string& body, json_type wanted, Fn&& read) {
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return Error("EOF");
  ReplaceLoneSurrogates(body);
  const Result<size_t> end = ScanJsonValue(body, start);
  if (!end.ok()) return EndsEarly(body) ? Error("unexpected EOF") : end.error();
  body.resize(*end);
  body.erase(0, start);
  if (!CheckUtf8(body).ok()) body = RepairUtf8(body);
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  const auto parser = std::make_unique<simdjson::ondemand::parser>();
  simdjson::ondemand::document document;
  if (auto error = parser->iterate(body.data(), body.size(), body.capacity()).get(document))
    return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  if (body == "null") return Error::Ok();
  JsonValue root;
  if (body.front() != '{' && body.front() != '[')
    return Error(wanted == json_type::object ? "the answer must be a JSON object" : "the answer must be a JSON array");
  if (auto error = document.get_value().get(root))
    return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  json_type type;
  if (auto error = root.type().get(type)) return Error(simdjson::error_message(error));
  if (type != wanted)
    return Error(wanted == json_type::object ? "the answer must be a JSON object" : "the answer must be a JSON array");
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  read(context, root);
  if (!errors.empty()) return Error(util::Shortened(errors.front().Text(), kMaxSentence));
  return Error::Ok();
}

// A list of texts; Go makes an empty text of null.
void ReadNames(Context& context, JsonValue value, std::optional<std::vector<std::string>>& out) {
  std::vector<std::string> names;
  const bool there = ForEachItem(context, value, [&](JsonValue item) {
    std::string name;
    Read(context, item, name);
    names.push_back(std::move(name));
  });
  out.reset();
  if (there) out = std::move(names);
}

void ReadNodeList(Context& context, JsonValue value, std::optional<std::vector<std::string>>& out) {
  std::vector<std::string> names;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue items) {
    if (!KeyMatches(key, "items")) return;
    names.clear();
    ForEachItem(context, items, [&](JsonValue node) {
      std::string name;
      ForEachMember(context, node, [&](std::string_view part, JsonValue metadata) {
        if (!KeyMatches(part, "metadata")) return;
        ForEachMember(context, metadata, [&](std::string_view field, JsonValue text) {
          if (KeyMatches(field, "name")) Read(context, text, name);
        });
      });
      names.push_back(std::move(name));
    });
  });
  out.reset();
  if (there) out = std::move(names);
}

void ReadReasons(Context& context, JsonValue value, Reasons& out) {
  ForEachMember(
      context, value,
      [&](std::string_view node, JsonValue text) {
        std::string reason;
        Read(context, text, reason);
        out.insert_or_assign(std::string(node), ShortReason(reason));
      },
      /*bracketed=*/true);
}

void ReadVictims(Context& context, JsonValue value, framework::Extender::Victims& victims) {
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (KeyMatches(key, "NumPDBViolations")) {
      Read(context, member, victims.pdb_violations);
    } else if (KeyMatches(key, "Pods")) {
      victims.uids.clear();
      ForEachItem(context, member, [&](JsonValue pod) {
        std::string uid;
        const bool known = ForEachMember(context, pod, [&](std::string_view part, JsonValue text) {
          if (KeyMatches(part, "UID")) Read(context, text, uid);
        });
        if (!known && !context.broken()) return context.InvalidRaw("null", "must be a pod");
        victims.uids.push_back(std::move(uid));
      });
    }
  });
  if (!there && !context.broken()) context.InvalidRaw("null", "must be the node's victims");
}

}  // namespace

std::string ShortReason(std::string_view reason) { return util::Shortened(reason, kMaxSentence); }

Result<FilterReply> ReadFilterReply(std::string& body) {
  if (FilterReply plain; PlainReply(body).ReadFilter(plain)) return plain;
  FilterReply reply;
  std::optional<std::vector<std::string>> nodes, names;
  const Error error = ReadReply(body, json_type::object, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (KeyMatches(key, "Nodes")) {
        ReadNodeList(context, value, nodes);
      } else if (KeyMatches(key, "NodeNames")) {
        ReadNames(context, value, names);
      } else if (KeyMatches(key, "FailedNodes")) {
        ReadReasons(context, value, reply.failed);
      } else if (KeyMatches(key, "FailedAndUnresolvableNodes")) {
        ReadReasons(context, value, reply.unresolvable);
      } else if (KeyMatches(key, "Error")) {
        Read(context, value, reply.error);
      }
    });
  });
  if (!error.ok()) return error;
  const auto keep = [&](std::optional<std::vector<std::string>>& from, auto& to) {
    if (!from) return;
    const std::vector<std::string>& kept = reply.kept.emplace_back(std::move(*from));
    to.emplace(kept.begin(), kept.end());
  };
  keep(nodes, reply.nodes);
  keep(names, reply.node_names);
  return reply;
}

Result<ScoreReply> ReadPrioritizeReply(std::string& body) {
  if (ScoreReply plain; PlainReply(body).ReadScores(plain)) return plain;
  ScoreReply reply;
  const Error error = ReadReply(body, json_type::array, [&](Context& context, JsonValue root) {
    ForEachItem(context, root, [&](JsonValue item) {
      std::string host;
      int64_t score = 0;
      ForEachMember(context, item, [&](std::string_view key, JsonValue value) {
        if (KeyMatches(key, "Host")) {
          Read(context, value, host);
        } else if (KeyMatches(key, "Score")) {
          Read(context, value, score);
        }
      });
      reply.kept.push_back(std::move(host));
      reply.scores.emplace_back(std::string_view(), score);
    });
  });
  if (!error.ok()) return error;
  for (size_t i = 0; i < reply.kept.size(); ++i) reply.scores[i].first = reply.kept[i];
  return reply;
}

Result<framework::Extender::VictimMap> ReadPreemptReply(std::string& body) {
  framework::Extender::VictimMap victims;
  const Error error = ReadReply(body, json_type::object, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (!KeyMatches(key, "NodeNameToMetaVictims")) return;
      ForEachMember(
          context, value,
          [&](std::string_view node, JsonValue one) {
            framework::Extender::Victims& of_node = victims[std::string(node)];
            ReadVictims(context, one, of_node);
          },
          /*bracketed=*/true);
    });
  });
  if (!error.ok()) return error;
  return victims;
}

Result<std::string> ReadBindReply(std::string& body) {
  std::string text;
  Error error = ReadReply(body, json_type::object, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (KeyMatches(key, "Error")) Read(context, value, text);
    });
  });
  if (!error.ok()) return error;
  return text;
}

}  // namespace berth::extender_client
