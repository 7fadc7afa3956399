// SPDX-License-Identifier: Apache-2.0
// Mostly all nodes of a batch that do not fit have one reason: what is done with them then needs no branch per row.
#pragma once

#include <span>

#include "berth/host/verdict_table.h"

namespace berth::framework {

// The verdict on all rows that do not fit; kFitsId when all do, kNotJudged when there are several or one is that.
VerdictId OneVerdict(std::span<const VerdictId> verdicts);

}  // namespace berth::framework
