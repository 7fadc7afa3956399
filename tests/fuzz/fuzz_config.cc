// SPDX-License-Identifier: Apache-2.0
// Any text as a configuration file: no crash, and what loads must print as a configuration that loads as the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/load.h"
#include "config/yaml_text.h"
#include "framework/profile.h"
#include "plugins/builtin.h"
#include "testing/fake_registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const berth::Registry registry = [] {
    berth::Registry made;
    berth::plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::config::Loaded loaded = berth::config::LoadConfiguration(text, registry);
  if (!loaded.ok()) return 0;

  const berth::Value value = berth::config::ToValue(loaded.config, registry);
  const std::string json = value.ToJson();
  berth::config::Loaded again = berth::config::LoadConfiguration(json, registry);
  // A list that names a plugin twice merges differently the second time, as it does upstream.
  for (size_t i = 0; again.ok() && i < again.config.profiles.size(); ++i) {
    again.config.profiles[i].plugins = loaded.config.profiles[i].plugins;
  }
  if (!again.ok() || berth::config::ToValue(again.config, registry) != value) {
    std::fprintf(stderr, "completed configuration does not load as itself: %s\n%s\n",
                 again.ok() ? "it differs" : again.errors[0].ToString().c_str(), json.c_str());
    std::abort();
  }
  (void)berth::config::ToYaml(value);
  berth::testing::FakeHandle handle;
  (void)berth::framework::BuildProfiles(loaded.config, registry,
                                        [&](const berth::config::Profile&) -> berth::Handle& { return handle; });
  return 0;
}
