// SPDX-License-Identifier: Apache-2.0
// `berth config check`, `berth config convert` and `berth config defaults`.
#include "cli/config_command.h"

#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "config/load.h"
#include "config/yaml_text.h"
#include "framework/profile.h"
#include "legacy/load.h"
#include "legacy/table.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kConfigUsage[] =
    "usage: berth config check [FILE] [-f FILE...]\n"
    "       berth config convert [FILE] [-f FILE...] [-o yaml|json]\n"
    "       berth config defaults [FILE] [-f FILE...] [-o yaml|json]\n"
    "\n"
    "check prints the plugins of every profile in the order in which they are called, or all errors; without FILE\n"
    "those of the default configuration. Of an old version it says first what has changed since.\n"
    "convert writes an old version as kubescheduler.config.k8s.io/v1, with a comment at every place where the meaning\n"
    "has changed; with -o json it lists the changes. A v1 file is written as it is. --table prints the page about all\n"
    "old versions, docs/old-configurations.md.\n"
    "defaults prints the configuration with every default filled in.\n"
    "FILE is a KubeSchedulerConfiguration, of v1 or any version before it, or a Policy; - for standard input, which "
    "is\n"
    "what convert reads without FILE. A Policy that is in a ConfigMap is looked for in the files of -f.\n"
    "\n";

void Print(const framework::Profile& profile, std::ostream& out) {
  out << "profile " << profile.scheduler_name << " (percentageOfNodesToScore " << profile.percentage_of_nodes_to_score
      << ")\n";
  for (size_t i = 0; i < kPointCount; ++i) {
    const auto point = static_cast<Point>(i);
    const std::string label = std::string(ToString(point)) + ":";
    out << "  " << label << std::string(12 - label.size(), ' ');
    const char* separator = " ";
    for (const config::PluginRef& ref : framework::PluginsAt(profile, point)) {
      out << separator << ref.name;
      if (point == Point::kScore) out << " " << ref.weight;
      separator = ", ";
    }
    if (*separator == ' ') out << " -";
    out << "\n";
  }
}

void PrintChanges(const legacy::Loaded& loaded, std::ostream& out) {
  for (const legacy::Change& change : loaded.changes)
    out << legacy::ToString(change.fate) << ": " << change.ToString() << "\n";
  if (!loaded.changes.empty()) out << "\n";
}

int Check(const std::string& file, const ConfigurationUse& use, const Registry& registry, std::ostream& out,
          std::ostream& err) {
  const util::SystemClock clock;
  config::SchedulerConfiguration config = config::DefaultConfiguration(registry);
  if (!file.empty()) {
    std::optional<legacy::Loaded> loaded = ReadAnyConfiguration(file, registry, err, use);
    if (!loaded) return kBadInput;
    PrintChanges(*loaded, out);
    config = std::move(loaded->config);
  }
  const std::unique_ptr<framework::Engine> engine = MakeEngine(config, file, registry, clock, err);
  if (!engine) return kBadInput;
  for (const auto& [name, profile] : engine->profiles()) Print(*profile, out);
  return kDone;
}

// A v1 file is right as it is, comments and all: what convert has written it writes again.
int Convert(const std::string& file, const ConfigurationUse& use, const std::string& format, const Registry& registry,
            std::ostream& out, std::ostream& err) {
  std::string text;
  std::ostringstream said;
  const std::optional<legacy::Loaded> loaded = ReadAnyConfiguration(file, registry, said, use, &text);
  if (!loaded) {
    err << said.str();
    return kBadInput;
  }
  const bool old = legacy::IsOld(loaded->version);
  if (format == "json") {
    legacy::Loaded shown = *loaded;
    if (!old) shown.document = config::ToValue(loaded->config, registry);
    out << legacy::ChangesDocument(shown, file).ToJson(2) << "\n";
  } else {
    out << (old ? legacy::CommentedFile(*loaded, file) : text);
  }
  return kDone;
}

int Defaults(const std::string& file, const ConfigurationUse& use, const std::string& format, const Registry& registry,
             std::ostream& out, std::ostream& err) {
  const std::optional<config::SchedulerConfiguration> config = ReadConfiguration(file, registry, err, use);
  if (!config) return kBadInput;
  const Value value = config::ToValue(*config, registry);
  out << (format == "json" ? value.ToJson(2) + "\n" : config::ToYaml(value));
  return kDone;
}

}  // namespace

int ConfigCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                  std::ostream& err) {
  std::string format;
  bool table = false;
  ConfigurationUse use;
  Command command("config", kConfigUsage, out, err);
  command.Choice("o,output", &format, {"yaml", "json"}, "what convert and defaults print: yaml (default) or json");
  command.Strings("f,filename", &use.objects, "a file or folder of objects with a Policy's ConfigMap; may repeat");
  command.Bool("table", &table, "with convert: the page about all old versions");
  if (const std::optional<int> done = command.Read(args)) return *done;
  const std::vector<std::string>& words = command.rest();
  if (words.empty()) return command.Complain("check, convert or defaults?");
  const std::string& what = words.front();
  if (words.size() > 2) return command.Complain(what + " takes one file at most");
  if (table && what != "convert") return command.Complain("--table belongs to convert");
  const std::string file = words.size() == 2 ? words.back() : "";
  if (what == "check") {
    if (!format.empty()) return command.Complain("check has no -o");
    return Check(file, use, registry, out, err);
  }
  use.unknown_plugins = true;
  if (what == "convert") {
    if (table) return out << legacy::TablePage(), kDone;
    return Convert(file.empty() ? "-" : file, use, format, registry, out, err);
  }
  if (what == "defaults") return Defaults(file, use, format, registry, out, err);
  return command.Complain("unknown command \"" + what + "\"");
}

}  // namespace berth::cli
