// SPDX-License-Identifier: Apache-2.0
// Any text as an old configuration of one version, which old_version.cc names: no crash, and what is read must be
// written as v1 that loads as the same. A text that does not say that it is of that version is read once more as the
// rest of a file that does.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "berth/value.h"
#include "legacy/load.h"
#include "plugins/builtin.h"

extern const berth::legacy::Version kFuzzedVersion;

namespace {

namespace legacy = berth::legacy;
using berth::Value;

const berth::Registry& Builtins() {
  static const berth::Registry registry = [] {
    berth::Registry made;
    berth::plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  return registry;
}

std::string Head() {
  if (kFuzzedVersion == legacy::Version::kPolicy) return "apiVersion: v1\nkind: Policy\n";
  return "apiVersion: " + std::string(legacy::ToString(kFuzzedVersion)) + "\nkind: KubeSchedulerConfiguration\n";
}

void Check(const legacy::Loaded& loaded) {
  for (const legacy::Problem& problem : loaded.problems) (void)problem.ToString();
  if (!loaded.ok() || !legacy::IsOld(loaded.version)) return;
  (void)legacy::ChangesDocument(loaded, "fuzz").ToJson();
  const std::string file = legacy::CommentedFile(loaded, "fuzz");
  const legacy::Loaded again = legacy::Load(file, "again", Builtins());
  if (again.ok() &&
      berth::config::ToValue(again.config, Builtins()) == berth::config::ToValue(loaded.config, Builtins()))
    return;
  std::fprintf(stderr, "what was converted does not load as itself: %s\n%s\n",
               again.ok() ? "it differs" : again.problems[0].ToString().c_str(), file.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  legacy::LoadOptions options;
  options.policy = [&](const legacy::PolicyReference&) -> berth::Result<legacy::PolicyText> {
    const bool policy = kFuzzedVersion == legacy::Version::kPolicy;
    return legacy::PolicyText{"policy", policy ? text : R"({"kind":"Policy","apiVersion":"v1"})"};
  };
  legacy::Loaded loaded = legacy::Load(text, "fuzz", Builtins(), options);
  Check(loaded);
  if (loaded.version != kFuzzedVersion) {
    text = Head() + text;
    loaded = legacy::Load(text, "fuzz", Builtins(), options);
    Check(loaded);
  }
  if (kFuzzedVersion == legacy::Version::kPolicy) {
    // As another file, or flags, name it.
    const Value file = Value::Object({{"path", Value::String("policy")}});
    const Value source = Value::Object({{"policy", Value::Object({{"file", file}})}});
    Check(legacy::LoadFlags(Value::Object({{"algorithmSource", source}}), "flags", Builtins(), options));
  } else {
    options.unnamed = berth::config::UnnamedPlugins::kNone;
    (void)legacy::Load(text, "fuzz", Builtins(), options);
  }
  return 0;
}
