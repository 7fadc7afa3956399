// SPDX-License-Identifier: Apache-2.0
// The extension points: one interface each. A plugin derives from the ones it takes part in. Authors who judge one node
// at a time use node_plugin.h instead; it is an adapter over these.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/depends.h"
#include "berth/error.h"
#include "berth/events.h"
#include "berth/node_batch.h"
#include "berth/rejections.h"
#include "berth/snapshot.h"
#include "berth/verdict.h"

namespace berth {
inline namespace v1 {

enum class Point : uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind
};
inline constexpr size_t kPointCount = 12;
using PointSet = uint32_t;
constexpr PointSet Bit(Point point) { return PointSet{1} << static_cast<uint32_t>(point); }
std::string_view ToString(Point point);  // "PreFilter"

// What a plugin remembers of one pod between extension points of one cycle. Cloned for what-ifs, so that AddPod and
// RemovePod never touch the original. Derive through StateOf.
class PluginState {
 public:
  virtual ~PluginState() = default;
  virtual std::unique_ptr<PluginState> Clone() const = 0;
};
template <class T>
class StateOf : public PluginState {
 public:
  std::unique_ptr<PluginState> Clone() const override { return std::make_unique<T>(static_cast<const T&>(*this)); }
};

// A question about one node: would the pod fit if these pods were gone, or there? Answers include nominated pods as
// upstream counts them. The cluster is not touched.
class WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual Error RemovePod(const PodRecord& pod) = 0;
  virtual Error AddPod(const PodRecord& pod) = 0;
  virtual Verdict Judge() = 0;
  // The same without the reasons, which is cheaper.
  virtual bool Fits() { return Judge().fits(); }
};

// One pod's way through the stages, as plugins see it. Valid during a call only.
class Cycle {
 public:
  Cycle(const Pod& pod, const Snapshot& snapshot, Time now) : pod_(&pod), snapshot_(&snapshot), now_(now) {}
  virtual ~Cycle() = default;
  const Pod& pod() const { return *pod_; }
  const Snapshot& snapshot() const { return *snapshot_; }
  // Who asks depends on epoch::kUnrememberable.
  Time now() const {
    snapshot_->Note(epoch::kUnrememberable);
    return now_;
  }
  // REQUIRES: snapshot().live(row), PreFilter has run.
  virtual std::unique_ptr<WhatIf> Imagine(Row row) const = 0;

 private:
  const Pod* pod_;
  const Snapshot* snapshot_;
  Time now_;
};

// The base of every plugin. Objects are const while they judge and are shared by worker threads. The name is the static
// `kName` that the registry reads.
//
// A plugin that throws costs the pod at hand an error, not the process. What it declares (DependsOn, Annotations,
// EventsToRegister, TracksPods, normalization) is asked once, at start; one that throws there fails the start.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual Depends DependsOn(Point) const { return Depends::Everything(); }
  // The annotations that the plugin reads; asked once, at start. Others read as absent, in every host alike. Values of
  // the pod's are part of what makes pods equal; Sign need not add them. A node's are row_field::kAnnotations.
  virtual AnnotationKeys Annotations() const { return {}; }
  // False: this pod's answers cannot be shared with other pods. A plugin whose PreFilter and Filter are declared
  // epoch::kUnrememberable is asked about every pod, so it may say false, or sign what makes pods equal for which its
  // PreFilter answers Skip().While(...): that alone is shared.
  virtual bool Sign(const Pod&, Signature&) const { return false; }
  // Asked once, before the first pod, by hosts that keep a cluster up to date; the index is fed from then on and lives
  // as long as the plugin's profile. Hosts that judge once do not ask: a plugin must do without, by looking at all
  // pods.
  virtual std::unique_ptr<PluginIndex> MakeIndex() { return nullptr; }
  // No value: any event may help (the safe default for a plugin that does not say).
  virtual std::optional<std::vector<EventRegistration>> EventsToRegister() const { return std::nullopt; }
};

// May this pod enter the active queue? Not success: it is gated, with the verdict as explanation.
class PreEnqueuePlugin : public virtual Plugin {
 public:
  virtual Verdict PreEnqueue(const Pod& pod) const = 0;
};

