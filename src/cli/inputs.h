// SPDX-License-Identifier: Apache-2.0
// What the offline commands read: objects from -f, a configuration from --config. Errors go to `err`, all of them.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "api/load.h"
#include "berth/registry.h"
#include "sim/engine.h"

namespace berth::cli {

// Exit codes of the whole program.
inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kBadInput = 2;

// Null after errors were written. Kinds that are not read are warned about, once each.
std::optional<LoadedObjects> ReadObjects(const std::vector<std::string>& paths, std::ostream& err);

// The engine of the configuration in `path`, or of the default configuration when it is empty; null after errors.
std::unique_ptr<sim::Engine> ReadEngine(const std::string& path, const Registry& registry, const Clock& clock,
                                        std::ostream& err);

// A file's content, `-` for standard input.
Result<std::string> ReadFile(const std::string& path);

}  // namespace berth::cli
