// SPDX-License-Identifier: Apache-2.0
// A plugin that lets every pod pass and says what it saw: which extension points there are, and when they are called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/sdk.h"

// Takes part in PreFilter, Filter and PreBind, and writes a line at each with -v=3.
class SamplePlugin final : public berth::PreFilterPlugin, public berth::NodePlugin, public berth::PreBindPlugin {
 public:
  static constexpr std::string_view kName = "sample-plugin";

  // | argument          | meaning                            |
  // |-------------------|------------------------------------|
  // | `favorite_color`  | said when the plugin is made       |
  // | `favorite_number` | the same                           |
  // | `thanks_to`       | the same                           |
  struct Args {
    std::string favorite_color, thanks_to;
    int64_t favorite_number = 0;
    void Read(berth::ArgsReader& in) {
      in.String("favorite_color", favorite_color);
      in.Int("favorite_number", favorite_number);
      in.String("thanks_to", thanks_to);
    }
  };
  SamplePlugin(const Args& args, berth::Handle& handle) : log_(handle.log().V(3)) {
    log_.Info("plugin arguments", {{"favorite_color", args.favorite_color},
                                   {"favorite_number", args.favorite_number},
                                   {"thanks_to", args.thanks_to}});
  }

  // Once for a pod, before any node is looked at.
  berth::PreFilterOutcome PreFilter(const berth::Cycle& cycle) const override {
    log_.Info("prefilter pod", {{"pod", berth::FullName(cycle.pod())}});
    return berth::PreFilterOutcome::Ok();
  }
  // For every node that earlier plugins let pass.
  berth::Verdict FilterNode(const berth::Pod& pod, berth::NodeView node) const override {
    log_.Info("filter pod", {{"pod", berth::FullName(pod)}, {"node", node.name()}});
    return berth::kFits;
  }
  // For the node that was chosen. `done` may be called later, from any thread; until then the pod is not bound.
  void PreBind(const berth::Placement& placement, berth::StateSlot&, berth::Done done) const override {
    log_.Info("prebind node info", {{"pod", berth::FullName(*placement.pod)}, {"node", placement.node}});
    done({});
  }

 private:
  const berth::Logger log_;
};
