// SPDX-License-Identifier: Apache-2.0
// ServingOptions: kube-scheduler's flags about its port, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/tls.h"
#include "serving/request_headers.h"

namespace berth::serving {

struct ServingOptions {
  std::string component = "kube-scheduler";  // names the files in cert_dir

  // Secure serving.
  std::string bind_address = "0.0.0.0";  // empty and unspecified addresses: all, of both families
  int64_t secure_port = 10259;           // 0: nothing is served, and nothing of the rest is looked at
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;  // the system allows that always
  std::string cert_dir;
  std::string tls_cert_file, tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::vector<int32_t> tls_curve_preferences;
  std::string tls_min_version;
  std::vector<net::NamedCertificate> tls_sni_cert_keys;

  // Authentication.
  std::string authentication_kubeconfig;  // empty: the pod's service account, if we run in one
  bool authentication_skip_lookup = false;
  bool authentication_tolerate_lookup_failure = true;
  Duration authentication_token_webhook_cache_ttl = Duration::Seconds(10);
  std::string client_ca_file;
  std::string requestheader_client_ca_file;
  RequestHeaderNames requestheader = {{"x-remote-user"}, {}, {"x-remote-group"}, {"x-remote-extra-"}, {}};

  // Authorization.
  std::string authorization_kubeconfig;  // as above
  std::vector<std::string> authorization_always_allow_paths = {"/healthz", "/readyz", "/livez"};
  Duration authorization_webhook_cache_authorized_ttl = Duration::Seconds(10);
  Duration authorization_webhook_cache_unauthorized_ttl = Duration::Seconds(10);

  // How often, at most, files are looked at for changes.
  Duration look_every = Duration::Seconds(1);
};

// A value of --tls-sni-cert-key: "foo.crt,foo.key:*.foo.com,foo.com".
Result<net::NamedCertificate> ParseNamedCertificate(std::string_view text);

// Everything that is wrong with addresses and headers, as kube-scheduler says it.
std::vector<std::string> Validate(const ServingOptions& options);
// The first thing that is wrong with TLS and paths, which nobody looks at unless something is served. Files are not
// looked at.
Error CheckSettings(const ServingOptions& options);
// What works, but most likely not as it was meant.
std::vector<std::string> WarningsOf(const ServingOptions& options);

}  // namespace berth::serving
