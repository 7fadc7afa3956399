// SPDX-License-Identifier: Apache-2.0
// Sets and nodes, each found by the values of labels.
#include "plugins/volume_binding_rows.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

bool CanMatch(const NodeSelectorTerm& term) { return !term.empty() && term.invalid.empty(); }

bool MatchesTerm(const NodeSelectorTerm& term, const Labels& labels) {
  return CanMatch(term) && std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                                       [&](const Requirement& one) { return one.Matches(labels); });
}

// The requirement that a term is found by; null: there is none that demands a value.
const Requirement* AnchorOf(const NodeSelectorTerm& term) {
  const Requirement* anchor = nullptr;
  for (const Requirement& one : term.match_expressions) {
    if (one.op != SelectorOp::kIn) continue;
    if (one.key == kHostname) return &one;
    if (anchor == nullptr) anchor = &one;
  }
  return anchor;
}

void AppendPart(std::string_view part, std::string& out) {
  out.append(std::to_string(part.size())).append(":").append(part);
}

void AppendRequirements(const std::vector<Requirement>& all, std::string& out) {
  for (const Requirement& one : all) {
    AppendPart(one.key, out);
    out += static_cast<char>('a' + static_cast<int>(one.op));
    for (const std::string& value : one.values) AppendPart(value, out);
    out += ';';
  }
}

std::string TextOfSelector(const NodeSelector& selector) {
  std::string text;
  for (const NodeSelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;  // it adds nothing
    AppendRequirements(term.match_expressions, text);
    text += term.match_expressions.empty() ? "*|" : "|";
  }
  return text;
}

template <class T>
void EraseOne(std::vector<T>& from, const T& what) {
  const auto it = std::find(from.begin(), from.end(), what);
  if (it == from.end()) return;
  *it = from.back();
  from.pop_back();
}

}  // namespace

bool MatchesLabels(const NodeSelector& selector, const Labels& labels) {
  return std::any_of(selector.terms.begin(), selector.terms.end(),
                     [&](const NodeSelectorTerm& term) { return MatchesTerm(term, labels); });
}

SelectedRows::Key& SelectedRows::Track(const std::string& name) {
  Key& key = keys_[name];
  if (key.uses++ > 0) return key;
  for (Row row = 0; row < nodes_.size(); ++row) {
    if (!nodes_[row].live) continue;
    if (const std::string* value = nodes_[row].labels.Find(name)) key.values[*value].rows.push_back(row);
  }
  return key;
}

void SelectedRows::Join(Id id, Row row) {
  sets_[id].rows.push_back(row);
  nodes_[row].sets.push_back(id);
}

void SelectedRows::Test(Id id, Row row) {
  const std::vector<Id>& in = nodes_[row].sets;
  if (std::find(in.begin(), in.end(), id) != in.end()) return;
  if (MatchesLabels(sets_[id].selector, nodes_[row].labels)) Join(id, row);
}

SelectedRows::Id SelectedRows::Acquire(const NodeSelector& selector) {
  std::string text = TextOfSelector(selector);
  if (const auto known = ids_.find(text); known != ids_.end()) {
    ++sets_[known->second].uses;
    return known->second;
  }
  Id id = static_cast<Id>(sets_.size());
  if (free_.empty()) {
    sets_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  sets_[id] = {selector, text, {}, 1};
  ids_.emplace(std::move(text), id);
  bool everywhere = false;
  for (const NodeSelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;
    const Requirement* const anchor = AnchorOf(term);
    if (anchor == nullptr) {
      everywhere = true;
      continue;
    }
    Key& key = Track(anchor->key);
    for (const std::string& value : anchor->values) {
      Bucket& bucket = key.values[value];
      bucket.sets.push_back(id);
      for (const Row row : bucket.rows) Test(id, row);
    }
  }
  if (everywhere) {
    unkeyed_.push_back(id);
    for (Row row = 0; row < nodes_.size(); ++row)
      if (nodes_[row].live) Test(id, row);
  }
  return id;
}

void SelectedRows::Release(Id id) {
  if (id == kEveryRow || --sets_[id].uses > 0) return;
  const Set set = std::move(sets_[id]);
  sets_[id] = {};
  for (const Row row : set.rows) EraseOne(nodes_[row].sets, id);
  for (const NodeSelectorTerm& term : set.selector.terms) {
    if (!CanMatch(term)) continue;
    const Requirement* const anchor = AnchorOf(term);
    if (anchor == nullptr) continue;
    const auto key = keys_.find(anchor->key);
    for (const std::string& value : anchor->values) {
      const auto bucket = key->second.values.find(value);
      EraseOne(bucket->second.sets, id);
      if (bucket->second.sets.empty() && bucket->second.rows.empty()) key->second.values.erase(bucket);
    }
    if (--key->second.uses == 0) keys_.erase(key);
  }
  std::erase(unkeyed_, id);
  ids_.erase(set.text);
  free_.push_back(id);
}

bool SelectedRows::PutNode(Row row, const Labels& labels) {
  if (row >= nodes_.size()) nodes_.resize(row + 1);
  if (nodes_[row].live && nodes_[row].labels == labels) return false;
  RemoveNode(row);
  nodes_[row].live = true;
  nodes_[row].labels = labels;
  for (auto& [name, key] : keys_) {
    const std::string* const value = labels.Find(name);
    if (value == nullptr) continue;
    Bucket& bucket = key.values[*value];
    bucket.rows.push_back(row);
    for (const Id id : bucket.sets) Test(id, row);
  }
  for (const Id id : unkeyed_) Test(id, row);
  return true;
}

bool SelectedRows::RemoveNode(Row row) {
  if (row >= nodes_.size() || !nodes_[row].live) return false;
  const NodeEntry node = std::move(nodes_[row]);
  nodes_[row] = {};
  for (const Id id : node.sets) EraseOne(sets_[id].rows, row);
  for (auto& [name, key] : keys_) {
    const std::string* const value = node.labels.Find(name);
    if (value == nullptr) continue;
    const auto bucket = key.values.find(*value);
    EraseOne(bucket->second.rows, row);
    if (bucket->second.sets.empty() && bucket->second.rows.empty()) key.values.erase(bucket);
  }
  return true;
}

bool SelectedRows::Contains(Id id, Row row) const {
  if (id == kEveryRow) return true;
  const std::span<const Id> in = sets(row);
  return std::find(in.begin(), in.end(), id) != in.end();
}

}  // namespace berth::plugins
