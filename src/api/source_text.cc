// SPDX-License-Identifier: Apache-2.0
#include "api/source_text.h"

#include <algorithm>

#include "api/json_scan.h"

namespace berth {
namespace {

// Walks the members of the object at `at`: fn(key, value), both as they are written. Returns what is behind it.
template <class Fn>
size_t EachMember(std::string_view json, size_t at, Fn&& fn) {
  const auto space = [&] { at = std::min(json.find_first_not_of(" \t\r\n", at), json.size()); };
  const auto pass = [&]() -> std::string_view {
    space();
    const size_t start = at;
    const Result<size_t> end = ScanJsonValue(json, at);
    at = end.ok() ? *end : json.size();
    return json.substr(start, at - start);
  };
  ++at;
  for (space(); at < json.size() && json[at] != '}'; space()) {
    const std::string_view key = pass();
    space();
    ++at;  // the colon
    const std::string_view value = pass();
    fn(key, value);
    space();
    if (at < json.size() && json[at] == ',') ++at;
  }
  return at + 1;
}

void AddMember(std::string_view key, std::string_view value, std::string& out) {
  if (out.back() != '{') out += ',';
  out += key;
  out += ':';
  out += value;
}

// A text without escapes, which names and kinds are; empty for anything else.
std::string_view Plain(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.find('\\') != std::string_view::npos) return {};
  return json.substr(1, json.size() - 2);
}

// The value of a member; empty: it is not there.
std::string_view Member(std::string_view object, std::string_view key) {
  std::string_view found;
  if (!object.starts_with('{')) return found;
  EachMember(object, 0, [&](std::string_view name, std::string_view value) {
    if (Plain(name) == key) found = value;
  });
  return found;
}

template <class Fn>
void EachItem(std::string_view array, Fn&& fn) {
  if (!array.starts_with('[')) return;
  size_t at = 1;
  for (;;) {
    at = array.find_first_not_of(" \t\r\n,", at);
    if (at == std::string_view::npos || array[at] == ']') return;
    const Result<size_t> end = ScanJsonValue(array, at);
    if (!end.ok()) return;
    fn(array.substr(at, *end - at));
    at = *end;
  }
}

}  // namespace

std::string CompletedSource(std::string_view json, const ObjectMeta& meta) {
  std::string out = "{";
  bool seen = false;
  const auto complete = [&](std::string_view metadata) {
    std::string text = "{";
    if (metadata.starts_with('{'))
      EachMember(metadata, 0, [&](std::string_view part, std::string_view value) { AddMember(part, value, text); });
    const auto add = [&](std::string_view key, const std::string& value) {
      if (value.empty() || !Member(metadata, key).empty()) return;
      std::string name, quoted;
      AppendJsonString(key, name);
      AppendJsonString(value, quoted);
      AddMember(name, quoted, text);
    };
    add("name", meta.name);
    add("namespace", meta.namespace_);
    add("uid", meta.uid);
    return text += '}';
  };
  EachMember(json, 0, [&](std::string_view key, std::string_view value) {
    if (Plain(key) != "metadata") return AddMember(key, value, out);
    seen = true;
    AddMember(key, complete(value), out);
  });
  if (!seen) AddMember("\"metadata\"", complete("{}"), out);
  return out += '}';
}

void ForEachSource(
    std::string_view json,
    const std::function<void(std::string_view kind, const std::string& full_name, std::string_view json)>& fn) {
  const size_t start = json.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return;
  json.remove_prefix(start);
  if (json.starts_with('[')) return EachItem(json, [&](std::string_view item) { ForEachSource(item, fn); });
  if (!json.starts_with('{')) return;
  std::string_view kind = Plain(Member(json, "kind"));
  const auto tell = [&](std::string_view of, std::string_view object) {
    const std::string_view metadata = Member(object, "metadata");
    const std::string_view ns = Plain(Member(metadata, "namespace"));
    ObjectMeta meta;
    meta.name = Plain(Member(metadata, "name"));
    if (of != "Node") meta.namespace_ = ns.empty() ? "default" : ns;
    fn(of, FullName(meta), object);
  };
  if (kind != "List" && !(kind.ends_with("List") && !Member(json, "items").empty())) return tell(kind, json);
  kind.remove_suffix(4);
  EachItem(Member(json, "items"), [&](std::string_view item) {
    const std::string_view own = Plain(Member(item, "kind"));
    if (own.empty()) return tell(kind, item);
    ForEachSource(item, fn);
  });
}

std::string TrimmedSource(std::string_view json, bool managed_fields) {
  std::string out = "{";
  out.reserve(json.size());
  EachMember(json, 0, [&](std::string_view key, std::string_view value) {
    if (key == "\"kind\"" || key == "\"apiVersion\"") return;
    if (key != "\"metadata\"" || managed_fields || !value.starts_with('{')) return AddMember(key, value, out);
    std::string metadata = "{";
    EachMember(value, 0, [&](std::string_view part, std::string_view text) {
      if (part != "\"managedFields\"") AddMember(part, text, metadata);
    });
    metadata += '}';
    AddMember(key, metadata, out);
  });
  return out += '}';
}

}  // namespace berth
