// SPDX-License-Identifier: Apache-2.0
// Prospects: what a host knows beforehand about preemption. Of all plugins only DefaultPreemption asks.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

// What a plugin found out about preemption on a row. The host keeps it for pods that are equal to this one and have its
// priority, for as long as the row's pods, those nominated to it and all that filters depend on stay as they are.
struct RowNote {
  virtual ~RowNote() = default;
};

// Where taking away all pods of lower priority than the pod's own can make room for it, and where it cannot.
struct Prospects {
  struct Open {
    size_t place;  // among the resolvable rows
    Row row;
    // To be read and written; null: nothing is kept. Valid as long as the report.
    std::shared_ptr<const RowNote>* note = nullptr;
  };
  size_t resolvable = 0;       // rows of FilterReport::Resolvable
  std::vector<Open> open;      // where it can, or where that is not known; in node order
  size_t without_victims = 0;  // rows without pods of lower priority
  // The rest: what still rejects the pod then, and on how many rows. Valid as long as the report; may repeat.
  std::vector<std::pair<const Verdict*, size_t>> hopeless;
};

// A report of a host that knows something beforehand.
class ProspectReport : public FilterReport {
 public:
  // The rows of Resolvable, sorted by what is known about preemption there.
  virtual Prospects LookAhead() const = 0;
};

// What the report's host knows. Nothing, unless it is a ProspectReport: all resolvable rows are open.
Prospects LookAhead(const FilterReport& report);

}  // namespace v1
}  // namespace berth
