// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "net/tls_internal.h"
#include "net/tls_socket.h"

namespace berth::net {
namespace {

// What tells one state of a file from another; also when a symbolic link points elsewhere, as mounted secrets do it.
using Stamp = std::tuple<uint64_t, int64_t, int64_t, int64_t>;

std::vector<Stamp> StampsOf(const std::vector<std::string>& files) {
  std::vector<Stamp> stamps;
  for (const std::string& file : files) {
    struct stat info = {};
    if (::stat(file.c_str(), &info) != 0)
      stamps.emplace_back();
    else
      stamps.emplace_back(info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return stamps;
}

// Whether who is at the other end would pass the handshake with this context.
bool LetsIn(SSL_CTX* context, SSL* ssl) {
  if ((SSL_CTX_get_verify_mode(context) & SSL_VERIFY_FAIL_IF_NO_PEER_CERT) == 0) return true;
  X509* const certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return false;
  const std::unique_ptr<X509_STORE_CTX, Freeing<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  const bool good = check != nullptr &&
                    X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context), certificate,
                                        SSL_get_peer_cert_chain(ssl)) == 1 &&
                    X509_STORE_CTX_set_default(check.get(), "ssl_client") == 1 && X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace

void TlsIdentity::Set(const std::string& certificate, const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (state_.certificate == certificate && state_.key == key) return;
  state_ = {certificate, key, state_.changes + 1};
}

TlsIdentity::State TlsIdentity::Get() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

uint64_t TlsIdentity::changes() const {
  const std::lock_guard lock(mutex_);
  return state_.changes;
}

struct TlsContext::Impl {
  bool server = false;
  std::string server_name;
  std::function<std::vector<std::shared_ptr<const CertificatePool>>()> ask_for;
  std::function<Result<ContextPtr>()> build;
  std::function<void(const Error&)> on_warning;
  std::vector<std::string> files;
  std::shared_ptr<TlsIdentity> identity;
  std::chrono::nanoseconds look_every{};

  std::mutex mutex;
  // Under mutex.
  ContextPtr current;
  uint64_t identity_changes = 0;  // of the identity that `current` has
  std::vector<Stamp> stamps;
  std::chrono::steady_clock::time_point looked;

  Error Load() {
    // Stamps first: a file that changes while it is read is then read again at the next look.
    std::vector<Stamp> now = StampsOf(files);
    const uint64_t changes = identity ? identity->changes() : 0;
    Result<ContextPtr> built = build();
    if (!built.ok()) return built.error();
    current = *built;
    identity_changes = changes;
    stamps = std::move(now);
    looked = std::chrono::steady_clock::now();
    return Error::Ok();
  }

  ContextPtr Current() {
    Error warning = Error::Ok();
    ContextPtr context;
    {
      const std::lock_guard lock(mutex);
      const auto now = std::chrono::steady_clock::now();
      if (now - looked >= look_every) {
        looked = now;
        if (StampsOf(files) != stamps) warning = Load();
      }
      if (identity && identity->changes() != identity_changes) warning = Load();
      context = current;
    }
    if (!warning.ok() && on_warning) on_warning(warning.Wrap("certificates have changed, but cannot be used"));
    return context;
  }
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<TlsContext>> TlsContext::Server(const TlsOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->server = true;
  impl->build = [options] { return BuildServer(options); };
  impl->on_warning = options.on_warning;
  impl->ask_for = options.ask_for;
  if (options.certificate_data.empty()) impl->files.push_back(options.certificate_file);
  if (options.key_data.empty()) impl->files.push_back(options.key_file);
  for (const NamedCertificate& named : options.named) {
    impl->files.push_back(named.certificate_file);
    impl->files.push_back(named.key_file);
  }
  if (!options.client_ca_file.empty()) impl->files.push_back(options.client_ca_file);
  impl->look_every = std::chrono::nanoseconds(options.look_every.ns);
  if (Error error = impl->Load(); !error.ok()) return error;
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(impl)));
}

Result<std::shared_ptr<TlsContext>> TlsContext::Client(const TlsClientOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->server_name = options.server_name;
  impl->identity = options.identity;
  impl->build = [options] {
    if (!options.identity) return BuildClient(options);
    const TlsIdentity::State identity = options.identity->Get();
    TlsClientOptions now = options;
    now.certificate_file = now.key_file = "";
    now.certificate_data = identity.certificate;
    now.key_data = identity.key;
    return BuildClient(now);
  };
  for (const auto& [file, data] :
       {std::pair(options.ca_file, options.ca_data), std::pair(options.certificate_file, options.certificate_data),
        std::pair(options.key_file, options.key_data)}) {
    if (!file.empty() && data.empty()) impl->files.push_back(file);
  }
  impl->on_warning = options.on_warning;
  impl->look_every = std::chrono::nanoseconds(options.look_every.ns);
  if (Error error = impl->Load(); !error.ok()) return error;
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(impl)));
}

