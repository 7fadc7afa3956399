// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/server.go, component-base cli/run.go and version/verflag (v1.36.4).
#include "cli/scheduler_command.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "berth/plugin.h"
#include "berth/value.h"
#include "berth/version.h"
#include "cli/flags.h"
#include "cli/log_setup.h"
#include "config/load.h"
#include "framework/engine.h"
#include "framework/profile.h"
#include "util/system_clock.h"
#include "util/text.h"

namespace berth::cli {
namespace {

constexpr int kFailed = 1;

// "v1.36.4" in pieces, as Go prints the struct.
std::string RawVersion(const std::string& reported) {
  const std::string release(kUpstreamVersion);
  const size_t first = release.find('.'), second = release.find('.', first + 1);
#if defined(__aarch64__)
  const char* platform = "linux/arm64";
#else
  const char* platform = "linux/amd64";
#endif
  return "version.Info{Major:" + util::Quoted(release.substr(1, first - 1)) +
         ", Minor:" + util::Quoted(release.substr(first + 1, second - first - 1)) +
         ", EmulationMajor:\"\", EmulationMinor:\"\", MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", "
         "GitVersion:" +
         util::Quoted(reported) + ", GitCommit:" + util::Quoted(std::string("berth-") + kVersion) +
         ", GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", Compiler:" +
         util::Quoted(std::string("g++ ") + __VERSION__) + ", Platform:\"" + platform + "\"}";
}

// What Go prints for a list of strings with %q.
std::string QuotedList(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : " ") + util::Quoted(one);
  return "[" + text + "]";
}

bool HasArguments(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    if (!argument.empty()) return true;
  return false;
}

int Fail(util::Log& log, const Error& error) {
  log.Error("command failed", {{"err", error.text()}});
  return kFailed;
}

void SayFarewells(const config::FeatureGates& gates, util::Log& log) {
  for (const config::FeatureGates::Farewell& one : gates.farewells()) {
    const bool ga = one.gate->stage == config::GateStage::kGa;
    log.Info(ga ? "Warning: setting GA feature gate. It will be removed in a future release."
                : "Warning: setting deprecated feature gate. It will be removed in a future release.",
             {{"featureGate", one.gate->name}, {"value", one.value}});
  }
}

// One line for each flag or gate that was given and changes nothing.
void SayWithoutEffect(const SchedulerFlags& flags, const config::FeatureGates& gates, util::Log& log) {
  for (const std::string_view flag : FlagsWithoutEffect())
    if (flags.Given(flag)) log.Warn("Flag has no effect in Berth", {{"flag", "--" + std::string(flag)}});
  for (const config::FeatureGate* gate : gates.WithoutEffect())
    log.Warn("Feature gate has no effect in Berth", {{"featureGate", gate->name}, {"value", !gate->on}});
}

// A line for each profile, with the names and weights that its plugins have at every extension point.
void SayPlugins(const framework::Engine& engine, util::Log& log) {
  const Value nobody = Value::Object({{"Enabled", Value()}, {"Disabled", Value()}});
  for (const auto& [name, profile] : engine.profiles()) {
    Value points = Value::Object();
    for (size_t i = 0; i < kPointCount; ++i) {
      Value enabled = Value::Array();
      for (const config::PluginRef& ref : framework::PluginsAt(*profile, static_cast<Point>(i))) {
        const int32_t weight = static_cast<Point>(i) == Point::kScore ? ref.weight : 0;
        enabled.Append(Value::Object({{"Name", Value::String(ref.name)}, {"Weight", Value::Int(weight)}}));
      }
      const bool any = !enabled.items().empty();
      points.Set(std::string(ToString(static_cast<Point>(i))),
                 any ? Value::Object({{"Enabled", std::move(enabled)}, {"Disabled", Value()}}) : nobody);
    }
    for (const char* point : {"MultiPoint", "PlacementGenerate", "PlacementScore"}) points.Set(point, nobody);
    const std::string json = points.ToJson();
    const LogField fields[] = {{"Plugins", LogValue::Json(json)}};
    log.Add(LogSeverity::kInfo, 2, "the scheduler starts to work with those plugins", fields);
  }
}

Error WriteFile(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::trunc);
  const char* what = file.is_open() ? "write " : "open ";
  if (file.is_open()) file << text << std::flush;
  if (file.good()) return Error::Ok();
  std::string reason = errno != 0 ? std::strerror(errno) : "not possible";
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error(what + path + ": " + reason);
}

