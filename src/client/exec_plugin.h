// SPDX-License-Identifier: Apache-2.0
// ExecPlugin: credentials that another program gives (client.authentication.k8s.io), as client-go asks it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "client/exec_plugin_tally.h"
#include "client/kubeconfig.h"
#include "net/certificates.h"
#include "net/tls.h"
#include "util/deadline.h"
#include "util/run_program.h"

namespace berth::client {

struct ExecPluginOptions {
  Duration timeout = Duration::Seconds(60);
  size_t max_output = size_t{1} << 20;
  // Whoever asks within that time after a failure hears of the same one: a program that fails at once must not be run
  // for every request that waits.
  Duration failure_lasts = Duration::Seconds(1);
  std::function<Time()> now = nullptr;  // dates, for what expires; null: the system's
  ExecPluginTally* tally = nullptr;     // which outlives the plugin; null: that of the process
};

// What a program has answered.
struct ExecCredential {
  std::string token;                           // empty: none
  std::string certificate_data, key_data;      // PEM; both or none
  std::optional<Time> expires = std::nullopt;  // none: never
};
// Errors are client-go's, and show nothing of the text.
Result<ExecCredential> ReadExecCredential(const std::string& output, const std::string& api_version);
// KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecConfig& config, bool interactive);

// The program is run when somebody asks first, after what it gave has expired, and after the server has refused it; at
// most once at a time, whoever asks meanwhile waits for the same answer. A certificate goes to `identity`, which
// connections are made with.
//
// Thread safety: any thread. The last owner goes on no thread of a callback.
class ExecPlugin {
 public:
  // The value of the Authorization header; empty: there is none, the certificate has to do.
  using Done = std::function<void(const Result<std::string>& header)>;

  explicit ExecPlugin(ExecConfig config, ExecPluginOptions options = {});
  // The program is ended if it runs; those who wait hear of a failure.
  ~ExecPlugin();
  ExecPlugin(const ExecPlugin&) = delete;
  ExecPlugin& operator=(const ExecPlugin&) = delete;

  // The one for such a config, whoever uses it: a process runs a program once for all its clients.
  static std::shared_ptr<ExecPlugin> Shared(const ExecConfig& config);

  // The header, if it is known and has not expired.
  std::optional<std::string> Known();
  // Calls `done` once: within the call if it is known, else on the plugin's thread, where it must not wait. Who waits
  // until a deadline hears of a failure soon after it (kTimedOut), while the program runs on for the others.
  void Ask(Done done, util::Deadline until = util::kNoDeadline);
  // The server has refused `header`: unless there is another by now, the program is run again when somebody asks.
  void Refuse(const std::string& header);

  const std::shared_ptr<net::TlsIdentity>& identity() const { return identity_; }

 private:
  std::optional<std::string> KnownHeader() const;  // under mutex_
  struct Waiter {
    Done done;
    util::Deadline until;
  };
  void Work();
  Result<ExecCredential> Run();
  void Count(const util::ProgramResult& result);
  void NoteCertificate(const std::string& certificate);
  Time Now() const;
  void TellTheLate();

  const ExecConfig config_;
  const ExecPluginOptions options_;
  const std::shared_ptr<net::TlsIdentity> identity_ = std::make_shared<net::TlsIdentity>();
  std::atomic<bool> stop_{false};
  ExecPluginTally& tally_;
  // Of the last answer. On the plugin's thread.
  std::string certificate_;
  std::optional<net::CertificateDates> dates_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  std::optional<std::string> header_;  // none: not known, or refused
  std::optional<Time> expires_;
  std::optional<Error> failure_;
  std::chrono::steady_clock::time_point failed_;
  std::vector<Waiter> waiting_;
  std::thread thread_;  // from when somebody has to wait
};

}  // namespace berth::client
