// SPDX-License-Identifier: Apache-2.0
// TLS on a socket, for servers and clients; 1.2 and newer unless a server is told otherwise. OpenSSL is behind it and
// seen in *.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/certificates.h"
#include "net/tls_settings.h"

namespace berth::net {

// What a server shows to clients that ask for one of the names (SNI), or, without asking for any, reach the server at
// an address that is one of them.
struct NamedCertificate {
  std::string certificate_file, key_file;
  // "*.example.com" stands for one label. Names that are given go before those of other certificates, and whole names
  // before patterns. Empty: the names in the certificate.
  std::vector<std::string> names;
};

// What a server shows, and whom it lets in.
struct TlsOptions {
  std::string certificate_file = {};                 // PEM, the server's first, then its chain
  std::string key_file = {};                         // PEM
  std::string certificate_data = {}, key_data = {};  // PEM as well; go before files
  std::vector<NamedCertificate> named = {};
  TlsSettings settings = {};
  // Not null: clients are asked for a certificate, and need not have one. What they show is not judged here but goes
  // with their requests (HttpRequest::peer). Called for each connection: whose certificates are welcome.
  std::function<std::vector<std::shared_ptr<const CertificatePool>>()> ask_for = nullptr;
  // Not empty: clients must show a certificate that one of these signed. When the file changes, that goes for requests
  // on connections that are kept, too.
  std::string client_ca_file = {};
  // How often, at most, the files are looked at for changes; that happens when a client connects or asks again.
  Duration look_every = Duration::Seconds(1);
  // Told when changed files cannot be used; the ones read before stay in use, and the next look tries again.
  std::function<void(const Error&)> on_warning = nullptr;
};

// A client's certificate and key that somebody brings, and brings anew, while connections are made.
//
// Thread safety: any thread.
class TlsIdentity {
 public:
  // PEM; both empty: nothing is shown. REQUIRES: they belong together (CheckIdentity).
  void Set(const std::string& certificate, const std::string& key);

 private:
  friend class TlsContext;
  struct State {
    std::string certificate, key;
    uint64_t changes = 0;
  };
  State Get() const;
  uint64_t changes() const;

  mutable std::mutex mutex_;
  State state_;  // under mutex_
};

// Whom a client believes, and what it shows. Data (PEM) goes before files; without any CA the system's are believed.
struct TlsClientOptions {
  std::string ca_file, ca_data;
  std::string certificate_file, certificate_data;
  std::string key_file, key_data;
  std::shared_ptr<TlsIdentity> identity;  // not null: goes before certificate and key
  std::string server_name;                // that the certificate must be for; empty: the host of the URL
  bool insecure = false;                  // believe any certificate
  Duration look_every = Duration::Seconds(1);
  std::function<void(const Error&)> on_warning;  // as above
};

// What is wrong with what a client would show; at most one of them. Without certificate and key nothing is.
struct IdentityErrors {
  Error certificate = Error::Ok(), key = Error::Ok();
};
IdentityErrors CheckIdentity(const TlsClientOptions& options);

// One TLS connection over a socket that does not block and that somebody else owns.
//
// Thread safety: none.
class TlsSession {
 public:
  enum class Status { kOk, kWantRead, kWantWrite, kClosed, kFailed };

  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Of a client: HTTP/2 goes before HTTP/1.1. REQUIRES: the handshake has not begun.
  void OfferHttp2();
  // From here on kWantRead may be said of a socket that was empty a moment ago, which saves asking it again: whoever
  // gets it waits for something new.
  void WaitsWhenTold();
  // To be repeated after waiting for what it wants, until kOk or kFailed.
  Status Handshake();
  Status Read(char* data, size_t size, size_t* count);
  Status Write(std::string_view data, size_t* count);
  // Says goodbye, without waiting for an answer.
  void Shutdown();

  // What went wrong, after kFailed.
  const std::string& problem() const { return problem_; }
  // Whether the peer has sent anything at all.
  bool heard() const;
  // The common name of the peer's verified certificate; empty without one.
  std::string PeerName() const;
  // What the peer showed, verified or not; null: nothing.
  std::shared_ptr<const PeerCertificates> Peer() const;
  // "TLSv1.3"; and the protocol agreed on ("http/1.1", "h2"), empty without.
  std::string Version() const;
  std::string Protocol() const;

 private:
  friend class TlsContext;
  struct Impl;
  explicit TlsSession(std::unique_ptr<Impl> impl);
  Status Judge(int result, const char* action);
  std::unique_ptr<Impl> impl_;
  std::string problem_;
};

// Certificates and keys, read again when their files change.
//
// Thread safety: any thread.
class TlsContext {
 public:
  // Errors name the file and the reason.
  static Result<std::shared_ptr<TlsContext>> Server(const TlsOptions& options);
  static Result<std::shared_ptr<TlsContext>> Client(const TlsClientOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // `host`: whom a client wants to reach. Looks at the files first, if it is time to.
  Result<std::unique_ptr<TlsSession>> NewSession(int fd, const std::string& host = "");
  // The same through `outer`, a client's session whose handshake is over: for a server behind a proxy that speaks TLS.
  Result<std::unique_ptr<TlsSession>> NewSessionWithin(std::unique_ptr<TlsSession> outer, const std::string& host);
  // Whether a new session would show and believe what this one of ours does. Looks at the files as NewSession does.
  bool IsCurrent(const TlsSession& session);
  // Of a server: whether the client of this session of ours, whose handshake is over, would be let in today as well.
  // Looks at the files as NewSession does.
  bool StillWelcome(TlsSession& session);

 private:
  struct Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  Error Aim(TlsSession::Impl& session, const std::string& host) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
