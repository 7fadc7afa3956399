// SPDX-License-Identifier: Apache-2.0
#include "net/self_signed.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>

#include "net/certificate_pem.h"
#include "util/core_dumps.h"

namespace berth::net {
namespace {

constexpr int64_t kHour = 3600, kYear = 365 * 24 * kHour;
constexpr unsigned int kKeyBits = 2048;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Error Failed(const char* what) {
  return Error(std::string("self-signed certificate: ") + what + ": " + OpenSslReason());
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), X509_EXTENSION_free);
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Without extensions and signature.
bool Fill(X509* certificate, const std::string& common_name, EVP_PKEY* key, int64_t from) {
  uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) return false;
  serial = (serial >> 1) | 1;  // positive, and never zero
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1 &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), from) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), from + kYear) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0) == 1;
}

template <class Write>
std::string ToPem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  if (!bio || !write(bio.get())) return "";
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace

Result<SelfSigned> MakeSelfSigned(const std::string& host, const std::vector<std::string>& other_names,
                                  const std::vector<std::string>& addresses, Time now) {
  util::ForbidCoreDumps();
  const int64_t seconds = now.ns / 1'000'000'000;
  const std::string stamp = std::to_string(seconds);
  const Key authority_key(EVP_RSA_gen(kKeyBits), EVP_PKEY_free), key(EVP_RSA_gen(kKeyBits), EVP_PKEY_free);
  const Certificate authority(X509_new(), X509_free), own(X509_new(), X509_free);
  if (!authority_key || !key || !authority || !own) return Failed("making a key");

  if (!Fill(authority.get(), host + "-ca@" + stamp, authority_key.get(), seconds - kHour) ||
      X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get())) != 1 ||
      !AddExtension(authority.get(), authority.get(), NID_key_usage,
                    "critical,digitalSignature,keyEncipherment,keyCertSign") ||
      !AddExtension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(authority.get(), authority.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(authority.get(), authority_key.get(), EVP_sha256()) == 0) {
    return Failed("making the authority");
  }

  std::string names = "DNS:" + host;
  for (const std::string& name : other_names) names += ",DNS:" + name;
  for (const std::string& address : addresses) names += ",IP:" + address;
  if (!Fill(own.get(), host + "@" + stamp, key.get(), seconds - kHour) ||
      X509_set_issuer_name(own.get(), X509_get_subject_name(authority.get())) != 1 ||
      !AddExtension(own.get(), authority.get(), NID_key_usage, "critical,digitalSignature,keyEncipherment") ||
      !AddExtension(own.get(), authority.get(), NID_ext_key_usage, "serverAuth") ||
      !AddExtension(own.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(own.get(), authority.get(), NID_authority_key_identifier, "keyid") ||
      !AddExtension(own.get(), authority.get(), NID_subject_alt_name, names) ||
      X509_sign(own.get(), authority_key.get(), EVP_sha256()) == 0) {
    return Failed("making the certificate");
  }

  SelfSigned made;
  made.certificate_pem = ToPem([&](BIO* bio) {
    return PEM_write_bio_X509(bio, own.get()) == 1 && PEM_write_bio_X509(bio, authority.get()) == 1;
  });
  made.key_pem = ToPem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey_traditional(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  });
  if (made.certificate_pem.empty() || made.key_pem.empty()) return Failed("writing it");
  return made;
}

}  // namespace berth::net
