// SPDX-License-Identifier: Apache-2.0
#include "serving/secure_server.h"

#include <exception>
#include <random>
#include <utility>
#include <vector>

#include "net/tls_settings.h"
#include "serving/replies.h"
#include "serving/url_text.h"
#include "util/seldom.h"
#include "util/text.h"

namespace berth::serving {
namespace {

// Nobody sends a scheduler more. It is read before anybody is asked who he is.
constexpr uint64_t kMaxRequest = uint64_t{64} << 10;
constexpr uint64_t kMaxTotal = uint64_t{256} << 20;
constexpr size_t kMaxConnections = 1024;
// kube-scheduler's.
constexpr Duration kHeaderTimeout = Duration::Seconds(32), kIdleTimeout = Duration::Seconds(90);
constexpr Duration kReviewTimeout = Duration::Seconds(10);
// Of an access review with all its tries. kube-scheduler waits for as long as its client does.
constexpr Duration kAccessPatience = Duration::Seconds(60);

uint64_t Random() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator();
}

std::string Joined(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts[0];
  std::string joined = "[";
  for (size_t i = 0; i < texts.size(); ++i) joined += (i > 0 ? ", " : "") + texts[i];
  return joined + "]";
}

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

// A request on its way.
struct SecureServer::Exchange {
  net::HttpRequest request;
  net::Respond respond;
  std::string verb, path;  // as authorization has them
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now(), authenticated;
  UserInfo user;
};

SecureServer::SecureServer(ServingSurroundings surroundings) : around_(std::move(surroundings)) {}

SecureServer::~SecureServer() { Stop(Duration{}); }

Result<std::unique_ptr<SecureServer>> SecureServer::Open(const ServingOptions& options,
                                                         ServingSurroundings surroundings) {
  if (!surroundings.random) surroundings.random = Random;
  const std::vector<std::string> errors = Validate(options);
  if (!errors.empty()) return Error(Joined(errors));
  if (const Error error = CheckSettings(options); !error.ok()) return error;
  std::unique_ptr<SecureServer> made(new SecureServer(std::move(surroundings)));
  if (options.secure_port == 0) return made;
  if (Error error = made->SetUp(options); !error.ok()) return error;
  if (Error error = made->SetUpAuthentication(options); !error.ok()) return error;
  if (Error error = made->SetUpAuthorization(options); !error.ok()) return error;
  return made;
}

std::function<void(const std::string&)> SecureServer::Warner(const char* what) const {
  return [&log = around_.log, what, seldom = std::make_shared<util::Seldom>()](const std::string& sentence) {
    if (seldom->Say(sentence)) log.Warn(what, {{"err", sentence}});
  };
}

Error SecureServer::SetUp(const ServingOptions& options) {
  for (const std::string& suite : net::UnavailableCipherSuites(options.tls_cipher_suites)) {
    around_.log.Say(LogSeverity::kWarning, "--tls-cipher-suites: " + suite +
                                               " is not offered to clients: the OpenSSL that we run with does not "
                                               "have it");
  }
  Result<ServingCertificate> certificate = ChooseCertificate(options, around_.wall_clock.Now());
  if (!certificate.ok()) return certificate.error();
  if (!certificate->said.empty()) around_.log.Say(LogSeverity::kInfo, certificate->said);
  net::ListeningSocket::Options where;
  where.address = options.bind_address.empty() ? "0.0.0.0" : options.bind_address;
  where.port = static_cast<uint16_t>(options.secure_port);
  where.all_families = true;
  where.share_port = options.permit_port_sharing;
  Result<std::shared_ptr<net::ListeningSocket>> listener = net::ListeningSocket::Open(where);
  if (!listener.ok()) {
    const bool six = where.address.find(':') != std::string::npos;
    const std::string& text = listener.error().text();
    return Error("failed to create listener: failed to listen on " + (six ? "[" + where.address + "]" : where.address) +
                 ":" + std::to_string(where.port) + text.substr(text.rfind(": ")));
  }
  tls_.certificate_file = certificate->certificate_file;
  tls_.key_file = certificate->key_file;
  tls_.certificate_data = certificate->certificate_data;
  tls_.key_data = certificate->key_data;
  tls_.named = options.tls_sni_cert_keys;
  tls_.settings.min_version = net::ParseTlsVersion(options.tls_min_version).value();  // validated, as the rest
  tls_.settings.cipher_suites = options.tls_cipher_suites;
  tls_.settings.curve_preferences = options.tls_curve_preferences;
  tls_.look_every = options.look_every;
  tls_.on_warning = [warn = Warner("Certificate")](const Error& error) { warn(error.text()); };
  // Files that cannot be used are an error now, not when somebody connects.
  if (const auto tried = net::TlsContext::Server(tls_); !tried.ok()) return tried.error();
  listener_ = std::move(listener).value();
  return Error::Ok();
}

Result<std::unique_ptr<ApiLink>> SecureServer::Link(const std::string& kubeconfig, const char* purpose) {
  const std::string failure = std::string("failed to get delegated ") + purpose + " kubeconfig";
  const auto warn = Warner("Kubeconfig");
  if (!kubeconfig.empty()) {
    const Result<client::Kubeconfig> config = client::LoadKubeconfig(kubeconfig);
    if (!config.ok()) return config.error().Wrap(failure);
    for (const std::string& warning : client::WarningsOf(*config)) warn(warning);
    auto link = ApiLink::Connect(*config, around_.user_agent, warn, around_.requests);
    if (!link.ok()) return link.error().Wrap(failure);
    return link;
  }
  if (around_.in_cluster.host.empty() || around_.in_cluster.port.empty()) return std::unique_ptr<ApiLink>();
  const Result<client::Kubeconfig> config = client::LoadInCluster(around_.in_cluster);
  if (config.ok()) {
    auto link = ApiLink::Connect(*config, around_.user_agent, warn, around_.requests);
    if (link.ok()) return link;
    warn(std::string("failed to read in-cluster kubeconfig for delegated ") + purpose + ": " + link.error().text());
  } else {
    warn(std::string("failed to read in-cluster kubeconfig for delegated ") + purpose + ": " + config.error().text());
  }
  return std::unique_ptr<ApiLink>();
}

Error SecureServer::SetUpAuthentication(const ServingOptions& options) {
  Result<std::unique_ptr<ApiLink>> link = Link(options.authentication_kubeconfig, "authentication");
  if (!link.ok()) return link.error();
  authentication_link_ = std::move(link).value();
  AuthenticationSources sources;
  ConfigMapTargets targets;
  if (!options.client_ca_file.empty()) {
    auto authorities = TrustedAuthorities::FromFile("--client-ca-file", options.client_ca_file, options.look_every,
                                                    Warner("Client CA"));
    if (!authorities.ok()) return authorities.error().Wrap("unable to load client CA provider");
    sources.client_authorities = std::move(authorities).value();
  } else if (!options.authentication_skip_lookup && authentication_link_) {
    targets.client_authorities = std::make_shared<TrustedAuthorities>("client-ca-file");
    sources.client_authorities = targets.client_authorities;
  } else if (!options.authentication_skip_lookup) {
    around_.log.Say(LogSeverity::kWarning,
                    "No authentication-kubeconfig provided in order to lookup client-ca-file in "
                    "configmap/extension-apiserver-authentication in kube-system, so client certificate authentication "
                    "won't work.");
  }
  if (Error error = SetUpRequestHeaders(options, sources, targets); !error.ok()) return error;
  if (authentication_link_) {
    ReviewOptions reviews;
    reviews.kind = "TokenReview";
    reviews.path = "/apis/authentication.k8s.io/v1/tokenreviews";
    reviews.timeout = reviews.patience = kReviewTimeout;
    reviews.retries = around_.retries;
    reviews.most_under_way = around_.most_reviews;
    if (around_.observer != nullptr) {
      reviews.on_answer = [observer = around_.observer](std::string_view code, double seconds) {
        observer->TokenReviewed(code, seconds);
      };
    }
    token_reviews_ = std::make_unique<ReviewClient>(*authentication_link_, std::move(reviews));
    tokens_ = std::make_unique<TokenAuthenticator>(*token_reviews_, options.authentication_token_webhook_cache_ttl,
                                                   around_.steady_clock, around_.observer);
    sources.tokens = tokens_.get();
  }
  sources.observer = around_.observer;
  authenticator_ = std::make_unique<Authenticator>(std::move(sources));
  return Error::Ok();
}

Error SecureServer::SetUpRequestHeaders(const ServingOptions& options, AuthenticationSources& sources,
                                        ConfigMapTargets& targets) {
  ConfigMapOptions following;
  following.warn = Warner("Authentication configuration");
  if (!options.requestheader_client_ca_file.empty()) {
    auto authorities =
        TrustedAuthorities::FromFile("--requestheader-client-ca-file", options.requestheader_client_ca_file,
                                     options.look_every, Warner("Request header CA"));
    if (!authorities.ok()) return authorities.error().Wrap("unable to create request header authentication config");
    sources.request_headers =
        std::make_shared<RequestHeaderRules>(std::move(authorities).value(), options.requestheader);
  } else if (!options.authentication_skip_lookup && authentication_link_) {
    auto rules = std::make_shared<RequestHeaderRules>(
        std::make_shared<TrustedAuthorities>("requestheader-client-ca-file"), RequestHeaderNames{});
    ConfigMapTargets both = targets;
    both.request_headers = rules;
    // What is missing in it is told when it is followed.
    const Error error = AuthenticationConfigMap(*authentication_link_, both, following).ReadOnce();
    if (error.ok()) {
      sources.request_headers = rules;
      targets = both;
    } else if (!options.authentication_tolerate_lookup_failure) {
      return error.Wrap("unable to load configmap based request-header-client-ca-file");
    } else {
      const LogSeverity warning = LogSeverity::kWarning;
      around_.log.Say(warning, "Error looking up in-cluster authentication configuration: " + error.text());
      around_.log.Say(warning,
                      "Continuing without authentication configuration. This may treat all requests as anonymous.");
      around_.log.Say(warning,
                      "To require authentication configuration lookup to succeed, set "
                      "--authentication-tolerate-lookup-failure=false");
    }
  } else if (!options.authentication_skip_lookup) {
    around_.log.Say(LogSeverity::kWarning,
                    "No authentication-kubeconfig provided in order to lookup requestheader-client-ca-file in "
                    "configmap/extension-apiserver-authentication in kube-system, so request-header client certificate "
                    "authentication won't work.");
  }
  if (targets.client_authorities || targets.request_headers)
    config_map_ = std::make_unique<AuthenticationConfigMap>(*authentication_link_, targets, std::move(following));
  return Error::Ok();
}

Error SecureServer::SetUpAuthorization(const ServingOptions& options) {
  Result<std::unique_ptr<ApiLink>> link = Link(options.authorization_kubeconfig, "authorization");
  if (!link.ok()) return link.error();
  authorization_link_ = std::move(link).value();
  if (authorization_link_) {
    ReviewOptions reviews;
    reviews.kind = "SubjectAccessReview";
    reviews.path = "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s";
    reviews.timeout = kReviewTimeout;
    reviews.patience = kAccessPatience;
    reviews.retries = around_.retries;
    reviews.most_under_way = around_.most_reviews;
    if (around_.observer != nullptr) {
      reviews.on_answer = [observer = around_.observer](std::string_view code, double seconds) {
        observer->AccessReviewed(code, seconds);
      };
    }
    access_reviews_ = std::make_unique<ReviewClient>(*authorization_link_, std::move(reviews));
  } else {
    around_.log.Say(LogSeverity::kWarning,
                    "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.");
  }
  Result<AllowedPaths> paths = AllowedPaths::Parse(options.authorization_always_allow_paths);
  if (!paths.ok()) return paths.error();
  authorizer_ = std::make_unique<Authorizer>(
      std::move(paths).value(), access_reviews_.get(), options.authorization_webhook_cache_authorized_ttl,
      options.authorization_webhook_cache_unauthorized_ttl, around_.steady_clock);
  return Error::Ok();
}

Error SecureServer::Serve(EndpointSources sources) {
  if (!enabled()) return Error::Ok();
  if (server_ || stopped_) return Error("the port is served already, or no more");
  if (!sources.on_unhealthy) {
    sources.on_unhealthy = [&log = around_.log](const std::string& checks, const std::string& reasons) {
      if (log.enabled(LogSeverity::kInfo, 2))
        log.Add(LogSeverity::kInfo, 2, "Health check failed",
                std::vector<LogField>{{"checks", checks}, {"err", reasons}});
    };
  }
  endpoints_ = std::make_unique<Endpoints>(std::move(sources), around_.wall_clock, around_.random);
  if (config_map_) config_map_->Start();
  tls_.ask_for = [authenticator = authenticator_.get()] { return authenticator->Authorities(); };
  net::ServerOptions options;
  options.listener = listener_;
  options.tls = &tls_;
  options.max_request_bytes = kMaxRequest;
  options.max_total_bytes = kMaxTotal;
  options.max_connections = kMaxConnections;
  options.header_timeout = kHeaderTimeout;
  options.idle_timeout = kIdleTimeout;
  options.on_handshake_failure = [&log = around_.log,
                                  seldom = std::make_shared<util::Seldom>()](const std::string& problem) {
    if (seldom->Say(problem)) log.Warn("TLS handshake error", {{"err", problem}});
  };
  auto server = net::HttpServer::Start(options, [this](net::HttpRequest request, net::Respond respond) {
    Handle(std::move(request), std::move(respond));
  });
  if (!server.ok()) return server.error().Wrap("failed to start secure server");
  server_ = std::move(server).value();
  around_.log.Say(LogSeverity::kInfo, "Serving securely on " + listener_->where());
  return Error::Ok();
}

void SecureServer::Stop(Duration patience) {
  if (std::exchange(stopped_, true) || !enabled()) return;
  const bool served = server_ != nullptr;
  if (served) {
    server_->Drain(patience);
    around_.log.Info("[graceful-termination] secure server has stopped listening");
  }
  server_ = nullptr;
  // Their callbacks go from the first to the second, and from there to the endpoints.
  if (config_map_) config_map_->Stop();
  if (authentication_link_) authentication_link_->Close();
  if (authorization_link_) authorization_link_->Close();
  endpoints_ = nullptr;
  if (served) around_.log.Info("[graceful-termination] secure server is exiting");
}

void SecureServer::Handle(net::HttpRequest request, net::Respond respond) {
  auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  const std::string uri =
      exchange->request.path + (exchange->request.query.empty() ? "" : "?" + exchange->request.query);
  const std::string* agent = exchange->request.headers.Find("User-Agent");
  exchange->respond = [respond = std::move(respond), &log = around_.log, method = exchange->request.method, uri,
                       agent = agent != nullptr ? *agent : "", began = exchange->began](net::HttpResponse response) {
    response.headers.Add("Cache-Control", "no-cache, private");
    if (log.enabled(LogSeverity::kInfo, 3)) {
      const std::string latency = std::to_string(SecondsSince(began) * 1000) + "ms";
      log.Add(
          LogSeverity::kInfo, 3, "HTTP",
          std::vector<LogField>{
              {"verb", method}, {"URI", uri}, {"latency", latency}, {"userAgent", agent}, {"resp", response.status}});
    }
    respond(std::move(response));
  };
  std::optional<std::string> path = DecodePath(exchange->request.path);
  if (!path) return exchange->respond(TextError(400, "400 Bad Request"));
  exchange->verb = util::Lower(exchange->request.method);
  exchange->path = std::move(*path);
  authenticator_->Authenticate(
      exchange->request, [this, exchange](const AuthenticationAnswer& answer) { OnAuthenticated(exchange, answer); });
}

void SecureServer::OnAuthenticated(const std::shared_ptr<Exchange>& exchange, const AuthenticationAnswer& answer) {
  exchange->authenticated = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(exchange->authenticated - exchange->began).count();
  if (around_.observer != nullptr) {
    around_.observer->Authenticated(answer.user ? "success" : "error", answer.user ? answer.user->name : "", seconds);
  }
  if (answer.busy) return exchange->respond(TooManyRequests(exchange->request));
  if (!answer.user) {
    around_.log.Error("Unable to authenticate the request", {{"err", Joined(answer.problems)}});
    return exchange->respond(Unauthorized(exchange->request));
  }
  exchange->user = *answer.user;
  authorizer_->Authorize(exchange->user, exchange->verb, exchange->path,
                         [this, exchange](const AccessAnswer& access) { OnAuthorized(exchange, access); });
}

void SecureServer::OnAuthorized(const std::shared_ptr<Exchange>& exchange, const AccessAnswer& answer) {
  if (around_.observer != nullptr) {
    const char* result = answer.allowed ? "allowed" : !answer.problem.ok() ? "error" : "no-opinion";
    around_.observer->Authorized(result, SecondsSince(exchange->authenticated));
  }
  if (answer.busy) return exchange->respond(TooManyRequests(exchange->request));
  if (!answer.problem.ok()) {
    around_.log.Error("Failed to make webhook authorizer request", {{"err", answer.problem.text()}});
    return exchange->respond(InternalError(exchange->request, answer.problem.text()));
  }
  if (!answer.allowed) {
    if (around_.log.enabled(LogSeverity::kInfo, 4)) {
      around_.log.Add(LogSeverity::kInfo, 4, "Forbidden",
                      std::vector<LogField>{{"URI", exchange->request.path}, {"reason", answer.reason}});
    }
    return exchange->respond(
        Forbidden(exchange->request, exchange->user.name, exchange->verb, exchange->path, answer.reason));
  }
  net::HttpRequest request = std::move(exchange->request);
  request.path = exchange->path;
  // On a client's thread nobody else would catch it. Dropping the Respond answers 500.
  try {
    endpoints_->Handle(std::move(request), std::move(exchange->respond));
  } catch (const std::exception& problem) {
    around_.log.Error("Observed a panic", {{"err", problem.what()}});
  }
}

}  // namespace berth::serving
