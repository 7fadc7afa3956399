// SPDX-License-Identifier: Apache-2.0
// DefaultBinder; see default_binder.h.
#include "plugins/default_binder.h"

#include <utility>

namespace berth::plugins {

void DefaultBinder::Bind(const Placement& placement, StateSlot&, Done done) const {
  handle_->writer().Bind(*placement.pod, placement.node, std::move(done));
}

}  // namespace berth::plugins
