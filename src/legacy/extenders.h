// SPDX-License-Identifier: Apache-2.0
// Extenders of Policies and old KubeSchedulerConfigurations as v1 writes them.
#pragma once

#include "berth/value.h"
#include "legacy/draft.h"

namespace berth::legacy {

// The list for v1; null when `list` is null or empty. Both spellings of enableHTTPS and both forms of httpTimeout are
// read; in Policies and v1alpha2 keys have any case, and unknown ones are ignored. What else is wrong with a field v1's
// own reading says.
Value ConvertExtenders(const Value& list, Draft& draft);

// `value` with every key that is one of `keys` but for its case written as it is there, at every depth that it has.
Value SpellKeys(const Value& value, const std::vector<std::string_view>& keys);

}  // namespace berth::legacy
