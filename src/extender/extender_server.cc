// SPDX-License-Identifier: Apache-2.0
// Putting an extender together.
#include "extender/extender_server.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

#include "berth/version.h"
#include "extender/call_log.h"
#include "util/log_metrics.h"
#include "util/process_metrics.h"
#include "util/seldom.h"

namespace berth::extender {
namespace {

// Of a body: a call that is computed where it was read takes less than a millisecond.
constexpr size_t kSmallCall = size_t{64} << 10;

// A call that has waited for so long is computed only if somebody still waits for it.
constexpr std::chrono::seconds kLongWait{1};

}  // namespace

bool IsLoopback(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return address == "localhost" || address == "::1" || address == "[::1]";
}

std::string OpenDoorWarning(const net::ServerOptions& server, const std::vector<Route>& routes) {
  const bool clients_known = server.tls != nullptr && !server.tls->client_ca_file.empty();
  if (IsLoopback(server.address) || clients_known) return "";
  const bool binds =
      std::any_of(routes.begin(), routes.end(), [](const Route& route) { return route.verb == Verb::kBind; });
  return "ANYBODY WHO REACHES " + server.address + " CAN CALL THIS EXTENDER" +
         (binds ? " AND HAVE IT BIND PODS WITH ITS RIGHTS" : "") +
         ": the address is not loopback and there is no --client-ca-file";
}

ExtenderServer::~ExtenderServer() = default;

void ExtenderServer::AddMetrics(ClusterFeed* feed, const util::Log& log) {
  metrics_
      .gauge("berth_build_info", "What this is; always 1.",
             {{"version", kVersion}, {"kubernetes_version", kUpstreamVersion}})
      .Set(1);
  util::AddProcessMetrics(metrics_);
  util::AddLogMetrics(metrics_, log);
  const util::Metrics::Gauge waiting =
      metrics_.gauge("berth_extender_calls_waiting", "Calls that no thread has begun to compute.");
  metrics_.BeforeText([this, waiting] { waiting.Set(workers_ ? static_cast<double>(workers_->waiting()) : 0); });
  if (feed == nullptr) return;
  const util::Metrics::Gauge synced =
      metrics_.gauge("berth_extender_cluster_synced", "Whether the copy of the cluster is complete; 0 or 1.");
  metrics_.BeforeText([this, feed, synced] {
    synced.Set(feed->ready() ? 1 : 0);
    for (const auto& [kind, age] : feed->Ages()) {
      metrics_
          .gauge("berth_extender_cluster_age_seconds",
                 "Time since the API server last said anything of this kind: a list, an event, a bookmark.",
                 {{"kind", std::string(ToString(kind))}})
          .Set(age.seconds());
    }
  });
}

Result<std::unique_ptr<ExtenderServer>> ExtenderServer::Start(const ExtenderServerOptions& options,
                                                              const Registry& registry, const Clock& clock,
                                                              ClusterFeed* feed, util::Log& log) {
  std::unique_ptr<ExtenderServer> made(new ExtenderServer);
  made->AddMetrics(feed, log);
  ServiceOptions service = options.service;
  service.metrics = &made->metrics_;
  service.log = &log;
  auto built = ExtenderService::Make(options.profile, registry, clock, feed, feed, std::move(service));
  if (!built.ok()) return built.error();
  made->service_ = std::move(built).value();
  auto routes =
      ExtenderRoutes::Make(*made->service_, options.routes,
                           {.on_call = [&log](const Call& call) { LogCall(call, log); },
                            .on_stray = [&log](int status, const std::string& method,
                                               const std::string& path) { LogStray(status, method, path, log); },
                            .keep_requests = log.enabled(LogSeverity::kInfo, util::log_level::kDebug),
                            .metrics = &made->metrics_});
  if (!routes.ok()) return routes.error();
  made->routes_ = std::move(routes).value();
  const ExtenderRoutes* answers = made->routes_.get();
  net::ServerOptions server_options = options.server;
  server_options.on_refusal = [answers, &log](int status, const std::string& problem) {
    answers->CountRefusal(status);
    log.Warn("Refused", {{"status", status}, {"error", problem}});
  };
  server_options.on_handshake_failure = [seldom = std::make_shared<util::Seldom>(), &log](const std::string& problem) {
    if (seldom->Say(problem)) log.Warn("Refused", {{"error", problem}});
  };
  // Before the first request: plugins look at their indexes when they judge, and what they depend on may change with
  // them.
  std::vector<PluginIndex*> indexes;
  std::vector<Kind> kinds;
  if (feed != nullptr) {
    const auto serves = [&](std::initializer_list<Verb> verbs) {
      return std::any_of(options.routes.begin(), options.routes.end(), [&](const Route& route) {
        return std::find(verbs.begin(), verbs.end(), route.verb) != verbs.end();
      });
    };
    indexes = made->service_->MakeIndexes();
    kinds = made->service_->Kinds(serves({Verb::kFilter, Verb::kFilterBest, Verb::kPreempt}),
                                  serves({Verb::kFilterBest, Verb::kPrioritize}));
  }
  made->workers_ = std::make_unique<CallWorkers>(options.workers, options.most_waiting);
  const ExtenderServer* self = made.get();
  const bool may_run_here = options.plugins_are_quick && feed == nullptr;
  auto server =
      net::HttpServer::Start(server_options, [self, may_run_here](net::HttpRequest request, net::Respond respond) {
        self->Handle(std::move(request), std::move(respond), may_run_here);
      });
  if (!server.ok()) return server.error();
  made->server_ = std::move(server).value();
  made->port_ = made->server_->port();
  if (feed != nullptr) feed->Start(kinds, indexes, made->service_->annotations());
  return made;
}

void ExtenderServer::Handle(net::HttpRequest request, net::Respond respond, bool may_run_here) const {
  if (!routes_->IsCall(request)) return routes_->Handle(std::move(request), std::move(respond));
  const bool small = may_run_here && request.body.size() <= kSmallCall;
  struct Held {
    net::HttpRequest request;
    net::Respond respond;
    ExtenderRoutes::Steady::time_point came;
  };
  const auto held = std::make_shared<Held>(Held{std::move(request), std::move(respond), ExtenderRoutes::Steady::now()});
  std::function<void()> call = [this, held] {
    if (ExtenderRoutes::Steady::now() - held->came >= kLongWait && held->request.asker && held->request.asker->Gone()) {
      return routes_->Refuse(std::move(held->request), std::move(held->respond), 503,
                             "whoever asked did not wait until it could be computed");
    }
    routes_->Handle(std::move(held->request), std::move(held->respond), held->came);
  };
  if (small && workers_->RunHere(call)) return;
  if (workers_->Post(call, [held] { return held->request.asker && held->request.asker->Gone(); })) return;
  routes_->Refuse(std::move(held->request), std::move(held->respond), 503, "too many calls wait to be computed");
}

void ExtenderServer::Stop(Duration patience) {
  if (!server_) return;
  server_->Drain(patience);
  server_.reset();
  workers_.reset();
  routes_->Close();
}

}  // namespace berth::extender
