// SPDX-License-Identifier: Apache-2.0
// From transitions of objects to a ClusterState.
#include "extender/cluster_mirror.h"

#include <algorithm>
#include <utility>

#include "cluster/applier.h"
#include "extender/change_limit.h"

namespace berth::extender {
using cluster::Applier;
using cluster::ClusterState;

namespace {

bool SameVersion(const Node& a, const Node& b) {
  return !a.meta.resource_version.empty() && a.meta.resource_version == b.meta.resource_version &&
         a.meta.uid == b.meta.uid;
}

}  // namespace

ClusterMirror::ClusterMirror(client::ClusterApi& api, util::TimerQueue& timers, const Clock& clock,
                             std::function<void(const std::string&)> complain, size_t max_cells)
    : api_(api),
      timers_(timers),
      clock_(clock),
      complain_(std::move(complain)),
      max_cells_(max_cells),
      random_(static_cast<uint64_t>(clock.Now().ns)) {}

ClusterMirror::~ClusterMirror() {
  reflectors_.clear();
  for (PluginIndex* index : indexes_) state_.RemoveIndex(index);
}

void ClusterMirror::Start(const std::vector<Kind>& kinds, const std::vector<PluginIndex*>& indexes,
                          const AnnotationKeys& annotations) {
  api_.KeepAnnotations(annotations);
  indexes_ = indexes;
  for (PluginIndex* index : indexes_) state_.AddIndex(index);
  for (const Kind kind : kinds) {
    reflectors_.push_back(std::make_unique<client::Reflector>(kind, api_, *this, timers_, clock_, [this] {
      return random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    }));
    reflectors_.back()->ShowAnnotations(annotations);
    reflectors_.back()->Complain(complain_);
  }
  for (const auto& reflector : reflectors_) reflector->Start();
}

bool ClusterMirror::synced() const {
  return std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& r) { return r->synced(); });
}

std::vector<std::pair<Kind, Duration>> ClusterMirror::Ages() const {
  std::vector<std::pair<Kind, Duration>> ages;
  for (const auto& reflector : reflectors_) {
    if (const std::optional<Time> heard = reflector->heard())
      ages.emplace_back(reflector->kind(), clock_.Now() - *heard);
  }
  return ages;
}

std::string ClusterMirror::Missing() const {
  std::string names;
  for (const auto& reflector : reflectors_) {
    if (!reflector->synced()) names += (names.empty() ? "" : ", ") + std::string(ToString(reflector->kind()));
  }
  return names;
}

bool ClusterMirror::Has(std::span<const std::shared_ptr<const Node>> nodes) const {
  const Snapshot snapshot = state_.snapshot();
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::shared_ptr<const Node>& node) {
    const Row row = snapshot.FindRow(node->name());
    return row != kNoRow && SameVersion(*node, snapshot.node(row));
  });
}

const ClusterState& ClusterMirror::With(std::span<const std::shared_ptr<const Node>> nodes) {
  if (lendings_ > MaxChanges(state_.snapshot().node_count())) DropCopy();
  for (const std::shared_ptr<const Node>& node : nodes) lent_resources_.Add(*node);
  if (!lent_resources_.Check(state_.snapshot().node_count() + nodes.size(), max_cells_).ok()) {
    // Perhaps too much only together with what earlier requests had: a column stays as long as the copy does.
    DropCopy();
    for (const std::shared_ptr<const Node>& node : nodes) lent_resources_.Add(*node);
  }
  if (!copy_) MakeCopy();
  unread_ = 0;
  auto before = std::exchange(lent_, {});
  for (const std::shared_ptr<const Node>& node : nodes) {
    const Snapshot snapshot = copy_->snapshot();
    const Row row = snapshot.FindRow(node->name());
    const auto lent = before.find(node->name());
    if (lent != before.end()) lent_.insert(before.extract(lent));
    if (row != kNoRow && (&snapshot.node(row) == node.get() || SameVersion(*node, snapshot.node(row)))) continue;
    copy_->PutNode(node);
    lent_[node->name()] = node;
    ++lendings_;
  }
  for (const auto& [name, node] : before) PutBack(name);
  return *copy_;
}

void ClusterMirror::MakeCopy() {
  copy_ = std::make_unique<ClusterState>();
  for (const auto& reflector : reflectors_) {
    reflector->ForEach([&](const ClusterObject& object) { Complain(Applier(*copy_).Add(object)); });
  }
}

void ClusterMirror::PutBack(const std::string& node) {
  const Row row = state_.columns().FindRow(node);
  if (row != kNoRow) {
    copy_->PutNode(state_.columns().data().rows[row].node);
  } else {
    Complain(copy_->RemoveNode(node));
  }
  ++lendings_;
}

bool ClusterMirror::CopyFollows() {
  if (!copy_) return false;
  // A copy that nobody reads is given up after as many changes.
  if (++unread_ <= MaxChanges(state_.snapshot().node_count())) return true;
  DropCopy();
  return false;
}

void ClusterMirror::DropCopy() {
  copy_.reset();
  lent_.clear();
  lendings_ = unread_ = 0;
  lent_resources_.Clear();
}

// A node that was lent to the copy stays there until the next request, which puts back what is true then.
void ClusterMirror::OnAdd(const ClusterObject& after) {
  Complain(Applier(state_).Add(after));
  if (CopyFollows() && !Lent(after)) Complain(Applier(*copy_).Add(after));
}

void ClusterMirror::OnUpdate(const ClusterObject& before, const ClusterObject& after) {
  Complain(Applier(state_).Update(before, after));
  if (CopyFollows() && !Lent(after)) Complain(Applier(*copy_).Update(before, after));
}

void ClusterMirror::OnDelete(const ClusterObject& before) {
  Complain(Applier(state_).Delete(before));
  if (CopyFollows() && !Lent(before)) Complain(Applier(*copy_).Delete(before));
}

bool ClusterMirror::Lent(const ClusterObject& object) const {
  return KindOf(object) == Kind::kNode && lent_.contains(MetaOf(object).name);
}

void ClusterMirror::Complain(const Error& error) const {
  if (!error.ok()) complain_(error.text());
}

}  // namespace berth::extender
