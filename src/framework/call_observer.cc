// SPDX-License-Identifier: Apache-2.0
// Names of functions, and what a crash is blamed on.
#include "framework/call_observer.h"

#include <algorithm>

#include "framework/profile.h"

namespace berth::framework {

std::string_view ToString(PluginFunction function) {
  static constexpr std::string_view kNames[kPluginFunctions] = {
      "PreEnqueue", "Less",        "PreFilter", "AddPod",     "RemovePod",     "Filter",           "PostFilter",
      "PreScore",   "Score",       "Normalize", "Reserve",    "Unreserve",     "Permit",           "PreBindPreFlight",
      "PreBind",    "Bind",        "PostBind",  "Sign",       "Clone",         "a queueing hint",  "MakeIndex",
      "its index",  "its factory", "DependsOn", "TracksPods", "normalization", "EventsToRegister", "Annotations"};
  static_assert(static_cast<size_t>(PluginFunction::kAnnotations) + 1 == kPluginFunctions);
  return kNames[static_cast<size_t>(function)];
}

const std::string& PluginCall::name() const { return profile.name(plugin); }

// In a signal handler: looks at what is there and makes nothing.
void PluginCall::Describe(const CrashNote& note, util::CrashLine& line) {
  const auto& call = static_cast<const PluginCall&>(note);
  line.Add("plugin ").Add(call.name()).Add(", ").Add(ToString(call.function));
  const char* before = ": ";
  if (const Pod* pod = call.topic.pod) {
    line.Add(before).Add("pod ").Add(pod->meta.namespace_).Add("/").Add(pod->meta.name);
    before = ", ";
  }
  if (const std::string* node = call.topic.node) line.Add(before).Add("node ").Add(*node);
  if (const NodeBatch* nodes = call.topic.nodes) {
    const std::span<const uint8_t> active = nodes->active();
    const auto asked = static_cast<size_t>(std::count_if(active.begin(), active.end(), [](uint8_t a) { return a; }));
    const auto first =
        static_cast<size_t>(std::find_if(active.begin(), active.end(), [](uint8_t a) { return a; }) - active.begin());
    const size_t at = call.step() < active.size() ? call.step() : first;
    if (asked == 0) return;
    line.Add(before);
    if (asked > 1 && call.step() == kNoStep)
      line.Add("one of ").Add(uint64_t{asked}).Add(" nodes, the first is ");
    else
      line.Add("node ");
    line.Add(nodes->snapshot().node(nodes->row(at)).name());
  }
}

}  // namespace berth::framework
