// SPDX-License-Identifier: Apache-2.0
// SecureServer: a scheduler's port: TLS, who is asking, whether they may, and what they are told.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "berth/clock.h"
#include "berth/error.h"
#include "client/kubeconfig.h"
#include "net/http_server.h"
#include "serving/api_link.h"
#include "serving/authentication_config_map.h"
#include "serving/authenticator.h"
#include "serving/authorizer.h"
#include "serving/endpoints.h"
#include "serving/review_client.h"
#include "serving/serving_certificate.h"
#include "serving/serving_observer.h"
#include "serving/serving_options.h"
#include "serving/token_authenticator.h"
#include "util/log.h"

namespace berth::serving {

// What is around it. REQUIRES: clocks, log and observers outlive the server.
struct ServingSurroundings {
  util::Log& log;
  const Clock& wall_clock;    // for dates
  const Clock& steady_clock;  // for how long answers are kept
  std::string user_agent = "kube-scheduler";
  ServingObserver* observer = nullptr;                                // may be null
  client::RequestObserver* requests = nullptr;                        // that we send; may be null
  client::InCluster in_cluster = client::InClusterFromEnvironment();  // where no kubeconfig is given
  std::function<uint64_t()> random = nullptr;                         // null: a generator of its own
  ReviewRetries retries = {};
  size_t most_reviews = 256;  // of each kind at a time
};

// Requests are authenticated first, then authorized, then answered; what happens to be wrong there is answered as
// kube-scheduler does. Nobody waits on a thread: reviews are requests of clients that the server has for itself.
//
//   auto port = SecureServer::Open(options, {.log = log, .wall_clock = wall, .steady_clock = steady});  // exit 1:
//   error … clients, frameworks … EndpointSources sources; sources.readyz = {{"shutdown", [&] { return stopping ?
//   Error("process is shutting down") : Error::Ok(); }}}; sources.metrics = [&] { return metrics.Text(); }; Error error
//   = (*port)->Serve(std::move(sources)); …
//   (*port)->Stop(Duration::Seconds(5));
//
// Thread safety: one thread.
class SecureServer {
 public:
  // Everything that can fail: options, certificate, port, kubeconfigs, authorities. Clients can connect from here on,
  // and wait. Asks the API server for the authorities of the cluster, unless the options have them, and waits for its
  // answer for up to ten seconds. With port 0 there is nothing, and nothing is done.
  static Result<std::unique_ptr<SecureServer>> Open(const ServingOptions& options, ServingSurroundings surroundings);
  ~SecureServer();
  SecureServer(const SecureServer&) = delete;
  SecureServer& operator=(const SecureServer&) = delete;

  // False with port 0.
  bool enabled() const { return listener_ != nullptr; }
  uint16_t port() const { return listener_ ? listener_->port() : 0; }
  // Serves from here on. Once. REQUIRES: what `sources` calls can be called until Stop returns.
  Error Serve(EndpointSources sources);
  // Accepts no more, lets requests that have begun be answered for at most `patience`, and cuts the rest. Nothing of
  // `sources` is called afterwards. Idempotent.
  void Stop(Duration patience);

 private:
  struct Exchange;
  explicit SecureServer(ServingSurroundings surroundings);
  Error SetUp(const ServingOptions& options);
  Error SetUpAuthentication(const ServingOptions& options);
  Error SetUpRequestHeaders(const ServingOptions& options, AuthenticationSources& sources, ConfigMapTargets& targets);
  Error SetUpAuthorization(const ServingOptions& options);
  // Null, without an Error: there is no API server to ask.
  Result<std::unique_ptr<ApiLink>> Link(const std::string& kubeconfig, const char* purpose);
  std::function<void(const std::string&)> Warner(const char* what) const;

  // On any thread.
  void Handle(net::HttpRequest request, net::Respond respond);
  void OnAuthenticated(const std::shared_ptr<Exchange>& exchange, const AuthenticationAnswer& answer);
  void OnAuthorized(const std::shared_ptr<Exchange>& exchange, const AccessAnswer& answer);

  const ServingSurroundings around_;
  std::shared_ptr<net::ListeningSocket> listener_;
  net::TlsOptions tls_;

  // In the order in which they are made; links are closed before the rest goes.
  std::unique_ptr<ApiLink> authentication_link_, authorization_link_;
  std::unique_ptr<ReviewClient> token_reviews_, access_reviews_;
  std::unique_ptr<TokenAuthenticator> tokens_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<AuthenticationConfigMap> config_map_;
  std::unique_ptr<Endpoints> endpoints_;
  std::unique_ptr<net::HttpServer> server_;
  bool stopped_ = false;
};

}  // namespace berth::serving
