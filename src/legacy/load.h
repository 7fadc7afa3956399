// SPDX-License-Identifier: Apache-2.0
// Configuration files of every version: text in, a completed and validated configuration or all its errors out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/registry.h"
#include "config/load.h"
#include "legacy/convert.h"
#include "legacy/draft.h"

namespace berth::legacy {

struct LoadOptions {
  config::UnnamedPlugins unnamed = config::UnnamedPlugins::kDefaults;
  // Changes what was read before it is validated.
  std::function<void(config::SchedulerConfiguration&)> adjust = nullptr;
  // See ConvertOptions.
  PolicyReader policy = nullptr;
  // What to say of a Policy where none is taken; empty: it is taken.
  std::string no_policy = {};
};

struct Loaded {
  config::SchedulerConfiguration config;  // usable only without problems
  Version version = Version::kV1;
  Value document;  // of an old version: what it is in v1
  std::vector<Change> changes;
  std::vector<Problem> problems;
  // Plugins that are enabled and that nobody registered: what is loaded can be written, but not run.
  std::vector<Problem> unknown;
  bool ok() const { return problems.empty(); }
  // The one sentence about an old version that names the command that converts it; empty for v1.
  std::string Warning(const std::string& file) const;
};

// `name` is what the text is called in complaints, a file's path.
Loaded Load(std::string_view text, const std::string& name, const Registry& registry, const LoadOptions& options = {});

// The same for a document that flags make up: a v1alpha1 configuration. Problems name no lines.
Loaded LoadFlags(Value document, const std::string& name, const Registry& registry, const LoadOptions& options);

// What a converted configuration looks like in a file: v1 with a comment at every place where something has changed.
std::string CommentedFile(const Loaded& loaded, const std::string& name);
// The same as one document: the changes, and the configuration.
Value ChangesDocument(const Loaded& loaded, const std::string& name);

}  // namespace berth::legacy
