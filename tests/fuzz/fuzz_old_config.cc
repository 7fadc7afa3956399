// SPDX-License-Identifier: Apache-2.0
// Any text as an old configuration file: no crash, and what is read must be written as v1 that loads as the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "legacy/load.h"
#include "plugins/builtin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const berth::Registry registry = [] {
    berth::Registry made;
    berth::plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  namespace legacy = berth::legacy;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  legacy::LoadOptions options;
  options.policy = [](const legacy::PolicyReference&) -> berth::Result<legacy::PolicyText> {
    return legacy::PolicyText{"policy", R"({"kind":"Policy","apiVersion":"v1"})"};
  };
  const legacy::Loaded loaded = legacy::Load(text, "fuzz", registry, options);
  for (const legacy::Problem& problem : loaded.problems) (void)problem.ToString();
  options.unnamed = berth::config::UnnamedPlugins::kNone;
  (void)legacy::Load(text, "fuzz", registry, options);
  if (!loaded.ok() || !legacy::IsOld(loaded.version)) return 0;
  (void)legacy::ChangesDocument(loaded, "fuzz").ToJson();
  const std::string file = legacy::CommentedFile(loaded, "fuzz");
  const legacy::Loaded again = legacy::Load(file, "again", registry);
  if (!again.ok() ||
      berth::config::ToValue(again.config, registry) != berth::config::ToValue(loaded.config, registry)) {
    std::fprintf(stderr, "what was converted does not load as itself: %s\n%s\n",
                 again.ok() ? "it differs" : again.problems[0].ToString().c_str(), file.c_str());
    std::abort();
  }
  return 0;
}
