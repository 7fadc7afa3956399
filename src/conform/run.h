// SPDX-License-Identifier: Apache-2.0
// One run of all checks against one extender.
#pragma once

#include "berth/error.h"
#include "conform/options.h"
#include "conform/report.h"

namespace berth::conform {

// The Error names an option that cannot be used. An extender that cannot be reached is a report that says so.
Result<Report> Run(const Options& options);

}  // namespace berth::conform
