// SPDX-License-Identifier: Apache-2.0
// Certificates that clients show, and authorities that vouch for them. OpenSSL is behind it and seen in *.cc alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"

struct ssl_st;

namespace berth::net {

class CertificatePool;

// From when until when a certificate is valid.
struct CertificateDates {
  Time not_before, not_after;
};
// Of the first one in the text; none when there is none.
std::optional<CertificateDates> DatesOf(const std::string& pem);

// What a client showed in its handshake, its own certificate first. It has proved to have the key of that; who vouches
// for it is another question, which CertificatePool answers.
//
// Thread safety: immutable.
class PeerCertificates {
 public:
  ~PeerCertificates();
  PeerCertificates(const PeerCertificates&) = delete;
  PeerCertificates& operator=(const PeerCertificates&) = delete;

  // Of the client's own. Of several common names the last counts, as for Go's programs.
  const std::string& common_name() const { return common_name_; }
  const std::vector<std::string>& organizations() const { return organizations_; }
  // All values of Kubernetes' attribute for the uid of a user, 1.3.6.1.4.1.57683.2.
  const std::vector<std::string>& uids() const { return uids_; }
  // Of the whole certificate, in lower-case hexadecimal digits.
  const std::string& sha256() const { return sha256_; }
  // Serial number and key identifiers, for people who look for it.
  const std::string& identifier() const { return identifier_; }
  // How long it is valid from now on; negative: how long it has not been any more.
  double SecondsLeft() const;

 private:
  friend class CertificatePool;
  friend std::shared_ptr<const PeerCertificates> PeerOf(ssl_st* ssl);
  struct Impl;
  explicit PeerCertificates(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string common_name_, sha256_, identifier_;
  std::vector<std::string> organizations_, uids_;
};

// Authorities that are believed.
//
// Thread safety: immutable.
class CertificatePool {
 public:
  // Errors begin with `name`, and never show what is in the text.
  static Result<std::shared_ptr<const CertificatePool>> Parse(const std::string& name, const std::string& pem);
  ~CertificatePool();
  CertificatePool(const CertificatePool&) = delete;
  CertificatePool& operator=(const CertificatePool&) = delete;

  // Whether one of them vouches, now, for who showed that as a client. Errors say why not.
  Error VerifyClient(const PeerCertificates& shown) const;

 private:
  friend void NameAuthorities(ssl_st* ssl, const std::vector<std::shared_ptr<const CertificatePool>>& pools);
  struct Impl;
  explicit CertificatePool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
