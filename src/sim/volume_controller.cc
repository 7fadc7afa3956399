// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go, volume/ephemeral/controller.go;
// sig-storage-lib-external-provisioner.
#include "sim/volume_controller.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "berth/args.h"
#include "client/volume_writes.h"
#include "sim/simulated_cluster.h"

namespace berth::sim {
namespace {

constexpr std::string_view kProvisionTime = "sim.berth.dev/provision-time";
constexpr std::string_view kProvisionFailures = "sim.berth.dev/provision-failures";
constexpr std::string_view kBindTime = "sim.berth.dev/bind-time";
constexpr std::string_view kTopologyKey = "sim.berth.dev/topology-key";
constexpr std::string_view kSelected = "volume.kubernetes.io/selected-node";
constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
// How long a controller takes to notice a pod that comes or goes.
constexpr Duration kMakeClaim = Duration::Millis(50);
constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";

std::string ClassName(const ObjectMeta& meta, const std::string& spec) {
  const std::string* annotated = meta.annotations.Find(kBetaClass);
  return annotated != nullptr ? *annotated : spec;
}
std::string ClassName(const PersistentVolumeClaim& claim) {
  return ClassName(claim.meta, claim.storage_class.value_or(""));
}

bool Bound(const PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() && claim.meta.annotations.Has("pv.kubernetes.io/bind-completed");
}

bool Names(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.claim_ref && volume.claim_ref->name == claim.meta.name &&
         volume.claim_ref->namespace_ == claim.meta.namespace_ &&
         (volume.claim_ref->uid.empty() || volume.claim_ref->uid == claim.meta.uid);
}

bool Suits(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  const auto has = [&](const std::string& mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) != volume.access_modes.end();
  };
  return volume.capacity >= claim.request.value_or(Quantity()) && volume.volume_mode == claim.volume_mode &&
         volume.volume_attributes_class == claim.volume_attributes_class && !volume.meta.deletion_time &&
         (!claim.selector || claim.selector->Matches(volume.meta.labels)) &&
         std::all_of(claim.access_modes.begin(), claim.access_modes.end(), has);
}

bool Waits(const StorageClass* storage_class) {
  return storage_class != nullptr && storage_class->volume_binding_mode == "WaitForFirstConsumer";
}

bool Makes(const StorageClass* storage_class) {
  return storage_class != nullptr && !storage_class->provisioner.empty() &&
         storage_class->provisioner != "kubernetes.io/no-provisioner";
}

bool MadeFor(const PersistentVolumeClaim& claim, const Pod& pod) {
  return std::any_of(claim.meta.owners.begin(), claim.meta.owners.end(),
                     [&](const OwnerReference& owner) { return owner.controller && owner.uid == pod.uid(); });
}

Labels Without(const Labels& labels, std::string_view key) {
  std::vector<Labels::Entry> entries(labels.begin(), labels.end());
  std::erase_if(entries, [&](const Labels::Entry& entry) { return entry.first == key; });
  return Labels(std::move(entries));
}

// False when it is no such number.
bool ReadCount(const std::string& text, int64_t& out) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end && out >= 0;
}

std::string ReadInto(const StorageClass& storage_class, VolumeTimes& out) {
  std::string problem;
  const auto complain = [&](std::string_view key, const std::string& value, const std::string& why) {
    if (problem.empty()) problem = "metadata.annotations[" + std::string(key) + "]: \"" + value + "\": " + why;
  };
  const auto read_time = [&](std::string_view key, Duration& slot) {
    const std::string* text = storage_class.meta.annotations.Find(key);
    if (text == nullptr) return;
    const Result<Duration> time = ParseDuration(*text);
    if (!time.ok() || time->ns < 0) return complain(key, *text, "must be a duration such as 5s");
    slot = *time;
  };
  read_time(kProvisionTime, out.provision);
  read_time(kBindTime, out.bind);
  if (const std::string* text = storage_class.meta.annotations.Find(kProvisionFailures);
      text != nullptr && !ReadCount(*text, out.failures)) {
    out.failures = 0;
    complain(kProvisionFailures, *text, "must be a number of attempts");
  }
  if (const std::string* text = storage_class.meta.annotations.Find(kTopologyKey)) out.topology_key = *text;
  return problem;
}

}  // namespace

VolumeTimes VolumeTimes::Of(const StorageClass* storage_class) {
  VolumeTimes out;
  if (storage_class != nullptr) (void)ReadInto(*storage_class, out);
  return out;
}

std::string VolumeTimes::Problem(const StorageClass& storage_class) {
  VolumeTimes ignored;
  return ReadInto(storage_class, ignored);
}

