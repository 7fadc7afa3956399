// SPDX-License-Identifier: Apache-2.0
// A plugin that throws from one function of its choice, for tests of what becomes of that.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/fake_registry.h"

namespace berth::testing {

// Throws std::runtime_error("boom") from the function of this name; "hint" is the function that EventsToRegister gives
// for nodes that come. Otherwise it is for everything.
class ThrowingPlugin final : public FakePlugin {
 public:
  explicit ThrowingPlugin(std::string function) : function_(std::move(function)) {}

  Depends DependsOn(Point) const override { return At("DependsOn"), Depends::OnRow(0); }
  bool Sign(const Pod&, Signature&) const override { return At("Sign"), true; }
  std::unique_ptr<PluginIndex> MakeIndex() override { return At("MakeIndex"), nullptr; }
  AnnotationKeys Annotations() const override {
    At("Annotations");
    return {};
  }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override {
    At("EventsToRegister");
    return std::vector<EventRegistration>{
        {{EventResource::kNode, action::kAdd}, [this](const Pod&, const EventObjects&) {
           At("hint");
           return QueueingHint::kQueue;
         }}};
  }
  Verdict PreEnqueue(const Pod&) const override { return At("PreEnqueue"), Verdict(); }
  bool Less(const QueuedPod&, const QueuedPod&) const override { return At("Less"), false; }
  PreFilterOutcome PreFilter(const Cycle&) const override { return At("PreFilter"), PreFilterOutcome::Ok(); }
  bool TracksPods() const override { return At("TracksPods"), true; }
  Error AddPod(const Cycle&, PluginState*, const PodRecord&, Row) const override { return At("AddPod"), Error::Ok(); }
  Error RemovePod(const Cycle&, PluginState*, const PodRecord&, Row) const override {
    return At("RemovePod"), Error::Ok();
  }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override {
    return At("Filter"), Error::Ok();
  }
  PostFilterOutcome PostFilter(const Cycle&, const PluginState*, const FilterReport&) const override {
    return At("PostFilter"), PostFilterOutcome{};
  }
  PreScoreOutcome PreScore(const Cycle&, std::span<const Row>) const override {
    return At("PreScore"), PreScoreOutcome::Ok();
  }
  Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const override {
    for (int64_t& score : scores) score = 0;
    return At("Score"), Error::Ok();
  }
  Normalization normalization() const override { return At("normalization"), Normalization::kOwn; }
  Error Normalize(const Cycle&, const PluginState*, std::span<const Row>, std::span<int64_t>) const override {
    return At("Normalize"), Error::Ok();
  }
  Verdict Reserve(const Placement&, StateSlot&) const override { return At("Reserve"), Verdict(); }
  void Unreserve(const Placement&, StateSlot&) const override { At("Unreserve"); }
  PermitOutcome Permit(const Placement&, StateSlot&) const override { return At("Permit"), PermitOutcome::Approve(); }
  PreFlight PreBindPreFlight(const Placement&, StateSlot&) const override {
    return At("PreBindPreFlight"), PreFlight{};
  }
  void PreBind(const Placement&, StateSlot&, Done done) const override { At("PreBind"), done({}); }
  void Bind(const Placement&, StateSlot&, Done done) const override { At("Bind"), done({}); }
  void PostBind(const Placement&, StateSlot&) const override { At("PostBind"); }

 private:
  void At(std::string_view function) const {
    if (function == function_) throw std::runtime_error("boom");
  }

  const std::string function_;
};

inline PluginDescriptor ThrowingDescriptor(std::string name, const std::vector<Point>& points, std::string function) {
  PluginDescriptor d = FakeDescriptor(std::move(name), points);
  d.make = [function = std::move(function)](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<ThrowingPlugin>(function));
  };
  return d;
}

}  // namespace berth::testing
