// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/volumebinding/binder.go, AssumePodVolumes to checkBindings (v1.36.4).
#include "plugins/volume_binding_run.h"

#include <charconv>
#include <utility>

#include "plugins/volume_binding_migration.h"

namespace berth::plugins {
namespace {

constexpr Duration kPollEvery = Duration::Seconds(1);

Labels WithEntry(const Labels& labels, std::string_view key, std::string_view value) {
  std::vector<Labels::Entry> entries(labels.begin(), labels.end());
  entries.emplace_back(key, value);
  return Labels(std::move(entries));
}

uint64_t Number(const std::string& version) {
  uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

std::string InQuotes(const std::string& text) { return "\"" + text + "\""; }

// `now` has the volume as it is stored: what another pod with the same claim has assumed of it may never be written.
VolumeReservation::Binding BindingOf(const VolumeChoice::Static& choice, const Snapshot& now) {
  const PersistentVolumeClaim& claim = *choice.claim;
  auto volume = std::make_shared<PersistentVolume>(*choice.volume);
  VolumeReservation::Binding out;
  out.claim_namespace = claim.meta.namespace_;
  out.claim_name = claim.meta.name;
  const ClaimReference ref{claim.meta.namespace_, claim.meta.name, claim.meta.uid};
  const bool annotate = !IsFor(*volume, claim) && !volume->meta.annotations.Has(kBoundByController);
  const bool named = volume->claim_ref && *volume->claim_ref == ref;
  out.assumed = annotate || !named;
  if (!named) volume->claim_ref = ref;
  if (annotate) volume->meta.annotations = WithEntry(volume->meta.annotations, kBoundByController, "yes");

  const PersistentVolume* const stored = now.objects<PersistentVolume>().Find(volume->meta.name);
  if (stored == nullptr || stored->claim_ref != volume->claim_ref) out.claim_version = claim.meta.resource_version;
  out.by_controller = volume->meta.annotations.Has(kBoundByController) &&
                      (stored == nullptr || !stored->meta.annotations.Has(kBoundByController));
  out.volume = std::move(volume);
  return out;
}

// Whether the node reaches the volume, as a pod on it would: an Error when it does not, or nobody can tell.
Error CheckReach(const PersistentVolume& volume, const Node& node, const Snapshot& now, const char* context) {
  const CsiNode* const csi = now.objects<CsiNode>().Find(node.name());
  const uint8_t plugin = PluginBit(volume.kind);
  std::optional<NodeSelector> affinity = volume.node_affinity;
  if (plugin != 0 && csi != nullptr && (MigratedPlugins(*csi) & plugin) != 0) {
    Result<std::optional<NodeSelector>> translated = TranslateAffinity(volume);
    if (!translated.ok()) return Error(context + ("could not translate pv: " + translated.error().text()));
    affinity = std::move(translated).value();
  }
  if (!affinity || MatchesLabels(*affinity, node.meta.labels)) return Error::Ok();
  return Error("pv " + InQuotes(volume.meta.name) + " node affinity doesn't match node " + InQuotes(node.name()) +
               ": no matching NodeSelectorTerms");
}

}  // namespace

void CountVolumeFailure(const Handle& handle, const char* stage) {
  static const PluginCounter kErrors{"scheduler_volume_scheduling_stage_error_total",
                                     "Volume scheduling stage error count", "operation"};
  handle.Count(kErrors, stage);
}

Result<std::shared_ptr<VolumeReservation>> VolumeReservation::Make(const VolumeChoice& choice, const std::string& node,
                                                                   ClusterAccess& cluster) {
  auto made = std::make_shared<VolumeReservation>();
  // Before the first is assumed: the choice points to objects that may be assumed ones.
  const Snapshot now = cluster.Now();
  for (const VolumeChoice::Static& one : choice.bindings) made->bindings.push_back(BindingOf(one, now));
  for (const PersistentVolumeClaim* one : choice.provisions) {
    auto claim = std::make_shared<PersistentVolumeClaim>(*one);
    claim->meta.annotations = WithEntry(claim->meta.annotations, kSelectedNode, node);
    made->provisions.push_back({std::move(claim)});
  }
  Error error = Error::Ok();
  for (Binding& binding : made->bindings) {
    if (!binding.assumed || !error.ok()) {
      binding.assumed = false;
      continue;
    }
    error = cluster.Assume(binding.volume);
    binding.assumed = error.ok();
  }
  for (Provision& provision : made->provisions) {
    if (!error.ok()) break;
    error = cluster.Assume(provision.claim);
    provision.assumed = error.ok();
  }
  if (error.ok()) return made;
  made->GiveBack(cluster);
  return error;
}

void VolumeReservation::GiveBack(ClusterAccess& cluster) {
  const auto ours = [](const auto& one, const std::string& version) {
    return one.assumed && (one.written.empty() || one.written == version);
  };
  for (Binding& binding : bindings) {
    if (ours(binding, binding.volume->meta.resource_version)) cluster.Restore(*binding.volume);
    binding.assumed = false;
  }
  for (Provision& provision : provisions) {
    if (ours(provision, provision.claim->meta.resource_version)) cluster.Restore(*provision.claim);
    provision.assumed = false;
  }
}

void VolumeBindingRun::WriteVolume(size_t at) {
  if (at >= reservation_->bindings.size()) return WriteClaim(0);
  const VolumeReservation::Binding& binding = reservation_->bindings[at];
  VolumeClaimPatch patch;
  patch.volume = binding.volume->meta.name;
  patch.resource_version = binding.volume->meta.resource_version;
  patch.claim = *binding.volume->claim_ref;
  patch.claim_version = binding.claim_version;
  patch.bound_by_controller = binding.by_controller;
  handle_.writer().GiveVolume(patch, [self = shared_from_this(), at](const Result<std::string>& written) {
    if (written.ok()) self->reservation_->bindings[at].written = *written;
    if (!self->done_) return;
    if (!written.ok()) return self->Finish(Verdict::Fail(written.error().text()));
    self->WriteVolume(at + 1);
  });
}

void VolumeBindingRun::WriteClaim(size_t at) {
  if (at >= reservation_->provisions.size()) return Wait();
  const PersistentVolumeClaim& claim = *reservation_->provisions[at].claim;
  handle_.writer().SelectNode({claim.meta.namespace_, claim.meta.name, claim.meta.resource_version, placement_.node},
                              [self = shared_from_this(), at](const Result<std::string>& written) {
                                if (written.ok()) self->reservation_->provisions[at].written = *written;
                                if (!self->done_) return;
                                if (!written.ok()) return self->Finish(Verdict::Fail(written.error().text()));
                                self->WriteClaim(at + 1);
                              });
}

void VolumeBindingRun::Wait() {
  const auto late = [self = shared_from_this()] {
    self->Finish(Verdict::Fail("binding volumes: context deadline exceeded"));
  };
  if (timeout_.ns <= 0) return late();
  deadline_ = cluster_.After(timeout_, late);  // before the poll, so that it is heard first at the same time
  poll_ = cluster_.After(kPollEvery, [self = shared_from_this()] { self->Poll(); });
}

void VolumeBindingRun::Poll() {
  poll_ = 0;
  const Result<bool> looked = Look();
  if (!looked.ok()) return Finish(Verdict::Fail("binding volumes: " + looked.error().text()));
  if (*looked) return Finish({});
  poll_ = cluster_.After(kPollEvery, [self = shared_from_this()] { self->Poll(); });
}

Result<bool> VolumeBindingRun::Look() const {
  const Snapshot now = cluster_.Now();
  const Row row = now.FindRow(placement_.node);
  if (row == kNoRow || !now.live(row)) {
    const std::string name = InQuotes(placement_.node);
    return Error("failed to get node " + name + ": node " + name + " not found");
  }
  const Pod& pod = *placement_.pod;
  if (!cluster_.FindPod(pod.namespace_(), pod.name()))
    return Error("pod does not exist any more: pod " + InQuotes(pod.name()) + " not found");
  for (const VolumeReservation::Binding& binding : reservation_->bindings) {
    Result<bool> bound = LookAt(binding, now, now.node(row));
    if (!bound.ok() || !*bound) return bound;
  }
  for (const VolumeReservation::Provision& provision : reservation_->provisions) {
    Result<bool> bound = LookAt(provision, now, now.node(row));
    if (!bound.ok() || !*bound) return bound;
  }
  return true;
}

Result<bool> VolumeBindingRun::LookAt(const VolumeReservation::Binding& binding, const Snapshot& now,
                                      const Node& node) const {
  const std::string& name = binding.volume->meta.name;
  const auto* const volume = now.objects<PersistentVolume>().Find(name);
  if (volume == nullptr) return Error("failed to check binding: persistentvolumes " + InQuotes(name) + " not found");
  const auto* const claim = now.objects<PersistentVolumeClaim>().Find(binding.claim_namespace, binding.claim_name);
  if (claim == nullptr)
    return Error("failed to check binding: persistentvolumeclaims " +
                 InQuotes(binding.claim_namespace + "/" + binding.claim_name) + " not found");
  if (Number(binding.written) > Number(volume->meta.resource_version)) return false;
  if (Error error = CheckReach(*volume, node, now, "failed to translate pv to csi: "); !error.ok()) return error;
  if (!volume->claim_ref || volume->claim_ref->uid.empty()) return Error("ClaimRef got reset for pv " + InQuotes(name));
  return IsBound(*claim);
}

Result<bool> VolumeBindingRun::LookAt(const VolumeReservation::Provision& provision, const Snapshot& now,
                                      const Node& node) const {
  const ObjectMeta& meta = provision.claim->meta;
  const auto* const claim = now.objects<PersistentVolumeClaim>().Find(meta.namespace_, meta.name);
  if (claim == nullptr)
    return Error("failed to check provisioning pvc: persistentvolumeclaims " + InQuotes(FullName(meta)) + " not found");
  if (Number(provision.written) > Number(claim->meta.resource_version)) return false;
  if (claim->meta.annotations.empty()) return Error("selectedNode annotation reset for PVC " + InQuotes(meta.name));
  const std::string* const selected = claim->meta.annotations.Find(kSelectedNode);
  if (selected == nullptr || *selected != placement_.node)
    return Error("provisioning failed for PVC " + InQuotes(meta.name));
  if (!claim->volume_name.empty()) {
    const auto* const volume = now.objects<PersistentVolume>().Find(claim->volume_name);
    if (volume == nullptr) return false;  // it is on its way
    if (Error error = CheckReach(*volume, node, now, ""); !error.ok()) return error;
  }
  return IsBound(*claim);
}

void VolumeBindingRun::Finish(const Verdict& verdict) {
  if (!done_) return;
  const auto self = shared_from_this();  // a timer's copy may be the last
  if (poll_ != 0) cluster_.Cancel(poll_);
  if (deadline_ != 0) cluster_.Cancel(deadline_);
  poll_ = deadline_ = 0;
  if (!verdict.fits()) CountVolumeFailure(handle_, "bind");
  std::exchange(done_, nullptr)(verdict);
}

}  // namespace berth::plugins
