// SPDX-License-Identifier: Apache-2.0
// Reading requests.
#include "extender/extender_args.h"

#include <algorithm>
#include <utility>

#include "api/decode_value.h"
#include "api/go_key.h"
#include "api/json_scan.h"
#include "extender/node_cache.h"
#include "util/text.h"

namespace berth::extender {
namespace {

using simdjson::ondemand::json_type;

// Messages go into replies and logs; a client may send values of any length.
constexpr size_t kMaxSentence = 500;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Calls read(context, root) for the one object in `body`. REQUIRES: room for simdjson's padding behind `text`, and that
// `text` was scanned.
template <class Fn>
Error ReadObject(std::string_view text, size_t capacity, const AnnotationKeys& keep, Fn&& read) {
  // A parser keeps its buffers; those of a huge request are given back.
  constexpr size_t kKeep = size_t{4} << 20;
  thread_local std::unique_ptr<simdjson::ondemand::parser> parser;
  if (!parser) parser = std::make_unique<simdjson::ondemand::parser>();
  struct GiveBack {
    size_t size;
    ~GiveBack() {
      if (size > kKeep) parser.reset();
    }
  } const give_back{text.size()};
  simdjson::ondemand::document document;
  JsonValue root;
  auto error = parser->iterate(text.data(), text.size(), capacity).get(document);
  if (!error) error = document.get_value().get(root);
  if (error) return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  context.KeepAnnotations(&keep);
  read(context, root);
  if (!errors.empty()) return Error(util::Shortened(errors.front().Text(), kMaxSentence));
  return Error::Ok();
}

// Walks the members of the one object in `body`: fn(context, key, value).
template <class Fn>
Error Walk(std::string& body, const AnnotationKeys& keep, Fn&& fn) {
  if (body.capacity() < body.size() + simdjson::SIMDJSON_PADDING) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  }
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return Error("the body is empty");
  // simdjson does not look at what nobody reads, so all is looked at before.
  const Result<size_t> end = ScanJsonValue(body, start);
  if (!end.ok()) return end.error();
  if (body[start] != '{') return Error("the body must be a JSON object");
  if (body.find_first_not_of(" \t\r\n", *end) != std::string::npos) {
    return Error("malformed JSON: content behind the object");
  }
  return ReadObject(body, body.capacity(), keep, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) { fn(context, key, value); });
  });
}

// False: null, or not an object (recorded). A pod or node that is too large is recorded too. `body` is all that is
// being read, and valid.
bool TakeObject(Context& context, std::string_view body, JsonValue value, std::string_view& json) {
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type == json_type::null) return IsNull(context, value), false;
  if (type != json_type::object) return context.WrongType("an object", value), false;
  const char* start = nullptr;
  if (auto error = value.current_location().get(start)) return context.Broken(error), false;
  const auto offset = static_cast<size_t>(start - body.data());
  const Result<size_t> end = ScanJsonValue(body, offset);
  if (!end.ok()) return context.Malformed(end.error().text()), false;
  json = body.substr(offset, *end - offset);
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

// Returns how many items its lists have.
size_t ReadPod(Context& context, std::string_view body, JsonValue value, std::optional<Pod>& pod) {
  pod.reset();
  std::string_view json;
  if (!TakeObject(context, body, value, json)) return 0;
  pod = DecodePodValue(context, value);
  return context.items();
}

void ReadNodes(Context& context, std::string_view body, JsonValue value, bool with_images, ExtenderArgs& args) {
  args.nodes.reset();
  args.node_items = 0;
  std::vector<RequestNode> items;
  const size_t most = MaxItems(body.size());
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (!KeyMatches(key, "items")) return;
    items.clear();
    args.node_items = 0;
    ForEachItem(context, member, [&](JsonValue item) {
      if (!HasRoom(context, items.size())) return;
      std::string_view json = "null";  // Go makes an empty node of it
      Node node;
      if (TakeObject(context, body, item, json)) {
        node = DecodeNodeValue(context, item, with_images);
        args.node_items += context.items();
        if (args.node_items > most) {
          context.InvalidRaw(std::to_string(args.node_items),
                             "the lists of all nodes of a request of " + std::to_string(body.size()) +
                                 " bytes must have at most " + std::to_string(most) + " items together");
          return;
        }
      }
      items.push_back({json, std::make_shared<const Node>(std::move(node))});
    });
  });
  if (there) args.nodes = std::move(items);
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
      if (KeyMatches(key, "UID")) ReadText(context, member, uid);
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

