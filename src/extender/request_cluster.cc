// SPDX-License-Identifier: Apache-2.0
// Making the cluster of the last request that of this one.
#include "extender/request_cluster.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "extender/change_limit.h"

namespace berth::extender {
namespace {

// A state that would lose and gain more than a quarter of its nodes is built anew: that is cheaper than to change it.
constexpr size_t kMinExchanges = 1'000;
size_t MaxExchanges(size_t nodes) { return std::max(kMinExchanges, nodes / 4); }

}  // namespace

void ResourceCount::Add(const Node& node) {
  for (const auto& [id, amount] : node.allocatable.scalars) {
    if (amount == 0) continue;  // as if it were not there
    if (Index(id) >= seen_.size()) seen_.resize(Index(id) + 1);
    if (!std::exchange(seen_[Index(id)], 1)) ++count_;
  }
}

Error ResourceCount::Check(size_t nodes, size_t most) const {
  if (count_ == 0 || nodes <= most / count_) return Error::Ok();
  return Error("Nodes: " + std::to_string(nodes) + " nodes with " + std::to_string(count_) +
               " different resources in status.allocatable: nodes times resources must be at most " +
               std::to_string(most));
}

Error RequestCluster::Put(std::shared_ptr<const Node> node, size_t count) {
  const Node& put = *node;
  resources_.Add(put);
  if (Error error = resources_.Check(std::max(count, by_row_.size()), max_cells_); !error.ok()) return error;
  state_->PutNode(node);
  const Row row = state_->columns().FindRow(put.name());
  if (row >= by_row_.size()) by_row_.resize(row + 1);
  by_row_[row] = std::move(node);
  ++changes_;
  return Error::Ok();
}

void RequestCluster::Clear() {
  state_ = std::make_unique<cluster::ClusterState>();
  by_row_ = {};
  rows_ = {};
  asked_ = {};
  changes_ = 0;
  resources_.Clear();
  names_ = {};
  name_ends_ = {};
  names_count_ = false;
}

template <class NameOf, class NodeOf>
Error RequestCluster::Rebuild(size_t count, const NameOf& name_of, const NodeOf& node_of) {
  state_ = std::make_unique<cluster::ClusterState>();
  by_row_.clear();
  changes_ = 0;
  resources_.Clear();
  for (size_t i = 0; i < count; ++i) {
    if (Error error = Put(node_of(i), count); !error.ok()) return Clear(), error;
  }
  rows_.resize(count);
  for (size_t i = 0; i < count; ++i) rows_[i] = state_->columns().FindRow(name_of(i));
  return Error::Ok();
}

template <class NameOf, class NodeOf, class IsSame>
Error RequestCluster::Update(size_t count, const NameOf& name_of, const NodeOf& node_of, const IsSame& is_same) {
  if (by_row_.empty() || changes_ > MaxChanges(count)) return Rebuild(count, name_of, node_of);
  rows_.assign(count, kNoRow);
  asked_.assign(by_row_.size(), 0);
  size_t asked = 0, added = 0;
  bool again = false;  // a name for the second time
  const auto mark = [&](Row row) {
    if (row >= asked_.size()) asked_.resize(by_row_.size());
    if (std::exchange(asked_[row], 1)) {
      again = true;
    } else {
      ++asked;
    }
  };
  for (size_t i = 0; i < count; ++i) {
    // Most often the node is where it was.
    Row row = i < by_row_.size() && by_row_[i] && is_same(by_row_[i], i) ? static_cast<Row>(i) : kNoRow;
    if (row == kNoRow) {
      const std::string& name = name_of(i);
      row = state_->columns().FindRow(name);
      if (in_order_ && row != i) return Rebuild(count, name_of, node_of);
      if (row == kNoRow && ++added > MaxExchanges(count)) return Rebuild(count, name_of, node_of);
      if (row == kNoRow || !is_same(by_row_[row], i)) {
        // Perhaps too much only together with what earlier requests had.
        if (!Put(node_of(i), count).ok()) return Rebuild(count, name_of, node_of);
        row = state_->columns().FindRow(name);
      }
    }
    rows_[i] = row;
    mark(row);
  }
  // Two nodes of one name: the same row was filled twice, and the last one's node is to be seen there by all.
  if (again) return Rebuild(count, name_of, node_of);
  const auto there =
      static_cast<size_t>(std::count_if(by_row_.begin(), by_row_.end(), [](const auto& n) { return n != nullptr; }));
  if (asked == there) return Error::Ok();
  if (in_order_ || there - asked > MaxExchanges(there)) return Rebuild(count, name_of, node_of);
  asked_.resize(by_row_.size());
  for (Row row = 0; row < by_row_.size(); ++row) {
    if (asked_[row] || !by_row_[row]) continue;
    (void)state_->RemoveNode(by_row_[row]->name());  // it is there
    by_row_[row].reset();
    ++changes_;
  }
  return Error::Ok();
}

Result<std::span<const Row>> RequestCluster::Set(size_t count, const NodeAt& node_at) {
  names_count_ = false;
  const Error error = Update(
      count, [&](size_t i) -> const std::string& { return node_at(i)->name(); }, node_at,
      [&](const std::shared_ptr<const Node>& known, size_t i) { return known == node_at(i); });
  if (!error.ok()) return error;
  return std::span<const Row>(rows_);
}

std::span<const Row> RequestCluster::SetNames(size_t count, const NameAt& name_at) {
  bool same = names_count_ && count == name_ends_.size();
  size_t start = 0;
  for (size_t i = 0; same && i < count; ++i) {
    same = std::string_view(names_).substr(start, name_ends_[i] - start) == name_at(i);
    start = name_ends_[i];
  }
  if (same) return rows_;
  if (!names_count_) Clear();  // nodes with data
  names_count_ = true;
  names_.clear();
  name_ends_.clear();
  for (size_t i = 0; i < count; ++i) name_ends_.push_back(names_.append(name_at(i)).size());
  const auto make = [&](size_t i) {
    Node node;
    node.meta.name = name_at(i);
    return std::make_shared<const Node>(std::move(node));
  };
  (void)Update(count, name_at, make,  // they have no resources
               [&](const std::shared_ptr<const Node>& known, size_t i) { return known->name() == name_at(i); });
  return rows_;
}

}  // namespace berth::extender