Result<std::unique_ptr<TlsSession>> TlsContext::NewSession(int fd, const std::string& host) {
  auto session = std::make_unique<TlsSession::Impl>();
  session->context = impl_->Current();
  session->ssl.reset(SSL_new(session->context.get()));
  SSL* ssl = session->ssl.get();
  BIO* bio = ssl != nullptr ? NewSocketBio(fd, !impl_->server) : nullptr;
  if (bio == nullptr) return Error("TLS: " + OpenSslReason());
  SSL_set_bio(ssl, bio, bio);
  if (impl_->server) {
    SSL_set_accept_state(ssl);
    if (impl_->ask_for) NameAuthorities(ssl, impl_->ask_for());
  } else if (Error error = Aim(*session, host); !error.ok()) {
    return error;
  }
  return std::unique_ptr<TlsSession>(new TlsSession(std::move(session)));
}

Result<std::unique_ptr<TlsSession>> TlsContext::NewSessionWithin(std::unique_ptr<TlsSession> outer,
                                                                 const std::string& host) {
  auto session = std::make_unique<TlsSession::Impl>();
  session->context = impl_->Current();
  session->ssl.reset(SSL_new(session->context.get()));
  BIO* bio = session->ssl ? BIO_new(BIO_f_ssl()) : nullptr;
  if (bio == nullptr) return Error("TLS: " + OpenSslReason());
  BIO_set_ssl(bio, outer->impl_->ssl.get(), BIO_NOCLOSE);
  session->outer = std::move(outer);
  SSL_set_bio(session->ssl.get(), bio, bio);
  if (Error error = Aim(*session, host); !error.ok()) return error;
  return std::unique_ptr<TlsSession>(new TlsSession(std::move(session)));
}

// Makes it a client's that believes `host` alone.
Error TlsContext::Aim(TlsSession::Impl& session, const std::string& host) const {
  SSL* ssl = session.ssl.get();
  const std::string& name = impl_->server_name.empty() ? host : impl_->server_name;
  unsigned char address[sizeof(in6_addr)];
  const bool numeric =
      inet_pton(AF_INET, name.c_str(), address) == 1 || inet_pton(AF_INET6, name.c_str(), address) == 1;
  // The common name is for people.
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (numeric ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) != 1
              : (SSL_set1_host(ssl, name.c_str()) != 1 || SSL_set_tlsext_host_name(ssl, name.c_str()) != 1)) {
    return Error("TLS: " + name + " cannot be a server's name: " + OpenSslReason());
  }
  SSL_set_connect_state(ssl);
  return Error::Ok();
}

bool TlsContext::StillWelcome(TlsSession& session) {
  const ContextPtr now = impl_->Current();
  TlsSession::Impl& own = *session.impl_;
  if (now == own.context || now == own.welcome) return true;
  if (!LetsIn(now.get(), own.ssl.get())) return false;
  own.welcome = now;
  return true;
}

bool TlsContext::IsCurrent(const TlsSession& session) { return impl_->Current() == session.impl_->context; }

}  // namespace berth::net
