// SPDX-License-Identifier: Apache-2.0
// One YAML document as a tree: anchors, aliases, merge keys, and its JSON text within a budget.
#include "api/yaml_tree.h"

#include <unordered_set>
#include <utility>

#include "api/base64.h"
#include "api/json_scan.h"
#include "api/load_error.h"
#include "api/yaml_scalar.h"

namespace berth {
namespace {

// What a merged entry costs of the budget: merging takes time even where the entry is overridden and never written.
constexpr size_t kMergeCost = 8;
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

}  // namespace

Error YamlParserError(const yaml_parser_t& parser) {
  const char* problem = parser.problem ? parser.problem : "unknown problem";
  if (parser.error == YAML_READER_ERROR) {
    return Error("malformed YAML: " + std::string(problem) + " at byte " + std::to_string(parser.problem_offset));
  }
  return Error("malformed YAML at line " + std::to_string(parser.problem_mark.line + 1) + ", column " +
               std::to_string(parser.problem_mark.column + 1) + ": " + problem);
}

Error YamlTree::Read(yaml_parser_t& parser) {
  for (;;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) return YamlParserError(parser);
    if (event.type == YAML_NO_EVENT) return Error("malformed YAML: document without end");
    const bool done = event.type == YAML_DOCUMENT_END_EVENT;
    Error error = done ? Error::Ok() : Handle(event);
    yaml_event_delete(&event);
    if (done || !error.ok()) return error;
  }
}

bool YamlTree::empty() const {
  return nodes_.empty() || (nodes_.size() == 1 && nodes_[0].plain && nodes_[0].text_size == 0);
}

Error YamlTree::Handle(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return AddScalar(event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: {
      const bool mapping = event.type == YAML_MAPPING_START_EVENT;
      const uint32_t node = Add(mapping ? Type::kMapping : Type::kSequence, event.start_mark);
      open_.push_back(node);
      if (open_.size() > kMaxJsonDepth) return At(nodes_[node], "nested too deeply (limit 512 levels)");
      Anchor(mapping ? event.data.mapping_start.anchor : event.data.sequence_start.anchor, node);
      return Error::Ok();
    }
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      nodes_[open_.back()].open = false;
      open_.pop_back();
      return Error::Ok();
    case YAML_ALIAS_EVENT: {
      const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
      const uint32_t node = Add(Type::kAlias, event.start_mark);
      const auto it = anchors_.find(name);
      if (it == anchors_.end()) return At(nodes_[node], "unknown anchor referenced");
      if (nodes_[it->second].open) return At(nodes_[node], "anchor value contains itself");
      nodes_[node].first = it->second;
      return Error::Ok();
    }
    default:
      return Error::Ok();
  }
}

Error YamlTree::AddScalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const uint32_t index = Add(Type::kScalar, event.start_mark);
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const std::string_view tag = scalar.tag ? reinterpret_cast<const char*>(scalar.tag) : "";
  if (texts_.size() + text.size() > UINT32_MAX) return At(nodes_[index], "document larger than 4 GiB");
  Node& node = nodes_[index];
  node.open = false;
  node.text = static_cast<uint32_t>(texts_.size());
  node.text_size = static_cast<uint32_t>(text.size());
  texts_ += text;
  node.merge = text == "<<" && ((tag.empty() && scalar.plain_implicit) || tag == std::string(kTagPrefix) + "merge");
  if (tag.empty()) {
    node.plain = scalar.plain_implicit != 0;
  } else if (tag.substr(0, kTagPrefix.size()) == kTagPrefix) {
    const std::string_view type = tag.substr(kTagPrefix.size());
    node.binary = type == "binary";
    node.plain = type == "bool" || type == "int" || type == "float" || type == "null";
    if (node.plain) {
      const ScalarKind kind = ResolveScalar(text).kind;
      const bool fits = (type == "bool" && kind == ScalarKind::kBool) || (type == "int" && kind == ScalarKind::kInt) ||
                        (type == "float" && (kind == ScalarKind::kFloat || kind == ScalarKind::kInt)) ||
                        (type == "null" && kind == ScalarKind::kNull);
      if (!fits) return At(node, "cannot be decoded as a !!" + std::string(type));
    }
  }
  Anchor(scalar.anchor, index);
  return Error::Ok();
}

