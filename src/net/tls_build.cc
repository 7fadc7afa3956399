// SPDX-License-Identifier: Apache-2.0
// Makes contexts from certificates, keys and settings.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "net/tls_internal.h"
#include "net/tls_server_names.h"
#include "net/tls_socket.h"
#include "util/core_dumps.h"
#include "util/read_file.h"

namespace berth::net {
namespace {

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using SharedKey = std::shared_ptr<EVP_PKEY>;

constexpr uint64_t kMaxPemBytes = uint64_t{16} << 20;  // no bundle of authorities comes near it

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
  if (SSL_CTX_use_certificate(context, certificates[0].get()) != 1)
    return Error(certificate.name + ": " + OpenSslReason());
  for (size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1)
      return Error(certificate.name + ": " + OpenSslReason());
  }
  return Error::Ok();
}

Result<SharedKey> ReadKey(X509* owner, const Pem& certificate, const Pem& key) {
  util::ForbidCoreDumps();
  const BioPtr bio = OpenPem(key);
  SharedKey parsed(PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassphrase, nullptr), EVP_PKEY_free);
  if (!parsed) {
    const std::string reason = OpenSslReason();
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
  if (SSL_CTX_use_PrivateKey(context, parsed->get()) != 1) return Error(key.name + ": " + OpenSslReason());
  return Error::Ok();
}

Error Believe(SSL_CTX* context, const Pem& authorities, bool name_them) {
  Result<std::vector<SharedX509>> read = ReadCertificates(authorities.name, authorities.text);
  if (!read.ok()) return read.error();
  // A certificate that is named here is believed, also one that another has signed; Go's programs do the same.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  for (const SharedX509& one : *read) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get()) != 1)
      return Error(authorities.name + ": " + OpenSslReason());
    // Tells clients whose certificates are welcome.
    if (name_them && SSL_CTX_add_client_CA(context, one.get()) != 1)
      return Error(authorities.name + ": " + OpenSslReason());
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
  if (SSL_CTX_set_ex_data(context, NamedCertificatesIndex(), named.get()) != 1) return Error("TLS: " + OpenSslReason());
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
    return Error("TLS curve preferences: " + OpenSslReason());
  return Error::Ok();
}

// For servers that ask and do not judge. The verdict that stays with the session says so: nobody is known by name.
int AcceptAnyCertificate(X509_STORE_CTX* check, void*) {
  X509_STORE_CTX_set_error(check, X509_V_ERR_APPLICATION_VERIFICATION);
  return 1;
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

}  // namespace

Result<ContextPtr> BuildServer(const TlsOptions& options) {
  Result<Pem> certificate = ReadPem(options.certificate_file, options.certificate_data, "certificate");
  if (!certificate.ok()) return certificate.error();
  Result<Pem> key = ReadPem(options.key_file, options.key_data, "private key");
  if (!key.ok()) return key.error();
  ContextPtr context = NewContext(TLS_server_method());
  // Of whom there may be thousands that say nothing.
  if (context) SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (!context) return Error("TLS: " + OpenSslReason());
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

Result<ContextPtr> BuildClient(const TlsClientOptions& options) {
  ContextPtr context = NewContext(TLS_client_method());
  if (!context) return Error("TLS: " + OpenSslReason());
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

IdentityErrors CheckIdentity(const TlsClientOptions& options) {
  const ContextPtr context = NewContext(TLS_client_method());
  if (!context) return {Error("TLS: " + OpenSslReason()), Error::Ok()};
  return UseIdentity(context.get(), options);
}

}  // namespace berth::net
