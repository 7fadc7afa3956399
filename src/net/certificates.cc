// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "net/certificate_pem.h"
#include "net/freeing.h"

namespace berth::net {
namespace {

constexpr char kUserUid[] = "1.3.6.1.4.1.57683.2";

std::string Utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int length = ASN1_STRING_to_UTF8(&bytes, text);
  if (length < 0) {
    ERR_clear_error();
    return "";
  }
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
  OPENSSL_free(bytes);
  return result;
}

std::vector<std::string> ValuesOf(const X509_NAME* name, const ASN1_OBJECT* kind) {
  std::vector<std::string> values;
  for (int at = -1; (at = X509_NAME_get_index_by_OBJ(name, kind, at)) >= 0;)
    values.push_back(Utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  return values;
}

std::string Hex(const unsigned char* bytes, size_t size, const char* digits, bool colons) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    if (colons && i > 0) text += ':';
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

// What is longer than anybody's would be is not shown: writing large numbers takes the square of their length, and
// whoever connects may show any.
constexpr int kLongestSerial = 20, kLongestKeyId = 64;

std::string KeyId(const ASN1_OCTET_STRING* id) {
  if (id == nullptr) return "";
  if (ASN1_STRING_length(id) > kLongestKeyId) return "?";
  return Hex(ASN1_STRING_get0_data(id), static_cast<size_t>(ASN1_STRING_length(id)), "0123456789ABCDEF", true);
}

std::string IdentifierOf(X509* certificate) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  const bool sane = ASN1_STRING_length(serial) <= kLongestSerial;
  const std::unique_ptr<BIGNUM, Freeing<BN_free>> number(sane ? ASN1_INTEGER_to_BN(serial, nullptr) : nullptr);
  char* digits = number ? BN_bn2dec(number.get()) : nullptr;
  std::string text = std::string("SN=") + (digits != nullptr ? digits : "?");
  OPENSSL_free(digits);
  return text + ", SKID=" + KeyId(X509_get0_subject_key_id(certificate)) +
         ", AKID=" + KeyId(X509_get0_authority_key_id(certificate));
}

}  // namespace

std::string OpenSslReason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown reason";
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "error " + std::to_string(code);
}

Result<std::vector<SharedX509>> ReadCertificates(const std::string& name, const std::string& pem) {
  const std::unique_ptr<BIO, Freeing<BIO_free_all>> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<SharedX509> certificates;
  ERR_clear_error();
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) certificates.emplace_back(one, X509_free);
  const unsigned long end = ERR_peek_last_error();
  if (ERR_GET_LIB(end) != ERR_LIB_PEM || ERR_GET_REASON(end) != PEM_R_NO_START_LINE)
    return Error(name + ": " + OpenSslReason());
  ERR_clear_error();
  if (certificates.empty()) return Error(name + ": no PEM certificate in it");
  return certificates;
}

std::string CommonNameOf(x509_st* certificate, WhichName which) {
  const std::vector<std::string> names = ValuesOf(X509_get_subject_name(certificate), OBJ_nid2obj(NID_commonName));
  if (names.empty()) return "";
  return which == WhichName::kFirst ? names.front() : names.back();
}

std::vector<std::string> DnsNamesOf(x509_st* certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, Freeing<GENERAL_NAMES_free>> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type == GEN_DNS) names.push_back(Utf8(name->d.dNSName));
  }
  ERR_clear_error();
  return names;
}

std::optional<CertificateDates> DatesOf(const std::string& pem) {
  const std::unique_ptr<BIO, Freeing<BIO_free_all>> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<X509, Freeing<X509_free>> first(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)
                                                            : nullptr);
  const std::unique_ptr<ASN1_TIME, Freeing<ASN1_TIME_free>> epoch(ASN1_TIME_set(nullptr, 0));
  CertificateDates dates{};
  const auto read = [&](const ASN1_TIME* from, Time& out) {
    int days = 0, seconds = 0;
    if (ASN1_TIME_diff(&days, &seconds, epoch.get(), from) != 1) return false;
    // Certificates for ever end in the year 9999, which nanoseconds do not reach.
    constexpr int64_t kMaxDays = std::numeric_limits<int64_t>::max() / 1'000'000'000 / 86400 - 1;
    out = Time{} + Duration::Seconds(std::clamp<int64_t>(days, -kMaxDays, kMaxDays) * 86400 + seconds);
    return true;
  };
  const bool fine = first && epoch && read(X509_get0_notBefore(first.get()), dates.not_before) &&
                    read(X509_get0_notAfter(first.get()), dates.not_after);
  ERR_clear_error();
  return fine ? std::optional(dates) : std::nullopt;
}

