// SPDX-License-Identifier: Apache-2.0
#include "net/tls_settings.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "util/text.h"

namespace berth::net {
namespace {

struct Suite {
  std::string_view name, openssl;  // the latter is empty for TLS 1.3's
};
// All that Go's crypto/tls has, those that it calls insecure among them.
constexpr Suite kSuites[] = {
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_RSA_WITH_RC4_128_SHA", "RC4-SHA"},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "ECDHE-ECDSA-RC4-SHA"},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA-RC4-SHA"},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"},
};

const Suite* FindSuite(std::string_view name) {
  const Suite* found = std::ranges::find(kSuites, name, &Suite::name);
  return found != std::end(kSuites) ? found : nullptr;
}

}  // namespace

Result<TlsVersion> ParseTlsVersion(std::string_view name) {
  if (name.empty() || name == "VersionTLS12") return TlsVersion::k12;
  if (name == "VersionTLS10") return TlsVersion::k10;
  if (name == "VersionTLS11") return TlsVersion::k11;
  if (name == "VersionTLS13") return TlsVersion::k13;
  std::string text = "unknown tls version \"";
  util::AppendEscaped(text, name, util::Escapes::kQuoted);
  return Error(text + "\"");
}

Error CheckCurvePreferences(const std::vector<int32_t>& curves) {
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string which = "curve preference " + std::to_string(curves[i]);
    if (curves[i] <= 0 || curves[i] > std::numeric_limits<uint16_t>::max())
      return Error(which + " is out of range (must be 1-65535)");
    if (std::find(curves.begin(), curves.begin() + static_cast<ptrdiff_t>(i), curves[i]) !=
        curves.begin() + static_cast<ptrdiff_t>(i)) {
      return Error("duplicate " + which);
    }
    // P-256, P-384, P-521 and X25519; Go knows three of these with ML-KEM besides.
    constexpr std::array<int32_t, 4> kOurs{23, 24, 25, 29};
    constexpr std::array<int32_t, 3> kOfGo{4587, 4588, 4589};
    if (std::ranges::find(kOurs, curves[i]) != kOurs.end()) continue;
    const bool known = std::ranges::find(kOfGo, curves[i]) != kOfGo.end();
    return Error(which +
                 (known ? " is not supported (23, 24, 25 and 29 are)" : " is not supported by the current Go version"));
  }
  return Error::Ok();
}

Result<std::string> OpenSslCipherList(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    const Suite* suite = FindSuite(name);
    if (suite == nullptr) return Error("Cipher suite " + name + " not supported or doesn't exist");
    if (suite->openssl.empty()) continue;
    if (!list.empty()) list += ':';
    list += suite->openssl;
  }
  return list;
}

std::vector<std::string> UnavailableCipherSuites(const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  for (const std::string& name : names) {
    const Suite* suite = FindSuite(name);
    if (suite == nullptr || suite->openssl.empty() || !context) continue;
    if (SSL_CTX_set_cipher_list(context.get(), std::string(suite->openssl).c_str()) != 1) missing.push_back(name);
  }
  ERR_clear_error();
  return missing;
}

}  // namespace berth::net
