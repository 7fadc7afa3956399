// SPDX-License-Identifier: Apache-2.0
// `berth config check` and `berth config defaults`.
#include "cli/config_command.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

#include "config/load.h"
#include "config/yaml_text.h"
#include "framework/profile.h"

namespace berth::cli {
namespace {

constexpr char kUsage[] =
    "usage: berth config check FILE\n"
    "       berth config defaults [FILE] [-o yaml|json]\n"
    "\n"
    "check prints the plugins of every profile in the order in which they are called, or all errors.\n"
    "defaults prints the configuration with every default filled in.\n"
    "FILE is a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), - for standard input.\n";

// Enough of a host to make plugins with; none of them is ever asked anything.
class CheckHandle final : public Handle, Clock, WaitingPods, Writer {
 public:
  explicit CheckHandle(const config::SchedulerConfiguration& config) {
    for (const config::Extender& extender : config.extenders) {
      for (const config::ManagedResource& resource : extender.managed_resources) {
        if (resource.ignored_by_scheduler) ignored_.push_back(resource.name);
      }
    }
  }
  void set_profile_name(const std::string& name) { name_ = name; }
  const std::string& profile_name() const override { return name_; }
  const Clock& clock() const override { return *this; }
  uint64_t Random() override { return 0; }
  WaitingPods& waiting() override { return *this; }
  Writer& writer() override { return *this; }
  const std::vector<std::string>& extender_ignored_resources() const override { return ignored_; }

 private:
  Time Now() const override { return {}; }
  void ForEach(const std::function<void(WaitingPod&)>&) override {}
  std::shared_ptr<WaitingPod> Find(const std::string&) override { return nullptr; }
  void Bind(const Pod&, const std::string&, std::function<void(Verdict)> done) override {
    done(Verdict::Fail("nothing is bound while a configuration is checked"));
  }

  std::string name_;
  std::vector<std::string> ignored_;
};

Result<std::string> ReadFile(const std::string& name) {
  if (name == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad()) return Error(name + ": " + std::strerror(errno != 0 ? errno : EIO));
  return text;
}

// The configuration of `file`, or nothing after its errors have been printed.
std::optional<config::SchedulerConfiguration> Load(const std::string& file, const Registry& registry,
                                                   std::ostream& err) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) {
    err << text.error().text() << "\n";
    return std::nullopt;
  }
  config::Loaded loaded = config::LoadConfiguration(*text, registry);
  for (const FieldError& error : loaded.errors) err << file << ": " << error.ToString() << "\n";
  if (!loaded.ok()) return std::nullopt;
  return std::move(loaded.config);
}

void Print(const framework::Profile& profile, std::ostream& out) {
  out << "profile " << profile.scheduler_name
      << " (percentageOfNodesToScore " << profile.percentage_of_nodes_to_score << ")\n";
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
  const std::optional<config::SchedulerConfiguration> config = Load(file, registry, err);
  if (!config) return 2;
  CheckHandle handle(*config);
  const Result<framework::Profiles> profiles =
      framework::BuildProfiles(*config, registry, [&](const config::Profile& profile) -> Handle& {
        handle.set_profile_name(profile.scheduler_name);
        return handle;
      });
  if (!profiles.ok()) {
    err << file << ": " << profiles.error().text() << "\n";
    return 2;
  }
  for (const config::Profile& profile : config->profiles) Print(*profiles->at(profile.scheduler_name), out);
  return 0;
}

int Defaults(const std::string& file, const std::string& format, const Registry& registry, std::ostream& out,
             std::ostream& err) {
  const std::optional<config::SchedulerConfiguration> config =
      file.empty() ? config::DefaultConfiguration(registry) : Load(file, registry, err);
  if (!config) return 2;
  const Value value = config::ToValue(*config, registry);
  out << (format == "json" ? value.ToJson(2) + "\n" : config::ToYaml(value));
  return 0;
}

int Usage(const std::string& why, std::ostream& err) {
  err << "berth config: " << why << "\n" << kUsage;
  return 2;
}

}  // namespace

int ConfigCommand(std::vector<std::string> args, const Registry& registry, std::ostream& out, std::ostream& err) {
  std::string format;
  std::vector<std::string> words;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "-h" || arg == "--help") {
      out << kUsage;
      return 0;
    }
    if (arg == "-o" || arg == "--output") {
      if (++i == args.size()) return Usage(arg + " needs a value: yaml or json", err);
      format = args[i];
    } else if (arg.starts_with("-o=") || arg.starts_with("--output=")) {
      format = arg.substr(arg.find('=') + 1);
    } else if (arg.size() > 1 && arg[0] == '-') {
      return Usage("unknown flag " + arg, err);
    } else {
      words.push_back(arg);
      continue;
    }
    if (format != "yaml" && format != "json") return Usage("-o is yaml or json, not \"" + format + "\"", err);
  }
  if (words.empty()) return Usage("check or defaults?", err);
  if (words[0] == "check") {
    if (!format.empty()) return Usage("check has no -o", err);
    if (words.size() != 2) return Usage("check takes one file", err);
    return Check(words[1], registry, out, err);
  }
  if (words[0] == "defaults") {
    if (words.size() > 2) return Usage("defaults takes one file at most", err);
    return Defaults(words.size() == 2 ? words[1] : "", format, registry, out, err);
  }
  return Usage("unknown command " + words[0], err);
}

}  // namespace berth::cli
