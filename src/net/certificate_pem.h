// SPDX-License-Identifier: Apache-2.0
// What certificates.cc and tls.cc share: OpenSSL's objects by their bare names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/error.h"
#include "net/certificates.h"

struct x509_st;

namespace berth::net {

using SharedX509 = std::shared_ptr<x509_st>;

// The newest complaint of OpenSSL, and none left behind for the next caller.
std::string OpenSslReason();

// At least one; errors begin with `name`.
Result<std::vector<SharedX509>> ReadCertificates(const std::string& name, const std::string& pem);
// The common name, empty without one; of several the first or the last.
enum class WhichName : bool { kFirst, kLast };
std::string CommonNameOf(x509_st* certificate, WhichName which);
// The names of hosts that it is for: subjectAltName's, without addresses.
std::vector<std::string> DnsNamesOf(x509_st* certificate);

// Null if it showed nothing. REQUIRES: the handshake is over.
std::shared_ptr<const PeerCertificates> PeerOf(ssl_st* ssl);
// Tells the client of this session whose certificates are welcome. Pools may be null.
void NameAuthorities(ssl_st* ssl, const std::vector<std::shared_ptr<const CertificatePool>>& pools);

}  // namespace berth::net