uint32_t YamlTree::Add(Type type, const yaml_mark_t& mark) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({.type = type, .line = static_cast<uint32_t>(mark.line + 1)});
  if (!open_.empty()) {
    Node& parent = nodes_[open_.back()];
    if (parent.last == kNone) {
      parent.first = index;
    } else {
      nodes_[parent.last].next = index;
    }
    parent.last = index;
  }
  return index;
}

void YamlTree::Anchor(const unsigned char* anchor, uint32_t node) {
  if (anchor) anchors_[reinterpret_cast<const char*>(anchor)] = node;
}

Error YamlTree::At(const Node& node, const std::string& what) const {
  return Error("malformed YAML at line " + std::to_string(node.line) + ": " + what);
}

Error YamlTree::Spend(size_t amount) {
  spent_ += amount;
  if (spent_ > budget_) {
    return Error("malformed YAML: document grows beyond " + std::to_string(budget_) + " bytes through aliases");
  }
  return Error::Ok();
}

Error YamlTree::ToJson(size_t budget, std::string& out, SourceLines* lines) {
  lines_ = lines;
  path_.clear();
  if (lines_ && !nodes_.empty()) lines_->Set("", nodes_[0].line);
  budget_ = budget;
  spent_ = 0;
  out_start_ = out.size();
  if (nodes_.empty()) {
    out += "null";
    return Error::Ok();
  }
  return Emit(0, 0, out);
}

Error YamlTree::Emit(uint32_t index, int depth, std::string& out) {
  index = Resolve(index);
  const Node& node = nodes_[index];
  if (depth > kMaxJsonDepth) return At(node, "nested too deeply (limit 512 levels)");
  if (out.size() - out_start_ + spent_ > budget_) return Spend(out.size() - out_start_);
  switch (node.type) {
    case Type::kScalar:
      return EmitScalar(node, out);
    case Type::kSequence: {
      char before = '[';
      size_t index_in_list = 0;
      for (uint32_t child = node.first; child != kNone; child = nodes_[child].next) {
        out += before;
        Error error =
            lines_ ? EmitPart("[" + std::to_string(index_in_list++) + "]", nodes_[child].line, child, depth + 1, out)
                   : Emit(child, depth + 1, out);
        if (!error.ok()) return error;
        before = ',';
      }
      out += before == '[' ? "[]" : "]";
      return Error::Ok();
    }
    case Type::kMapping: {
      std::vector<Entry> entries;
      Keys seen;
      if (Error error = Collect(index, false, depth, entries, seen); !error.ok()) return error;
      char before = '{';
      for (const Entry& entry : entries) {
        out += before;
        AppendJsonString(entry.key, out);
        out += ':';
        Error error = lines_ ? EmitPart((path_.empty() ? "" : ".") + entry.key, entry.line, entry.value, depth + 1, out)
                             : Emit(entry.value, depth + 1, out);
        if (!error.ok()) return error;
        before = ',';
      }
      out += before == '{' ? "{}" : "}";
      return Error::Ok();
    }
    case Type::kAlias:
      break;
  }
  return At(node, "alias of an alias");
}

Error YamlTree::EmitPart(const std::string& part, uint32_t line, uint32_t node, int depth, std::string& out) {
  const size_t size = path_.size();
  const bool wanted = lines_->Wants(static_cast<size_t>(depth), size + part.size());
  if (!wanted) {
    SourceLines* const lines = std::exchange(lines_, nullptr);
    Error error = Emit(node, depth, out);
    lines_ = lines;
    return error;
  }
  path_ += part;
  lines_->Set(path_, line);
  Error error = Emit(node, depth, out);
  path_.resize(size);
  return error;
}

