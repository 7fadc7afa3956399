// SPDX-License-Identifier: Apache-2.0
// Any text as a Policy: no crash, and what is read must be written as v1 that loads as the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "berth/value.h"
#include "legacy/load.h"
#include "plugins/builtin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const berth::Registry registry = [] {
    berth::Registry made;
    berth::plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  namespace legacy = berth::legacy;
  using berth::Value;
  const std::string text(reinterpret_cast<const char*>(data), size);
  legacy::LoadOptions options;
  options.policy = [&](const legacy::PolicyReference&) -> berth::Result<legacy::PolicyText> {
    return legacy::PolicyText{"policy", text};
  };
  const Value file = Value::Object({{"path", Value::String("policy")}});
  const Value source = Value::Object({{"policy", Value::Object({{"file", file}})}});
  const legacy::Loaded loaded =
      legacy::LoadFlags(Value::Object({{"algorithmSource", source}}), "flags", registry, options);
  for (const legacy::Problem& problem : loaded.problems) (void)problem.ToString();
  if (!loaded.ok()) return 0;
  const std::string written = legacy::CommentedFile(loaded, "fuzz");
  const legacy::Loaded again = legacy::Load(written, "again", registry);
  if (!again.ok() ||
      berth::config::ToValue(again.config, registry) != berth::config::ToValue(loaded.config, registry)) {
    std::fprintf(stderr, "what was converted does not load as itself: %s\n%s\n",
                 again.ok() ? "it differs" : again.problems[0].ToString().c_str(), written.c_str());
    std::abort();
  }
  return 0;
}
