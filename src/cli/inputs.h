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
#include "legacy/load.h"

namespace berth::cli {

// Null after errors were written. Kinds that are not read are warned about, once each. Of pods and nodes the
// annotations of the given keys are kept. `source`: as in LoadOptions.
std::optional<LoadedObjects> ReadObjects(const std::vector<std::string>& paths, const AnnotationKeys& annotations,
                                         std::ostream& err, const SourceFn& source = {});

// How a command reads a configuration, of whatever version.
struct ConfigurationUse {
  config::UnnamedPlugins unnamed = config::UnnamedPlugins::kDefaults;
  std::vector<std::string> objects = {};                // files of -f, among which a Policy's ConfigMap may be
  std::string how = "give a file that has it with -f";  // to get such a ConfigMap to the command
  std::string no_policy = {};    // what to say of a Policy where none is taken; empty: it is taken
  bool unknown_plugins = false;  // names that nobody registered are taken, too: nothing is going to run
};

// The configuration in `path`, or the default one when it is empty; nothing after errors were written. An old version
// is warned about in one line.
std::optional<config::SchedulerConfiguration> ReadConfiguration(const std::string& path, const Registry& registry,
                                                                std::ostream& err, const ConfigurationUse& use = {});
// The same with what an old version has become; REQUIRES: a path.
std::optional<legacy::Loaded> ReadAnyConfiguration(const std::string& path, const Registry& registry, std::ostream& err,
                                                   const ConfigurationUse& use, std::string* text = nullptr);

// The engine of the configuration that was read from `path`; null after errors. `log` is its plugins' and outlives the
// engine; null: none.
std::unique_ptr<framework::Engine> MakeEngine(const config::SchedulerConfiguration& configuration,
                                              const std::string& path, const Registry& registry, const Clock& clock,
                                              std::ostream& err, LogSink* log = nullptr);

}  // namespace berth::cli
