// SPDX-License-Identifier: Apache-2.0
// Value into SchedulerConfiguration: strict field by field reading, with defaults. Used by load.cc alone.
#pragma once

#include <vector>

#include "berth/args.h"
#include "berth/value.h"
#include "config/types.h"

namespace berth::config {

// Reads the document, adding complaints to `errors`, and fills in defaults. Plugin arguments are taken over unread.
// `default_plugins`: profiles get those that are enabled without being asked for.
// REQUIRES: apiVersion and kind have been checked.
SchedulerConfiguration Decode(const Value& document, std::vector<FieldError>& errors, bool default_plugins = true);

// The json name of a point's list in `plugins`, e.g. "preFilter".
const char* PluginsKey(Point point);

}  // namespace berth::config
