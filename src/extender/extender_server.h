// SPDX-License-Identifier: Apache-2.0
// ExtenderServer: a profile's plugins on a port; service, routes, log and metrics put together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
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
};

// Where `address` is one that other machines cannot reach: 127.0.0.0/8, ::1, localhost.
bool IsLoopback(const std::string& address);
// What to warn of when others reach the server and nobody looks at who they are; empty: nothing.
std::string OpenDoorWarning(const net::ServerOptions& server, const std::vector<Route>& routes);

class ExtenderServer {
 public:
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

  util::Metrics metrics_;
  std::unique_ptr<ExtenderService> service_;
  std::unique_ptr<ExtenderRoutes> routes_;
  std::unique_ptr<net::HttpServer> server_;  // first to go: its threads call the others
  uint16_t port_ = 0;
};

}  // namespace berth::extender
