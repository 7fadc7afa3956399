// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_live.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "bench/live_run.h"
#include "berth/args.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "client/kubeconfig.h"
#include "util/steady_clock.h"

namespace berth::cli {
namespace {

constexpr Duration kShortest = Duration::Millis(1);
constexpr Duration kLongestTimeout = Duration::Seconds(24 * 3600);
constexpr size_t kMostNamed = 20;  // of what is left behind

// Counts SIGINT and SIGTERM while it lives; the third one is the end.
class Interruptions {
 public:
  Interruptions() : listener_([this] { Listen(); }) {}
  ~Interruptions() {
    over_ = true;
    pthread_kill(listener_.native_handle(), SIGUSR2);
    listener_.join();
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  const std::atomic<int>& count() const { return count_; }

 private:
  void Listen() {
    for (;;) {
      const int signal = signals_.Wait();
      if (signal == SIGUSR2 && over_) return;
      if (signal == SIGUSR2) continue;
      if (++count_ > 2) ::_exit(kBadInput);
    }
  }

  // Before the listener, which inherits what is blocked.
  const Signals signals_{SIGINT, SIGTERM, SIGUSR2};
  std::atomic<bool> over_ = false;
  std::atomic<int> count_ = 0;
  std::thread listener_;
};

std::string LiveNumber(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

// What is left behind is named, so that somebody can see to it.
void NameLeft(const std::string& name, const std::vector<std::string>& left, std::ostream& err) {
  for (size_t i = 0; i < left.size() && i < kMostNamed; ++i) err << name << ": not deleted: " << left[i] << "\n";
  if (left.size() > kMostNamed)
    err << name << ": not deleted: and " << left.size() - kMostNamed
        << " more; they have the annotation bench.berth/run\n";
}

}  // namespace

void BenchLiveFlags::Declare(Command& command) {
  command.String("kubeconfig", &kubeconfig, "live: the API server, and as whom to create and delete objects there");
  command.String("timeout", &timeout, "live: how long an op waits for its pods before the run fails; default: 10m");
  command.Int("pid", &pid, "live: the scheduler's process on this machine, for its CPU time and memory");
}

std::string BenchLiveFlags::Objection(bool live) const {
  if (!live) {
    const char* given = kubeconfig ? "kubeconfig" : timeout ? "timeout" : pid ? "pid" : nullptr;
    return given ? "--" + std::string(given) + ": only with --mode live" : "";
  }
  if (!kubeconfig || kubeconfig->empty()) return "--mode live: --kubeconfig is required";
  if (timeout) {
    const Result<Duration> parsed = ParseDuration(*timeout);
    if (!parsed.ok() || *parsed < kShortest || *parsed > kLongestTimeout)
      return "--timeout: must be a duration between 1ms and 24h, got \"" + *timeout + "\"";
  }
  if (pid && *pid <= 0) return "--pid: must be the number of a process, got " + std::to_string(*pid);
  return "";
}

Duration BenchLiveFlags::Timeout() const {
  return timeout ? ParseDuration(*timeout).value() : bench::LiveRunOptions().timeout;
}

BenchLiveResults RunLivePlans(std::vector<bench::WorkloadPlan>& plans, const BenchLiveFlags& flags, std::ostream& err) {
  BenchLiveResults out;
  bench::LiveRunOptions options;
  const Result<client::Kubeconfig> server = client::LoadKubeconfig(*flags.kubeconfig);
  if (!server.ok()) {
    err << server.error().text() << "\n";
    out.failed = true;
    return out;
  }
  options.server = *server;
  for (const std::string& warning : client::WarningsOf(*server)) err << "note: " << warning << "\n";
  options.timeout = flags.Timeout();
  options.pid = flags.pid;
  options.warn = [&err](const std::string& sentence) { err << "note: " << sentence << std::endl; };
  const util::SteadyClock clock;
  const NoBrokenPipes no_broken_pipes;
  const Interruptions interruptions;
  options.interruptions = &interruptions.count();
  for (bench::WorkloadPlan& plan : plans) {
    if (interruptions.count() > 0) break;
    const std::string name = plan.test_case + "/" + plan.workload;
    if (plan.not_built.empty() && !plan.scheduler_config.empty())
      err << "note: " << name << ": the scheduler has to be one that was started with " << plan.scheduler_config
          << "\n";
    bench::LiveOutcome outcome = bench::RunLive(plan, clock, options);
    if (!outcome.result.ok()) err << name << ": " << outcome.result.error().text() << "\n";
    NameLeft(name, outcome.left, err);
    out.failed |= !outcome.result.ok() || !outcome.left.empty();
    if (outcome.result.ok()) out.results.push_back(std::move(outcome.result).value());
  }
  out.failed |= interruptions.count() > 0;
  return out;
}

std::string LiveTableText(const std::vector<bench::WorkloadResult>& results) {
  bool processes = false;
  for (const bench::WorkloadResult& result : results) processes |= result.live->peak_mb.has_value();
  std::vector<std::string> head{"CASE",  "WORKLOAD", "NODES", "PODS",    "SCHEDULED", "PODS/S",
                                "P50/S", "P90/S",    "P99/S", "FIRST s", "LAST s"};
  if (processes) head.insert(head.end(), {"CPU us/POD", "PEAK MB"});
  Table table(std::move(head));
  for (const bench::WorkloadResult& result : results) {
    const bench::LiveFigures& live = *result.live;
    const auto rate = [&](double bench::Throughput::*one) {
      return live.throughput ? LiveNumber(*live.throughput.*one, 0) : "-";
    };
    std::vector<std::string> row{result.test_case,
                                 result.workload,
                                 std::to_string(result.nodes),
                                 std::to_string(result.pods),
                                 std::to_string(result.scheduled),
                                 LiveNumber(result.PodsPerSecond(), 0),
                                 rate(&bench::Throughput::p50),
                                 rate(&bench::Throughput::p90),
                                 rate(&bench::Throughput::p99),
                                 LiveNumber(live.first_binding_s, 3),
                                 LiveNumber(live.last_binding_s, 3)};
    if (processes) {
      row.push_back(live.peak_mb ? LiveNumber(result.ProcessMicrosPerPod(), 1) : "-");
      row.push_back(live.peak_mb ? LiveNumber(*live.peak_mb, 1) : "-");
    }
    table.Add(std::move(row));
  }
  return table.Text();
}

}  // namespace berth::cli
