// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity: arguments, signature and events. Filter and Score have files of their own.
#include "plugins/inter_pod_affinity.h"

#include "plugins/common/pod_signing.h"
#include "plugins/common/signing.h"
#include "plugins/inter_pod_affinity_index.h"
#include "plugins/inter_pod_affinity_terms.h"

namespace berth::plugins {
namespace {

void SignPodAffinity(const std::optional<PodAffinity>& affinity, Signature& out) {
  out.Add(int64_t{affinity.has_value()});
  if (!affinity) return;
  out.Add(static_cast<int64_t>(affinity->required.size()));
  for (const PodAffinityTerm& term : affinity->required) SignPodTerm(term, out);
  out.Add(static_cast<int64_t>(affinity->preferred.size()));
  for (const WeightedPodAffinityTerm& weighted : affinity->preferred) {
    out.Add(int64_t{weighted.weight});
    SignPodTerm(weighted.term, out);
  }
}

// Hints have no namespaces at hand: selectors of namespaces are not resolved, as upstream does not.
std::vector<AffinityTerm> RequiredTerms(const Pod& pod, const std::optional<PodAffinity>& affinity) {
  std::vector<AffinityTerm> terms;
  if (!affinity) return terms;
  for (const PodAffinityTerm& term : affinity->required) terms.push_back(MakeTerm(pod, term));
  return terms;
}

bool RequiredValid(const std::optional<PodAffinity>& affinity) { return !affinity || AllValid(affinity->required); }

QueueingHint HintPod(const Pod& rejected, const EventObjects& objects) {
  const Pod* before = objects.pod_before;
  const Pod* after = objects.pod_after;
  if (before != nullptr && after != nullptr && after->uid() == rejected.uid()) return QueueingHint::kQueue;
  if (before != nullptr && !HoldsNode(*before)) return QueueingHint::kSkip;
  if (after != nullptr && !HoldsNode(*after)) return QueueingHint::kSkip;
  if (!RequiredValid(rejected.affinity.pod_affinity) || !RequiredValid(rejected.affinity.pod_anti_affinity)) {
    return QueueingHint::kQueue;
  }
  const auto affinity = RequiredTerms(rejected, rejected.affinity.pod_affinity);
  const auto anti = RequiredTerms(rejected, rejected.affinity.pod_anti_affinity);
  bool helps = true;
  if (before != nullptr && after != nullptr) {
    helps = (!MatchesAll(affinity, *before) && MatchesAll(affinity, *after)) ||
            (MatchesAll(anti, *before) && !MatchesAll(anti, *after));
  } else if (after != nullptr) {
    helps = MatchesAll(affinity, *after);
  } else if (before != nullptr) {
    helps = MatchesAll(anti, *before) || !RequiredValid(before->affinity.pod_anti_affinity) ||
            MatchesAll(RequiredTerms(*before, before->affinity.pod_anti_affinity), rejected);
  }
  return helps ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint HintNode(const Pod& rejected, const EventObjects& objects) {
  const Node* before = objects.node_before;
  const Node* after = objects.node_after;
  if (after == nullptr) return QueueingHint::kQueue;
  if (!RequiredValid(rejected.affinity.pod_affinity) || !RequiredValid(rejected.affinity.pod_anti_affinity)) {
    return QueueingHint::kQueue;
  }
  const auto value = [](const Node* node, const std::string& key) {
    return node == nullptr ? nullptr : node->meta.labels.Find(key);
  };
  if (rejected.affinity.pod_affinity) {
    for (const PodAffinityTerm& term : rejected.affinity.pod_affinity->required) {
      const std::string* had = value(before, term.topology_key);
      const std::string* has = value(after, term.topology_key);
      if (has != nullptr && (had == nullptr || *had != *has)) return QueueingHint::kQueue;
    }
  }
  if (rejected.affinity.pod_anti_affinity) {
    for (const PodAffinityTerm& term : rejected.affinity.pod_anti_affinity->required) {
      if (before == nullptr) return QueueingHint::kQueue;
      const std::string* had = value(before, term.topology_key);
      const std::string* has = value(after, term.topology_key);
      if (had != nullptr && (has == nullptr || *had != *has)) return QueueingHint::kQueue;
    }
  }
  return QueueingHint::kSkip;
}

}  // namespace

void InterPodAffinity::Args::Read(ArgsReader& in) {
  in.Int32("hardPodAffinityWeight", hard_pod_affinity_weight,
           {.min = 0, .max = 100, .text = "not in valid range [0, 100]"});
  in.Bool("ignorePreferredTermsOfExistingPods", ignore_preferred_terms_of_existing_pods);
}

Value InterPodAffinity::Args::Write() const {
  Value out = Value::Object();
  out.Set("kind", Value::String("InterPodAffinityArgs"));
  out.Set("apiVersion", Value::String("kubescheduler.config.k8s.io/v1"));
  out.Set("hardPodAffinityWeight", Value::Int(hard_pod_affinity_weight));
  out.Set("ignorePreferredTermsOfExistingPods", Value::Bool(ignore_preferred_terms_of_existing_pods));
  return out;
}

Depends InterPodAffinity::DependsOn(Point) const {
  if (index_ != nullptr) return {row_field::kLabels, PodCountIndex::kIndexed | epoch::kNamespaces};
  return {row_field::kLabels, epoch::kNodeSet | epoch::kOtherRows | epoch::kNamespaces};
}

std::unique_ptr<PluginIndex> InterPodAffinity::MakeIndex() {
  auto index = std::make_unique<InterPodAffinityIndex>(args_.hard_pod_affinity_weight);
  index_ = index.get();
  return index;
}

InterPodAffinityIndex* InterPodAffinity::IndexOf(const Snapshot& snapshot) const {
  if (index_ == nullptr || !index_->Serves(snapshot)) return nullptr;
  index_->counts().Begin();
  return index_;
}

bool InterPodAffinity::Sign(const Pod& pod, Signature& out) const {
  out.Add(pod.namespace_());
  SignLabels(pod.meta.labels, out);
  SignPodAffinity(pod.affinity.pod_affinity, out);
  SignPodAffinity(pod.affinity.pod_anti_affinity, out);
  return true;
}

std::optional<std::vector<EventRegistration>> InterPodAffinity::EventsToRegister() const {
  using namespace action;
  return std::vector<EventRegistration>{
      {{EventResource::kPod, kAdd | kUpdatePodLabel | kDelete}, HintPod},
      {{EventResource::kNode, kAdd | kUpdateNodeLabel}, HintNode},
  };
}

}  // namespace berth::plugins
