// SPDX-License-Identifier: Apache-2.0
// Offline explain: files in, one explanation out.
#include "cli/explain_command.h"

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/log_flags.h"
#include "cli/rehearsed_extenders.h"
#include "sim/offline.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kExplainUsage[] =
    "usage: berth explain --offline -f FILE... --pod NAMESPACE/NAME [--config FILE] [-o table|json]\n"
    "                     [--extenders ignore|call] [--extender-url INDEX=URL]...\n"
    "\n"
    "Judges one pod on the cluster that the files describe and says of every node why it fits or not.\n"
    "FILEs are YAML or JSON with any number of objects, folders of such files, or - for standard input.\n"
    "\n";

}  // namespace

int ExplainCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                   std::ostream& err) {
  bool offline = false;
  std::vector<std::string> files;
  std::string pod_name, config, format = "table";
  Command command("explain", kExplainUsage, out, err);
  command.Bool("offline", &offline, "judge on files instead of a live cluster");
  command.Strings("f,filename", &files, "a file or folder of objects; may repeat");
  command.String("pod", &pod_name, "the pod to explain, NAMESPACE/NAME");
  command.String("config", &config, "a KubeSchedulerConfiguration or a Policy; default: kube-scheduler's defaults");
  command.Choice("o,output", &format, {"table", "json"}, "table (default) or json");
  RehearsedExtenders extenders;
  extenders.Declare(command);
  LogFlags log_flags;
  log_flags.Declare(command);
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (!offline) return command.Complain("only --offline is there yet");
  if (files.empty()) return command.Complain("no files: -f is required");
  if (pod_name.empty()) return command.Complain("--pod is required");
  if (const std::string objection = log_flags.Objection(); !objection.empty()) return command.Complain(objection);
  if (const std::string objection = extenders.Objection(); !objection.empty()) return command.Complain(objection);

  const util::SystemClock clock;
  util::Log log(err, log_flags.Options(util::log_level::kWarn), clock);
  std::optional<config::SchedulerConfiguration> configuration =
      ReadConfiguration(config, registry, err, {.objects = files});
  std::unique_ptr<framework::Engine> engine;
  if (configuration) {
    if (const Error error = extenders.Redirect(*configuration); !error.ok()) return command.Complain(error.text());
    engine = MakeEngine(*configuration, config, registry, clock, err, &log);
  }
  const std::optional<LoadedObjects> objects = ReadObjects(
      files, engine ? engine->annotations() : AnnotationKeys(), err,
      [&](std::string_view kind, const std::string& name, std::string_view json) { extenders.Keep(kind, name, json); });
  if (!engine || !objects) return kBadInput;
  const std::shared_ptr<const Pod> pod = sim::FindPod(*objects, pod_name);
  if (!pod) {
    err << "--pod: \"" << pod_name << "\" is not in the files\n";
    return kBadInput;
  }
  const framework::Profile* profile = engine->FindProfile(pod->scheduler_name);
  if (!profile && !config.empty()) {
    err << config << ": no profile has the schedulerName \"" << pod->scheduler_name << "\" of pod " << FullName(*pod)
        << "\n";
    return kBadInput;
  }
  if (!profile) profile = &engine->first_profile();
  const auto asked = extenders.Make(*configuration);
  if (!asked.ok()) {
    err << (config.empty() ? "configuration" : config) << ": " << asked.error().text() << "\n";
    return kBadInput;
  }
  framework::Explanation explanation =
      sim::ExplainOffline(*engine, *profile, *objects, *pod, *asked, [&](const framework::SkippedExtender& skipped) {
        err << "note: " << skipped.verb << " of extender " << skipped.extender
            << " failed and does not count: " << skipped.error << "\n";
      });
  explanation.not_asked = extenders.NotAsked(*configuration);
  for (const std::string& line : explanation.not_asked) err << "note: " << line << "\n";
  if (format == "json") {
    out << framework::ToValue(explanation).ToJson(2) << "\n";
  } else {
    out << ExplanationText(explanation);
  }
  return kDone;
}

}  // namespace berth::cli
