// SPDX-License-Identifier: Apache-2.0
// Feature gates: all that kube-scheduler v1.36.4 knows, and what --feature-gates makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"

namespace berth::config {

enum class GateStage : uint8_t { kAlpha, kBeta, kGa, kDeprecated };
// What switching a gate changes in kube-scheduler. Those of kNone belong to other components.
enum class GateEffect : uint8_t { kNone, kDecision, kTiming, kWrites, kProcess, kClient };

struct FeatureGate {
  std::string_view name;
  bool on;  // by default
  GateStage stage;
  bool locked;  // to that default
  GateEffect effect;
};
// By name, capitals first.
std::span<const FeatureGate> AllFeatureGates();
// "ALPHA", "BETA", "" (GA) or "DEPRECATED", as kubernetes_feature_enabled has it.
std::string_view StageName(GateStage stage);

// What Berth makes of a value that is not the default.
enum class GateSupport : uint8_t {
  kNotOurs,   // nothing: in kube-scheduler it changes nothing either
  kHad,       // the same as kube-scheduler
  kNoEffect,  // accepted, and nothing changes; to be said at start
  kRefused,   // a scheduler that is told so must not start
};
GateSupport SupportOf(const FeatureGate& gate);

// The gates as a process has them.
class FeatureGates {
 public:
  FeatureGates();  // the defaults

  // REQUIRES: `name` is one of AllFeatureGates.
  bool enabled(std::string_view name) const;
  // As AllFeatureGates.
  const std::vector<bool>& values() const { return on_; }
  // For kubernetes_feature_enabled{name,stage}: every gate in the order of the names.
  void ForEach(const std::function<void(std::string_view name, std::string_view stage, bool enabled)>& call) const;

  // Gates given by name that will go away, GA and deprecated ones, by name. Upstream's sentence says which of the two.
  struct Farewell {
    const FeatureGate* gate;
    bool value;
  };
  const std::vector<Farewell>& farewells() const { return farewells_; }
  // Those that are not at their default and have no effect here, by name.
  std::vector<const FeatureGate*> WithoutEffect() const;
  // Alpha gates that are on, by name.
  std::vector<std::string_view> Alphas() const;

 private:
  friend Result<FeatureGates> ReadFeatureGates(std::span<const std::string> values);
  std::vector<bool> on_;
  std::vector<Farewell> farewells_;
};

// `values`: what each --feature-gates on the command line was given, e.g. "AllAlpha=true,kube:X=false". Errors are
// kube-scheduler's, and ours for gates whose other value would change what is decided, when, or what is written: Berth
// has the default alone, and a scheduler that says otherwise must not start.
Result<FeatureGates> ReadFeatureGates(std::span<const std::string> values);
// The same values as kube-scheduler shows the flag's.
std::string FeatureGatesText(std::span<const std::string> values);

}  // namespace berth::config
