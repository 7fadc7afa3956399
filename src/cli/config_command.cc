// SPDX-License-Identifier: Apache-2.0
// `berth config check` and `berth config defaults`.
#include "cli/config_command.h"

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "cli/flags.h"
#include "cli/inputs.h"
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
    "FILE is a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), - for standard input.\n"
    "\n";

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
  if (!config) return kBadInput;
  CheckHandle handle(*config);
  const Result<framework::Profiles> profiles =
      framework::BuildProfiles(*config, registry, [&](const config::Profile& profile) -> Handle& {
        handle.set_profile_name(profile.scheduler_name);
        return handle;
      });
  if (!profiles.ok()) {
    err << file << ": " << profiles.error().text() << "\n";
    return kBadInput;
  }
  for (const config::Profile& profile : config->profiles) Print(*profiles->at(profile.scheduler_name), out);
  return kDone;
}

int Defaults(const std::string& file, const std::string& format, const Registry& registry, std::ostream& out,
             std::ostream& err) {
  const std::optional<config::SchedulerConfiguration> config =
      file.empty() ? config::DefaultConfiguration(registry) : Load(file, registry, err);
  if (!config) return kBadInput;
  const Value value = config::ToValue(*config, registry);
  out << (format == "json" ? value.ToJson(2) + "\n" : config::ToYaml(value));
  return kDone;
}

}  // namespace

int ConfigCommand(std::vector<std::string> args, const Registry& registry, std::ostream& out, std::ostream& err) {
  std::string format;
  bool help = false;
  Flags flags;
  flags.Choice("o,output", &format, {"yaml", "json"}, "what defaults prints: yaml (default) or json");
  flags.Bool("h,help", &help, "this text");
  const Result<std::vector<std::string>> words = flags.Parse(args);
  const auto usage = [&](const std::string& complaint) {
    err << "berth config: " << complaint << "\n\n" << kUsage << flags.Help();
    return kBadInput;
  };
  if (!words.ok()) return usage(words.error().text());
  if (help) {
    out << kUsage << flags.Help();
    return kDone;
  }
  if (words->empty()) return usage("check or defaults?");
  const std::string& command = words->front();
  if (command == "check") {
    if (!format.empty()) return usage("check has no -o");
    if (words->size() != 2) return usage("check takes one file");
    return Check(words->back(), registry, out, err);
  }
  if (command == "defaults") {
    if (words->size() > 2) return usage("defaults takes one file at most");
    return Defaults(words->size() == 2 ? words->back() : "", format, registry, out, err);
  }
  return usage("unknown command \"" + command + "\"");
}

}  // namespace berth::cli
