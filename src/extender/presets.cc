// SPDX-License-Identifier: Apache-2.0
// The presets, one function each.
#include "extender/presets.h"

#include "extender/preset_plugins.h"

namespace berth::extender {
namespace {

void Enable(Preset& preset, std::string_view plugin) {
  preset.profile.plugins.multi_point.enabled.push_back({std::string(plugin), 0});
}

// All nodes pass, all score 0, all candidates stay, nothing is bound.
Preset Demo() {
  Preset preset;
  Enable(preset, TruePredicate::kName);
  Enable(preset, ZeroPriority::kName);
  preset.routes = {{"/scheduler/predicates/TruePredicate", Verb::kFilter},
                   {"/scheduler/priorities/ZeroPriority", Verb::kPrioritize},
                   {"/scheduler/preemption", Verb::kPreempt},
                   {"/scheduler/bind", Verb::kBind}};
  preset.options.bind_refusal = "the demo extender binds nothing";
  return preset;
}

// A label decides who passes and with how many points.
Preset ByLabel(const std::string& label) {
  Preset preset;
  Enable(preset, LabelPriority::kName);
  preset.profile.plugin_config.push_back(
      {std::string(LabelPriority::kName), Value::Object({{"label", Value::String(label)}})});
  preset.routes = {{"/filter", Verb::kFilter},
                   {"/filter_onlyone", Verb::kFilterBest},
                   {"/prioritize", Verb::kPrioritize},
                   {"/bind", Verb::kBind}};
  return preset;
}

// All nodes pass, with their place in the request as points.
Preset ByIndex() {
  Preset preset;
  Enable(preset, TruePredicate::kName);
  Enable(preset, IndexPriority::kName);
  preset.routes = {{"/filter", Verb::kFilter},
                   {"/priority", Verb::kPrioritize},
                   {"/prioritize", Verb::kPrioritize},
                   {"/bind", Verb::kBind}};
  return preset;
}

}  // namespace

Result<Preset> MakePreset(std::string_view name, const std::string& label) {
  Preset preset;
  if (name == "demo") {
    preset = Demo();
  } else if (name == "label-priority") {
    preset = ByLabel(label.empty() ? std::string(LabelPriority::kDefaultLabel) : label);
  } else if (name == "demo-index") {
    preset = ByIndex();
  } else {
    return Error("no preset is named " + Value::String(std::string(name)).ToJson() +
                 "; there are demo, label-priority, demo-index");
  }
  preset.profile.scheduler_name = std::string(name);
  preset.options.raw_scores = true;
  return preset;
}

}  // namespace berth::extender
