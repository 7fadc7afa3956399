// SPDX-License-Identifier: Apache-2.0
// ReadCheck: says when a plugin reads what it does not declare. Part of verify mode: a decision that differs shows the
// damage, this shows the cause, and shows it before the one change comes that does damage.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/host/read_set.h"
#include "berth/plugin.h"
#include "framework/profile.h"

namespace berth::framework {

// What was read and is not covered by `depends`, in words. `judges_rows`: at this point `depends.row` counts.
std::vector<std::string> Undeclared(const ReadSet& reads, const Depends& depends, bool judges_rows);

// Thread safety: the watched plugins may be asked from several threads; the report is made by the one that asked.
class ReadCheck {
 public:
  // `report` is told once per plugin, point and group that was read.
  explicit ReadCheck(std::function<void(const std::string&)> report) : report_(std::move(report)) {}

  // From now on the profile's plugins are watched at PreFilter, Filter, PreScore, Score and Normalize. What they answer
  // is not changed. REQUIRES: once per profile, which is not used after the check is gone.
  void Watch(Profile& profile);

  // A watched view of `snapshot` for one call about rows [begin, end). For the watchers that Watch puts in place.
  class Call;

 private:
  ReadSet* Rent(Row begin, Row end);
  void Return(ReadSet* reads);
  void Compare(const std::string& plugin, const std::string& point, const ReadSet& reads, const Depends& depends,
               bool judges_rows);

  const std::function<void(const std::string&)> report_;
  std::vector<std::unique_ptr<Plugin>> watchers_;
  std::mutex mutex_;
  // They live as long as the check: a plugin that keeps a snapshot, which it must not, does no harm.
  std::deque<ReadSet> sets_;
  std::vector<ReadSet*> free_;
  std::set<std::string> said_;
};

}  // namespace berth::framework