Error YamlTree::DecodeBinary(const Node& node, std::string& out) const {
  Result<std::string> data = DecodeBase64(Text(node));
  if (!data.ok()) return At(node, "!!binary value contains invalid base64 data");
  if (Error error = CheckUtf8(data.value()); !error.ok())
    return At(node, "!!binary value is not text: " + error.text());
  out = std::move(data).value();
  return Error::Ok();
}

Error YamlTree::EmitScalar(const Node& node, std::string& out) const {
  if (node.binary) {
    std::string data;
    if (Error error = DecodeBinary(node, data); !error.ok()) return error;
    AppendJsonString(data, out);
    return Error::Ok();
  }
  if (!node.plain) {
    AppendJsonString(Text(node), out);
    return Error::Ok();
  }
  const Scalar scalar = ResolveScalar(Text(node));
  if (scalar.kind == ScalarKind::kString) {
    AppendJsonString(scalar.json, out);
  } else if (scalar.json.empty()) {
    return At(node, "unsupported value: " + std::string(Text(node)));
  } else {
    out += scalar.json;
  }
  return Error::Ok();
}

Error YamlTree::Key(uint32_t key, std::string& out) const {
  const Node& node = nodes_[Resolve(key)];
  if (node.type != Type::kScalar) return At(nodes_[key], "a map key must be a scalar");
  if (node.binary) return DecodeBinary(node, out);
  if (!node.plain) {
    out = Text(node);
    return Error::Ok();
  }
  Scalar scalar = ResolveScalar(Text(node));
  if (scalar.bad_key) return At(nodes_[key], "unsupported map key: " + std::string(Text(node)));
  out = std::move(scalar.key);
  return Error::Ok();
}

Error YamlTree::Collect(uint32_t mapping, bool merged, int depth, std::vector<Entry>& entries, Keys& index) {
  // `own` tells an explicit duplicate of this mapping from an entry that a merge key brought.
  std::unordered_set<std::string, SecretStringHash> own;
  for (uint32_t child = nodes_[mapping].first; child != kNone; child = nodes_[nodes_[child].next].next) {
    const uint32_t value = nodes_[child].next;
    if (nodes_[child].type == Type::kScalar && nodes_[child].merge) {
      if (Error error = Merge(value, depth + 1, entries, index); !error.ok()) return error;
      continue;
    }
    std::string key;
    if (Error error = Key(child, key); !error.ok()) return error;
    if (!own.insert(key).second) return At(nodes_[child], "key " + Quoted(key) + " already set in map");
    if (merged) {
      if (Error error = Spend(key.size() + kMergeCost); !error.ok()) return error;
    }
    const auto [it, added] = index.emplace(key, entries.size());
    if (added) {
      entries.push_back({std::move(key), value, nodes_[child].line});
    } else {
      // The later one wins, whether it is explicit or merged: that is what go-yaml v2 does.
      entries[it->second].value = value;
      entries[it->second].line = nodes_[child].line;
    }
  }
  return Error::Ok();
}

Error YamlTree::Merge(uint32_t value, int depth, std::vector<Entry>& entries, Keys& index) {
  const uint32_t target = Resolve(value);
  const Node& node = nodes_[target];
  if (depth > kMaxJsonDepth) return At(node, "nested too deeply (limit 512 levels)");
  if (Error error = Spend(1); !error.ok()) return error;
  if (node.type == Type::kMapping) return Collect(target, true, depth, entries, index);
  if (node.type == Type::kSequence && target == value) {
    std::vector<uint32_t> maps;
    for (uint32_t child = node.first; child != kNone; child = nodes_[child].next) maps.push_back(child);
    // Backwards, so that the first map wins.
    for (size_t i = maps.size(); i-- > 0;) {
      const uint32_t map = Resolve(maps[i]);
      if (nodes_[map].type != Type::kMapping)
        return At(node, "map merge requires map or sequence of maps as the value");
      if (Error error = Spend(1); !error.ok()) return error;
      if (Error error = Collect(map, true, depth, entries, index); !error.ok()) return error;
    }
    return Error::Ok();
  }
  return At(node, "map merge requires map or sequence of maps as the value");
}

}  // namespace berth
