// SPDX-License-Identifier: Apache-2.0
// NodeResourcesFit: the filter and what wakes rejected pods. Scoring is in node_resources_fit_score.cc, arguments in
// node_resources_fit_args.cc. Mirrors noderesources/fit.go of v1.36.
#include "plugins/node_resources_fit.h"

#include <algorithm>
#include <array>
#include <memory>

#include "berth/vectorized.h"
#include "plugins/common/device_classes.h"
#include "plugins/common/signing.h"
#include "plugins/common/wrap.h"

namespace berth::plugins {
namespace {

struct Want {
  ResourceId id;
  int64_t amount;
  bool device_class;  // served by devices where the node has no allocatable of it: not this plugin's business there
};

struct Wants {
  bool only_pod_count = false;
  std::vector<Want> list;  // in the order in which reasons are given
};

struct FitState : StateOf<FitState> {
  std::shared_ptr<const Wants> wants;
};

// Which wants a row lacks: bit 0 is the pod count, bit k + 1 want k, the top bit "unresolvable". Pods with more
// requests than bits are judged without masks.
using Mask = uint64_t;
constexpr Mask kUnresolvable = Mask{1} << 63;
constexpr size_t kMaxMaskedWants = 62;
constexpr size_t kFitChunk = 256;

std::string InsufficientText(ResourceId id) { return "Insufficient " + ResourceName(id); }

// The reasons are put together where they stand: a row that is judged alone asks every time.
VerdictId InternMask(const std::vector<Want>& wants, Mask mask, Rejections& out) {
  constexpr std::array kUsual = {ResourceId::kCpu, ResourceId::kMemory, ResourceId::kEphemeralStorage};
  static const std::array<std::string, kUsual.size()> kUsualTexts = {
      InsufficientText(kUsual[0]), InsufficientText(kUsual[1]), InsufficientText(kUsual[2])};
  std::array<std::string_view, kMaxMaskedWants + 1> reasons;
  std::vector<std::string> others;
  size_t n = 0;
  if (mask & 1) reasons[n++] = NodeResourcesFit::kTooManyPods.text;
  for (size_t k = 0; k < wants.size(); ++k) {
    if (!(mask & (Mask{2} << k))) continue;
    const auto usual = std::find(kUsual.begin(), kUsual.end(), wants[k].id);
    if (usual != kUsual.end()) {
      reasons[n++] = kUsualTexts[static_cast<size_t>(usual - kUsual.begin())];
    } else {
      if (others.empty()) others.reserve(wants.size());  // views of them stay valid
      reasons[n++] = others.emplace_back(InsufficientText(wants[k].id));
    }
  }
  const Code code = mask & kUnresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
  return out.Intern(code, std::span(reasons).first(n));
}

// Verdicts by mask: a cluster has few different ways of being too small, so each is interned once per call.
class VerdictsByMask {
 public:
  VerdictsByMask(const std::vector<Want>& wants, Rejections& out) : wants_(&wants), out_(&out) {}
  VerdictId Get(Mask mask) {
    if (mask == last_mask_) return last_;
    last_mask_ = mask;
    for (const auto& [known, id] : known_) {
      if (known == mask) return last_ = id;
    }
    last_ = InternMask(*wants_, mask, *out_);
    known_.emplace_back(mask, last_);
    return last_;
  }

