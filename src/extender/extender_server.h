// SPDX-License-Identifier: Apache-2.0
// ExtenderServer: a profile's plugins on a port; service, routes, log and metrics put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
#include "extender/call_workers.h"
#include "extender/cluster_feed.h"
#include "extender/extender_routes.h"
#include "extender/extender_service.h"
#include "net/http_server.h"
#include "util/log.h"
#include "util/metrics.h"

namespace berth::extender {

struct ExtenderServerOptions {
  config::Profile profile;
  ServiceOptions service;
  std::vector<Route> routes;
  net::ServerOptions server;
  size_t workers = 2;              // threads that compute calls
  size_t most_waiting = 1'000;     // calls that no thread has begun; one more is 503
  bool plugins_are_quick = false;  // nobody's code but ours, which does not wait: as that of presets
};

// Where `address` is one that other machines cannot reach: 127.0.0.0/8, ::1, localhost.
bool IsLoopback(const std::string& address);
// What to warn of when others reach the server and nobody looks at who they are; empty: nothing.
std::string OpenDoorWarning(const net::ServerOptions& server, const std::vector<Route>& routes);

class ExtenderServer {
 public:
  // Calls are computed by threads of their own, so that health and metrics are answered whatever plugins do; only with
  // quick plugins and without a feed, whose lock may be taken for long, a small call is computed where it was read.
  //
  // Serves when it returns. `feed` may be null: then there is no API server, see ExtenderService; else it is started
  // with what the plugins look at. REQUIRES: registry, clock, log and feed outlive the server; the feed is stopped
  // after Stop and before the server is destroyed.
  static Result<std::unique_ptr<ExtenderServer>> Start(const ExtenderServerOptions& options, const Registry& registry,
                                                       const Clock& clock, ClusterFeed* feed, util::Log& log);
  ~ExtenderServer();
  ExtenderServer(const ExtenderServer&) = delete;
  ExtenderServer& operator=(const ExtenderServer&) = delete;

  uint16_t port() const { return port_; }
  const ExtenderService& service() const { return *service_; }
  // Accepts no more and lets calls that have begun be answered, for at most `patience`; what is left is cut. Afterwards
  // the feed is asked no more, but may still answer bindings, which nobody hears.
  void Stop(Duration patience);

 private:
  ExtenderServer() = default;
  // What is not counted but looked up.
  void AddMetrics(ClusterFeed* feed, const util::Log& log);
  // On a thread of the server.
  void Handle(net::HttpRequest request, net::Respond respond, bool may_run_here) const;

  util::Metrics metrics_;
  std::unique_ptr<ExtenderService> service_;
  std::unique_ptr<ExtenderRoutes> routes_;
  std::unique_ptr<CallWorkers> workers_;
  std::unique_ptr<net::HttpServer> server_;  // first to go: its threads call the others
  uint16_t port_ = 0;
};

}  // namespace berth::extender