Error ReadArgs(std::string& body, bool with_images, const AnnotationKeys& keep, ExtenderArgs& args) {
  args = {};
  return Walk(body, keep, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "Pod")) {
      args.pod_items = ReadPod(context, body, value, args.pod);
    } else if (KeyMatches(key, "Nodes")) {
      ReadNodes(context, body, value, with_images, args);
    } else if (KeyMatches(key, "NodeNames")) {
      ReadNames(context, value, args.node_names);
    }
  });
}

Error CheckPairsOf(const ExtenderArgs& args) {
  return CheckPairs(args.pod_items, args.node_items + args.node_count(), "nodes and items of their lists");
}

// Reads the nodes of a request one by one: those that the cache knows are passed over by their length, others are
// scanned and decoded alone. So simdjson needs no index of the whole body, which would be several times its size.
// Whatever is out of the ordinary ends it, and the request is read as any other.
class PiecewiseReader {
 public:
  PiecewiseReader(std::string& body, NodeCache& cache, const AnnotationKeys& keep)
      : text_(body), capacity_(body.capacity()), cache_(cache), keep_(keep) {}

  // False: read the body otherwise.
  bool Run() {
    if (!Take('{')) return false;
    rest_ = '{';
    bool found = false;
    do {
      Space();
      const size_t start = at_;
      std::string_view key;
      if (!Key(key)) return false;
      if (KeyMatches(key, "Nodes")) {
        if (!Nodes()) return false;
        found = true;
        continue;
      }
      if (!Pass(1)) return false;
      if (rest_.size() > 1) rest_ += ',';
      rest_ += text_.substr(start, at_ - start);
    } while (Take(','));
    if (!found || !Take('}')) return false;
    Space();
    rest_ += '}';
    return at_ == text_.size();
  }
  // The request without its nodes.
  std::string& rest() { return rest_; }
  std::vector<RequestNode>& nodes() { return nodes_; }
  bool all_cached() const { return all_cached_; }
  size_t items() const { return items_; }

 private:
  void Space() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool Is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool Take(char c) {
    Space();
    if (!Is(c)) return false;
    ++at_;
    return true;
  }
  // A key without escapes, and the colon behind it.
  bool Key(std::string_view& key) {
    if (!Take('"')) return false;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= ' ') {
      ++at_;
    }
    key = text_.substr(start, at_ - start);
    return Is('"') && ++at_ && Take(':');
  }
  // Over one value, which must be valid, within `depth` levels.
  bool Pass(int depth) {
    Space();
    const Result<size_t> end = ScanJsonValue(text_, at_, depth);
    if (!end.ok()) return false;
    at_ = *end;
    return true;
  }

  bool Nodes() {
    if (!Take('{')) return false;
    nodes_.clear();
    if (Take('}')) return true;
    do {
      Space();
      const size_t start = at_;
      std::string_view key;
      if (!Key(key)) return false;
      if (KeyMatches(key, "items")) {
        if (!Items()) return false;
      } else if (!Pass(2) || !CheckUtf8(text_.substr(start, at_ - start)).ok()) {
        return false;
      }
    } while (Take(','));
    return Take('}');
  }

  bool Items() {
    if (!Take('[')) return false;
    nodes_.clear();
    items_ = 0;
    if (Take(']')) return true;
    do {
      Space();
      if (!Is('{') || nodes_.size() == kMaxNodes) return false;
      if (NodeCache::Found known = cache_.Find(text_.substr(at_)); known.node) {
        nodes_.push_back({text_.substr(at_, known.size), std::move(known.node)});
        at_ += known.size;
        items_ += known.items;
        if (items_ > MaxItems(text_.size())) return false;
      } else if (!Item()) {
        return false;
      }
    } while (Take(','));
    return Take(']');
  }

  bool Item() {
    const size_t start = at_;
    if (!Pass(3)) return false;
    const std::string_view json = text_.substr(start, at_ - start);
    if (json.size() > kMaxObjectBytes) return false;
    Node node;
    size_t items = 0;
    const Error error = ReadObject(json, capacity_ - start, keep_, [&](Context& context, JsonValue root) {
      node = DecodeNodeValue(context, root, cache_.with_images());
      items = context.items();
    });
    items_ += items;
    if (!error.ok() || items_ > MaxItems(text_.size())) return false;
    nodes_.push_back({json, std::make_shared<const Node>(std::move(node))});
    if (!cache_.Add(json, nodes_.back().node, items)) all_cached_ = false;
    return true;
  }

  const std::string_view text_;
  const size_t capacity_;
  NodeCache& cache_;
  const AnnotationKeys& keep_;
  size_t at_ = 0;
  size_t items_ = 0;  // of the lists of all nodes
  std::string rest_;
  std::vector<RequestNode> nodes_;
  bool all_cached_ = true;
};

}  // namespace