template <class T>
Ptr<T> VolumeController::Find(std::string_view ns, std::string_view name) const {
  const ClusterObject* const found = cluster_.Find(InfoOf<T>().kind, ns, name);
  return found != nullptr ? std::get<Ptr<T>>(*found) : nullptr;
}

template <class T, class Fn>
void VolumeController::Change(const ObjectMeta& meta, Fn&& fn) {
  (void)cluster_.Update(InfoOf<T>().kind, meta.namespace_, meta.name,
                        [&](const ClusterObject& before) -> ClusterObject {
                          auto after = std::make_shared<T>(*std::get<Ptr<T>>(before));
                          fn(*after);
                          return Ptr<T>(std::move(after));
                        });
}

void VolumeController::Changed(const ClusterObject* before, const ClusterObject* after) {
  const ClusterObject& any = after != nullptr ? *after : *before;
  const auto get = [](const ClusterObject* object, auto null) {
    return object != nullptr ? std::get<std::decay_t<decltype(null)>>(*object) : null;
  };
  switch (KindOf(any)) {
    case Kind::kPod:
      return PodChanged(get(before, Ptr<Pod>()).get(), get(after, Ptr<Pod>()).get());
    case Kind::kPersistentVolumeClaim:
      return ClaimChanged(get(before, Ptr<PersistentVolumeClaim>()).get(),
                          get(after, Ptr<PersistentVolumeClaim>()).get());
    case Kind::kPersistentVolume:
      return VolumeChanged(get(before, Ptr<PersistentVolume>()).get(), get(after, Ptr<PersistentVolume>()).get());
    case Kind::kStorageClass:
    case Kind::kCsiStorageCapacity:
      if (after != nullptr) PlanUnbound();
      return;
    default:
      return;
  }
}

void VolumeController::PodChanged(const Pod* before, const Pod* after) {
  for (const PodVolume& volume : (after != nullptr ? after : before)->volumes) {
    if (volume.kind != VolumeKind::kEphemeral) continue;
    const std::string& ns = (after != nullptr ? after : before)->namespace_();
    const std::string key = ns + "/" + volume.source;
    if (after != nullptr) {
      pods_[key] = after->name();
      if (before == nullptr) PlanPod(ns, after->name());
      continue;
    }
    pods_.erase(key);
    const auto claim = Find<PersistentVolumeClaim>(ns, volume.source);
    if (!claim || !MadeFor(*claim, *before)) continue;
    later_(kMakeClaim, [this, claim] {
      const auto now = Find<PersistentVolumeClaim>(claim->meta.namespace_, claim->meta.name);
      if (now && now->meta.uid == claim->meta.uid)
        (void)cluster_.Delete(Kind::kPersistentVolumeClaim, now->meta.namespace_, now->meta.name);
    });
  }
}

void VolumeController::PlanPod(const std::string& ns, const std::string& name) {
  if (!planned_.insert("pod " + ns + "/" + name).second) return;
  later_(kMakeClaim, [this, ns, name] {
    planned_.erase("pod " + ns + "/" + name);
    MakeClaims(ns, name);
  });
}

void VolumeController::MakeClaims(const std::string& ns, const std::string& name) {
  const auto pod = Find<Pod>(ns, name);
  if (!pod || pod->meta.deletion_time) return;
  for (const PodVolume& volume : pod->volumes) {
    if (volume.kind != VolumeKind::kEphemeral || volume.claim_template.empty()) continue;
    auto claim = std::make_shared<PersistentVolumeClaim>(volume.claim_template.front());
    claim->meta.namespace_ = ns;
    claim->meta.name = volume.source;
    claim->meta.owners = {{"v1", "Pod", name, pod->uid(), true}};
    (void)cluster_.Create(Ptr<PersistentVolumeClaim>(std::move(claim)));  // 409: it is there, whosoever it is
  }
}

void VolumeController::ClaimChanged(const PersistentVolumeClaim* before, const PersistentVolumeClaim* after) {
  if (after != nullptr) {
    if (!Bound(*after) || before == nullptr) PlanClaim(after->meta.namespace_, after->meta.name);
    return;
  }
  attempts_.erase(before->meta.uid);
  if (const auto pod = pods_.find(FullName(before->meta)); pod != pods_.end())
    PlanPod(before->meta.namespace_, pod->second);
  if (!before->volume_name.empty()) PlanVolume(before->volume_name);
  // Others may be for it without its knowing.
  cluster_.ForEach(Kind::kPersistentVolume, [&](const ClusterObject& object) {
    const PersistentVolume& volume = *std::get<Ptr<PersistentVolume>>(object);
    if (Names(volume, *before)) PlanVolume(volume.meta.name);
  });
}

