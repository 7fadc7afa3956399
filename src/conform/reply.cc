// SPDX-License-Identifier: Apache-2.0
#include "conform/reply.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/decode_value.h"
#include "api/json_scan.h"
#include "api/lone_surrogates.h"
#include "util/text.h"

namespace berth::conform {
namespace {

using simdjson::ondemand::json_type;

constexpr size_t kMaxSentence = 300;

// Go takes a key for a field whatever the case of its letters.
bool Is(std::string_view key, std::string_view field) {
  return std::ranges::equal(key, field, [](char a, char b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(a) == lower(b);
  });
}

// The whole of a value, of which `token` is the beginning. REQUIRES: `body` has been scanned.
std::string_view TextFrom(std::string_view body, std::string_view token) {
  const auto begin = static_cast<size_t>(token.data() - body.data());
  const Result<size_t> end = ScanJsonValue(body, begin);
  return end.ok() ? body.substr(begin, *end - begin) : std::string_view();
}

void ReadNodeList(Context& context, JsonValue value, Reply& reply) {
  std::vector<ReplyNode> nodes;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (!Is(key, "items")) return;
    nodes.clear();
    ForEachItem(context, member, [&](JsonValue item) {
      ReplyNode& node = nodes.emplace_back();
      json_type type;
      if (auto error = item.type().get(type)) return context.Broken(error);
      if (type == json_type::null) {
        IsNull(context, item);  // Go makes an empty node of it
        return;
      }
      if (type != json_type::object) return context.WrongType("an object", item);
      node.json = TextFrom(*reply.body, item.raw_json_token());
      node.name = DecodeNodeValue(context, item).name();
    });
  });
  reply.nodes = there ? std::optional(std::move(nodes)) : std::nullopt;
}

void ReadNames(Context& context, JsonValue value, Reply& reply) {
  std::vector<std::string> names;
  const bool there = ForEachItem(context, value, [&](JsonValue item) { Read(context, item, names.emplace_back()); });
  reply.node_names = there ? std::optional(std::move(names)) : std::nullopt;
}

void ReadReasons(Context& context, JsonValue value, std::map<std::string, std::string>& reasons) {
  ForEachMember(
      context, value,
      [&](std::string_view node, JsonValue reason) {
        std::string text;
        Read(context, reason, text);
        reasons.insert_or_assign(std::string(node), std::move(text));
      },
      /*bracketed=*/true);
}

void ReadFilter(Context& context, JsonValue root, Reply& reply) {
  ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
    if (Is(key, "Nodes")) ReadNodeList(context, value, reply);
    if (Is(key, "NodeNames")) ReadNames(context, value, reply);
    if (Is(key, "FailedNodes")) ReadReasons(context, value, reply.failed);
    if (Is(key, "FailedAndUnresolvableNodes")) ReadReasons(context, value, reply.unresolvable);
    if (Is(key, "Error")) Read(context, value, reply.error);
  });
}

void ReadPriorities(Context& context, JsonValue root, Reply& reply) {
  ForEachItem(context, root, [&](JsonValue item) {
    HostPriority& priority = reply.priorities.emplace_back();
    ForEachMember(context, item, [&](std::string_view key, JsonValue value) {
      if (Is(key, "Host")) Read(context, value, priority.host);
      if (Is(key, "Score")) Read(context, value, priority.score);
    });
  });
}

std::optional<MetaVictims> ReadVictims(Context& context, JsonValue value) {
  MetaVictims victims;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (Is(key, "NumPDBViolations")) Read(context, member, victims.pdb_violations);
    if (!Is(key, "Pods")) return;
    victims.uids.clear();
    ForEachItem(context, member, [&](JsonValue pod) {
      std::string uid;
      const bool known = ForEachMember(context, pod, [&](std::string_view name, JsonValue field) {
        if (Is(name, "UID")) Read(context, field, uid);
      });
      victims.uids.push_back(known ? std::optional(std::move(uid)) : std::nullopt);
    });
  });
  if (!there) return std::nullopt;
  return victims;
}

void ReadPreemption(Context& context, JsonValue root, Reply& reply) {
  ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
    if (Is(key, "NodeNameToVictims")) reply.other_map = true;
    if (!Is(key, "NodeNameToMetaVictims")) return;
    ForEachMember(
        context, value,
        [&](std::string_view node, JsonValue victims) {
          reply.victims.insert_or_assign(std::string(node), ReadVictims(context, victims));
        },
        /*bracketed=*/true);
  });
}

