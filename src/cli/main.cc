// SPDX-License-Identifier: Apache-2.0
// berth::Main: picks the command.
#include "berth/main.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/value.h"
#include "berth/version.h"
#include "cli/bench_command.h"
#include "cli/config_command.h"
#include "cli/conform_command.h"
#include "cli/controller_command.h"
#include "cli/explain_command.h"
#include "cli/extender_command.h"
#include "cli/flags.h"
#include "cli/run_scheduler.h"
#include "cli/scheduler_command.h"
#include "cli/sim_command.h"
#include "extender/preset_plugins.h"
#include "plugins/builtin.h"
#include "util/crash_note.h"
#include "util/standard_files.h"

namespace berth {
namespace {

constexpr char kUsage[] =
    "usage: berth COMMAND [FLAGS]\n"
    "\n"
    "  scheduler  schedule pods of a cluster: kube-scheduler's flags, configuration, port and decisions\n"
    "  sim        run the scheduler on a simulated cluster: files or scenarios in, placements and reasons out\n"
    "  explain    why a pod is pending, or why it goes where it goes (--offline, from files)\n"
    "  controller bind pods of a scheduler name to nodes that a placement chooses: random, first, least-pods\n"
    "  extender   serve plugins to a kube-scheduler over HTTP, as its extender\n"
    "  config     check a configuration, convert an old one, or print it with all defaults\n"
    "  conform    check anybody's scheduler extender against the protocol\n"
    "  bench      run kube-scheduler's scheduler_perf workloads and measure them\n"
    "  version    what this is\n"
    "\n"
    "berth COMMAND --help says more. A link named kube-scheduler, or a flag instead of a command, means scheduler.\n";

int VersionCommand(const std::vector<std::string>& args) {
  std::string format = "text";
  cli::Command command("version", "usage: berth version [-o text|json]\n\n", std::cout, std::cerr);
  command.Choice("o,output", &format, {"text", "json"}, "text (default) or json");
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (format == "json") {
    Value out = Value::Object();
    out.Set("apiVersion", Value::String("berth.dev/v1alpha1"));
    out.Set("kind", Value::String("Version"));
    out.Set("version", Value::String(kVersion));
    out.Set("sdkVersion", Value::Int(kSdkVersion));
    out.Set("kubeSchedulerVersion", Value::String(kUpstreamVersion));
    std::cout << out.ToJson(2) << "\n";
  } else {
    std::cout << "berth " << kVersion << " (SDK " << kSdkVersion << "), decides like kube-scheduler "
              << kUpstreamVersion << "\n";
  }
  return cli::kDone;
}

// Commands that the design names and that are not built yet: a true "not yet" instead of "unknown".
bool IsPlanned(const std::string& command) { return command == "up"; }

// `program`: what is said to be run.
int Scheduler(const std::vector<std::string>& args, const char* program, const Registry& registry) {
  return cli::SchedulerCommand(args, program, registry, std::cout, std::cerr, STDERR_FILENO, cli::RunScheduler);
}

// `name`: of the program, without its folder.
int Run(std::string_view name, const std::vector<std::string>& args, const Registry& registry) {
  if (name == "kube-scheduler") return Scheduler(args, "kube-scheduler", registry);
  if (args.empty() || args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
    (args.empty() ? std::cerr : std::cout) << kUsage;
    return args.empty() ? cli::kBadInput : cli::kDone;
  }
  const std::vector<std::string> rest(args.begin() + 1, args.end());
  if (args[0] == "sim") return cli::SimCommand(rest, registry, std::cout, std::cerr);
  if (args[0] == "explain") return cli::ExplainCommand(rest, registry, std::cout, std::cerr);
  if (args[0] == "extender") return cli::ExtenderCommand(rest, registry, std::cout, std::cerr, STDERR_FILENO);
  if (args[0] == "controller")
    return cli::ControllerCommand(rest, registry, std::cout, std::cerr, STDERR_FILENO, cli::RunController);
  if (args[0] == "bench") return cli::BenchCommand(rest, registry, std::cout, std::cerr);
  if (args[0] == "conform") return cli::ConformCommand(rest, std::cout, std::cerr);
  if (args[0] == "config") return cli::ConfigCommand(rest, registry, std::cout, std::cerr);
  if (args[0] == "version" || args[0] == "--version") return VersionCommand(rest);
  if (args[0] == "scheduler" || args[0] == "kube-scheduler") return Scheduler(rest, "berth scheduler", registry);
  // A leading flag without a command: as kube-scheduler is started.
  if (args[0].starts_with("-")) return Scheduler(args, "berth scheduler", registry);
  if (IsPlanned(args[0])) {
    std::cerr << "berth " << args[0] << " is not there yet\n\n" << kUsage;
    return cli::kBadInput;
  }
  std::cerr << "berth: unknown command \"" << args[0] << "\"\n\n" << kUsage;
  return cli::kBadInput;
}

}  // namespace

inline namespace v1 {

int Main(int argc, char** argv, RegisterFn register_plugins) {
  util::OpenStandardFiles();
  const util::CrashStack stack;
  util::WriteCrashLines();
  // Nothing below throws on purpose; running out of memory on an absurd input ends here with a sentence.
  try {
    Registry registry;
    plugins::RegisterBuiltinPlugins(registry);
    if (register_plugins) register_plugins(registry);
    extender::RegisterPresetPlugins(registry);
    std::string_view name = argc > 0 ? argv[0] : "";
    if (const size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    const int code = Run(name, std::vector<std::string>(argv + std::min(argc, 1), argv + argc), registry);
    if (std::cout.flush()) return code;
    std::cerr << "berth: the output could not be written\n";
  } catch (const std::exception& e) {
    std::cerr << "berth: " << e.what() << "\n";
  } catch (...) {
    std::cerr << "berth: a plugin threw something that is not a std::exception\n";
  }
  return cli::kBadInput;
}

}  // namespace v1
}  // namespace berth