void VolumeController::VolumeChanged(const PersistentVolume* before, const PersistentVolume* after) {
  const PersistentVolume& any = after != nullptr ? *after : *before;
  if (any.claim_ref) PlanClaim(any.claim_ref->namespace_, any.claim_ref->name);
  if (after == nullptr) return;
  PlanVolume(after->meta.name);
  const bool new_here = before == nullptr || before->phase != "Available";
  if (!after->claim_ref && after->phase == "Available" && new_here) PlanUnbound();
}

void VolumeController::PlanClaim(const std::string& ns, const std::string& name) {
  if (!planned_.insert("claim " + ns + "/" + name).second) return;
  Duration after = VolumeTimes().bind;
  if (const auto claim = Find<PersistentVolumeClaim>(ns, name))
    after = VolumeTimes::Of(Find<StorageClass>("", ClassName(*claim)).get()).bind;
  later_(after, [this, ns, name] {
    planned_.erase("claim " + ns + "/" + name);
    SyncClaim(ns, name);
  });
}

void VolumeController::PlanVolume(const std::string& name) {
  if (!planned_.insert("volume " + name).second) return;
  Duration after = VolumeTimes().bind;
  if (const auto volume = Find<PersistentVolume>("", name))
    after = VolumeTimes::Of(Find<StorageClass>("", volume->storage_class).get()).bind;
  later_(after, [this, name] {
    planned_.erase("volume " + name);
    SyncVolume(name);
  });
}

void VolumeController::PlanUnbound() {
  cluster_.ForEach(Kind::kPersistentVolumeClaim, [&](const ClusterObject& object) {
    const PersistentVolumeClaim& claim = *std::get<Ptr<PersistentVolumeClaim>>(object);
    if (!Bound(claim)) PlanClaim(claim.meta.namespace_, claim.meta.name);
  });
}

void VolumeController::SyncVolume(const std::string& name) {
  const auto volume = Find<PersistentVolume>("", name);
  if (!volume) return;
  std::string phase = volume->phase;
  if (!volume->claim_ref || volume->claim_ref->uid.empty()) {
    phase = "Available";
  } else {
    const auto claim = Find<PersistentVolumeClaim>(volume->claim_ref->namespace_, volume->claim_ref->name);
    const bool there = claim && claim->meta.uid == volume->claim_ref->uid;
    if (there) return PlanClaim(claim->meta.namespace_, claim->meta.name);
    if (volume->meta.annotations.Has(kProvisionedBy)) {
      (void)cluster_.Delete(Kind::kPersistentVolume, "", name);
      return;
    }
    phase = "Released";
  }
  if (phase != volume->phase) Change<PersistentVolume>(volume->meta, [&](PersistentVolume& one) { one.phase = phase; });
}

void VolumeController::SyncClaim(const std::string& ns, const std::string& name) {
  const auto claim = Find<PersistentVolumeClaim>(ns, name);
  if (!claim) return;
  if (Bound(*claim)) {
    const auto volume = Find<PersistentVolume>("", claim->volume_name);
    if (!volume && claim->phase != "Lost")
      return Change<PersistentVolumeClaim>(claim->meta, [](PersistentVolumeClaim& one) { one.phase = "Lost"; });
    const bool ours = volume && (!volume->claim_ref || Names(*volume, *claim));
    if (ours && (volume->phase != "Bound" || claim->phase != "Bound")) Bind(*claim, *volume);
    return;
  }
  if (claim->phase.empty())
    Change<PersistentVolumeClaim>(claim->meta, [](PersistentVolumeClaim& one) { one.phase = "Pending"; });
  if (!claim->volume_name.empty()) {
    const auto volume = Find<PersistentVolume>("", claim->volume_name);
    if (volume && (!volume->claim_ref || Names(*volume, *claim))) Bind(*claim, *volume);
    return;
  }
  const std::string class_name = ClassName(*claim);
  const auto storage_class = Find<StorageClass>("", class_name);
  Ptr<PersistentVolume> found;
  cluster_.ForEach(Kind::kPersistentVolume, [&](const ClusterObject& object) {
    const auto volume = std::get<Ptr<PersistentVolume>>(object);
    if (found && Names(*found, *claim)) return;
    const bool may_have_it = !Waits(storage_class.get()) && !volume->claim_ref && volume->phase == "Available" &&
                             ClassName(volume->meta, volume->storage_class) == class_name && Suits(*volume, *claim) &&
                             (!found || volume->capacity < found->capacity);
    if (may_have_it || Names(*volume, *claim)) found = volume;
  });
  if (found) return Bind(*claim, *found);
  if (Makes(storage_class.get()) && (!Waits(storage_class.get()) || claim->meta.annotations.Has(kSelected)))
    Provision(claim, *storage_class);
}

