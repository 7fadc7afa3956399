// SPDX-License-Identifier: Apache-2.0
// Small plugins for tests of the framework: what each one does at its point is a function that the test gives.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/plugin.h"
#include "framework/profile.h"

namespace berth::framework {

struct PreFilterFake final : PreFilterPlugin {
  std::function<PreFilterOutcome(const Cycle&)> fn;
  std::function<Error(PluginState*, const PodRecord&, bool added)> told;  // unset: does not track pods
  PreFilterOutcome PreFilter(const Cycle& cycle) const override { return fn(cycle); }
  bool TracksPods() const override { return static_cast<bool>(told); }
  Error AddPod(const Cycle&, PluginState* state, const PodRecord& pod, Row) const override {
    return told(state, pod, true);
  }
  Error RemovePod(const Cycle&, PluginState* state, const PodRecord& pod, Row) const override {
    return told(state, pod, false);
  }
};

struct FilterFake final : FilterPlugin {
  std::function<Error(const PluginState*, const NodeBatch&, Rejections&)> fn;
  Error Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override {
    return fn(state, nodes, out);
  }
};

struct PostFilterFake final : PostFilterPlugin {
  std::function<PostFilterOutcome(const Cycle&, const PluginState*, const FilterReport&)> fn;
  PostFilterOutcome PostFilter(const Cycle& cycle, const PluginState* state,
                               const FilterReport& report) const override {
    return fn(cycle, state, report);
  }
};

struct PreScoreFake final : PreScorePlugin {
  std::function<PreScoreOutcome(std::span<const Row>)> fn;
  PreScoreOutcome PreScore(const Cycle&, std::span<const Row> feasible) const override { return fn(feasible); }
};

struct ScoreFake final : ScorePlugin {
  std::function<int64_t(const std::string& node)> fn;
  std::function<Error(std::span<int64_t>)> normalize;  // unset: none
  std::function<Error()> before;                       // unset: nothing
  Error Score(const Cycle&, const PluginState*, const NodeBatch& nodes, std::span<int64_t> scores) const override {
    if (before)
      if (const Error error = before(); !error.ok()) return error;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.active()[i]) scores[i] = fn(nodes.view(i).name());
    return Error::Ok();
  }
  Normalization normalization() const override { return normalize ? Normalization::kOwn : Normalization::kNone; }
  Error Normalize(const Cycle&, const PluginState*, std::span<const Row>, std::span<int64_t> scores) const override {
    return normalize(scores);
  }
};

struct PreEnqueueFake final : PreEnqueuePlugin {
  std::function<Verdict(const Pod&)> fn;
  Verdict PreEnqueue(const Pod& pod) const override { return fn(pod); }
};

struct ReserveFake final : ReservePlugin {
  std::function<Verdict(StateSlot&)> fn;
  std::function<void(StateSlot&)> undo;
  Verdict Reserve(const Placement&, StateSlot& state) const override { return fn(state); }
  void Unreserve(const Placement&, StateSlot& state) const override { undo(state); }
};

struct PermitFake final : PermitPlugin {
  std::function<PermitOutcome()> fn;
  PermitOutcome Permit(const Placement&, StateSlot&) const override { return fn(); }
};

struct PreBindFake final : PreBindPlugin {
  std::function<PreFlight()> flight;
  std::function<void(Done)> fn;
  std::function<void(const std::string& cause)> cancel;
  PreFlight PreBindPreFlight(const Placement&, StateSlot&) const override { return flight ? flight() : PreFlight{}; }
  void CancelPreBind(const Placement&, StateSlot&, const std::string& cause) const override {
    if (cancel) cancel(cause);
  }
  void PreBind(const Placement&, StateSlot&, Done done) const override { fn(std::move(done)); }
};

struct BindFake final : BindPlugin {
  std::function<void(Done)> fn;
  void Bind(const Placement&, StateSlot&, Done done) const override { fn(std::move(done)); }
};

struct PostBindFake final : PostBindPlugin {
  std::function<void()> fn;
  void PostBind(const Placement&, StateSlot&) const override { fn(); }
};

// Puts plugins into a profile one by one; names may come again at other points and then share their state.
class ProfileMaker {
 public:
  ProfileMaker() { parts.scheduler_name = "test"; }

