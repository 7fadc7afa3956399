// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "net/certificate_pem.h"
#include "net/freeing.h"
#include "net/tls_server_names.h"
#include "net/tls_socket.h"
#include "util/core_dumps.h"
#include "util/read_file.h"

namespace berth::net {
namespace {

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, Freeing<X509_free>>;
using SharedKey = std::shared_ptr<EVP_PKEY>;
using ContextPtr = std::shared_ptr<SSL_CTX>;

constexpr uint64_t kMaxPemBytes = uint64_t{16} << 20;  // no bundle of authorities comes near it
constexpr unsigned char kProtocols[] = "\x08http/1.1";
constexpr unsigned int kProtocolsLength = sizeof(kProtocols) - 1;
constexpr unsigned char kProtocolsWithHttp2[] = "\x02h2\x08http/1.1";

std::string Reason() { return OpenSslReason(); }

// PEM from a file or from memory, and what to call it in an error.
struct Pem {
  std::string name;
  std::string text;
};

Result<Pem> ReadPem(const std::string& file, const std::string& data, const char* what) {
  if (!data.empty()) return Pem{std::string(what) + " data", data};
  std::string name = std::string(what) + " file " + file;
  // Read again while connections are served: nothing may keep that waiting.
  util::FileContent content = util::ReadFile(file, {kMaxPemBytes, util::FileKinds::kRegular});
  if (!content.ok()) return Error(name + ": " + content.problem);
  return Pem{std::move(name), std::move(content.text)};
}

BioPtr OpenPem(const Pem& pem) { return BioPtr(BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size()))); }

int RefusePassphrase(char*, int, int, void*) { return -1; }

// The certificate, and behind it those that vouch for it.
Error UseCertificate(SSL_CTX* context, const Pem& certificate) {
  Result<std::vector<SharedX509>> chain = ReadCertificates(certificate.name, certificate.text);
  if (!chain.ok()) return chain.error();
  const std::vector<SharedX509>& certificates = *chain;
  if (SSL_CTX_use_certificate(context, certificates[0].get()) != 1) return Error(certificate.name + ": " + Reason());
  for (size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1) return Error(certificate.name + ": " + Reason());
  }
  return Error::Ok();
}

Result<SharedKey> ReadKey(X509* owner, const Pem& certificate, const Pem& key) {
  util::ForbidCoreDumps();
  const BioPtr bio = OpenPem(key);
  SharedKey parsed(PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassphrase, nullptr), EVP_PKEY_free);
  if (!parsed) {
    const std::string reason = Reason();
    return Error(key.name + ": no usable PEM private key (without a passphrase) in it: " + reason);
  }
  if (X509_check_private_key(owner, parsed.get()) != 1) {
    ERR_clear_error();
    return Error(key.name + ": does not belong to the certificate in " + certificate.name);
  }
  return parsed;
}

// REQUIRES: `certificate` is in use.
Error UseKey(SSL_CTX* context, const Pem& certificate, const Pem& key) {
  const Result<SharedKey> parsed = ReadKey(SSL_CTX_get0_certificate(context), certificate, key);
  if (!parsed.ok()) return parsed.error();
  if (SSL_CTX_use_PrivateKey(context, parsed->get()) != 1) return Error(key.name + ": " + Reason());
  return Error::Ok();
}

Error Believe(SSL_CTX* context, const Pem& authorities, bool name_them) {
  Result<std::vector<SharedX509>> read = ReadCertificates(authorities.name, authorities.text);
  if (!read.ok()) return read.error();
  // A certificate that is named here is believed, also one that another has signed; Go's programs do the same.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  for (const SharedX509& one : *read) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get()) != 1)
      return Error(authorities.name + ": " + Reason());
    // Tells clients whose certificates are welcome.
    if (name_them && SSL_CTX_add_client_CA(context, one.get()) != 1) return Error(authorities.name + ": " + Reason());
  }
  return Error::Ok();
}

ContextPtr NewContext(const SSL_METHOD* method) {
  ContextPtr context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) return context;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // What is sent is the chain that was given, as with Go: the authorities that we trust are not added to it. An API
  // server checks every certificate of a client's chain again with every request.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  return context;
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* offered,
                   unsigned int size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, length, kProtocols, kProtocolsLength, offered, size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Certificates by name, of a context that goes with them.
struct NamedCertificates {
  struct One {
    std::vector<SharedX509> chain;
    SharedKey key;
    std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> others{nullptr, nullptr};
  };
  std::vector<One> all;
  ServerNames names;
};

int NamedCertificatesIndex() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<NamedCertificates*>(kept); });
  return index;
}

