// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made when they are needed, and a folder to keep them in.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace berth::net {

// A key and a certificate of it, in PEM.
struct TestIdentity {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
  std::string certificate_pem, key_pem;
};

template <class Write>
std::string ToPem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  write(bio.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

// Signed by `issuer`; without one by itself, and then a certificate authority. `names` as OpenSSL writes them:
// "DNS:localhost,IP:127.0.0.1".
inline TestIdentity MakeIdentity(const std::string& common_name, const std::string& names = "",
                                 const TestIdentity* issuer = nullptr, long valid_seconds = 3600,
                                 bool authority = false, const std::vector<std::string>& organizations = {}) {
  static std::atomic<long> serial{1};
  TestIdentity made;
  made.key = std::shared_ptr<EVP_PKEY>(EVP_EC_gen("P-256"), EVP_PKEY_free);
  made.certificate = std::shared_ptr<X509>(X509_new(), X509_free);
  X509* x509 = made.certificate.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), -7200);
  X509_gmtime_adj(X509_getm_notAfter(x509), valid_seconds);
  X509_set_pubkey(x509, made.key.get());
  const auto name = [&](const char* kind, const std::string& value) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), kind, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  };
  for (const std::string& organization : organizations) name("O", organization);
  name("CN", common_name);
  X509* signer = issuer != nullptr ? issuer->certificate.get() : x509;
  X509_set_issuer_name(x509, X509_get_subject_name(signer));
  const auto add = [&](int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, signer, x509, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    EXPECT_NE(extension, nullptr) << value;
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
  };
  add(NID_basic_constraints, issuer == nullptr || authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!names.empty()) add(NID_subject_alt_name, names);
  X509_sign(x509, issuer != nullptr ? issuer->key.get() : made.key.get(), EVP_sha256());
  made.certificate_pem = ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, x509); });
  made.key_pem =
      ToPem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  return made;
}

// A folder that goes with the test.
class TestFolder {
 public:
  TestFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "berth-tls-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary | std::ios::trunc) << text;
    return Path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace berth::net