struct QueuedPod {
  const Pod* pod = nullptr;
  Time timestamp;  // when it last entered the queue
};

// The order of two pods must not change while both wait: a pod is compared when it enters the queue or is updated, and
// perhaps not again.
class QueueSortPlugin : public virtual Plugin {
 public:
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const = 0;
};

// What PreFilter found out. A state may come with Ok and with Skip (then PostFilter still sees it).
struct PreFilterOutcome {
  Verdict verdict;  // Success, Skip (Filter need not be asked), rejected, or Error
  std::unique_ptr<PluginState> state;
  std::optional<std::vector<std::string>> node_names;  // only these nodes can fit; may name unknown nodes
  // This very outcome holds as long as these stand; no value: DependsOn(kPreFilter) says it. E.g. a Skip because the
  // pod asks for nothing depends on nothing.
  std::optional<Epochs> holds_while;

  static PreFilterOutcome Ok(std::unique_ptr<PluginState> state = nullptr) { return {{}, std::move(state), {}, {}}; }
  static PreFilterOutcome Skip(std::unique_ptr<PluginState> state = nullptr) {
    return {Verdict::Skip(), std::move(state), {}, {}};
  }
  static PreFilterOutcome Reject(Verdict verdict) { return {std::move(verdict), nullptr, {}, {}}; }
  static PreFilterOutcome Fail(std::string text) { return {Verdict::Fail(std::move(text)), nullptr, {}, {}}; }
  PreFilterOutcome While(Epochs epochs) && {
    holds_while = epochs;
    return std::move(*this);
  }
};

class PreFilterPlugin : public virtual Plugin {
 public:
  virtual PreFilterOutcome PreFilter(const Cycle& cycle) const = 0;
  // True: AddPod and RemovePod are to be told of pods that a what-if adds to or takes from `row`.
  virtual bool TracksPods() const { return false; }
  // `state` is a clone of what PreFilter returned; never called after Skip.
  virtual Error AddPod(const Cycle&, PluginState*, const PodRecord&, Row) const { return Error::Ok(); }
  virtual Error RemovePod(const Cycle&, PluginState*, const PodRecord&, Row) const { return Error::Ok(); }
};

class FilterPlugin : public virtual Plugin {
 public:
  // `state`: what this plugin's PreFilter returned, null without one. A slot may hold a verdict of code Error: judging
  // that node failed, and with it the cycle. Returning an Error says the same of every node of the batch.
  virtual Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const = 0;
};

// What filtering found, for PostFilter: why no node fits.
class FilterReport {
 public:
  virtual ~FilterReport() = default;
  // The verdict of a live row; rows that were never asked have the verdict that PreFilter left for them.
  virtual const Verdict& verdict(Row row) const = 0;
  // The rows where taking pods away may help (code Unschedulable), in node order.
  virtual std::vector<Row> Resolvable() const = 0;
};

struct PreemptionCandidate {
  std::string node;
  std::vector<std::shared_ptr<const Pod>> victims;  // most important first
  int64_t pdb_violations = 0;
};

// What a preempting PostFilter plugin considered and chose; evicting is the cycle's business.
struct PreemptionPlan {
  std::vector<PreemptionCandidate> candidates;
  std::string selected;
  std::vector<size_t> equals;  // candidates, by place: all that tie with the selected one, itself included
};

struct PostFilterOutcome {
  Verdict verdict;  // Success: a node was nominated
  // No value: leave status.nominatedNodeName alone; empty: clear it.
  std::optional<std::string> nominated_node;
  std::shared_ptr<const PreemptionPlan> plan;  // null unless there were candidates
};

class PostFilterPlugin : public virtual Plugin {
 public:
  // `state`: what this plugin's PreFilter returned; null when it has none or never ran.
  virtual PostFilterOutcome PostFilter(const Cycle& cycle, const PluginState* state,
                                       const FilterReport& report) const = 0;
};

