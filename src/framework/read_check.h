// SPDX-License-Identifier: Apache-2.0
// ReadCheck: says when a plugin reads what it does not declare. Part of verify mode: a decision that differs shows the
// damage, this shows the cause, and shows it before the one change comes that does damage.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/host/annotations.h"
#include "berth/host/read_set.h"
#include "berth/plugin.h"
#include "framework/call_observer.h"

namespace berth::framework {

// What was read and is not covered by `depends`, in words. `judges_rows`: at this point `depends.row` counts.
std::vector<std::string> Undeclared(const ReadSet& reads, const Depends& depends, bool judges_rows);

// Looks on at PreFilter, Filter, PreScore, Score and Normalize, where plugins declare what they depend on, and shows
// them a snapshot that notes what is read; and everywhere at which annotations are asked for. What plugins answer is
// not changed. Thread safety: plugins may be called from several threads; the report is made by the one that called.
class ReadCheck final : public CallObserver {
 public:
  // `report` is told once per plugin, function and group, or annotation, that was read.
  explicit ReadCheck(std::function<void(const std::string&)> report) : report_(std::move(report)) {}

  CallEnd Around(const PluginCall& call, const CallView& view, const Next& next) override;

 private:
  // For one call about rows [begin, end).
  ReadSet* Rent(Row begin, Row end);
  void Return(ReadSet* reads);
  void Compare(const PluginCall& call, const AnnotationWatch& watch);
  void Report(const PluginCall& call, const std::string& what);

  const std::function<void(const std::string&)> report_;
  std::mutex mutex_;
  // They live as long as the check: a plugin that keeps a snapshot, which it must not, does no harm.
  std::deque<ReadSet> sets_;
  std::vector<ReadSet*> free_;
  std::set<std::string> said_;
};

}  // namespace berth::framework
