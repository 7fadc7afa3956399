// SPDX-License-Identifier: Apache-2.0
// One YAML document as a tree of nodes, and its JSON form. Used by yaml.cc only.
#pragma once

#include <yaml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/source_lines.h"
#include "berth/error.h"
#include "util/secret_hash.h"

namespace berth {

// What a parser that returned 0 complains about, with its place.
Error YamlParserError(const yaml_parser_t& parser);

// A document read from a libyaml parser. Nodes live in one vector, texts in one string; children are a linked list.
class YamlTree {
 public:
  // Reads events up to the end of the document. REQUIRES: the parser has just delivered DOCUMENT-START.
  Error Read(yaml_parser_t& parser);
  // True when the document holds nothing but an empty plain scalar.
  bool empty() const;
  // Appends the document's JSON; an Error when it takes more than `budget` bytes and merged entries. `lines` gets the
  // lines of its fields; may be null.
  Error ToJson(size_t budget, std::string& out, SourceLines* lines = nullptr);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Type : uint8_t { kScalar, kSequence, kMapping, kAlias };
  struct Node {
    Type type;
    bool plain = false;   // scalar: resolved by its form
    bool binary = false;  // scalar: !!binary
    bool merge = false;   // scalar: the merge key <<
    bool open = true;     // container that is still being read
    uint32_t line = 0;
    uint32_t text = 0, text_size = 0;                    // scalar
    uint32_t first = kNone, last = kNone, next = kNone;  // children; alias: `first` is the target
  };
  // One entry of a mapping after merging: the key's string and the value's node.
  struct Entry {
    std::string key;
    uint32_t value;
    uint32_t line;  // of the key
  };
  using Keys = std::unordered_map<std::string, size_t, SecretStringHash>;  // to their places among the entries

  Error Handle(const yaml_event_t& event);
  Error AddScalar(const yaml_event_t& event);
  uint32_t Add(Type type, const yaml_mark_t& mark);
  void Anchor(const unsigned char* anchor, uint32_t node);
  std::string_view Text(const Node& node) const { return std::string_view(texts_).substr(node.text, node.text_size); }
  Error At(const Node& node, const std::string& what) const;
  Error DecodeBinary(const Node& node, std::string& out) const;
  Error Key(uint32_t key, std::string& out) const;
  Error Collect(uint32_t mapping, bool merged, int depth, std::vector<Entry>& entries, Keys& index);
  Error Merge(uint32_t value, int depth, std::vector<Entry>& entries, Keys& index);
  Error Emit(uint32_t node, int depth, std::string& out);
  // `part` of the path is written at `line`.
  Error EmitPart(const std::string& part, uint32_t line, uint32_t node, int depth, std::string& out);
  Error EmitScalar(const Node& node, std::string& out) const;
  Error Spend(size_t amount);
  uint32_t Resolve(uint32_t node) const { return nodes_[node].type == Type::kAlias ? nodes_[node].first : node; }

  std::vector<Node> nodes_;
  std::string texts_;
  std::vector<uint32_t> open_;  // containers being read, outermost first
  std::unordered_map<std::string, uint32_t, SecretStringHash> anchors_;
  SourceLines* lines_ = nullptr;
  std::string path_;  // of what is being written, where lines are wanted
  size_t budget_ = 0, spent_ = 0, out_start_ = 0;
};

}  // namespace berth
