// SPDX-License-Identifier: Apache-2.0
// Connections.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "net/tls_internal.h"
#include "net/tls_socket.h"

namespace berth::net {
namespace {

using X509Ptr = std::unique_ptr<X509, Freeing<X509_free>>;

constexpr unsigned char kProtocolsWithHttp2[] = "\x02h2\x08http/1.1";

// OpenSSL judges an operation by what is in its queue of errors, so that has to be empty before. Looking is much
// cheaper than clearing.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

void FreeSsl::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsSession::TlsSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsSession::~TlsSession() = default;

TlsSession::Status TlsSession::Judge(int result, const char* action) {
  const int saved = errno;
  switch (SSL_get_error(impl_->ssl.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Status::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Status::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Status::kClosed;
    case SSL_ERROR_SYSCALL:
      problem_ = std::string(action) + ": " + (saved != 0 ? std::strerror(saved) : "the peer closed the connection");
      ERR_clear_error();
      return Status::kFailed;
    default:
      break;
  }
  const long verdict = SSL_get_verify_result(impl_->ssl.get());
  problem_ = std::string(action) + ": " + OpenSslReason();
  if (verdict != X509_V_OK) problem_ += std::string(" (") + X509_verify_cert_error_string(verdict) + ")";
  return Status::kFailed;
}

void TlsSession::OfferHttp2() {
  SSL_set_alpn_protos(impl_->ssl.get(), kProtocolsWithHttp2, sizeof(kProtocolsWithHttp2) - 1);
}

void TlsSession::WaitsWhenTold() {
  if (!impl_->outer) BioWaitsWhenTold(SSL_get_rbio(impl_->ssl.get()));
}

TlsSession::Status TlsSession::Handshake() {
  ForgetErrors();
  errno = 0;
  const int result = SSL_do_handshake(impl_->ssl.get());
  return result == 1 ? Status::kOk : Judge(result, "TLS handshake");
}

TlsSession::Status TlsSession::Read(char* data, size_t size, size_t* count) {
  ForgetErrors();
  errno = 0;
  const int result = SSL_read_ex(impl_->ssl.get(), data, size, count);
  return result == 1 ? Status::kOk : Judge(result, "TLS read");
}

TlsSession::Status TlsSession::Write(std::string_view data, size_t* count) {
  ForgetErrors();
  errno = 0;
  const int result = SSL_write_ex(impl_->ssl.get(), data.data(), data.size(), count);
  return result == 1 ? Status::kOk : Judge(result, "TLS write");
}

void TlsSession::Shutdown() {
  if (SSL_is_init_finished(impl_->ssl.get()) == 1) SSL_shutdown(impl_->ssl.get());
  ERR_clear_error();
}

bool TlsSession::heard() const { return BIO_number_read(SSL_get_rbio(impl_->ssl.get())) > 0; }

std::string TlsSession::PeerName() const {
  const X509Ptr peer(SSL_get1_peer_certificate(impl_->ssl.get()));
  // Without verification anybody may call himself anything.
  if (!peer || SSL_get_verify_mode(impl_->ssl.get()) == SSL_VERIFY_NONE ||
      SSL_get_verify_result(impl_->ssl.get()) != X509_V_OK) {
    return "";
  }
  return CommonNameOf(peer.get(), WhichName::kFirst);
}

std::shared_ptr<const PeerCertificates> TlsSession::Peer() const { return PeerOf(impl_->ssl.get()); }

std::string TlsSession::Version() const { return SSL_get_version(impl_->ssl.get()); }

std::string TlsSession::Protocol() const {
  const unsigned char* name = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(impl_->ssl.get(), &name, &length);
  return std::string(reinterpret_cast<const char*>(name), length);
}

}  // namespace berth::net
