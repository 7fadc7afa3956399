// SPDX-License-Identifier: Apache-2.0
// An annotated custom plugin: copy this folder and change it. One class, and one line in main.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "berth/sdk.h"

// RackTemperature keeps pods off racks hotter than Args::max_celsius and prefers the coolest of the rest. A node
// without a reading counts as cool: one dead sensor must not empty a rack.
class RackTemperature final : public berth::NodePlugin {
 public:
  // The name by which a KubeSchedulerConfiguration enables the plugin.
  static constexpr std::string_view kName = "RackTemperature";

  // What operators read in the pod's event, counted over nodes. Remedy::kNone: evicting pods does not cool a rack.
  static constexpr berth::Reason kTooHot{"node(s) were in a rack above maxCelsius", berth::Remedy::kNone};

  // Arguments are declared where they are used. `berth config check` names the field and the value that is out of
  // range.
  struct Args {
    int64_t max_celsius = 35;
    void Read(berth::ArgsReader& in) { in.Int("maxCelsius", max_celsius, {.min = 1, .max = 90}); }
  };
  explicit RackTemperature(const Args& args) : args_(args) {}

  // Called for every node that earlier plugins let pass. May run on several threads: keep it const.
  berth::Verdict FilterNode(const berth::Pod&, berth::NodeView node) const override {
    return Celsius(node) > args_.max_celsius ? kTooHot : berth::kFits;
  }

  // 0 to 100; the configuration gives the weight.
  int64_t ScoreNode(const berth::Pod&, berth::NodeView node) const override {
    return 100 - std::clamp<int64_t>(Celsius(node), 0, 100);
  }

 private:
  static int64_t Celsius(berth::NodeView node) { return node.IntLabel("acme.example/celsius").value_or(0); }
  Args args_;
};
