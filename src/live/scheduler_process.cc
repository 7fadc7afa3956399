// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/server.go, pkg/scheduler/scheduler.go (v1.36.4).
#include "live/scheduler_process.h"

#include <algorithm>
#include <random>
#include <utility>

#include "berth/version.h"
#include "live/cache_dump.h"
#include "live/decisions.h"
#include "serving/replies.h"
#include "util/crash_note.h"

namespace berth::live {
namespace {

// How long answers and events under way are waited for at the end.
constexpr Duration kPatience = Duration::Seconds(5);
// Questions about decisions that wait for an answer.
constexpr int kMostDecisionsAsked = 16;
// How often gauges are brought up to date while something happens.
constexpr Duration kRefreshEvery = Duration::Millis(200);

uint64_t Seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// As client-go puts it together, with our version in the place of Kubernetes' commit. The API server takes the name of
// the field manager from what is before the slash.
std::string UserAgent(const std::string& program, const std::string& version) {
#if defined(__x86_64__)
  const char* const machine = "amd64";
#elif defined(__aarch64__)
  const char* const machine = "arm64";
#else
  const char* const machine = "unknown";
#endif
  return program + "/" + version + " (linux/" + machine + ") berth/" + kVersion;
}

// Go's name of a kind's type.
std::string TypeName(const KindInfo& info) { return "*v1." + std::string(info.name); }

}  // namespace

SchedulerProcess::SchedulerProcess(const config::SchedulerConfiguration& config, SchedulerProcessOptions options,
                                   util::Log& log)
    : config_(config),
      options_(std::move(options)),
      log_(log),
      metrics_(options_.metric_rules),
      random_(options_.seed.value_or(Seed())) {}

SchedulerProcess::~SchedulerProcess() {
  if (draining_.joinable()) draining_.join();
  if (server_) server_->Stop({});
}

Result<std::unique_ptr<SchedulerProcess>> SchedulerProcess::Make(const config::SchedulerConfiguration& config,
                                                                 const Registry& registry,
                                                                 SchedulerProcessOptions options, util::Log& log) {
  std::unique_ptr<SchedulerProcess> process(new SchedulerProcess(config, std::move(options), log));
  if (const Error error = process->Build(registry); !error.ok()) return error;
  return process;
}

Error SchedulerProcess::Build(const Registry& registry) {
  const std::string agent = UserAgent(options_.program, options_.version);
  serving::ServingSurroundings around{.log = log_, .wall_clock = dates_, .steady_clock = clock_, .user_agent = agent};
  around.observer = &port_measures_;
  around.requests = &requests_;
  auto server = serving::SecureServer::Open(options_.serving, std::move(around));
  if (!server.ok()) return server.error();
  server_ = std::move(server).value();

  client::LiveOptions live;
  live.qps = config_.client_connection.qps;
  live.burst = config_.client_connection.burst;
  live.encodings = client::EncodingOptions::From(config_.client_connection.accept_content_types,
                                                 config_.client_connection.content_type);
  live.on_inbox_thread = true;
  live.write_connections = cycle::SchedulerOptions::kLiveBindings;
  live.streamed_lists = options_.gates.enabled("WatchListClient");
  live.lease_timeout = std::max(Duration::Seconds(1), Duration{config_.leader_election.renew_deadline.ns / 2});
  live.user_agent = agent + "/scheduler";
  live.lease_user_agent = agent + "/leader-election";
  live.warning = [this](const std::string& sentence) { log_.Say(LogSeverity::kWarning, sentence); };
  live.observer = &requests_;
  live.keep_sources = SourcesFor(config_.extenders);
  for (const std::string& warning : client::WarningsOf(options_.api_server)) log_.Say(LogSeverity::kWarning, warning);
  auto api = client::LiveCluster::Connect(options_.api_server, inbox_, dates_, live);
  if (!api.ok()) return api.error();
  api_ = std::move(api).value();

  cycle::SchedulerOptions how = cycle::SchedulerOptions::Live();
  how.seed = random_;
  how.max_in_unschedulable = options_.max_in_unschedulable;
  how.observer = &observers_;
  how.log = &log_;
  how.dates = &dates_;
  how.count = [this](const PluginCounter& counter, const std::string& value) {
    metrics_.counter(counter.name, counter.help, {{counter.label, value}}).Add();
  };
  auto extenders = MakeExtenders();
  if (!extenders.ok()) return extenders.error();
  how.extenders = std::move(extenders).value();
  how.may_decide = [this] { return !elector_ || elector_->leading(); };
  how.events->random = [this] { return random_ = random_ * 6364136223846793005u + 1442695040888963407u; };
  auto scheduler = cycle::Scheduler::Make(config_, registry, *api_, inbox_, clock_, how);
  if (!scheduler.ok()) return scheduler.error();
  scheduler_ = std::move(scheduler).value();

  resources_ = std::make_unique<ResourceMetrics>(scheduler_->reflector(Kind::kPod), timers_, clock_);
  AddProcessFacts(metrics_, options_.gates, options_.version);
  MeasurePlugins();
  return config_.leader_election.leader_elect ? MakeElector() : Error::Ok();
}

Result<std::vector<std::shared_ptr<framework::Extender>>> SchedulerProcess::MakeExtenders() {
  std::vector<std::shared_ptr<framework::Extender>> all;
  for (size_t i = 0; i < config_.extenders.size(); ++i) {
    // Upstream prints all of it here, keyData included.
    log_.V(2).Info("Creating extender", {{"extender", config_.extenders[i].url_prefix}});
    extender_client::HttpExtenderOptions how;
    how.on_call = [this, i](const extender_client::CallReport& report) { extender_health_.OnCall(i, report); };
    how.warning = [this](const std::string& sentence) { log_.Say(LogSeverity::kWarning, sentence); };
    if (const auto calls = options_.extender_calls.find(i); calls != options_.extender_calls.end())
      how.calls_at_a_time = calls->second;
    auto made = extender_client::HttpExtender::Make(config_.extenders[i], std::move(how));
    if (!made.ok()) return made.error().Wrap("couldn't build extenders");
    all.push_back(std::move(made).value());
  }
  return all;
}

void SchedulerProcess::MeasurePlugins() {
  for (const auto& [name, profile] : scheduler_->engine().profiles())
    plugin_measures_.push_back(std::make_unique<PluginMetrics>(*profile, metrics_, clock_, ++random_));
  const util::Metrics::Counter attempts =
      metrics_.counter("scheduler_preemption_attempts_total", "Total preemption attempts in the cluster till now");
  metrics_.BeforeText([this, attempts, counted = uint64_t{0}]() mutable {
    uint64_t now = 0;
    for (const std::unique_ptr<PluginMetrics>& plugins : plugin_measures_) now += plugins->preemption_attempts();
    attempts.Add(static_cast<double>(now - counted));
    counted = now;
  });
}

Error SchedulerProcess::MakeElector() {
  const config::LeaderElection& election = config_.leader_election;
  const util::Metrics::Gauge status =
      metrics_.gauge("leader_election_master_status", "1: this process leads.", {{"name", options_.program}});
  status.Set(0);
  client::LeaderElectionOptions options;
  options.namespace_ = election.resource_namespace;
  options.name = election.resource_name;
  options.identity = client::NewLeaderIdentity();
  options.lease_duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  options.random = [this] { return random_ = random_ * 6364136223846793005u + 1442695040888963407u; };
  options.log = Logger(log_, dates_);
  client::LeaderCallbacks callbacks;
  callbacks.on_started_leading = [this, status] {
    status.Set(1);
    Lead();
  };
  callbacks.on_stopped_leading = [this, status](client::LeadershipEnd end) {
    status.Set(0);
    if (end == client::LeadershipEnd::kLost) BeginEnd(End::kLost);
  };
  callbacks.on_event = [this](const client::Lease& lease, const std::string& note) {
    scheduler_->event_writer()->Record(
        client::LeaderEvent(lease, note, config_.profiles.front().scheduler_name, dates_.Now()));
  };
  callbacks.on_finished = [this] {
    if (phase_ == Phase::kReleasing) phase_ = Phase::kEnded;
  };
  auto elector = client::LeaderElector::Make(std::move(options), std::move(callbacks), *api_, timers_, clock_, dates_);
  if (!elector.ok()) return elector.error();
  elector_ = std::move(elector).value();
  const util::Metrics::Counter slow =
      metrics_.counter("leader_election_slowpath_total",
                       "Total number of slow path exercised in renewing leader leases. 'name' is the string used to "
                       "identify the lease. Please make sure to group by name.",
                       {{"name", options_.program}});
  metrics_.BeforeText([this, slow, counted = uint64_t{0}]() mutable {
    const uint64_t now = elector_->slow_paths();
    if (now == counted) return;
    slow.Add(static_cast<double>(now - counted));
    counted = now;
  });
  return Error::Ok();
}

Error SchedulerProcess::Serve() {
  serving::EndpointSources sources;
  sources.process_start = dates_.Now();
  const serving::HealthCheck election{"leaderElection", [this] { return elector_ ? elector_->Check() : Error::Ok(); }};
  const serving::HealthCheck shutdown{"shutdown",
                                      [this] { return ending_ ? Error("process is shutting down") : Error::Ok(); }};
  const serving::HealthCheck sync{"sched-handler-sync", [this] {
                                    if (synced_) return Error::Ok();
                                    const std::lock_guard lock(problem_mutex_);
                                    return Error(problem_.empty() ? "waiting for handlers to sync" : problem_);
                                  }};
  if (elector_) {
    sources.healthz = {election};
    sources.readyz = {election, shutdown, sync};
  } else {
    sources.readyz = {shutdown, sync};
  }
  if (!config_.extenders.empty()) sources.readyz_notes = [this] { return extender_health_.Notes(); };
  sources.metrics = [this] { return metrics_.Text(); };
  sources.reset_metrics = [this] { metrics_.Reset(); };
  sources.resource_metrics = [this](serving::EndpointSources::GiveText give) { GiveResources(std::move(give)); };
  sources.extra["/debug/decisions"] = [this](const net::HttpRequest& request, net::Respond respond) {
    GiveDecisions(request, std::move(respond));
  };
  sources.configz = [this] { return options_.configz; };
  if (options_.gates.enabled("ComponentFlagz")) sources.flagz = [this] { return options_.flags; };
  sources.statusz = options_.gates.enabled("ComponentStatusz");
  sources.binary_version = options_.version.substr(options_.version.starts_with('v'));
  // What is emulated is a release, 1.36, not its patch.
  const std::string& own = sources.binary_version;
  sources.emulation_version = own.substr(0, own.find('.', own.find('.') + 1));
  if (config_.enable_profiling) {
    sources.set_verbosity = [this](int32_t verbosity) {
      log_.SetVerbosity(verbosity);
      return Error::Ok();
    };
  }
  return server_->Serve(std::move(sources));
}

void SchedulerProcess::GiveResources(serving::EndpointSources::GiveText give) {
  inbox_.Post([this, give = std::move(give)]() mutable {
    if (phase_ != Phase::kLeading) return give(nullptr);
    resources_->Ask(std::move(give));
  });
}

void SchedulerProcess::GiveDecisions(const net::HttpRequest& request, net::Respond respond) {
  if (request.method != "GET" && request.method != "HEAD")
    return respond(serving::TextError(405, "only GET is supported"));
  Result<std::string> pod = PodAskedFor(request.query);
  if (!pod.ok()) return respond(serving::TextError(400, pod.error().text()));
  if (decisions_asked_ >= kMostDecisionsAsked)
    return respond(serving::TextError(503, "too many wait for decisions already"));
  ++decisions_asked_;
  // Counted until it is answered, or dropped with the inbox.
  const std::shared_ptr<void> asked(nullptr, [this](void*) { --decisions_asked_; });
  inbox_.Post([this, asked, pod = std::move(pod).value(), respond = std::move(respond)] {
    respond(
        DecisionsReply(scheduler_->engine().traces(), scheduler_->engine().table(), pod, clock_.Now(), dates_.Now()));
  });
}

int SchedulerProcess::Run() {
  const util::CrashStack stack;
  log_.Info(options_.greeting, {{"version", options_.version}});
  if (const Error error = Serve(); !error.ok()) {
    log_.Error("command failed", {{"err", error.text()}});
    loop_.Stop();
    return 1;
  }
  const bool delay = elector_ && config_.delay_cache_until_active;
  if (delay) {
    phase_ = Phase::kStandby;
    elector_->Start();
  } else {
    StartWatching();
  }
  loop_.Run([this] { return Work(); }, [this] { return NextWake(); }, [this] { return may_wait_; });
  if (draining_.joinable()) draining_.join();

  if (end_ == End::kLost) {
    log_.Error("Leaderelection lost");
    return 1;
  }
  if (elector_ || options_.may_end) {
    log_.Info("Requested to terminate, exiting");
    return 0;
  }
  log_.Error("command failed", {{"err", "finished without leader elect"}});
  return 1;
}

void SchedulerProcess::Terminate() {
  inbox_.Post([this] { BeginEnd(End::kTerminated); });
}

void SchedulerProcess::Dump() {
  inbox_.Post([this] { DumpCache(*scheduler_, log_); });
}

bool SchedulerProcess::Work() {
  const Time now = clock_.Now();
  // Letters of the lease come through the same inbox, so they are heard in every phase.
  bool worked = false;
  // Where time stood still for us, the lease may be over: nothing is written before that is known.
  if (phase_ == Phase::kLeading && elector_ && !elector_->leading())
    while (timers_.RunOne(now)) worked = true;
  worked |= phase_ == Phase::kLeading ? scheduler_->RunOnce() : scheduler_->Apply();
  NoteTry(gathering_, *scheduler_, phase_ == Phase::kLeading, now);
  while (timers_.RunOne(now)) worked = true;
  if (!synced_) SayPopulated();
  if (!synced_ && scheduler_->synced() && phase_ < Phase::kStopping) Synced();
  if (phase_ >= Phase::kStopping) ContinueEnd();
  owes_refresh_ |= worked;
  if (owes_refresh_ && now - refreshed_ >= kRefreshEvery) Refresh();
  const bool more = worked && phase_ != Phase::kEnded;
  if (!more) may_wait_ = PatienceOf(gathering_, *scheduler_, phase_ == Phase::kLeading, clock_.Now());
  return more;
}

Time SchedulerProcess::NextWake() const {
  Time next = std::min(scheduler_->NextWake(), timers_.Next());
  // It waits for company, too.
  if (owes_refresh_) next = std::min(next, refreshed_ + kRefreshEvery + may_wait_);
  if (phase_ == Phase::kStopping || phase_ == Phase::kReleasing) next = std::min(next, patience_);
  return next;
}

void SchedulerProcess::StartWatching() {
  for (const KindInfo& info : kKinds) {
    if (!scheduler_->watches(info.kind)) continue;
    const std::string type = TypeName(info);
    log_.V(3).Info("Starting reflector", {{"type", type}, {"resyncPeriod", "0s"}});
    log_.V(3).Info("Listing and watching", {{"type", type}});
  }
  scheduler_->Start();
}

void SchedulerProcess::SayPopulated() {
  if (!log_.V(2).enabled()) return;
  for (const KindInfo& info : kKinds) {
    bool& said = populated_[static_cast<size_t>(info.kind)];
    if (said || !scheduler_->watches(info.kind) || !scheduler_->reflector(info.kind).synced()) continue;
    said = true;
    log_.V(2).Info("Caches populated", {{"type", TypeName(info)}});
  }
}

void SchedulerProcess::Synced() {
  synced_ = true;
  if (phase_ == Phase::kSyncing) {
    log_.V(3).Info("Handlers synced");
    if (elector_) {
      phase_ = Phase::kStandby;
      elector_->Start();
    } else {
      phase_ = Phase::kLeading;
    }
  } else {
    log_.Info("Sync completed");
  }
}

void SchedulerProcess::Lead() {
  if (phase_ != Phase::kStandby) return;
  phase_ = Phase::kLeading;
  if (!config_.delay_cache_until_active) return;
  log_.Info("Starting informers and waiting for sync...");
  StartWatching();
}

void SchedulerProcess::BeginEnd(End end) {
  if (phase_ >= Phase::kStopping) return;
  end_ = end;
  ending_ = true;
  phase_ = Phase::kStopping;
  patience_ = clock_.Now() + kPatience;
  scheduler_->Halt();
  log_.V(2).Info("Scheduling queue is closed");
  resources_->Stop();
  draining_ = std::thread([this] { server_->Stop(kPatience); });
}

void SchedulerProcess::ContinueEnd() {
  const bool over = clock_.Now() >= patience_;
  if (phase_ == Phase::kStopping) {
    // Who has lost the lease looks at it once more, and says so.
    const bool looks = end_ == End::kLost && !elector_->finished();
    if (!over && (looks || scheduler_->bindings_under_way() + scheduler_->unwritten_events() > 0)) return;
    if (scheduler_->unwritten_events() > 0)
      log_.Warn("Events are lost: the API server has not taken them in time",
                {{"events", scheduler_->unwritten_events()}});
    const bool gives_back = elector_ && end_ == End::kTerminated && !elector_->finished();
    phase_ = gives_back ? Phase::kReleasing : Phase::kEnded;
    if (gives_back) {
      patience_ = clock_.Now() + kPatience;
      elector_->Stop();
    }
  } else if (phase_ == Phase::kReleasing && over) {
    phase_ = Phase::kEnded;
  }
  if (phase_ == Phase::kEnded) loop_.Stop();
}

void SchedulerProcess::Refresh() {
  refreshed_ = clock_.Now();
  owes_refresh_ = false;
  measures_.Refresh(*scheduler_, gathering_.gathered_pods());
  if (synced_) return;
  std::string problem = WhyNotReady();
  const std::lock_guard lock(problem_mutex_);
  problem_ = std::move(problem);
}

std::string SchedulerProcess::WhyNotReady() const {
  std::string text;
  for (const Kind kind : scheduler_->unsynced()) {
    const std::string& problem = scheduler_->reflector(kind).problem();
    text += (text.empty() ? "" : "; ") +
            (problem.empty() ? "waiting for the list of " + std::string(ToString(kind)) : problem);
  }
  return text;
}

}  // namespace berth::live
