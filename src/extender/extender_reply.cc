// SPDX-License-Identifier: Apache-2.0
// Replies as JSON, written into one string.
#include "extender/extender_reply.h"

#include <cstring>
#include <functional>
#include <utility>

#include "api/json_scan.h"

namespace berth::extender {
namespace {

// Texts of plugins may hold any bytes; what is not UTF-8 would spoil the reply.
void AppendText(std::string_view text, std::string& out) {
  if (CheckUtf8(text).ok()) return AppendJsonString(text, out);
  std::string ascii(text);
  for (char& c : ascii) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  AppendJsonString(ascii, out);
}

void AppendFailed(const ExtenderArgs& args, const FilterResult& result, const std::vector<std::string>& texts,
                  bool unresolvable, std::string& out) {
  out += '{';
  bool first = true;
  for (const FilterResult::Failed& failed : result.failed) {
    if (failed.unresolvable != unresolvable) continue;
    if (!std::exchange(first, false)) out += ',';
    AppendJsonString(args.node_name(failed.place), out);
    out += ':';
    out += texts[failed.text];
  }
  out += '}';
}

constexpr std::string_view kNodesHead = R"({"Nodes":{"metadata":{},"items":[)";

// All behind the list of complete nodes.
void AppendRest(const ExtenderArgs& args, const FilterResult& result, std::string& out) {
  std::vector<std::string> texts;  // escaped once each
  for (const std::string& text : result.texts) AppendText(text, texts.emplace_back());
  size_t size = out.size() + 256;
  for (const FilterResult::Failed& failed : result.failed) {
    size += args.node_name(failed.place).size() + texts[failed.text].size() + 4;
  }
  if (args.node_names) {
    for (const size_t place : result.passed) size += args.node_name(place).size() + 3;
  }
  if (size > out.capacity()) out.reserve(size);
  out += R"(,"NodeNames":)";
  if (args.node_names) {
    out += '[';
    for (size_t i = 0; i < result.passed.size(); ++i) {
      if (i > 0) out += ',';
      AppendJsonString(args.node_name(result.passed[i]), out);
    }
    out += ']';
  } else {
    out += "null";
  }
  out += R"(,"FailedNodes":)";
  AppendFailed(args, result, texts, false, out);
  out += R"(,"FailedAndUnresolvableNodes":)";
  AppendFailed(args, result, texts, true, out);
  out += R"(,"Error":""})";
}

// Moves the nodes that passed together at the body's beginning, behind the reply's first bytes. False, with nothing
// changed: they are not all behind those.
bool Gather(std::string& body, const ExtenderArgs& args, const FilterResult& result) {
  if (!args.nodes || result.passed.empty()) return false;
  const auto text = [&](size_t i) { return (*args.nodes)[result.passed[i]].json; };
  const char* free = body.data() + kNodesHead.size();  // nothing that is still needed is before it
  for (size_t i = 0; i < result.passed.size(); ++i) {
    if (std::less<>()(text(i).data(), free)) return false;
    free = text(i).data() + text(i).size() + 1;
  }
  if (std::greater<>()(free, body.data() + body.size())) return false;
  char* to = body.data();
  std::memcpy(to, kNodesHead.data(), kNodesHead.size());
  to += kNodesHead.size();
  for (size_t i = 0; i < result.passed.size();) {
    // Neighbours stay together.
    const char* const start = text(i).data();
    const char* end = start + text(i).size();
    for (++i; i < result.passed.size() && text(i).data() == end + 1 && *end == ','; ++i) end += 1 + text(i).size();
    const auto size = static_cast<size_t>(end - start);
    std::memmove(to, start, size);
    to += size;
    *to++ = ',';
  }
  to[-1] = ']';
  *to++ = '}';
  body.resize(static_cast<size_t>(to - body.data()));
  return true;
}

}  // namespace

std::string FilterResultJson(const ExtenderArgs& args, const FilterResult& result) {
  std::string out;
  if (!result.error.empty()) {
    out = R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,"Error":)";
    AppendText(result.error, out);
    return out + '}';
  }
  if (args.nodes) {
    size_t size = kNodesHead.size() + 2;
    for (const size_t place : result.passed) size += (*args.nodes)[place].json.size() + 1;
    out.reserve(size);
    out += kNodesHead;
    for (size_t i = 0; i < result.passed.size(); ++i) {
      if (i > 0) out += ',';
      out += (*args.nodes)[result.passed[i]].json;
    }
    out += "]}";
  } else {
    out = R"({"Nodes":null)";
  }
  AppendRest(args, result, out);
  return out;
}

std::string FilterResultJsonFrom(std::string& body, const ExtenderArgs& args, const FilterResult& result) {
  if (!result.error.empty() || !Gather(body, args, result)) return FilterResultJson(args, result);
  AppendRest(args, result, body);
  return std::move(body);
}

std::string HostPriorityListJson(const std::vector<HostPriority>& list) {
  size_t size = 2;
  for (const HostPriority& entry : list) size += entry.host.size() + 40;
  std::string out;
  out.reserve(size);
  out += '[';
  for (const HostPriority& entry : list) {
    if (out.size() > 1) out += ',';
    out += R"({"Host":)";
    AppendJsonString(entry.host, out);
    out += R"(,"Score":)";
    out += std::to_string(entry.score);
    out += '}';
  }
  out += ']';
  return out;
}

std::string PreemptionResultJson(const VictimMap& victims) {
  std::string out = R"({"NodeNameToMetaVictims":{)";
  bool first = true;
  for (const auto& [node, entry] : victims) {
    if (!std::exchange(first, false)) out += ',';
    AppendJsonString(node, out);
    out += R"(:{"Pods":)";
    if (entry.uids) {
      out += '[';
      for (size_t i = 0; i < entry.uids->size(); ++i) {
        out += i > 0 ? R"(,{"UID":)" : R"({"UID":)";
        AppendJsonString((*entry.uids)[i], out);
        out += '}';
      }
      out += ']';
    } else {
      out += "null";
    }
    out += R"(,"NumPDBViolations":)" + std::to_string(entry.pdb_violations) + '}';
  }
  return out + "}}";
}

std::string BindingResultJson(std::string_view error) {
  std::string out = R"({"Error":)";
  AppendText(error, out);
  return out + '}';
}

}  // namespace berth::extender
