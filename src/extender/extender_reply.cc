// SPDX-License-Identifier: Apache-2.0
// Replies as JSON, written into one string.
#include "extender/extender_reply.h"

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

}  // namespace

std::string FilterResultJson(const ExtenderArgs& args, const FilterResult& result) {
  std::string out;
  if (!result.error.empty()) {
    out = R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,"Error":)";
    AppendText(result.error, out);
    return out + '}';
  }
  std::vector<std::string> texts;  // escaped once each
  for (const std::string& text : result.texts) AppendText(text, texts.emplace_back());
  size_t size = 256;
  for (const size_t place : result.passed) {
    size += (args.nodes ? (*args.nodes)[place].json.size() : 0) + args.node_name(place).size() + 4;
  }
  for (const FilterResult::Failed& failed : result.failed) {
    size += args.node_name(failed.place).size() + texts[failed.text].size() + 4;
  }
  out.reserve(size);

  out += R"({"Nodes":)";
  if (args.nodes) {
    out += R"({"metadata":{},"items":[)";
    for (size_t i = 0; i < result.passed.size(); ++i) {
      if (i > 0) out += ',';
      out += (*args.nodes)[result.passed[i]].json;
    }
    out += "]}";
  } else {
    out += "null";
  }
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
  return out;
}

std::string HostPriorityListJson(const std::vector<HostPriority>& list) {
  std::string out = "[";
  for (const HostPriority& entry : list) {
    if (out.size() > 1) out += ',';
    out += R"({"Host":)";
    AppendJsonString(entry.host, out);
    out += R"(,"Score":)" + std::to_string(entry.score) + '}';
  }
  return out + ']';
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
