// SPDX-License-Identifier: Apache-2.0
// `berth config check` and `berth config defaults`.
#include "cli/config_command.h"

#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "config/load.h"
#include "config/yaml_text.h"
#include "framework/profile.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kUsage[] =
    "usage: berth config check [FILE]\n"
    "       berth config defaults [FILE] [-o yaml|json]\n"
    "\n"
    "check prints the plugins of every profile in the order in which they are called, or all errors; without FILE\n"
    "those of the default configuration.\n"
    "defaults prints the configuration with every default filled in.\n"
    "FILE is a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), - for standard input.\n"
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

int Check(const std::string& file, const Registry& registry, std::ostream& out, std::ostream& err) {
  const util::SystemClock clock;
  const std::unique_ptr<framework::Engine> engine = ReadEngine(file, registry, clock, err);
  if (!engine) return kBadInput;
  for (const auto& [name, profile] : engine->profiles()) Print(*profile, out);
  return kDone;
}

int Defaults(const std::string& file, const std::string& format, const Registry& registry, std::ostream& out,
             std::ostream& err) {
  const std::optional<config::SchedulerConfiguration> config = ReadConfiguration(file, registry, err);
  if (!config) return kBadInput;
  const Value value = config::ToValue(*config, registry);
  out << (format == "json" ? value.ToJson(2) + "\n" : config::ToYaml(value));
  return kDone;
}

}  // namespace

int ConfigCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                  std::ostream& err) {
  std::string format;
  Command command("config", kUsage, out, err);
  command.Choice("o,output", &format, {"yaml", "json"}, "what defaults prints: yaml (default) or json");
  if (const std::optional<int> done = command.Read(args)) return *done;
  const std::vector<std::string>& words = command.rest();
  if (words.empty()) return command.Complain("check or defaults?");
  const std::string& what = words.front();
  if (what == "check") {
    if (!format.empty()) return command.Complain("check has no -o");
    if (words.size() > 2) return command.Complain("check takes one file");
    return Check(words.size() == 2 ? words.back() : "", registry, out, err);
  }
  if (what == "defaults") {
    if (words.size() > 2) return command.Complain("defaults takes one file at most");
    return Defaults(words.size() == 2 ? words.back() : "", format, registry, out, err);
  }
  return command.Complain("unknown command \"" + what + "\"");
}

}  // namespace berth::cli
