// SPDX-License-Identifier: Apache-2.0
// Reading requests, in one pass over the body.
#include "extender/extender_args.h"

#include <utility>

#include "api/decode_value.h"
#include "api/json_scan.h"

namespace berth::extender {
namespace {

using simdjson::ondemand::json_type;

// Messages go into replies and logs; a client may send values of any length.
constexpr size_t kMaxSentence = 500;

std::string Shortened(std::string text) {
  if (text.size() <= kMaxSentence) return text;
  size_t end = kMaxSentence;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters
  text.resize(end);
  return text + "…";
}

// Walks the members of the one object in `body`: fn(context, key, value).
template <class Fn>
Error Walk(std::string& body, Fn&& fn) {
  // A parser keeps its buffers; those of a huge request are given back.
  constexpr size_t kKeep = size_t{64} << 20;
  thread_local std::unique_ptr<simdjson::ondemand::parser> parser;
  if (!parser) parser = std::make_unique<simdjson::ondemand::parser>();
  struct GiveBack {
    size_t size;
    ~GiveBack() {
      if (size > kKeep) parser.reset();
    }
  } const give_back{body.size()};

  if (body.capacity() < body.size() + simdjson::SIMDJSON_PADDING) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  }
  const auto malformed = [](simdjson::error_code error) {
    return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  };
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return Error("the body is empty");
  simdjson::ondemand::document document;
  if (auto error = parser->iterate(body.data(), body.size(), body.capacity()).get(document)) return malformed(error);
  json_type type;
  if (auto error = document.type().get(type)) return malformed(error);
  if (type != json_type::object) return Error("the body must be a JSON object");
  JsonValue root;
  if (auto error = document.get_value().get(root)) return malformed(error);

  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  ForEachMember(context, root, [&](std::string_view key, JsonValue value) { fn(context, key, value); });
  if (!errors.empty()) return Error(Shortened(errors.front().Text()));
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return Error("malformed JSON: content behind the object");
  }
  return Error::Ok();
}

// A member that nobody reads. The rest of the reader does not look at what it skips.
void PassOver(Context& context, JsonValue value) {
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error);
  std::string_view text;
  if (type == json_type::object || type == json_type::array) {
    if (!RawText(context, value, text)) return;
  } else {
    text = value.raw_json_token();
  }
  const Result<size_t> end = ScanJsonValue(text, 0);
  if (!end.ok()) return context.Malformed(end.error().text());
  if (text.find_first_not_of(" \t\r\n", *end) != std::string_view::npos) context.Malformed("no value of any kind");
}

// False: null, or not an object (recorded). A pod or node that is too large is recorded too.
bool TakeObject(Context& context, JsonValue value, std::string_view& json) {
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type == json_type::null) return IsNull(context, value), false;
  if (type != json_type::object) return context.WrongType("an object", value), false;
  if (!RawText(context, value, json)) return false;
  if (json.size() <= kMaxObjectBytes) return true;
  context.InvalidRaw(std::to_string(json.size()) + " bytes",
                     "must be at most " + std::to_string(kMaxObjectBytes) + " bytes");
  return false;
}

// True: there is room for one more.
bool HasRoom(Context& context, size_t size) {
  if (size < kMaxNodes) return true;
  context.InvalidRaw(std::to_string(size + 1), "must have at most " + std::to_string(kMaxNodes) + " items");
  return false;
}

void ReadPod(Context& context, JsonValue value, std::optional<Pod>& pod) {
  pod.reset();
  std::string_view json;
  if (TakeObject(context, value, json)) pod = DecodePodValue(context, value);
}

void ReadNodes(Context& context, JsonValue value, std::optional<std::vector<RequestNode>>& nodes) {
  nodes.reset();
  std::vector<RequestNode> items;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (!KeyMatches(key, "items")) return PassOver(context, member);
    items.clear();
    ForEachItem(context, member, [&](JsonValue item) {
      if (!HasRoom(context, items.size())) return;
      std::string_view json = "null";  // Go makes an empty node of it
      Node node;
      if (TakeObject(context, item, json)) node = DecodeNodeValue(context, item);
      items.push_back({json, std::make_shared<const Node>(std::move(node))});
    });
  });
  if (there) nodes = std::move(items);
}

void ReadNames(Context& context, JsonValue value, std::optional<std::vector<std::string>>& names) {
  names.reset();
  std::vector<std::string> items;
  const bool there = ForEachItem(context, value, [&](JsonValue item) {
    if (!HasRoom(context, items.size())) return;
    Read(context, item, items.emplace_back());  // null is an empty string to Go
  });
  if (there) names = std::move(items);
}

