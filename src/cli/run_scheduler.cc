// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/server.go (v1.36.4).
#include "cli/run_scheduler.h"

#include <pthread.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "cli/signals.h"
#include "config/load.h"
#include "live/scheduler_process.h"
#include "net/server_process.h"

namespace berth::cli {
namespace {

serving::ServingOptions ServingOf(const SchedulerFlags& flags) {
  serving::ServingOptions out;
  const ServingFlags& serving = flags.serving;
  out.bind_address = serving.bind_address;
  out.secure_port = static_cast<int32_t>(serving.secure_port);
  out.permit_port_sharing = serving.permit_port_sharing;
  out.permit_address_sharing = serving.permit_address_sharing;
  out.cert_dir = serving.cert_dir;
  out.tls_cert_file = serving.tls_cert_file;
  out.tls_private_key_file = serving.tls_private_key_file;
  out.tls_cipher_suites = serving.tls_cipher_suites;
  out.tls_curve_preferences = serving.tls_curve_preferences;
  out.tls_min_version = serving.tls_min_version;
  for (const NamedCertificate& one : serving.sni_certificates)
    out.tls_sni_cert_keys.push_back({one.certificate_file, one.key_file, one.names});

  const AuthenticationFlags& authentication = flags.authentication;
  out.authentication_kubeconfig = authentication.kubeconfig;
  out.authentication_skip_lookup = authentication.skip_lookup;
  out.authentication_tolerate_lookup_failure = authentication.tolerate_lookup_failure;
  out.authentication_token_webhook_cache_ttl = authentication.token_cache_ttl;
  out.client_ca_file = authentication.client_ca_file;
  out.requestheader_client_ca_file = authentication.requestheader_client_ca_file;
  out.requestheader.user = authentication.requestheader_username_headers;
  out.requestheader.uid = authentication.requestheader_uid_headers;
  out.requestheader.group = authentication.requestheader_group_headers;
  out.requestheader.extra_prefixes = authentication.requestheader_extra_headers_prefix;
  out.requestheader.allowed_clients = authentication.requestheader_allowed_names;

  const AuthorizationFlags& authorization = flags.authorization;
  out.authorization_kubeconfig = authorization.kubeconfig;
  out.authorization_always_allow_paths = authorization.always_allow_paths;
  out.authorization_webhook_cache_authorized_ttl = authorization.authorized_ttl;
  out.authorization_webhook_cache_unauthorized_ttl = authorization.unauthorized_ttl;
  return out;
}

}  // namespace

int RunScheduler(const LoadedScheduler& loaded, const Registry& registry, util::Log& log) {
  const NoBrokenPipes no_broken_pipes;
  net::PrepareToServe();
  const Signals signals({SIGTERM, SIGINT, SIGUSR2});
  live::SchedulerProcessOptions options;
  options.version = loaded.flags.reported_version;
  options.api_server = loaded.api_server;
  options.max_in_unschedulable = loaded.pod_max_in_unschedulable_pods;
  options.gates = loaded.gates;
  options.serving = ServingOf(loaded.flags);
  for (const FlagValue& flag : loaded.flags.values) options.flags[flag.name] = flag.value;
  options.configz = config::ToValue(loaded.config, registry).ToJson();
  options.metric_rules = loaded.metric_rules;
  auto process = live::SchedulerProcess::Make(loaded.config, registry, std::move(options), log);
  if (!process.ok()) {
    log.Error("command failed", {{"err", process.error().text()}});
    return 1;
  }
  // Waits for signals until the end, which sends it one.
  std::thread listener([&] {
    bool asked = false;
    for (;;) {
      const int signal = signals.Wait();
      if (signal == SIGUSR2 && (*process)->ended()) return;
      if (signal == SIGUSR2) {
        (*process)->Dump();
      } else if (std::exchange(asked, true)) {
        ::_exit(1);
      } else {
        (*process)->Terminate();
      }
    }
  });
  const int code = (*process)->Run();
  pthread_kill(listener.native_handle(), SIGUSR2);
  listener.join();
  return code;
}

}  // namespace berth::cli
