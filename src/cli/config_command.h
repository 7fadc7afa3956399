// SPDX-License-Identifier: Apache-2.0
// `berth config`: what a configuration file means, or what is wrong with it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "berth/registry.h"

namespace berth::cli {

// `args` is what follows `berth config`. Returns the exit code: 0, or 2 for bad usage or a bad configuration.
//   check FILE                     all errors, or what has changed and the plugins of every profile in calling order
//   convert FILE [-o yaml|json]    an old version as v1, with what has changed
//   defaults [FILE] [-o yaml|json] the configuration (FILE's, or an empty one) with every default filled in
// FILE may be `-` for standard input.
int ConfigCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err);

}  // namespace berth::cli
