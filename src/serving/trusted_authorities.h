// SPDX-License-Identifier: Apache-2.0
// TrustedAuthorities: whose signatures under certificates of clients count, as it changes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/certificates.h"

namespace berth::serving {

// Out of a file, which is read again as it changes, or as somebody says.
//
// Thread safety: all methods.
class TrustedAuthorities {
 public:
  // Nobody, until Set. `name` is what errors call it.
  explicit TrustedAuthorities(std::string name) : name_(std::move(name)) {}
  // Errors name the file and the reason. The file is looked at when somebody asks, at most every `look_every`; one that
  // cannot be used leaves the last one in use, with a warning.
  static Result<std::shared_ptr<TrustedAuthorities>> FromFile(const std::string& name, const std::string& file,
                                                              Duration look_every,
                                                              std::function<void(const std::string&)> warn);

  // An Error: it cannot be used, and what was there before stays.
  Error Set(const std::string& pem);
  // Null: nobody yet.
  std::shared_ptr<const net::CertificatePool> Current();

 private:
  Error Read();  // under mutex_

  const std::string name_;
  std::string file_;
  std::chrono::nanoseconds look_every_{};
  std::function<void(const std::string&)> warn_;

  std::mutex mutex_;
  // Under mutex_.
  std::string pem_;
  std::shared_ptr<const net::CertificatePool> pool_;
  std::chrono::steady_clock::time_point looked_;
};

}  // namespace berth::serving
