// SPDX-License-Identifier: Apache-2.0
// Making indexes, and standing guard when they are told of changes. (A cluster feeds a PluginIndex and knows neither
// profiles nor guards, hence the stand-in.)
#include "framework/plugin_indexes.h"

#include <string>
#include <utility>

#include "framework/plugin_call.h"

namespace berth::framework {

class PluginIndexes::Guarded final : public PluginIndex {
 public:
  Guarded(PluginIndexes& all, uint16_t plugin, std::unique_ptr<PluginIndex> index)
      : all_(all), plugin_(plugin), index_(std::move(index)) {}

  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override {
    Tell({.pod = pod.pod.get()}, [&] { index_->PodAdded(snapshot, pod); });
  }
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override {
    Tell({.pod = pod.pod.get()}, [&] { index_->PodRemoved(snapshot, pod); });
  }
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override {
    const Node* const node = after != nullptr ? after : before;
    Tell({.node = node != nullptr ? &node->name() : nullptr},
         [&] { index_->NodeChanged(snapshot, row, before, after); });
  }
  void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) override {
    Tell({}, [&] { index_->ObjectsChanged(snapshot, change); });
  }
  void ObjectAssumed(const Snapshot& snapshot, const ObjectChange& change) override {
    Tell({}, [&] { index_->ObjectAssumed(snapshot, change); });
  }
  uint64_t epoch() const override {
    uint64_t epoch = 0;
    Tell({}, [&] { epoch = index_->epoch(); });
    return epoch;
  }

 private:
  template <class Call>
  void Tell(const CallTopic& topic, Call&& call) const {
    if (lost_) return;
    const Error error = CallPlainly(PluginCall(all_.profile_, plugin_, PluginFunction::kIndex, topic), call);
    if (error.ok()) return;
    lost_ = true;
    if (all_.failure_.ok())
      all_.failure_ = error.Wrap("the index of plugin \"" + all_.profile_.name(plugin_) + "\" has lost count");
  }

  PluginIndexes& all_;
  const uint16_t plugin_;
  const std::unique_ptr<PluginIndex> index_;
  mutable bool lost_ = false;
};

PluginIndexes::PluginIndexes(const Profile& profile) : profile_(profile) {
  for (size_t i = 0; i < profile.plugins.size(); ++i) {
    const auto plugin = static_cast<uint16_t>(i);
    std::unique_ptr<PluginIndex> index = CallMakeIndex(profile, plugin);
    indexes_.push_back(index ? std::make_unique<Guarded>(*this, plugin, std::move(index)) : nullptr);
  }
}

PluginIndexes::~PluginIndexes() = default;

std::vector<PluginIndex*> PluginIndexes::all() const {
  std::vector<PluginIndex*> all;
  for (const auto& index : indexes_)
    if (index) all.push_back(index.get());
  return all;
}

std::vector<const PluginIndex*> PluginIndexes::by_plugin() const {
  std::vector<const PluginIndex*> all;
  for (const auto& index : indexes_) all.push_back(index.get());
  return all;
}

}  // namespace berth::framework
