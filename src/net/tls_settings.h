// SPDX-License-Identifier: Apache-2.0
// Versions, cipher suites and curves of TLS under the names that Go's programs have for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"

namespace berth::net {

enum class TlsVersion : uint8_t { k10, k11, k12, k13 };

struct TlsSettings {
  TlsVersion min_version = TlsVersion::k12;
  // By name; empty: OpenSSL's own choice. They are about TLS 1.2 and older; those of TLS 1.3, which may be among them,
  // cannot be chosen, and if there are no others there is nothing but TLS 1.3.
  std::vector<std::string> cipher_suites = {};
  // As TLS numbers them: 23, 24, 25 (P-256, P-384, P-521), 29 (X25519). Empty: OpenSSL's own choice.
  std::vector<int32_t> curve_preferences = {};
};

// VersionTLS10 to VersionTLS13; empty is VersionTLS12. Errors as kube-scheduler has them, also below.
Result<TlsVersion> ParseTlsVersion(std::string_view name);
Error CheckCurvePreferences(const std::vector<int32_t>& curves);
// The names as OpenSSL has them, empty if all are TLS 1.3's.
Result<std::string> OpenSslCipherList(const std::vector<std::string>& names);
// Those that Go knows and the OpenSSL that we run with has not.
std::vector<std::string> UnavailableCipherSuites(const std::vector<std::string>& names);

}  // namespace berth::net
