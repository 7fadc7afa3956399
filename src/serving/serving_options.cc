// SPDX-License-Identifier: Apache-2.0
#include "serving/serving_options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "net/http_text.h"
#include "net/tls_settings.h"
#include "serving/authorizer.h"
#include "util/text.h"

namespace berth::serving {
namespace {

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.emplace_back(util::Trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool Has(const std::vector<std::string>& names, std::string_view wanted) {
  return std::ranges::any_of(names, [&](const std::string& name) { return net::EqualIgnoringCase(name, wanted); });
}

bool IsAddress(const std::string& text) {
  unsigned char address[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, text.c_str(), address) == 1 || ::inet_pton(AF_INET6, text.c_str(), address) == 1;
}

}  // namespace

Result<net::NamedCertificate> ParseNamedCertificate(std::string_view text) {
  net::NamedCertificate named;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view names = util::Trimmed(text.substr(colon + 1));
    if (names.empty()) return Error("empty names list is not allowed");
    named.names = Split(names);
  }
  std::vector<std::string> files = Split(util::Trimmed(text.substr(0, colon)));
  if (files.size() != 2) return Error("expected comma separated certificate and key file paths");
  named.certificate_file = std::move(files[0]);
  named.key_file = std::move(files[1]);
  return named;
}

std::vector<std::string> Validate(const ServingOptions& options) {
  std::vector<std::string> errors;
  if (options.secure_port > 65535) {
    errors.push_back("--secure-port " + std::to_string(options.secure_port) +
                     " must be between 1 and 65535, inclusive. It cannot be turned off with 0");
  } else if (options.secure_port < 0) {
    errors.push_back("--secure-port " + std::to_string(options.secure_port) +
                     " must be between 0 and 65535, inclusive. 0 for turning off secure port");
  }
  if (!options.bind_address.empty() && !IsAddress(options.bind_address)) {
    errors.push_back("--bind-address: failed to parse IP: \"" + options.bind_address + "\"");
  }
  const RequestHeaderNames& names = options.requestheader;
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"requestheader-username-headers", &names.user},
      {"requestheader-group-headers", &names.group},
      {"requestheader-extra-headers-prefix", &names.extra_prefixes},
      {"requestheader-allowed-names", &names.allowed_clients},
      {"requestheader-uid-headers", &names.uid}};
  for (const auto& [flag, values] : lists) {
    if (std::ranges::any_of(*values, [](const std::string& value) { return util::Trimmed(value).empty(); }))
      errors.push_back("empty value in \"" + std::string(flag) + "\"");
  }
  if (!names.uid.empty() && !Has(names.uid, "X-Remote-Uid")) {
    errors.emplace_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will "
        "not work");
  }
  return errors;
}

Error CheckSettings(const ServingOptions& options) {
  if (options.secure_port == 0) return Error::Ok();
  if (options.tls_cert_file.empty() != options.tls_private_key_file.empty())
    return Error("missing filename for serving cert");
  if (const auto suites = net::OpenSslCipherList(options.tls_cipher_suites); !suites.ok()) return suites.error();
  if (Error error = net::CheckCurvePreferences(options.tls_curve_preferences); !error.ok()) return error;
  if (const auto version = net::ParseTlsVersion(options.tls_min_version); !version.ok()) return version.error();
  const auto paths = AllowedPaths::Parse(options.authorization_always_allow_paths);
  return paths.ok() ? Error::Ok() : paths.error();
}

std::vector<std::string> WarningsOf(const ServingOptions& options) {
  std::vector<std::string> warnings;
  const RequestHeaderNames& names = options.requestheader;
  if (!names.user.empty() && !Has(names.user, "X-Remote-User")) {
    warnings.emplace_back(
        "--requestheader-username-headers is set without specifying the standard X-Remote-User header - API "
        "aggregation will not work");
  }
  if (!names.group.empty() && !Has(names.group, "X-Remote-Group")) {
    warnings.emplace_back(
        "--requestheader-group-headers is set without specifying the standard X-Remote-Group header - API aggregation "
        "will not work");
  }
  if (!names.extra_prefixes.empty() && !Has(names.extra_prefixes, "X-Remote-Extra-")) {
    warnings.emplace_back(
        "--requestheader-extra-headers-prefix is set without specifying the standard X-Remote-Extra- header prefix - "
        "API aggregation will not work");
  }
  return warnings;
}

}  // namespace berth::serving