 private:
  const std::vector<Want>* wants_;
  Rejections* out_;
  Mask last_mask_ = 0;
  VerdictId last_ = kFitsId;
  std::vector<std::pair<Mask, VerdictId>> known_;
};

BERTH_VECTORIZED void AddLacking(int64_t amount, Mask bit, const int64_t* __restrict allocatable,
                                 const int64_t* __restrict requested, size_t n, Mask* __restrict out) {
  for (size_t i = 0; i < n; ++i) {
    const Mask lacks = Mask{0} - LessBit(WrapSub(allocatable[i], requested[i]), amount);
    const Mask never = Mask{0} - LessBit(allocatable[i], amount);
    out[i] |= lacks & (bit | (never & kUnresolvable));
  }
}

// For a resource that devices serve where the node has none of it.
void AddLackingDevices(int64_t amount, Mask bit, const int64_t* allocatable, const int64_t* requested, size_t n,
                       Mask* out) {
  for (size_t i = 0; i < n; ++i) {
    if (allocatable[i] > 0 && amount > WrapSub(allocatable[i], requested[i])) {
      out[i] |= bit | (amount > allocatable[i] ? kUnresolvable : 0);
    }
  }
}

BERTH_VECTORIZED void StartMasks(const int64_t* __restrict pods, const int64_t* __restrict pod_count, size_t n,
                                 Mask* __restrict out) {
  for (size_t i = 0; i < n; ++i) out[i] = LessBit(pods[i], WrapAdd(pod_count[i], 1));
}

BERTH_VECTORIZED Mask AnyOf(const Mask* masks, size_t n) {
  Mask any = 0;
  for (size_t i = 0; i < n; ++i) any |= masks[i];
  return any;
}

// For pods with more requests than a mask has bits.
void FilterWide(const Wants& wants, const NodeBatch& nodes, Rejections& out) {
  const std::span<const int64_t> pod_count = nodes.pod_count(), pods = nodes.allocatable(ResourceId::kPods);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.active()[i]) continue;
    std::vector<std::string> reasons;
    bool unresolvable = false;
    if (WrapAdd(pod_count[i], 1) > pods[i]) reasons.emplace_back(NodeResourcesFit::kTooManyPods.text);
    for (const Want& want : wants.list) {
      const int64_t allocatable = nodes.allocatable(want.id)[i];
      if (want.device_class && allocatable <= 0) continue;
      if (want.amount <= WrapSub(allocatable, nodes.requested(want.id)[i])) continue;
      reasons.push_back(InsufficientText(want.id));
      unresolvable = unresolvable || want.amount > allocatable;
    }
    if (reasons.empty()) continue;
    const Code code = unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
    out.Reject(i, out.Intern(Verdict(code, std::move(reasons))));
  }
}

bool RequestsNothing(const Resources& r) {
  return r.milli_cpu == 0 && r.memory == 0 && r.ephemeral_storage == 0 && r.scalars.empty();
}

// Calls fn(id, amount) for every resource the pod requests some of.
template <class Fn>
bool AnyRequest(const Resources& request, Fn&& fn) {
  if (request.milli_cpu > 0 && fn(ResourceId::kCpu, request.milli_cpu)) return true;
  if (request.memory > 0 && fn(ResourceId::kMemory, request.memory)) return true;
  if (request.ephemeral_storage > 0 && fn(ResourceId::kEphemeralStorage, request.ephemeral_storage)) return true;
  for (const auto& [id, amount] : request.scalars) {
    if (amount != 0 && fn(id, amount)) return true;
  }
  return false;
}

QueueingHint AfterPodEvent(const Pod& rejected, const EventObjects& objects) {
  const Pod *before = objects.pod_before, *after = objects.pod_after;
  if (after == nullptr) {
    return before != nullptr && HoldsNode(*before) ? QueueingHint::kQueue : QueueingHint::kSkip;
  }
  if (after->uid() == rejected.uid()) return QueueingHint::kQueue;
  if (after->node_name.empty() || before == nullptr) return QueueingHint::kSkip;
  const bool freed = AnyRequest(rejected.resources.held, [&](ResourceId id, int64_t) {
    return std::max<int64_t>(before->resources.held.Get(id), 0) > std::max<int64_t>(after->resources.held.Get(id), 0);
  });
  return freed ? QueueingHint::kQueue : QueueingHint::kSkip;
}

// Whether the node, empty, would have room. Resources ignored by configuration are looked at too, as upstream does; a
// resource that only devices could serve counts as lacking, because claims for devices are not made yet.
QueueingHint FitAfterNodeChange(const Pod& rejected, const EventObjects& objects) {
  const Node *before = objects.node_before, *after = objects.node_after;
  if (after == nullptr || after->allocatable.pods < 1) return QueueingHint::kSkip;
  const Resources& request = rejected.resources.request;
  if (AnyRequest(request, [&](ResourceId id, int64_t amount) { return amount > after->allocatable.Get(id); })) {
    return QueueingHint::kSkip;
  }
  if (before == nullptr || after->allocatable.pods > before->allocatable.pods) return QueueingHint::kQueue;
  const bool grew = AnyRequest(
      request, [&](ResourceId id, int64_t) { return after->allocatable.Get(id) > before->allocatable.Get(id); });
  return grew ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const Args& args, const std::vector<std::string>& extender_ignored) : args_(args) {
  if (!extender_ignored.empty()) args_.ignored_resources = extender_ignored;
  for (const ResourceSpec& spec : args_.resources) {
    const ResourceId id = InternResource(spec.name);
    if (IsScored(id)) scored_.push_back({id, spec.weight});
  }
}