// The address at which a client has reached us, as text.
std::string LocalAddress(SSL* ssl) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  char text[INET6_ADDRSTRLEN] = {};
  if (::getsockname(DescriptorOf(SSL_get_rbio(ssl)), reinterpret_cast<sockaddr*>(&address), &length) != 0) return "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six) != 0)
      ::inet_ntop(AF_INET, &six.s6_addr[12], text, sizeof(text));
    else
      ::inet_ntop(AF_INET6, &six, text, sizeof(text));
  }
  return text;
}

int ChooseCertificate(SSL* ssl, int*, void* argument) {
  const auto& named = *static_cast<const NamedCertificates*>(argument);
  const char* asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const std::optional<size_t> found =
      asked != nullptr ? named.names.Find(asked) : named.names.FindAddress(LocalAddress(ssl));
  if (!found) return SSL_TLSEXT_ERR_NOACK;
  const NamedCertificates::One& one = named.all[*found];
  SSL_certs_clear(ssl);  // the default one may have a key of another type, and some clients like that better
  if (SSL_use_cert_and_key(ssl, one.chain[0].get(), one.key.get(), one.others.get(), 1) != 1) {
    ERR_clear_error();
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  return SSL_TLSEXT_ERR_OK;
}

Error UseNamed(SSL_CTX* context, const std::vector<NamedCertificate>& options) {
  if (options.empty()) return Error::Ok();
  auto named = std::make_unique<NamedCertificates>();
  for (const NamedCertificate& option : options) {
    const Result<Pem> certificate = ReadPem(option.certificate_file, "", "certificate");
    if (!certificate.ok()) return certificate.error();
    const Result<Pem> key = ReadPem(option.key_file, "", "private key");
    if (!key.ok()) return key.error();
    Result<std::vector<SharedX509>> chain = ReadCertificates(certificate->name, certificate->text);
    if (!chain.ok()) return chain.error();
    NamedCertificates::One one;
    one.chain = std::move(chain).value();
    const Result<SharedKey> parsed = ReadKey(one.chain[0].get(), *certificate, *key);
    if (!parsed.ok()) return parsed.error();
    one.key = *parsed;
    one.others = {sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); }};
    for (size_t i = 1; i < one.chain.size(); ++i) sk_X509_push(one.others.get(), one.chain[i].get());
    named->names.Add(named->all.size(), option.names, CommonNameOf(one.chain[0].get(), WhichName::kLast),
                     DnsNamesOf(one.chain[0].get()));
    named->all.push_back(std::move(one));
  }
  SSL_CTX_set_tlsext_servername_callback(context, ChooseCertificate);
  SSL_CTX_set_tlsext_servername_arg(context, named.get());
  if (SSL_CTX_set_ex_data(context, NamedCertificatesIndex(), named.get()) != 1) return Error("TLS: " + Reason());
  (void)named.release();  // the context's from here on
  return Error::Ok();
}

Error UseSettings(SSL_CTX* context, const TlsSettings& settings) {
  const int version = settings.min_version == TlsVersion::k10   ? TLS1_VERSION
                      : settings.min_version == TlsVersion::k11 ? TLS1_1_VERSION
                      : settings.min_version == TlsVersion::k12 ? TLS1_2_VERSION
                                                                : TLS1_3_VERSION;
  // OpenSSL does not speak the old versions unless all its own objections are off.
  if (version < TLS1_2_VERSION) SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, version);
  if (!settings.cipher_suites.empty()) {
    const Result<std::string> list = OpenSslCipherList(settings.cipher_suites);
    if (!list.ok()) return list.error();
    if (list->empty()) {
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);  // which has its own, and nothing can be said of those
    } else if (SSL_CTX_set_cipher_list(context, list->c_str()) != 1) {
      ERR_clear_error();
      return Error("none of the cipher suites that are given is one that OpenSSL has");
    }
  }
  std::vector<int> groups;
  for (const int32_t id : settings.curve_preferences) {
    groups.push_back(id == 23   ? NID_X9_62_prime256v1
                     : id == 24 ? NID_secp384r1
                     : id == 25 ? NID_secp521r1
                                : NID_X25519);
  }
  if (!groups.empty() && SSL_CTX_set1_groups(context, groups.data(), groups.size()) != 1)
    return Error("TLS curve preferences: " + Reason());
  return Error::Ok();
}

// For servers that ask and do not judge. The verdict that stays with the session says so: nobody is known by name.
int AcceptAnyCertificate(X509_STORE_CTX* check, void*) {
  X509_STORE_CTX_set_error(check, X509_V_ERR_APPLICATION_VERIFICATION);
  return 1;
}

