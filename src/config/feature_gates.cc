// SPDX-License-Identifier: Apache-2.0
// Upstream: component-base featuregate/feature_gate.go and compatibility/registry.go (v0.36.4). Where upstream walks a
// map and the order of its errors is random, ours is that of the names.
#include "config/feature_gates.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "config/feature_gates_table.h"
#include "util/go_values.h"
#include "util/text.h"

namespace berth::config {
namespace {

constexpr size_t kNotThere = static_cast<size_t>(-1);

size_t Find(std::string_view name) {
  const std::span<const FeatureGate> all = AllFeatureGates();
  const auto at = std::ranges::lower_bound(all, name, {}, &FeatureGate::name);
  return at == all.end() || at->name != name ? kNotThere : static_cast<size_t>(at - all.begin());
}

const char* OnOff(bool value) { return value ? "true" : "false"; }

// Several at once, as upstream's aggregates are written.
Error Together(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return Error(errors[0]);
  std::string text = "[";
  for (const std::string& error : errors) text += (text.size() > 1 ? ", " : "") + error;
  return Error(text + "]");
}

const GateRule* RuleOf(const FeatureGate& gate) {
  const auto at = std::ranges::find(AllGateRules(), gate.name, &GateRule::gate);
  return at == AllGateRules().end() ? nullptr : &*at;
}

// What kube-scheduler does with a gate that is refused.
std::string_view Means(const FeatureGate& gate) {
  if (gate.effect == GateEffect::kDecision) return "decides otherwise";
  if (gate.effect == GateEffect::kTiming) return "decides at other times";
  if (gate.effect == GateEffect::kWrites) return "writes otherwise";
  return RuleOf(gate)->upstream;
}

using ByComponent = std::map<std::string, std::vector<std::string>>;

// The pairs in the order in which they were given, by the component they were given for.
ByComponent Split(std::span<const std::string> values) {
  ByComponent gates;
  for (const std::string& value : values) {
    size_t from = 0;
    while (from <= value.size()) {
      const size_t to = std::min(value.find(',', from), value.size());
      const std::string_view pair = std::string_view(value).substr(from, to - from);
      from = to + 1;
      if (pair.empty()) continue;
      const size_t colon = pair.find(':');
      const bool named = colon != std::string_view::npos;
      const std::string component(named ? util::Trimmed(pair.substr(0, colon)) : std::string_view());
      gates[component].emplace_back(util::Trimmed(named ? pair.substr(colon + 1) : pair));
    }
  }
  return gates;
}

Error CheckComponents(const ByComponent& gates) {
  if (gates.contains("") && gates.contains("kube"))
    return Error("set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
  for (const auto& [component, list] : gates)
    if (!component.empty() && component != "kube") return Error("component not registered: " + component);
  return Error::Ok();
}

// The later of two for one gate counts.
Error ReadPairs(const std::vector<std::string>& pairs, std::map<std::string, bool>& given) {
  for (const std::string& pair : pairs) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string name(util::Trimmed(std::string_view(pair).substr(0, equals)));
    if (equals == std::string::npos) return Error("missing bool value for " + name);
    const std::string text(util::Trimmed(std::string_view(pair).substr(equals + 1)));
    const util::GoParsed<bool> value = util::ParseGoBool(text);
    if (!value.ok()) return Error("invalid value of " + name + "=" + text + ", err: " + value.error);
    given[name] = value.value;
  }
  return Error::Ok();
}

std::vector<std::string> MissingDependencies(const std::vector<bool>& on) {
  std::vector<std::string> errors;
  const std::span<const GateDependency> all = AllGateDependencies();
  for (size_t i = 0; i < all.size();) {
    std::string off;
    const std::string_view gate = all[i].gate;
    const bool enabled = on[Find(gate)];
    for (; i < all.size() && all[i].gate == gate; ++i)
      if (enabled && !on[Find(all[i].needs)]) off.append(off.empty() ? "" : " ").append(all[i].needs);
    if (!off.empty())
      errors.push_back(std::string(gate) + " is enabled, but depends on features that are disabled: [" + off + "]");
  }
  return errors;
}

// `because`: the name that was given on the command line.
std::string Unsupported(const FeatureGate& gate, bool value, std::string_view because) {
  std::string text = "feature gate " + std::string(gate.name) + "=" + OnOff(value);
  if (because != gate.name) text.append(" (switched by ").append(because).append(")");
  return text.append(" is not supported: kube-scheduler ").append(Means(gate)) + " with it, and Berth does not";
}

}  // namespace

std::string_view StageName(GateStage stage) {
  switch (stage) {
    case GateStage::kAlpha:
      return "ALPHA";
    case GateStage::kBeta:
      return "BETA";
    case GateStage::kGa:
      return "";
    case GateStage::kDeprecated:
      return "DEPRECATED";
  }
  return "";
}

GateSupport SupportOf(const FeatureGate& gate) {
  switch (gate.effect) {
    case GateEffect::kNone:
      return GateSupport::kNotOurs;
    case GateEffect::kDecision:
    case GateEffect::kTiming:
    case GateEffect::kWrites:
      return GateSupport::kRefused;
    case GateEffect::kProcess:
    case GateEffect::kClient:
      break;
  }
  const GateRule* rule = RuleOf(gate);
  assert(rule != nullptr);
  return rule->support;
}

FeatureGates::FeatureGates() {
  for (const FeatureGate& gate : AllFeatureGates()) on_.push_back(gate.on);
}

bool FeatureGates::enabled(std::string_view name) const {
  const size_t at = Find(name);
  assert(at != kNotThere);
  return on_[at];
}

void FeatureGates::ForEach(
    const std::function<void(std::string_view name, std::string_view stage, bool enabled)>& call) const {
  const std::span<const FeatureGate> all = AllFeatureGates();
  for (size_t i = 0; i < all.size(); ++i) call(all[i].name, StageName(all[i].stage), on_[i]);
}

std::vector<const FeatureGate*> FeatureGates::WithoutEffect() const {
  std::vector<const FeatureGate*> gates;
  const std::span<const FeatureGate> all = AllFeatureGates();
  for (size_t i = 0; i < all.size(); ++i)
    if (on_[i] != all[i].on && SupportOf(all[i]) == GateSupport::kNoEffect) gates.push_back(&all[i]);
  return gates;
}

std::vector<std::string_view> FeatureGates::Alphas() const {
  std::vector<std::string_view> names;
  const std::span<const FeatureGate> all = AllFeatureGates();
  for (size_t i = 0; i < all.size(); ++i)
    if (on_[i] && all[i].stage == GateStage::kAlpha) names.push_back(all[i].name);
  return names;
}

std::string FeatureGatesText(std::span<const std::string> values) {
  std::string text;
  for (const auto& [component, pairs] : Split(values))
    for (const std::string& pair : pairs) text += (text.empty() ? "" : ",") + component + ":" + pair;
  return text;
}

Result<FeatureGates> ReadFeatureGates(std::span<const std::string> values) {
  const ByComponent by_component = Split(values);
  if (const Error error = CheckComponents(by_component); !error.ok()) return error;
  std::map<std::string, bool> given;
  for (const auto& [component, pairs] : by_component)
    if (const Error error = ReadPairs(pairs, given); !error.ok()) return error;

  const std::span<const FeatureGate> all = AllFeatureGates();
  FeatureGates out;
  std::vector<std::string> errors;
  for (const auto& [name, value] : given)
    if (Find(name) == kNotThere) return Error("unrecognized feature gate: " + name);
  std::vector<std::string_view> because(all.size());
  for (const auto& [name, stage] : {std::pair{"AllAlpha", GateStage::kAlpha}, std::pair{"AllBeta", GateStage::kBeta}}) {
    const auto it = given.find(name);
    if (it == given.end()) continue;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].stage != stage || all[i].name == "AllAlpha" || all[i].name == "AllBeta") continue;
      out.on_[i] = it->second;
      because[i] = name;
    }
  }
  for (const auto& [name, value] : given) {
    const size_t i = Find(name);
    if (all[i].locked && all[i].on != value) {
      errors.push_back("cannot set feature gate " + name + " to " + OnOff(value) + ", feature is locked to " +
                       OnOff(all[i].on));
      continue;
    }
    out.on_[i] = value;
    because[i] = all[i].name;
    if (all[i].stage == GateStage::kGa || all[i].stage == GateStage::kDeprecated)
      out.farewells_.push_back({&all[i], value});
  }
  if (errors.empty()) errors = MissingDependencies(out.on_);
  if (!errors.empty()) return Together(errors);
  for (size_t i = 0; i < all.size(); ++i)
    if (out.on_[i] != all[i].on && SupportOf(all[i]) == GateSupport::kRefused)
      errors.push_back(Unsupported(all[i], out.on_[i], because[i]));
  if (!errors.empty()) return Together(errors);
  return out;
}

}  // namespace berth::config