NodeResourcesFit::NodeResourcesFit(const Args& args, Handle& handle)
    : NodeResourcesFit(args, handle.extender_ignored_resources()) {}

bool NodeResourcesFit::Ignores(const std::string& name) const {
  if (args_.ignored_resources.empty() && args_.ignored_resource_groups.empty()) return false;
  if (!IsExtendedResource(name)) return false;
  const auto contains = [](const std::vector<std::string>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  return contains(args_.ignored_resources, name) ||
         contains(args_.ignored_resource_groups, std::string_view(name).substr(0, name.find('/')));
}

PreFilterOutcome NodeResourcesFit::PreFilter(const Cycle& cycle) const {
  const Resources& request = cycle.pod().resources.request;
  auto wants = std::make_shared<Wants>();
  if (RequestsNothing(request)) {
    wants->only_pod_count = true;
  } else {
    AnyRequest(request, [&](ResourceId id, int64_t amount) {
      const bool scalar = Index(id) > Index(ResourceId::kPods);
      if (scalar && Ignores(ResourceName(id))) return false;
      wants->list.push_back({id, amount, scalar && IsBackedByDeviceClass(cycle.snapshot(), id)});
      return false;
    });
  }
  auto state = std::make_unique<FitState>();
  state->wants = std::move(wants);
  return PreFilterOutcome::Ok(std::move(state));
}

Error NodeResourcesFit::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
  const Wants& wants = *static_cast<const FitState*>(state)->wants;
  if (wants.list.size() > kMaxMaskedWants) {
    FilterWide(wants, nodes, out);
    return Error::Ok();
  }
  VerdictsByMask verdicts(wants.list, out);
  const std::span<VerdictId> slots = out.slots();
  const std::span<const int64_t> pod_count = nodes.pod_count(), pods = nodes.allocatable(ResourceId::kPods);
  std::array<Mask, kFitChunk> masks;
  for (size_t first = 0; first < nodes.size(); first += kFitChunk) {
    const size_t n = std::min(kFitChunk, nodes.size() - first);
    StartMasks(pods.data() + first, pod_count.data() + first, n, masks.data());
    for (size_t k = 0; k < wants.list.size(); ++k) {
      const Want& want = wants.list[k];
      const auto add = want.device_class ? AddLackingDevices : AddLacking;
      add(want.amount, Mask{2} << k, nodes.allocatable(want.id).data() + first, nodes.requested(want.id).data() + first,
          n, masks.data());
    }
    if (AnyOf(masks.data(), n) == 0) continue;
    for (size_t i = 0; i < n; ++i) {
      if (masks[i] != 0) slots[first + i] = verdicts.Get(masks[i]);
    }
  }
  return Error::Ok();
}

Depends NodeResourcesFit::DependsOn(Point point) const {
  constexpr RowFields kAmounts = row_field::kAllocatable | row_field::kRequested;
  switch (point) {
    case Point::kPreFilter:
      return {0, epoch::kDevices};  // which resources device classes stand for
    case Point::kFilter:
      return {kAmounts | row_field::kPodCount, epoch::kDevices};
    case Point::kPreScore:
      return Depends::OnRow(0);
    default:
      return Depends::OnRow(kAmounts);
  }
}

bool NodeResourcesFit::Sign(const Pod& pod, Signature& out) const {
  SignResources(pod.resources.request, out);
  SignResources(pod.resources.score_request, out);
  return true;
}

std::optional<std::vector<EventRegistration>> NodeResourcesFit::EventsToRegister() const {
  return std::vector<EventRegistration>{
      {{EventResource::kPod, action::kDelete | action::kUpdatePodScaleDown}, AfterPodEvent},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable}, FitAfterNodeChange},
      {{EventResource::kDeviceClass, action::kAdd | action::kUpdate}, nullptr}};
}

}  // namespace berth::plugins