// Success with a state, Skip (Score is not asked and contributes nothing), or Error.
struct PreScoreOutcome {
  Verdict verdict;
  std::unique_ptr<PluginState> state;
  std::optional<Epochs> holds_while;  // as in PreFilterOutcome
  static PreScoreOutcome Ok(std::unique_ptr<PluginState> state = nullptr) { return {{}, std::move(state), {}}; }
  static PreScoreOutcome Skip() { return {Verdict::Skip(), nullptr, {}}; }
  static PreScoreOutcome Fail(std::string text) { return {Verdict::Fail(std::move(text)), nullptr, {}}; }
  PreScoreOutcome While(Epochs epochs) && {
    holds_while = epochs;
    return std::move(*this);
  }
};

class PreScorePlugin : public virtual Plugin {
 public:
  // `feasible`: rows that passed all filters, ascending; at least two, but an extender may be asked about one.
  virtual PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const = 0;
};

inline constexpr int64_t kMinScore = 0;
inline constexpr int64_t kMaxScore = 100;

// How raw scores become scores in [0, 100].
enum class Normalization : uint8_t {
  kNone,           // they are
  kByMax,          // 100 * score / the highest feasible one; left alone when that is 0
  kByMaxReversed,  // 100 minus that; 100 when the highest is 0
  kOwn,            // Normalize does it
};

// Brings raw scores to [0, 100], as upstream's DefaultNormalizeScore; truncating. kNone and kOwn leave them alone.
void Normalize(Normalization how, std::span<int64_t> scores);
// The same for one score when the highest is known.
int64_t Normalized(Normalization how, int64_t score, int64_t max);

class ScorePlugin : public virtual Plugin {
 public:
  // One score per row of the batch; those of rows that are not active are ignored. `state`: PreScore's.
  virtual Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                      std::span<int64_t> scores) const = 0;
  virtual Normalization normalization() const { return Normalization::kNone; }
  // Only with kOwn. `scores[i]` belongs to `rows[i]`; all feasible rows at once.
  virtual Error Normalize(const Cycle&, const PluginState*, std::span<const Row>, std::span<int64_t>) const {
    return Error::Ok();
  }
};

// A decided pod and its node, from Reserve on.
struct Placement {
  std::shared_ptr<const Pod> pod;
  std::string node;
};
// The plugin's own memory of this pod: what PreFilter left; the plugin may replace it.
using StateSlot = std::unique_ptr<PluginState>;

class ReservePlugin : public virtual Plugin {
 public:
  virtual Verdict Reserve(const Placement& placement, StateSlot& state) const = 0;
  // Idempotent; also called when Reserve was never reached.
  virtual void Unreserve(const Placement& placement, StateSlot& state) const = 0;
};

// Approve (default), Deny by a rejected or failed verdict, or Wait until somebody allows the pod or time runs out.
struct PermitOutcome {
  Verdict verdict;
  Duration timeout;
  static PermitOutcome Approve() { return {}; }
  static PermitOutcome Deny(Verdict verdict) { return {std::move(verdict), {}}; }
  static PermitOutcome Wait(Duration timeout) { return {Verdict(Code::kWait, std::vector<std::string>{}), timeout}; }
};

class PermitPlugin : public virtual Plugin {
 public:
  virtual PermitOutcome Permit(const Placement& placement, StateSlot& state) const = 0;
};

// Called exactly once, from any thread.
using Done = std::function<void(Verdict)>;

struct PreFlight {
  Verdict verdict;              // Success: PreBind has work to do; Skip: it need not be called; Error
  bool allow_parallel = false;  // may run beside its neighbours that say so too
};

class PreBindPlugin : public virtual Plugin {
 public:
  virtual PreFlight PreBindPreFlight(const Placement&, StateSlot&) const { return {}; }
  virtual void PreBind(const Placement& placement, StateSlot& state, Done done) const = 0;
  // The pod is given up while its PreBind is under way (it is preempted, or another plugin's PreBind has failed): who
  // waits for something should stop and fail with `cause`. Not called when `done` was. Scheduling thread.
  virtual void CancelPreBind(const Placement&, StateSlot&, const std::string& /*cause*/) const {}
};

class BindPlugin : public virtual Plugin {
 public:
  // Skip: the next Bind plugin is asked.
  virtual void Bind(const Placement& placement, StateSlot& state, Done done) const = 0;
};

class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(const Placement& placement, StateSlot& state) const = 0;
};

}  // namespace v1
}  // namespace berth