  PreFilterFake& PreFilter(const std::string& name, std::function<PreFilterOutcome(const Cycle&)> fn) {
    return Fill(Put<PreFilterFake>(name, parts.pre_filter), std::move(fn));
  }
  // The shorter form: an outcome that does not depend on the pod. Called each time, because outcomes own states.
  PreFilterFake& PreFilter(const std::string& name, std::function<PreFilterOutcome()> fn) {
    return PreFilter(name, [fn = std::move(fn)](const Cycle&) { return fn(); });
  }
  FilterFake& Filter(const std::string& name,
                     std::function<Error(const PluginState*, const NodeBatch&, Rejections&)> fn) {
    return Fill(Put<FilterFake>(name, parts.filter), std::move(fn));
  }
  // Rejects the nodes for which `fn` does not say kFits.
  FilterFake& FilterNodes(const std::string& name, std::function<Verdict(const NodeView&)> fn) {
    return Filter(name, [fn = std::move(fn)](const PluginState*, const NodeBatch& nodes, Rejections& out) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes.active()[i]) continue;
        const Verdict verdict = fn(nodes.view(i));
        if (!verdict.fits()) out.Reject(i, out.Intern(verdict));
      }
      return Error::Ok();
    });
  }
  PostFilterFake& PostFilter(
      const std::string& name,
      std::function<PostFilterOutcome(const Cycle&, const PluginState*, const FilterReport&)> fn) {
    return Fill(Put<PostFilterFake>(name, parts.post_filter), std::move(fn));
  }
  PostFilterFake& PostFilter(const std::string& name, PostFilterOutcome outcome) {
    return PostFilter(name, [outcome](const Cycle&, const PluginState*, const FilterReport&) { return outcome; });
  }
  PreScoreFake& PreScore(const std::string& name, std::function<PreScoreOutcome(std::span<const Row>)> fn) {
    return Fill(Put<PreScoreFake>(name, parts.pre_score), std::move(fn));
  }
  ScoreFake& Score(const std::string& name, int64_t weight, std::function<int64_t(const std::string&)> fn) {
    ScoreFake* plugin = new ScoreFake;
    owned_.emplace_back(plugin);
    plugin->fn = std::move(fn);
    parts.score.push_back({plugin, IndexOf(name), weight});
    return *plugin;
  }
  PreEnqueueFake& PreEnqueue(const std::string& name, std::function<Verdict(const Pod&)> fn) {
    return Fill(Put<PreEnqueueFake>(name, parts.pre_enqueue), std::move(fn));
  }
  ReserveFake& Reserve(const std::string& name, std::function<Verdict(StateSlot&)> fn) {
    return Fill(Put<ReserveFake>(name, parts.reserve), std::move(fn));
  }
  PermitFake& Permit(const std::string& name, std::function<PermitOutcome()> fn) {
    return Fill(Put<PermitFake>(name, parts.permit), std::move(fn));
  }
  PreBindFake& PreBind(const std::string& name, std::function<void(Done)> fn) {
    return Fill(Put<PreBindFake>(name, parts.pre_bind), std::move(fn));
  }
  BindFake& Bind(const std::string& name, std::function<void(Done)> fn) {
    return Fill(Put<BindFake>(name, parts.bind), std::move(fn));
  }
  PostBindFake& PostBind(const std::string& name, std::function<void()> fn) {
    return Fill(Put<PostBindFake>(name, parts.post_bind), std::move(fn));
  }

  // Asks the plugins for their declarations each time: tests change their fakes. The same object always.
  const Profile& profile() {
    if (const Error error = TakeDeclarations(parts); !error.ok()) {
      std::fprintf(stderr, "%s\n", error.text().c_str());
      std::abort();
    }
    return parts;
  }
  Profile parts;

 private:
  uint16_t IndexOf(const std::string& name) {
    for (size_t i = 0; i < parts.plugins.size(); ++i)
      if (parts.plugins[i].name == name) return static_cast<uint16_t>(i);
    parts.plugins.push_back({name, nullptr});
    return static_cast<uint16_t>(parts.plugins.size() - 1);
  }
  template <class Fake, class List>
  Fake& Put(const std::string& name, List& list) {
    Fake* plugin = new Fake;
    owned_.emplace_back(plugin);
    list.push_back({plugin, IndexOf(name)});
    return *plugin;
  }
  template <class Fake, class Fn>
  static Fake& Fill(Fake& fake, Fn&& fn) {
    fake.fn = std::forward<Fn>(fn);
    return fake;
  }
  std::vector<std::unique_ptr<Plugin>> owned_;
};

}  // namespace berth::framework
