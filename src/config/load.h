// SPDX-License-Identifier: Apache-2.0
// Configuration files: text in, a completed and validated KubeSchedulerConfiguration or all its errors out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/args.h"
#include "berth/registry.h"
#include "berth/value.h"
#include "config/types.h"

namespace berth::config {

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";

struct Loaded {
  SchedulerConfiguration config;  // usable only without errors
  std::vector<FieldError> errors;
  bool ok() const { return errors.empty(); }
};

// Which plugins a profile gets that it does not name.
enum class UnnamedPlugins { kDefaults, kNone };

// Reads YAML or JSON strictly (unknown and repeated fields are errors), applies defaults, validates as kube-scheduler
// does, and has the registry's plugins check their arguments. Arguments stay as written; ToValue completes them.
// `adjust` changes what was read before it is validated: flags that go before the file.
Loaded LoadConfiguration(std::string_view text, const Registry& registry,
                         UnnamedPlugins unnamed = UnnamedPlugins::kDefaults,
                         const std::function<void(SchedulerConfiguration&)>& adjust = nullptr);

// The same for a document that has been taken out of its text. REQUIRES: its apiVersion and kind are the ones above.
Loaded LoadDocument(const Value& document, const Registry& registry, UnnamedPlugins unnamed = UnnamedPlugins::kDefaults,
                    const std::function<void(SchedulerConfiguration&)>& adjust = nullptr);

// What an empty file means.
SchedulerConfiguration DefaultConfiguration(const Registry& registry);

// The completed configuration in the shape of kubescheduler.config.k8s.io/v1, with the arguments of every enabled
// plugin that has some. REQUIRES: a configuration that loaded without errors.
Value ToValue(const SchedulerConfiguration& config, const Registry& registry);

// The same as the file that kube-scheduler's --write-config-to writes: YAML, keys by name, arguments by plugin and of
// enabled ones only. REQUIRES: as above.
std::string ConfigurationFile(const SchedulerConfiguration& config, const Registry& registry);

// The same without the extenders' keys (tlsConfig.keyData), for what people and programs may read.
SchedulerConfiguration WithoutKeys(SchedulerConfiguration config);

}  // namespace berth::config
