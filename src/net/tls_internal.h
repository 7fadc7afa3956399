// SPDX-License-Identifier: Apache-2.0
// What the files of TLS share: tls.cc has contexts that follow their files, tls_build.cc makes them from certificates
// and keys, tls_session.cc has connections.
#pragma once

#include <memory>
#include <string>

#include "net/certificate_pem.h"
#include "net/freeing.h"
#include "net/tls.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace berth::net {

using ContextPtr = std::shared_ptr<ssl_ctx_st>;

struct FreeSsl {
  void operator()(ssl_st* ssl) const;
};

inline constexpr unsigned char kProtocols[] = "\x08http/1.1";
inline constexpr unsigned int kProtocolsLength = sizeof(kProtocols) - 1;

// Read the files that the options name, once. Errors name the file and the reason.
Result<ContextPtr> BuildServer(const TlsOptions& options);
Result<ContextPtr> BuildClient(const TlsClientOptions& options);

struct TlsSession::Impl {
  ContextPtr context;                 // outlives a reload
  ContextPtr welcome;                 // of a server: the newest that was found to let the client in
  std::unique_ptr<TlsSession> outer;  // through which this one goes; null: through a socket
  std::unique_ptr<ssl_st, FreeSsl> ssl;
};

}  // namespace berth::net
