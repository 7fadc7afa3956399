// SPDX-License-Identifier: Apache-2.0
// Compilation and evaluation of node selector terms; semantics of component-helpers' nodeaffinity, as in berth/node.h.
#include "plugins/common/node_terms.h"

#include <algorithm>
#include <array>

namespace berth::plugins {
namespace {

// Up to this many ids are compared one by one; more make a table.
constexpr size_t kMaxListedIds = 4;

}  // namespace

CompiledTerm::CompiledTerm(const NodeSelectorTerm& term, const Snapshot& snapshot) {
  if (term.empty() || !term.invalid.empty()) {
    nothing_ = true;
    return;
  }
  for (const Requirement& requirement : term.match_expressions) AddExpression(requirement, snapshot);
  for (const Requirement& requirement : term.match_fields) AddField(requirement, snapshot);
}

CompiledTerm::CompiledTerm(const Labels& node_selector, const Snapshot& snapshot) {
  for (const auto& [key, value] : node_selector) AddValues({value}, false, snapshot.labels(key));
}

void CompiledTerm::AddExpression(const Requirement& requirement, const Snapshot& snapshot) {
  const LabelColumn& column = snapshot.labels(requirement.key);
  switch (requirement.op) {
    case SelectorOp::kIn:
      return AddValues(requirement.values, false, column);
    case SelectorOp::kNotIn:
      return AddValues(requirement.values, true, column);
    case SelectorOp::kExists:
      conditions_.push_back({&column, true, {LabelColumn::kAbsent}, {}, kNoRow});
      return;
    case SelectorOp::kDoesNotExist:
      conditions_.push_back({&column, false, {LabelColumn::kAbsent}, {}, kNoRow});
      return;
    case SelectorOp::kGt:
    case SelectorOp::kLt: {
      std::vector<uint8_t> table(column.distinct() + 1, 0);
      for (uint32_t id = 1; id < table.size(); ++id) table[id] = requirement.MatchesValue(&column.text(id));
      conditions_.push_back({&column, false, {}, std::move(table), kNoRow});
      return;
    }
    case SelectorOp::kUnknown:
      break;
  }
  nothing_ = true;
}

void CompiledTerm::AddValues(const std::vector<std::string>& values, bool negated, const LabelColumn& column) {
  Condition condition{&column, negated, {}, {}, kNoRow};
  for (const std::string& value : values) {
    const uint32_t id = column.Find(value);
    if (id != LabelColumn::kAbsent) condition.ids.push_back(id);
  }
  if (condition.ids.empty()) {  // no node has such a value
    if (!negated) nothing_ = true;
    return;
  }
  if (condition.ids.size() > kMaxListedIds) {
    condition.table.assign(column.distinct() + 1, negated);
    for (const uint32_t id : condition.ids) condition.table[id] = !negated;
    condition.ids.clear();
  }
  conditions_.push_back(std::move(condition));
}

void CompiledTerm::AddField(const Requirement& requirement, const Snapshot& snapshot) {
  const bool in = requirement.op == SelectorOp::kIn;
  if (requirement.values.size() != 1 || (!in && requirement.op != SelectorOp::kNotIn)) {
    nothing_ = true;
    return;
  }
  if (requirement.key != "metadata.name") {  // any other field reads as empty
    if (requirement.values[0].empty() != in) nothing_ = true;
    return;
  }
  const Row row = snapshot.FindRow(requirement.values[0]);
  if (row == kNoRow) {
    if (in) nothing_ = true;
    return;
  }
  conditions_.push_back({nullptr, !in, {}, {}, row});
}

void CompiledTerm::And(const NodeBatch& nodes, size_t first, std::span<uint8_t> match) const {
  const size_t n = match.size();
  if (nothing_) {
    std::fill(match.begin(), match.end(), uint8_t{0});
    return;
  }
  uint8_t* const out = match.data();
  for (const Condition& condition : conditions_) {
    const uint8_t negated = condition.negated ? 1 : 0;
    if (condition.column == nullptr) {
      const Row begin = nodes.row(first);
      for (size_t i = 0; i < n; ++i) {
        out[i] &= static_cast<uint8_t>((begin + i == condition.row) ^ negated);
      }
      continue;
    }
    const uint32_t* const values = nodes.labels(*condition.column).data() + first;
    if (!condition.table.empty()) {
      const uint8_t* const table = condition.table.data();
      for (size_t i = 0; i < n; ++i) out[i] &= table[values[i]];
    } else if (condition.ids.size() == 1) {
      const uint32_t id = condition.ids[0];
      for (size_t i = 0; i < n; ++i) out[i] &= static_cast<uint8_t>((values[i] == id) ^ negated);
    } else {
      std::array<uint32_t, kMaxListedIds> ids;
      ids.fill(condition.ids[0]);
      std::copy(condition.ids.begin(), condition.ids.end(), ids.begin());
      for (size_t i = 0; i < n; ++i) {
        const uint32_t value = values[i];
        const int any = int{value == ids[0]} | int{value == ids[1]} | int{value == ids[2]} | int{value == ids[3]};
        out[i] &= static_cast<uint8_t>(any ^ negated);
      }
    }
  }
}

bool CompiledTerm::Matches(Row row) const {
  if (nothing_) return false;
  for (const Condition& condition : conditions_) {
    bool holds = row == condition.row;
    if (condition.column != nullptr) {
      const uint32_t id = (*condition.column)[row];
      if (!condition.table.empty()) {
        if (condition.table[id] == 0) return false;
        continue;
      }
      holds = std::find(condition.ids.begin(), condition.ids.end(), id) != condition.ids.end();
    }
    if (holds == condition.negated) return false;
  }
  return true;
}

CompiledSelector::CompiledSelector(const NodeSelector& selector, const Snapshot& snapshot) {
  for (const NodeSelectorTerm& term : selector.terms) {
    CompiledTerm compiled(term, snapshot);
    if (!compiled.matches_nothing()) terms_.push_back(std::move(compiled));
  }
}

void CompiledSelector::Match(const NodeBatch& nodes, size_t first, std::span<uint8_t> match) const {
  if (terms_.empty()) {
    std::fill(match.begin(), match.end(), uint8_t{0});
    return;
  }
  std::fill(match.begin(), match.end(), uint8_t{1});
  terms_[0].And(nodes, first, match);
  std::array<uint8_t, kMatchChunk> term_match;
  for (size_t done = 0; terms_.size() > 1 && done < match.size();) {
    const size_t n = std::min(kMatchChunk, match.size() - done);
    for (size_t t = 1; t < terms_.size(); ++t) {
      std::fill_n(term_match.begin(), n, uint8_t{1});
      terms_[t].And(nodes, first + done, {term_match.data(), n});
      for (size_t i = 0; i < n; ++i) match[done + i] |= term_match[i];
    }
    done += n;
  }
}

}  // namespace berth::plugins