void ReadBinding(Context& context, JsonValue root, Reply& reply) {
  ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
    if (Is(key, "Error")) Read(context, value, reply.error);
  });
}

std::string Shortened(std::string_view text) { return util::Shortened(text, kMaxSentence); }

}  // namespace

Result<Reply> ReadReply(Verb verb, std::string body) {
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return Error("the body is empty");
  // Go reads one value and leaves what is behind it; simdjson does not look at what it skips.
  const size_t lone = ReplaceLoneSurrogates(body);
  const Result<size_t> end = ScanJsonValue(body, start);
  if (!end.ok()) return Error(Shortened(end.error().text()));
  body.resize(*end);
  // `null` leaves what Go decodes into as it is.
  if (std::string_view(body).substr(start) == "null") return Reply{};
  const bool valid = CheckUtf8(body).ok();
  if (!valid) body = util::ValidUtf8(body);

  Reply reply;
  reply.repaired = !valid || lone < *end;
  const auto text = std::make_shared<std::string>(std::move(body));
  text->reserve(text->size() + simdjson::SIMDJSON_PADDING);
  reply.body = text;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  const auto malformed = [](simdjson::error_code error) {
    return Error(std::string("not JSON: ") + simdjson::error_message(error));
  };
  if (auto error = parser.iterate(text->data(), text->size(), text->capacity()).get(document)) return malformed(error);
  json_type type;
  if (auto error = document.type().get(type)) return malformed(error);
  const json_type wanted = verb == Verb::kPrioritize ? json_type::array : json_type::object;
  if (type != wanted) {
    return Error(wanted == json_type::array ? "it is not an array of {Host, Score}" : "it is not a JSON object");
  }
  JsonValue root;
  if (auto error = document.get_value().get(root)) return malformed(error);

  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  switch (verb) {
    case Verb::kFilter:
      ReadFilter(context, root, reply);
      break;
    case Verb::kPrioritize:
      ReadPriorities(context, root, reply);
      break;
    case Verb::kPreempt:
      ReadPreemption(context, root, reply);
      break;
    case Verb::kBind:
      ReadBinding(context, root, reply);
      break;
  }
  if (!errors.empty()) return Error(Shortened(errors.front().Text()));
  return reply;
}

std::vector<std::string> PassedNodes(Shape shape, const Reply& reply) {
  if (shape == Shape::kNames && reply.node_names) return *reply.node_names;
  std::vector<std::string> names;
  if (reply.nodes) {
    for (const ReplyNode& node : *reply.nodes) names.push_back(node.name);
  }
  return names;
}

std::string Decision(Target target, const Reply& reply) {
  std::multiset<std::string> parts;
  switch (target.verb) {
    case Verb::kFilter:
      for (const std::string& name : PassedNodes(target.shape, reply)) parts.insert("passes " + name);
      for (const auto& [name, reason] : reply.failed) parts.insert("fails " + name);
      for (const auto& [name, reason] : reply.unresolvable) parts.insert("fails for good " + name);
      break;
    case Verb::kPrioritize:
      for (const HostPriority& one : reply.priorities) parts.insert(one.host + " scores " + std::to_string(one.score));
      break;
    case Verb::kPreempt:
      for (const auto& [name, victims] : reply.victims) {
        std::string part = name + " evicts";
        if (!victims) part += " null";
        if (victims) {
          for (const std::optional<std::string>& uid : victims->uids) part += " " + uid.value_or("null");
          part += " violating " + std::to_string(victims->pdb_violations);
        }
        parts.insert(std::move(part));
      }
      break;
    case Verb::kBind:
      break;
  }
  std::string text = reply.error.empty() ? "" : "Error\n";
  for (const std::string& part : parts) text += part + "\n";
  return text;
}

std::vector<std::string> NodesNamed(Target target, const Reply& reply) {
  std::vector<std::string> names;
  switch (target.verb) {
    case Verb::kFilter:
      names = PassedNodes(target.shape, reply);
      for (const auto& [name, reason] : reply.failed) names.push_back(name);
      for (const auto& [name, reason] : reply.unresolvable) names.push_back(name);
      break;
    case Verb::kPrioritize:
      for (const HostPriority& one : reply.priorities) names.push_back(one.host);
      break;
    case Verb::kPreempt:
      for (const auto& [name, victims] : reply.victims) names.push_back(name);
      break;
    case Verb::kBind:
      break;
  }
  return names;
}

}  // namespace berth::conform
