// SPDX-License-Identifier: Apache-2.0
// What the offline commands read: objects from -f, a configuration from --config. Errors go to `err`, all of them.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "api/load.h"
#include "berth/annotations.h"
#include "berth/registry.h"
#include "config/load.h"
#include "config/types.h"
#include "framework/engine.h"

namespace berth::cli {

// Null after errors were written. Kinds that are not read are warned about, once each. Of pods and nodes the
// annotations of the given keys are kept.
std::optional<LoadedObjects> ReadObjects(const std::vector<std::string>& paths, const AnnotationKeys& annotations,
                                         std::ostream& err);

// The configuration in `path`, or the default one when it is empty; nothing after errors were written.
std::optional<config::SchedulerConfiguration> ReadConfiguration(
    const std::string& path, const Registry& registry, std::ostream& err,
    config::UnnamedPlugins unnamed = config::UnnamedPlugins::kDefaults);

// The engine of that configuration; null after errors. `log` is its plugins' and outlives the engine; null: none.
std::unique_ptr<framework::Engine> ReadEngine(const std::string& path, const Registry& registry, const Clock& clock,
                                              std::ostream& err, LogSink* log = nullptr);

}  // namespace berth::cli
