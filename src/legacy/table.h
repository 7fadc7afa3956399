// SPDX-License-Identifier: Apache-2.0
// The table: every predicate, priority, plugin, argument, field and flag of kube-scheduler's older configurations, and
// what it means today. The conversion, its remarks and docs/old-configurations.md are made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::legacy {

enum class Fate : uint8_t {
  kSame,     // means today what it meant
  kChanged,  // has another form or another meaning
  kDropped,  // is not there any more, and the text says why that does not matter
  kRefused,  // has no counterpart: the configuration is not taken
};
std::string_view ToString(Fate fate);  // "same"

enum class RowKind : uint8_t { kReading, kPredicate, kPriority, kPlugin, kArgument, kField, kFlag };

struct Row {
  RowKind kind;
  std::string_view name;
  std::string_view when;  // versions or releases that had it
  Fate fate;
  // What takes its place. For predicates and priorities: plugins of today, with blanks between them.
  std::string_view today;
  std::string_view text;  // sentences; empty: there is nothing to say
};

// All of them, by kind and in the order of the page.
std::span<const Row> Rows();
// Null when there is none.
const Row* FindRow(RowKind kind, std::string_view name);
// Its sentences. REQUIRES: there is such a row.
std::string TextOf(RowKind kind, std::string_view name);
// The plugins that `today` names.
std::vector<std::string> TodaysPlugins(const Row& row);

// docs/old-configurations.md.
std::string TablePage();

}  // namespace berth::legacy
