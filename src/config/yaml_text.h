// SPDX-License-Identifier: Apache-2.0
// A Value printed as YAML that kubectl and kube-scheduler read back as the same Value.
#pragma once

#include <string>

#include "berth/value.h"

namespace berth::config {

// Block style, members in their order; ends with a newline. Strings that YAML would read as something else are quoted.
std::string ToYaml(const Value& value);

}  // namespace berth::config