void VolumeController::Bind(const PersistentVolumeClaim& claim, const PersistentVolume& volume) {
  attempts_.erase(claim.meta.uid);
  Change<PersistentVolume>(volume.meta, [&](PersistentVolume& one) { client::BindTo(claim, one); });
  Change<PersistentVolumeClaim>(claim.meta, [&](PersistentVolumeClaim& one) { client::BindTo(volume, one); });
}

void VolumeController::Provision(const Ptr<PersistentVolumeClaim>& claim, const StorageClass& storage_class) {
  if (!provisioning_.insert(claim->meta.uid).second) return;
  later_(VolumeTimes::Of(&storage_class).provision, [this, claim] { FinishProvision(claim); });
}

void VolumeController::FinishProvision(const Ptr<PersistentVolumeClaim>& asked) {
  provisioning_.erase(asked->meta.uid);
  const auto claim = Find<PersistentVolumeClaim>(asked->meta.namespace_, asked->meta.name);
  if (!claim || claim->meta.uid != asked->meta.uid || Bound(*claim)) return;
  const auto storage_class = Find<StorageClass>("", ClassName(*claim));
  const std::string* const selected = claim->meta.annotations.Find(kSelected);
  const std::string* const wanted = asked->meta.annotations.Find(kSelected);
  const bool same = (selected != nullptr) == (wanted != nullptr) && (selected == nullptr || *selected == *wanted);
  if (!storage_class || !same) return PlanClaim(claim->meta.namespace_, claim->meta.name);
  const VolumeTimes times = VolumeTimes::Of(storage_class.get());
  const auto node = selected != nullptr ? Find<Node>("", *selected) : nullptr;
  const auto attempts = attempts_.find(claim->meta.uid);
  const bool on_purpose = (attempts == attempts_.end() ? 0 : attempts->second) < times.failures;
  if (on_purpose || (selected != nullptr && !node) || fails_(FullName(claim->meta))) return FailProvision(claim, true);
  if (!TakeRoom(*claim, *storage_class, node.get())) return FailProvision(claim, false);

  auto volume = std::make_shared<PersistentVolume>();
  volume->meta.name = "pvc-" + claim->meta.uid;
  volume->meta.annotations = Labels({{std::string(kProvisionedBy), storage_class->provisioner}});
  volume->storage_class = storage_class->meta.name;
  volume->volume_mode = claim->volume_mode;
  volume->volume_attributes_class = claim->volume_attributes_class;
  volume->access_modes = claim->access_modes;
  volume->capacity = claim->request.value_or(Quantity());
  volume->claim_ref = {claim->meta.namespace_, claim->meta.name, claim->meta.uid};
  volume->kind = VolumeKind::kCsi;
  volume->csi_driver = storage_class->provisioner;
  volume->csi_handle = volume->meta.name;
  if (const std::string* value =
          node && !times.topology_key.empty() ? node->meta.labels.Find(times.topology_key) : nullptr) {
    NodeSelectorTerm term;
    term.match_expressions.push_back({times.topology_key, SelectorOp::kIn, {*value}});
    volume->node_affinity.emplace().terms.Edit().push_back(std::move(term));
  }
  (void)cluster_.Create(Ptr<PersistentVolume>(volume));
  Bind(*claim, *volume);
}

void VolumeController::FailProvision(const Ptr<PersistentVolumeClaim>& claim, bool again) {
  ++attempts_[claim->meta.uid];
  if (!claim->meta.annotations.Has(kSelected)) {
    if (again) PlanClaim(claim->meta.namespace_, claim->meta.name);
    return;
  }
  Change<PersistentVolumeClaim>(
      claim->meta, [](PersistentVolumeClaim& one) { one.meta.annotations = Without(one.meta.annotations, kSelected); });
}

bool VolumeController::TakeRoom(const PersistentVolumeClaim& claim, const StorageClass& storage_class,
                                const Node* node) {
  const Quantity size = claim.request.value_or(Quantity());
  bool any = false;
  Ptr<CsiStorageCapacity> from;
  cluster_.ForEach(Kind::kCsiStorageCapacity, [&](const ClusterObject& object) {
    const auto capacity = std::get<Ptr<CsiStorageCapacity>>(object);
    if (capacity->storage_class != storage_class.meta.name) return;
    any = true;
    if (from || !capacity->capacity || *capacity->capacity < size) return;
    if (node != nullptr && !Matches(capacity->node_topology, node->meta.labels)) return;
    from = capacity;
  });
  if (!any) return true;
  if (!from) return false;
  Change<CsiStorageCapacity>(from->meta, [&](CsiStorageCapacity& one) { *one.capacity -= size; });
  return true;
}

}  // namespace berth::sim