Result<ContextPtr> BuildServer(const TlsOptions& options) {
  Result<Pem> certificate = ReadPem(options.certificate_file, options.certificate_data, "certificate");
  if (!certificate.ok()) return certificate.error();
  Result<Pem> key = ReadPem(options.key_file, options.key_data, "private key");
  if (!key.ok()) return key.error();
  ContextPtr context = NewContext(TLS_server_method());
  // Of whom there may be thousands that say nothing.
  if (context) SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (!context) return Error("TLS: " + Reason());
  if (Error error = UseSettings(context.get(), options.settings); !error.ok()) return error;
  if (Error error = UseNamed(context.get(), options.named); !error.ok()) return error;
  if (Error error = UseCertificate(context.get(), *certificate); !error.ok()) return error;
  if (Error error = UseKey(context.get(), *certificate, *key); !error.ok()) return error;
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol, nullptr);
  // Sessions that are resumed would outlive a change of the client CA.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (!options.client_ca_file.empty()) {
    Result<Pem> authorities = ReadPem(options.client_ca_file, "", "client CA");
    if (!authorities.ok()) return authorities.error();
    if (Error error = Believe(context.get(), *authorities, true); !error.ok()) return error;
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  } else if (options.ask_for) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context.get(), AcceptAnyCertificate, nullptr);
    SSL_CTX_set_max_cert_list(context.get(), 32 << 10);  // they are kept, and anybody may show some
  }
  if (!options.client_ca_file.empty() || options.ask_for) {
    SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context.get(), 0);
  }
  return context;
}

IdentityErrors UseIdentity(SSL_CTX* context, const TlsClientOptions& options) {
  IdentityErrors wrong;
  const bool has_certificate = !options.certificate_file.empty() || !options.certificate_data.empty();
  const bool has_key = !options.key_file.empty() || !options.key_data.empty();
  if (!has_certificate && !has_key) return wrong;
  if (!has_certificate) return wrong.certificate = Error("a client key without a client certificate"), wrong;
  if (!has_key) return wrong.key = Error("a client certificate without a client key"), wrong;
  const Result<Pem> certificate = ReadPem(options.certificate_file, options.certificate_data, "client certificate");
  if (!certificate.ok()) return wrong.certificate = certificate.error(), wrong;
  const Result<Pem> key = ReadPem(options.key_file, options.key_data, "client key");
  if (!key.ok()) return wrong.key = key.error(), wrong;
  wrong.certificate = UseCertificate(context, *certificate);
  if (wrong.certificate.ok()) wrong.key = UseKey(context, *certificate, *key);
  return wrong;
}

Result<ContextPtr> BuildClient(const TlsClientOptions& options) {
  ContextPtr context = NewContext(TLS_client_method());
  if (!context) return Error("TLS: " + Reason());
  SSL_CTX_set_alpn_protos(context.get(), kProtocols, kProtocolsLength);
  const IdentityErrors wrong = UseIdentity(context.get(), options);
  if (!wrong.certificate.ok()) return wrong.certificate;
  if (!wrong.key.ok()) return wrong.key;
  if (options.insecure) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
    return context;
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (options.ca_file.empty() && options.ca_data.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
    return context;
  }
  Result<Pem> authorities = ReadPem(options.ca_file, options.ca_data, "CA");
  if (!authorities.ok()) return authorities.error();
  if (Error error = Believe(context.get(), *authorities, false); !error.ok()) return error;
  return context;
}

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

IdentityErrors CheckIdentity(const TlsClientOptions& options) {
  const ContextPtr context = NewContext(TLS_client_method());
  if (!context) return {Error("TLS: " + Reason()), Error::Ok()};
  return UseIdentity(context.get(), options);
}

struct TlsSession::Impl {
  ContextPtr context;                 // outlives a reload
  ContextPtr welcome;                 // of a server: the newest that was found to let the client in
  std::unique_ptr<TlsSession> outer;  // through which this one goes; null: through a socket
  std::unique_ptr<SSL, Freeing<SSL_free>> ssl;
};

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
  problem_ = std::string(action) + ": " + Reason();
  if (verdict != X509_V_OK) problem_ += std::string(" (") + X509_verify_cert_error_string(verdict) + ")";
  return Status::kFailed;
}

void TlsSession::OfferHttp2() {
  SSL_set_alpn_protos(impl_->ssl.get(), kProtocolsWithHttp2, sizeof(kProtocolsWithHttp2) - 1);
}

void TlsSession::WaitsWhenTold() {
  if (!impl_->outer) BioWaitsWhenTold(SSL_get_rbio(impl_->ssl.get()));
}

namespace {

// OpenSSL judges an operation by what is in its queue of errors, so that has to be empty before. Looking is much
// cheaper than clearing.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

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
  if (bio == nullptr) return Error("TLS: " + Reason());
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
  if (bio == nullptr) return Error("TLS: " + Reason());
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
    return Error("TLS: " + name + " cannot be a server's name: " + Reason());
  }
  SSL_set_connect_state(ssl);
  return Error::Ok();
}

namespace {

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