void ReadText(Context& context, JsonValue value, std::string& text) {
  Read(context, value, text);  // null leaves a Go string as it was
}

// The uid of a Pod, or of a MetaPod.
std::optional<std::string> ReadUid(Context& context, JsonValue value, bool meta) {
  std::string uid;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (meta) {
      KeyMatches(key, "UID") ? ReadText(context, member, uid) : PassOver(context, member);
    } else if (KeyMatches(key, "metadata")) {
      ForEachMember(context, member, [&](std::string_view part, JsonValue inner) {
        if (KeyMatches(part, "uid")) ReadText(context, inner, uid);
      });
    }
  });
  if (!there) return std::nullopt;
  return uid;
}

void ReadVictims(Context& context, JsonValue value, bool meta, std::optional<VictimMap>& out) {
  out.reset();
  VictimMap map;
  size_t pods = 0;
  const bool there = ForEachMember(
      context, value,
      [&](std::string_view node, JsonValue entry) {
        if (!HasRoom(context, map.size())) return;
        Victims victims;
        const bool known = ForEachMember(context, entry, [&](std::string_view key, JsonValue member) {
          if (KeyMatches(key, "NumPDBViolations")) {
            Read(context, member, victims.pdb_violations);
          } else if (KeyMatches(key, "Pods")) {
            std::vector<std::string> uids;
            const bool list = ForEachItem(context, member, [&](JsonValue pod) {
              if (!HasRoom(context, pods++)) return;
              // A null among the pods crashes kube-scheduler when it comes back.
              if (std::optional<std::string> uid = ReadUid(context, pod, meta)) uids.push_back(std::move(*uid));
            });
            victims.uids.reset();
            if (list) victims.uids = std::move(uids);
          } else {
            PassOver(context, member);
          }
        });
        if (known) {
          map.insert_or_assign(std::string(node), std::move(victims));
        } else if (const auto before = map.find(node); before != map.end()) {
          map.erase(before);
        }
      },
      /*bracketed=*/true);
  if (there) out = std::move(map);
}

}  // namespace

bool KeyMatches(std::string_view key, std::string_view field) {
  size_t at = 0;
  for (const char wanted : field) {
    const char lower = static_cast<char>(wanted >= 'A' && wanted <= 'Z' ? wanted + 32 : wanted);
    if (at >= key.size()) return false;
    const char c = key[at];
    if (static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c) == lower) {
      ++at;
    } else if (lower == 's' && key.substr(at).starts_with("\xc5\xbf")) {
      at += 2;
    } else if (lower == 'k' && key.substr(at).starts_with("\xe2\x84\xaa")) {
      at += 3;
    } else {
      return false;
    }
  }
  return at == key.size();
}

Result<ExtenderArgs> DecodeExtenderArgs(std::string& body) {
  ExtenderArgs args;
  const Error error = Walk(body, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "Pod")) {
      ReadPod(context, value, args.pod);
    } else if (KeyMatches(key, "Nodes")) {
      ReadNodes(context, value, args.nodes);
    } else if (KeyMatches(key, "NodeNames")) {
      ReadNames(context, value, args.node_names);
    } else {
      PassOver(context, value);
    }
  });
  if (!error.ok()) return error;
  return args;
}

Result<ExtenderPreemptionArgs> DecodePreemptionArgs(std::string& body) {
  ExtenderPreemptionArgs args;
  const Error error = Walk(body, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "Pod")) {
      ReadPod(context, value, args.pod);
    } else if (KeyMatches(key, "NodeNameToVictims")) {
      ReadVictims(context, value, /*meta=*/false, args.victims);
    } else if (KeyMatches(key, "NodeNameToMetaVictims")) {
      ReadVictims(context, value, /*meta=*/true, args.meta_victims);
    } else {
      PassOver(context, value);
    }
  });
  if (!error.ok()) return error;
  return args;
}

Result<ExtenderBindingArgs> DecodeBindingArgs(std::string& body) {
  ExtenderBindingArgs args;
  const Error error = Walk(body, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "PodName")) {
      ReadText(context, value, args.pod_name);
    } else if (KeyMatches(key, "PodNamespace")) {
      ReadText(context, value, args.pod_namespace);
    } else if (KeyMatches(key, "PodUID")) {
      ReadText(context, value, args.pod_uid);
    } else if (KeyMatches(key, "Node")) {
      ReadText(context, value, args.node);
    } else {
      PassOver(context, value);
    }
  });
  if (!error.ok()) return error;
  return args;
}

}  // namespace berth::extender