// What is left once there is a log.
int Start(SchedulerFlags flags, config::FeatureGates gates, const Registry& registry, const Clock& clock,
          util::Log& log, const SchedulerProcess& process) {
  if (log.enabled(LogSeverity::kInfo, 1)) {
    for (const FlagValue& flag : flags.values)
      log.Say(LogSeverity::kInfo, 1, "FLAG: --" + flag.name + "=" + util::Quoted(flag.value));
  }
  SayWithoutEffect(flags, gates, log);
  std::vector<std::string> warnings;
  const auto say_warnings = [&] {
    for (const std::string& warning : std::exchange(warnings, {})) log.Say(LogSeverity::kWarning, warning);
  };
  const Error wrong = CheckSchedulerFlags(flags, gates, warnings);
  say_warnings();
  if (!wrong.ok()) return Fail(log, wrong);
  const std::string write_to = flags.write_config_to;
  const Result<LoadedScheduler> loaded = LoadScheduler(std::move(flags), std::move(gates), registry, warnings);
  say_warnings();
  if (!loaded.ok()) return Fail(log, loaded.error());
  {
    // Plugins say here what is wrong with them; the process makes its own.
    const auto engine = framework::Engine::Make(loaded->config, registry, clock, 0, &log);
    if (!engine.ok()) return Fail(log, engine.error());
    if (log.enabled(LogSeverity::kInfo, 2)) SayPlugins(**engine, log);
  }
  if (log.enabled(LogSeverity::kInfo, 2) || !write_to.empty()) {
    const std::string file = config::ConfigurationFile(loaded->config, registry);
    const std::string shown = config::ConfigurationFile(config::WithoutKeys(loaded->config), registry);
    const LogField config[] = {{"config", shown}};
    log.Add(LogSeverity::kInfo, 2, "Using component config", config);
    if (!write_to.empty()) {
      if (const Error error = WriteFile(write_to, file); !error.ok()) return Fail(log, error);
      log.Info("Wrote configuration", {{"file", write_to}});
      return kDone;
    }
  }
  if (const Error error = CheckElection(loaded->config.leader_election); !error.ok()) return Fail(log, error);
  log.Say(LogSeverity::kWarning, NotBuiltYet());
  return process(*loaded, registry, log);
}

}  // namespace

int SchedulerCommand(const std::vector<std::string>& args, std::string_view program, const Registry& registry,
                     std::ostream& out, std::ostream& err, int log_fd, const SchedulerProcess& process) {
  Result<SchedulerFlags> parsed = ParseSchedulerFlags(args);
  if (!parsed.ok()) {
    err << SchedulerUsage(program) << "\nError: " << parsed.error().text() << "\n";
    return kFailed;
  }
  SchedulerFlags flags = std::move(parsed).value();
  if (flags.help) {
    out << SchedulerHelp(program);
    return kDone;
  }
  if (HasArguments(flags.arguments)) {
    err << "Error: " << util::Quoted(program) << " does not take any arguments, got " << QuotedList(flags.arguments)
        << "\n";
    return kFailed;
  }
  const util::SystemClock clock;
  util::Log early(err, LogOptionsOf({}), clock);  // as it is before the flags of the log count
  Result<config::FeatureGates> gates = LoadGates(flags);
  if (!gates.ok()) return Fail(early, gates.error());
  SayFarewells(*gates, early);
  if (flags.version != VersionWish::kNone) {
    out << (flags.version == VersionWish::kRaw ? RawVersion(flags.reported_version)
                                               : "Kubernetes " + flags.reported_version)
        << "\n";
    return kDone;
  }
  if (const Error error = CheckLogs(flags.logs, *gates); !error.ok()) {
    err << error.text() << "\n";
    return kFailed;
  }
  const util::LogOptions options = LogOptionsOf(flags.logs);
  const std::unique_ptr<util::Log> log = log_fd < 0 ? std::make_unique<util::Log>(err, options, clock)
                                                    : std::make_unique<util::Log>(log_fd, options, clock);
  return Start(std::move(flags), std::move(gates).value(), registry, clock, *log, process);
}

}  // namespace berth::cli
