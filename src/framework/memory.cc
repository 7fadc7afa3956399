// SPDX-License-Identifier: Apache-2.0
// Classes of pods: signatures, looking them up, letting them go. One decision is memory_run.cc.
#include "framework/memory.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "berth/host/snapshot_access.h"
#include "framework/call_timer.h"
#include "framework/memory_run.h"
#include "framework/plugin_call.h"
#include "framework/same_template.h"

namespace berth::framework {
namespace {

constexpr Epochs kOutside = epoch::kUnrememberable | epoch::kOtherRows | epoch::kOwnIndex;
// What a row is by its pods.
constexpr RowFields kOfPods = row_field::kRequested | row_field::kPodCount | row_field::kPorts | row_field::kPods;

// The same template, another pod.
Pod Stranger(const Pod& pod) {
  Pod other = pod;
  other.meta.name = "\x01" + pod.meta.name + "\x01";
  other.meta.uid = "\x01" + pod.meta.uid + "\x01";
  other.meta.resource_version = "\x01" + pod.meta.resource_version;
  other.meta.generation = pod.meta.generation + 1;
  other.meta.creation_time = Time{pod.meta.creation_time.value_or(Time{}).ns + 1};
  other.meta.deletion_time.reset();
  other.phase = "\x01";
  other.nominated_node_name = "\x01";
  other.conditions.push_back({"\x01", "\x01", "\x01", "\x01"});
  other.start_time = Time{1};
  return other;
}

}  // namespace

Memory::Memory(const Profile& profile, VerdictTable& table, const Clock& clock, std::vector<const PluginIndex*> indexes,
               const MemoryOptions& options)
    : profile_(profile), table_(table), clock_(clock), indexes_(std::move(indexes)), options_(options) {
  std::vector<uint8_t>& signs = signs_;
  signs.assign(profile.plugins.size(), 0);
  for (const auto& entry : profile.pre_filter) signs[entry.index] |= !(entry.depends.epochs & epoch::kUnrememberable);
  const auto tracks = [&](uint16_t plugin) {
    return std::any_of(profile.pre_filter.begin(), profile.pre_filter.end(),
                       [&](const auto& entry) { return entry.index == plugin && entry.tracks_pods; });
  };
  for (const auto& entry : profile.filter) {
    FilterPlan plan{entry.depends, false};
    plan.remembered = !(plan.depends.epochs & kOutside);
    // Marks made with one state would stand beside those made with the next.
    for (const auto& before : profile.pre_filter)
      if (before.index == entry.index && (before.depends.epochs & kOutside)) plan.remembered = false;
    signs[entry.index] |= !(plan.depends.epochs & epoch::kUnrememberable);
    if (plan.remembered) {
      filter_epochs_ |= plan.depends.epochs;
      filter_fields_ |= plan.depends.row;
    }
    reacts_.push_back(!plan.remembered || (plan.depends.row & kOfPods) != 0 || tracks(entry.index));
    ask_.push_back(plan.remembered);
    position_of_.resize(std::max(position_of_.size(), size_t{entry.index} + 1));
    position_of_[entry.index] = static_cast<uint16_t>(filters_.size());
    filters_.push_back(plan);
  }
  int64_t most = 0;
  for (const ScoreEntry& entry : profile.score) {
    ScorePlan plan{entry.depends, false, SIZE_MAX};
    plan.remembered = !(plan.depends.epochs & kOutside) && entry.normalization != Normalization::kOwn;
    for (size_t i = 0; i < profile.pre_score.size(); ++i) {
      if (profile.pre_score[i].index != entry.index) continue;
      plan.pre_score = i;
      if (profile.pre_score[i].depends.epochs & kOutside) plan.remembered = false;
    }
    if (plan.remembered) {
      score_epochs_ |= plan.depends.epochs;
      score_fields_ |= plan.depends.row;
      signs[entry.index] = 1;
    }
    constexpr int64_t kLargest = 127;  // what is added before a score out of range is noticed
    most =
        std::min(most, int64_t{INT32_MAX}) + std::min(std::abs(int64_t{entry.weight}), int64_t{INT32_MAX}) * kLargest;
    scores_.push_back(plan);
  }
  weights_fit_ = most < INT32_MAX;
  if (options.threads > 1) pool_ = std::make_unique<util::WorkerPool>(options.threads);
  for (size_t i = 0; i < signs.size(); ++i)
    if (signs[i]) signers_.push_back(static_cast<uint16_t>(i));
  for (const auto& entry : profile.pre_filter)
    if (!signs[entry.index]) may_sign_.push_back(entry.index);
  for (size_t i = 0; i < profile.pre_score.size(); ++i) {
    const uint16_t plugin = profile.pre_score[i].index;
    const bool scores = std::any_of(profile.score.begin(), profile.score.end(),
                                    [&](const ScoreEntry& entry) { return entry.index == plugin; });
    if (!scores) pre_score_only_.push_back(i);
  }
  late_.assign(profile.plugins.size(), 0);
  const auto late = [&](const auto& entries) {
    for (const auto& entry : entries) late_[entry.index] = 1;
  };
  late(profile.reserve);
  late(profile.permit);
  late(profile.pre_bind);
  late(profile.bind);
  late(profile.post_bind);
  live_scores_.resize(profile.score.size());
}

Memory::~Memory() = default;

uint64_t Memory::StampOf(const Snapshot& snapshot, Epochs epochs, uint16_t plugin) const {
  uint64_t stamp = Stamp(snapshot, epochs);
  if ((epochs & epoch::kOwnIndex) && indexes_[plugin]) stamp += indexes_[plugin]->epoch();
  return stamp;
}

bool Memory::Sign(const Pod& pod, std::string& out, std::vector<uint8_t>* signed_by) const {
  Signature signature;
  if (signed_by) *signed_by = signs_;
  for (const uint16_t plugin : signers_) {
    if (!CallSign(profile_, plugin, pod, signature)) return false;
    signature.EndPlugin(true);
  }
  for (const uint16_t plugin : may_sign_) {
    const bool signs = CallSign(profile_, plugin, pod, signature);
    if (signed_by) (*signed_by)[plugin] = signs;
    signature.EndPlugin(signs);
  }
  // A plugin that declares to read one need not sign it.
  for (const std::string& key : profile_.annotations.pods) {
    const std::string* value = pod.meta.annotations.Find(key);
    signature.Add(int64_t{value != nullptr});
    if (value) signature.Add(*value);
  }
  out = std::move(signature).Take();
  return true;
}

// The class of this pod; a new one is not kept yet. Null when its answers cannot be shared.
PodClass* Memory::ClassOf(const Pod& pod, std::unique_ptr<PodClass>& fresh) {
  if (last_ && last_->identity_blind && SameTemplate(pod, *last_->exemplar)) return last_;
  std::string signature;
  Stage sign(profile_, PluginFunction::kSign);
  std::vector<uint8_t> signed_by;
  const bool shared = Sign(pod, signature, &signed_by);
  sign.End(shared ? Code::kSuccess : Code::kUnschedulable);  // as upstream calls it
  if (!shared) return nullptr;
  if (const auto known = classes_.find(signature); known != classes_.end()) {
    last_ = known->second.get();
    by_use_.splice(by_use_.end(), by_use_, last_->place);
    return last_;
  }
  fresh = spare_ ? std::move(spare_) : std::make_unique<PodClass>();
  fresh->exemplar.reset();
  if (SeenBefore(signature)) fresh->exemplar = pod;
  fresh->signature = std::move(signature);
  fresh->signed_by = std::move(signed_by);
  fresh->identity_blind = false;
  fresh->pre_filter.assign(profile_.pre_filter.size(), {});
  fresh->states.slots.clear();
  fresh->states.slots.resize(profile_.plugins.size());
  fresh->states.skip_filter.assign(profile_.plugins.size(), 0);
  fresh->pre_score.assign(profile_.pre_score.size(), {});
  fresh->score_states.clear();
  fresh->score_states.resize(profile_.plugins.size());
  fresh->marked = fresh->scored = false;
  fresh->columns.resize(profile_.score.size());
  return fresh.get();
}

bool Memory::SeenBefore(const std::string& signature) {
  constexpr size_t kSeen = 16384;
  seen_.resize(kSeen);
  const uint64_t hash = SecretHash64(signature) | 1;  // 0 is an empty place
  return std::exchange(seen_[(hash >> 1) % kSeen], hash) == hash;
}

void Memory::Keep(std::unique_ptr<PodClass> fresh) {
  std::string stranger;
  fresh->identity_blind = Sign(Stranger(*fresh->exemplar), stranger) && stranger == fresh->signature;
  fresh->weight = 0;
  last_ = fresh.get();
  std::string key = fresh->signature;
  classes_.emplace(std::move(key), std::move(fresh));
  last_->place = by_use_.insert(by_use_.end(), last_);
}

void Memory::Weigh(PodClass& used) {
  const size_t weight = used.Bytes();
  bytes_ += weight - used.weight;
  used.weight = weight;
  while (bytes_ > options_.max_bytes && by_use_.size() > 1) {
    PodClass* oldest = by_use_.front();
    if (oldest == last_) return;
    by_use_.pop_front();
    bytes_ -= oldest->weight;
    const auto it = classes_.find(oldest->signature);
    spare_ = std::move(it->second);  // its arrays serve the next class
    classes_.erase(it);
  }
}

std::optional<Decision> Memory::Decide(const Pod& pod, const Snapshot& snapshot, CycleTrace& trace) {
  if (snapshot.node_count() == 0 || !weights_fit_) {
    ++stats_.left;
    return std::nullopt;
  }
  std::unique_ptr<PodClass> fresh;
  PodClass* pod_class = ClassOf(pod, fresh);
  std::optional<Decision> decision;
  if (pod_class) {
    MemoryRun run(*this, pod, snapshot, *pod_class);
    // What plugins throw is caught at every call; this is for what those miss, such as memory that runs out.
    const Error error = GuardError([&] {
      decision = run.Decide(trace);
      return Error::Ok();
    });
    if (!error.ok()) {
      decision.reset();
      pod_class->marked = pod_class->scored = false;
    }
    // Who fits nowhere comes back. States made for this pod are made again for the class.
    if (fresh && !fresh->exemplar && run.keep() && decision && decision->kind == Judgement::Kind::kRejected) {
      fresh->exemplar = pod;
      for (PodClass::Outcome& outcome : fresh->pre_filter) outcome.known = false;
      for (PodClass::Outcome& outcome : fresh->pre_score) outcome.known = false;
    }
    if (fresh && fresh->exemplar && run.keep()) {
      Keep(std::move(fresh));
    } else if (fresh) {
      spare_ = std::move(fresh);
    } else {
      ++stats_.hits;
    }
    if (last_ == pod_class) Weigh(*pod_class);
  }
  ++(decision ? stats_.decisions : stats_.left);
  return decision;
}

Memory::Stats Memory::stats() const {
  Stats stats = stats_;
  stats.classes = classes_.size();
  stats.bytes = bytes_;
  return stats;
}

}  // namespace berth::framework