Error CheckPairs(size_t pod_items, size_t count, std::string_view others) {
  if (count == 0 || pod_items <= kMaxPairs / count) return Error::Ok();
  return Error("the lists of the pod have " + std::to_string(pod_items) + " items, and there are " +
               std::to_string(count) + " " + std::string(others) + ": the product must be at most " +
               std::to_string(kMaxPairs));
}

Result<ExtenderArgs> DecodeExtenderArgs(std::string& body, NodeCache* cache, const AnnotationKeys& keep) {
  if (body.capacity() < body.size() + simdjson::SIMDJSON_PADDING) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  }
  ExtenderArgs args;
  if (cache != nullptr) {
    PiecewiseReader reader(body, *cache, keep);
    if (reader.Run() && ReadArgs(reader.rest(), cache->with_images(), keep, args).ok()) {
      args.nodes = std::move(reader.nodes());
      args.nodes_cached = reader.all_cached();
      args.node_items = reader.items();
      cache->Settle(args.nodes->size());
      if (Error error = CheckPairsOf(args); !error.ok()) return error;
      return args;
    }
  }
  Error error = ReadArgs(body, cache == nullptr || cache->with_images(), keep, args);
  if (error.ok()) error = CheckPairsOf(args);
  if (!error.ok()) return error;
  return args;
}

Result<ExtenderPreemptionArgs> DecodePreemptionArgs(std::string& body, const AnnotationKeys& keep) {
  ExtenderPreemptionArgs args;
  const Error error = Walk(body, keep, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "Pod")) {
      args.pod_items = ReadPod(context, body, value, args.pod);
    } else if (KeyMatches(key, "NodeNameToVictims")) {
      ReadVictims(context, value, /*meta=*/false, args.victims);
    } else if (KeyMatches(key, "NodeNameToMetaVictims")) {
      ReadVictims(context, value, /*meta=*/true, args.meta_victims);
    }
  });
  if (!error.ok()) return error;
  size_t nodes = 0;
  for (const std::optional<VictimMap>* map : {&args.victims, &args.meta_victims}) {
    if (*map) nodes = std::max(nodes, (*map)->size());
  }
  if (Error pairs = CheckPairs(args.pod_items, nodes, "nodes"); !pairs.ok()) return pairs;
  return args;
}

Result<ExtenderBindingArgs> DecodeBindingArgs(std::string& body) {
  ExtenderBindingArgs args;
  const Error error = Walk(body, {}, [&](Context& context, std::string_view key, JsonValue value) {
    if (KeyMatches(key, "PodName")) {
      ReadText(context, value, args.pod_name);
    } else if (KeyMatches(key, "PodNamespace")) {
      ReadText(context, value, args.pod_namespace);
    } else if (KeyMatches(key, "PodUID")) {
      ReadText(context, value, args.pod_uid);
    } else if (KeyMatches(key, "Node")) {
      ReadText(context, value, args.node);
    }
  });
  if (!error.ok()) return error;
  return args;
}

}  // namespace berth::extender
