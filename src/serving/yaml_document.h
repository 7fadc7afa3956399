// SPDX-License-Identifier: Apache-2.0
// A small document as YAML, as Kubernetes' programs print one.
#pragma once

#include <string>

#include "berth/value.h"

namespace berth::serving {

// Members in the order of their names. Every YAML reader reads it back as the same value.
std::string ToSortedYaml(const Value& value);

}  // namespace berth::serving
