// SPDX-License-Identifier: Apache-2.0
#include "cli/conform_command.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

#include "berth/args.h"
#include "cli/flags.h"
#include "cli/table.h"
#include "conform/checks.h"
#include "conform/run.h"

namespace berth::cli {
namespace {

constexpr char kConformUsage[] =
    "usage: berth conform URL [--filter-verb V] [--prioritize-verb V] [--preempt-verb V] [--bind-verb V]\n"
    "                     [--shape auto|both|nodes|names] [--strict] [-o text|json|junit]\n"
    "\n"
    "Asks an extender what kube-scheduler would ask it, and more, and says what kube-scheduler would make of the "
    "answers.\n"
    "URL and verbs are those of kube-scheduler's configuration (urlPrefix, filterVerb, …); an empty verb is not "
    "asked.\n"
    "Pods and nodes are made up unless --pod and --nodes-file name some. Bind is asked about a pod that does not "
    "exist.\n"
    "Exit code: 0 passed, warnings allowed; 1 failed, or nothing was checked; 2 nobody answers at the URL, or the "
    "arguments are wrong.\n"
    "docs/conform.md says what is checked and why.\n"
    "\n";

constexpr int64_t kMostNodes = 100'000;
constexpr Duration kLongest = Duration::Seconds(600);

struct ConformArguments {
  conform::Options options;
  std::string shape = "auto", format = "text", pod_file, nodes_file;
  std::vector<std::string> labels;
  std::optional<std::string> timeout;
  int64_t nodes = 5000;
  bool strict = false, list = false;
};

void DeclareConform(Command& command, ConformArguments& a) {
  conform::Options& o = a.options;
  command.String("filter-verb", &o.filter_verb, "default filter");
  command.String("prioritize-verb", &o.prioritize_verb, "default prioritize");
  command.String("preempt-verb", &o.preempt_verb, "default none");
  command.String("bind-verb", &o.bind_verb, "default none, as bind is there to write");
  command.Choice("shape", &a.shape, {"auto", "both", "nodes", "names"},
                 "whole nodes, names (nodeCacheCapable), both; auto (default): one of them is enough");
  command.Int("nodes", &a.nodes, "nodes of the largest request, default 5000");
  command.String("pod", &a.pod_file, "ask about the first pod in this file");
  command.String("nodes-file", &a.nodes_file, "ask about the nodes in this file (kubectl get nodes -o yaml)");
  command.Strings("node-label", &a.labels, "KEY=VALUE for two of three nodes that are made up; may repeat");
  command.String("ca-file", &o.tls.ca_file, "believe servers with a certificate of this authority");
  command.String("cert-file", &o.tls.certificate_file, "show this certificate");
  command.String("key-file", &o.tls.key_file, "and this is its key");
  command.Bool("insecure", &o.tls.insecure, "believe any certificate");
  command.String("timeout", &a.timeout, "for one request, default 5s, as kube-scheduler's httpTimeout");
  command.Strings("skip", &o.skip, "leave out a check, a group (filter.names) or an ending (big); may repeat");
  command.Bool("list-checks", &a.list, "print the names of all checks and what passes them");
  command.Bool("strict", &a.strict, "warnings fail too");
  command.Choice("o,output", &a.format, {"text", "json", "junit"}, "text (default), json or junit");
}

std::string CheckList() {
  Table table({"CHECK", "AN EXTENDER PASSES THAT"});
  for (const conform::Check& check : conform::AllChecks()) table.Add({check.name, check.about});
  return table.Text();
}

// Flags into options; the Error names the flag.
Error FinishConform(ConformArguments& a) {
  conform::Options& o = a.options;
  o.shapes = a.shape == "auto"    ? conform::Shapes::kAuto
             : a.shape == "both"  ? conform::Shapes::kBoth
             : a.shape == "nodes" ? conform::Shapes::kNodes
                                  : conform::Shapes::kNames;
  if (a.nodes < 1 || a.nodes > kMostNodes) {
    return Error("flag --nodes: must be between 1 and " + std::to_string(kMostNodes) + ", got " +
                 std::to_string(a.nodes));
  }
  o.big_nodes = static_cast<size_t>(a.nodes);
  if (a.timeout) {
    const Result<Duration> timeout = ParseDuration(*a.timeout);
    if (!timeout.ok()) return timeout.error().Wrap("flag --timeout");
    if (*timeout <= Duration{} || *timeout > kLongest) {
      return Error("flag --timeout: must be above 0s and at most 10m, got " + *a.timeout);
    }
    o.timeout = *timeout;
  }
  for (const std::string& label : a.labels) {
    const size_t equals = label.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error("flag --node-label: must be KEY=VALUE, got \"" + label + "\"");
    }
    o.node_labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  if (o.tls.insecure && !o.tls.ca_file.empty()) return Error("flag --insecure: not together with --ca-file");
  if (o.tls.certificate_file.empty() != o.tls.key_file.empty()) {
    return Error("flags --cert-file and --key-file: one does not go without the other");
  }
  if (!a.pod_file.empty()) {
    Result<std::string> pod = conform::ReadPod(a.pod_file);
    if (!pod.ok()) return pod.error().Wrap("flag --pod");
    o.pod = std::move(pod).value();
  }
  if (!a.nodes_file.empty()) {
    Result<std::vector<conform::SampleNode>> nodes = conform::ReadNodes(a.nodes_file);
    if (!nodes.ok()) return nodes.error().Wrap("flag --nodes-file");
    o.nodes = std::move(nodes).value();
  }
  return Error::Ok();
}

bool WantsColor(const std::ostream& out) {
  return &out == &std::cout && ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace

int ConformCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  ConformArguments arguments;
  Command command("conform", kConformUsage, out, err);
  DeclareConform(command, arguments);
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (arguments.list) return out << CheckList(), kDone;
  if (command.rest().empty()) return command.Complain("no URL");
  if (command.rest().size() > 1) return command.Complain("unexpected argument \"" + command.rest()[1] + "\"");
  arguments.options.url = command.rest().front();
  if (const Error error = FinishConform(arguments); !error.ok()) return command.Complain(error.text());

  const Result<conform::Report> report = conform::Run(arguments.options);
  if (!report.ok()) {
    err << "berth conform: " << report.error().text() << "\n";
    return kBadInput;
  }
  if (!report->unreachable.empty()) {
    err << "berth conform: nobody answers at " << report->url << ": " << report->unreachable << "\n";
    return kBadInput;
  }
  if (arguments.format == "json") {
    out << conform::ToValue(*report, arguments.strict).ToJson(2) << "\n";
  } else if (arguments.format == "junit") {
    out << conform::ToJunit(*report, arguments.strict);
  } else {
    out << conform::ToText(*report, WantsColor(out), arguments.strict);
  }
  return report->ok(arguments.strict) ? kDone : kAnswerIsNo;
}

}  // namespace berth::cli
