// SPDX-License-Identifier: Apache-2.0
// Credentials: what a request says about who sends it. A token in a file changes while we run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/error.h"
#include "client/exec_plugin.h"
#include "client/kubeconfig.h"
#include "net/http.h"
#include "util/deadline.h"

namespace berth::client {

// Whether a token can be sent at all: one with a line break or another control character in it cannot. Errors never
// show it.
Error CheckToken(std::string_view token);
// The token in a file's text, without the blanks around it.
Result<std::string_view> FindToken(std::string_view text);
// Of at most 64 KiB. Errors do not name the file.
Result<std::string> ReadTokenFile(const std::string& path);

// Impersonate-User and the others, as client-go writes them.
net::Headers ImpersonationHeaders(const Impersonation& as);

// Thread safety: any thread.
class Credentials {
 public:
  // `warn` may be null; it is called by whoever asks, and must not ask back.
  Credentials(const Kubeconfig& config, Duration look_every, std::function<void(const std::string&)> warn = nullptr);

  // The value of the Authorization header; empty: none. Reads the token's file if the last look is long ago; a file
  // that cannot be read, or has no usable token, leaves the old one in use, with a warning. Null: a program has to be
  // asked first. The same object as long as it says the same, unless it comes from a program.
  std::shared_ptr<const std::string> Known();
  // The same, whoever has to be asked. Calls `done` once: within the call, or on a thread on which it must not wait;
  // with a failure (kTimedOut) soon after `until` if there is no answer by then.
  void Ask(ExecPlugin::Done done, util::Deadline until = util::kNoDeadline);
  // Known, or nothing.
  std::string Header() {
    const std::shared_ptr<const std::string> known = Known();
    return known ? *known : "";
  }
  // What connections have to show besides; null: what the kubeconfig says.
  std::shared_ptr<net::TlsIdentity> identity() const { return plugin_ ? plugin_->identity() : nullptr; }
  // What every request says besides.
  const net::Headers& impersonation() const { return impersonation_; }
  // The server has refused `header`. True: there is another one now, or will be, so asking again may help.
  bool Renew(const std::string& header);

 private:
  void Look();  // under mutex_

  const net::Headers impersonation_;
  const std::shared_ptr<ExecPlugin> plugin_;  // null: none
  const std::string token_file_;
  const std::chrono::nanoseconds look_every_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;
  std::shared_ptr<const std::string> header_;  // never null
  std::chrono::steady_clock::time_point looked_;
};

}  // namespace berth::client