struct PeerCertificates::Impl {
  SharedX509 own;
  std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> others{nullptr, nullptr};
};

PeerCertificates::PeerCertificates(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  X509* own = impl_->own.get();
  const X509_NAME* subject = X509_get_subject_name(own);
  common_name_ = CommonNameOf(own, WhichName::kLast);
  organizations_ = ValuesOf(subject, OBJ_nid2obj(NID_organizationName));
  const std::unique_ptr<ASN1_OBJECT, Freeing<ASN1_OBJECT_free>> uid(OBJ_txt2obj(kUserUid, 1));
  uids_ = ValuesOf(subject, uid.get());
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (X509_digest(own, EVP_sha256(), digest, &size) == 1) sha256_ = Hex(digest, size, "0123456789abcdef", false);
  identifier_ = IdentifierOf(own);
  ERR_clear_error();
}
PeerCertificates::~PeerCertificates() = default;

double PeerCertificates::SecondsLeft() const {
  int days = 0, seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(impl_->own.get())) != 1) {
    ERR_clear_error();
    return 0;
  }
  return static_cast<double>(days) * 86400 + seconds;
}

std::shared_ptr<const PeerCertificates> PeerOf(ssl_st* ssl) {
  X509* const own = SSL_get1_peer_certificate(ssl);
  if (own == nullptr) return nullptr;
  auto impl = std::make_unique<PeerCertificates::Impl>();
  impl->own = SharedX509(own, X509_free);
  if (STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl)) {
    impl->others = {X509_chain_up_ref(chain), [](STACK_OF(X509) * all) { sk_X509_pop_free(all, X509_free); }};
  }
  return std::shared_ptr<const PeerCertificates>(new PeerCertificates(std::move(impl)));
}

struct CertificatePool::Impl {
  std::unique_ptr<X509_STORE, Freeing<X509_STORE_free>> store{X509_STORE_new()};
  std::vector<SharedX509> authorities;
};

CertificatePool::CertificatePool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CertificatePool::~CertificatePool() = default;

Result<std::shared_ptr<const CertificatePool>> CertificatePool::Parse(const std::string& name, const std::string& pem) {
  Result<std::vector<SharedX509>> read = ReadCertificates(name, pem);
  if (!read.ok()) return read.error();
  auto impl = std::make_unique<Impl>();
  if (!impl->store) return Error(name + ": " + OpenSslReason());
  // A certificate that is named here is believed, also one that another has signed; Go's programs do the same.
  X509_STORE_set_flags(impl->store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  for (const SharedX509& one : *read) {
    if (X509_STORE_add_cert(impl->store.get(), one.get()) != 1) return Error(name + ": " + OpenSslReason());
  }
  impl->authorities = std::move(read).value();
  return std::shared_ptr<const CertificatePool>(new CertificatePool(std::move(impl)));
}

Error CertificatePool::VerifyClient(const PeerCertificates& shown) const {
  const std::unique_ptr<X509_STORE_CTX, Freeing<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  if (!check ||
      X509_STORE_CTX_init(check.get(), impl_->store.get(), shown.impl_->own.get(), shown.impl_->others.get()) != 1 ||
      X509_STORE_CTX_set_default(check.get(), "ssl_client") != 1) {
    return Error("x509: " + OpenSslReason());
  }
  // As in a handshake: no signature of MD5 or SHA-1.
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(check.get()), 1);
  const bool good = X509_verify_cert(check.get()) == 1;
  const int verdict = X509_STORE_CTX_get_error(check.get());
  ERR_clear_error();
  if (good) {
    // Whoever signs must say that it is an authority; OpenSSL would be content with less.
    const STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(check.get());
    for (int i = 1; i < sk_X509_num(chain); ++i)
      if (X509_check_ca(sk_X509_value(chain, i)) != 1) return Error("x509: invalid CA certificate");
    return Error::Ok();
  }
  return Error(std::string("x509: ") + X509_verify_cert_error_string(verdict));
}

void NameAuthorities(ssl_st* ssl, const std::vector<std::shared_ptr<const CertificatePool>>& pools) {
  STACK_OF(X509_NAME)* names = sk_X509_NAME_new_null();
  for (const std::shared_ptr<const CertificatePool>& pool : pools) {
    if (!pool) continue;
    for (const SharedX509& one : pool->impl_->authorities) {
      X509_NAME* name = X509_NAME_dup(X509_get_subject_name(one.get()));
      if (name != nullptr && sk_X509_NAME_push(names, name) == 0) X509_NAME_free(name);
    }
  }
  SSL_set0_CA_list(ssl, names);
}

}  // namespace berth::net
