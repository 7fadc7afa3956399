// SPDX-License-Identifier: Apache-2.0
// SchedulerProcess: a scheduler at work on an API server, from its start to its end, as an operator sees it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/registry.h"
#include "client/kubeconfig.h"
#include "client/leader_elector.h"
#include "client/live_cluster.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "cycle/scheduler.h"
#include "live/client_metrics.h"
#include "live/extender_health.h"
#include "live/gathering.h"
#include "live/plugin_metrics.h"
#include "live/request_log.h"
#include "live/resource_metrics.h"
#include "live/scheduler_log.h"
#include "live/scheduler_metrics.h"
#include "live/serving_metrics.h"
#include "serving/secure_server.h"
#include "util/inbox.h"
#include "util/log.h"
#include "util/metrics.h"
#include "util/run_loop.h"
#include "util/steady_clock.h"
#include "util/system_clock.h"
#include "util/timer_queue.h"

namespace berth::live {

struct SchedulerProcessOptions {
  std::string version;  // of the Kubernetes that it behaves as, e.g. v1.36.4
  client::Kubeconfig api_server;
  Duration max_in_unschedulable = Duration::Seconds(5 * 60);
  config::FeatureGates gates;
  serving::ServingOptions serving;
  serving::Flagz::Flags flags;  // as /flagz shows them
  std::string configz;          // as /configz shows it
  util::MetricRules metric_rules;
  std::map<size_t, size_t> extender_calls;  // at the same time, by the extender's place in the configuration; others: 1
  // So long at the most a pod of a stream waits for others that are taken with it (Gathering). 0: none waits.
  Duration gather;
  // For others than kube-scheduler's stand-in, such as `berth controller`.
  std::string program = "kube-scheduler";                  // in User-Agents and the metrics of its lease
  std::string greeting = "Starting Kubernetes Scheduler";  // the log's first line
  bool may_end = false;          // without an election the end is no failure; kube-scheduler's is
  std::optional<uint64_t> seed;  // of all that is random; no value: another one each time
};

// What happens, in kube-scheduler's order: the port opens, the cluster is listed and watched, the lease is asked for,
// pods are decided. The end comes by Terminate or by losing the lease; then nothing more is decided, answers to
// bindings and events that are under way get five seconds, the lease is given back and the port is drained.
//
// Thread safety: the thread that calls Run is the scheduling thread. Terminate and Dump from any thread.
class SchedulerProcess {
 public:
  // Everything that can be wrong before a scheduler works. The port is open when it returns.
  // REQUIRES: registry and log outlive it.
  static Result<std::unique_ptr<SchedulerProcess>> Make(const config::SchedulerConfiguration& config,
                                                        const Registry& registry, SchedulerProcessOptions options,
                                                        util::Log& log);
  ~SchedulerProcess();
  SchedulerProcess(const SchedulerProcess&) = delete;
  SchedulerProcess& operator=(const SchedulerProcess&) = delete;

  // Until the end; the exit code. Once.
  int Run();
  void Terminate();
  // Writes to the log what cache and queue hold, and whether that agrees with what the API server last said.
  void Dump();
  // Run has returned, or is about to. Thread safety: any thread.
  bool ended() const { return loop_.stopped(); }

 private:
  enum class Phase : uint8_t { kSyncing, kStandby, kLeading, kStopping, kReleasing, kEnded };
  enum class End : uint8_t { kTerminated, kLost };

  SchedulerProcess(const config::SchedulerConfiguration& config, SchedulerProcessOptions options, util::Log& log);
  Error Build(const Registry& registry);
  Result<std::vector<std::shared_ptr<framework::Extender>>> MakeExtenders();
  void MeasurePlugins();
  Error MakeElector();
  Error Serve();
  // /metrics/resources and /debug/decisions: asked for on other threads, answered by this one.
  void GiveResources(serving::EndpointSources::GiveText give);
  void GiveDecisions(const net::HttpRequest& request, net::Respond respond);
  // One round of the loop; true: there may be more to do at once.
  bool Work();
  Time NextWake() const;
  void StartWatching();
  // Says of each kind, once, that its first list is in.
  void SayPopulated();
  void Synced();
  void Lead();
  void BeginEnd(End end);
  void ContinueEnd();
  void Refresh();
  std::string WhyNotReady() const;

  const config::SchedulerConfiguration config_;
  const SchedulerProcessOptions options_;
  util::Log& log_;
  const util::SystemClock dates_;
  const util::SteadyClock clock_;
  std::atomic<int> decisions_asked_ = 0;  // of questions in the inbox
  util::Inbox inbox_;
  util::TimerQueue timers_;
  util::RunLoop loop_{inbox_, clock_};
  util::Metrics metrics_;
  SchedulerMetrics measures_{metrics_, clock_};
  ClientMetrics request_measures_{metrics_};
  RequestLog requests_{request_measures_, log_, clock_};
  ServingMetrics port_measures_{metrics_};
  SchedulerLog lines_{log_};
  Observers observers_{{&measures_, &lines_}};
  std::vector<std::unique_ptr<PluginMetrics>> plugin_measures_;  // by profile
  ExtenderHealth extender_health_{metrics_, log_};
  std::unique_ptr<client::LiveCluster> api_;
  std::unique_ptr<cycle::Scheduler> scheduler_;
  std::unique_ptr<ResourceMetrics> resources_;
  std::unique_ptr<client::LeaderElector> elector_;  // null without election
  std::unique_ptr<serving::SecureServer> server_;
  std::thread draining_;  // the port, at the end

  Gathering gathering_{options_.gather};
  Duration may_wait_;  // until the next Work: news, for more of it
  Phase phase_ = Phase::kSyncing;
  End end_ = End::kTerminated;
  Time patience_;             // until when an end waits
  Time refreshed_;            // gauges and what checks say
  bool owes_refresh_ = true;  // something has happened since
  uint64_t random_;
  std::array<bool, kKindCount> populated_{};
  // For checks, which are asked on other threads.
  std::atomic<bool> synced_ = false, ending_ = false;
  mutable std::mutex problem_mutex_;
  std::string problem_;  // why it is not ready
};

}  // namespace berth::live
