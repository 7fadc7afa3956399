// SPDX-License-Identifier: Apache-2.0
#include "client/credentials.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "api/base64.h"
#include "util/core_dumps.h"

namespace berth::client {
namespace {

constexpr size_t kMaxToken = size_t{64} << 10;

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

}  // namespace

Error CheckToken(std::string_view token) {
  const bool plain =
      std::ranges::all_of(token, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  return plain ? Error::Ok() : Error("there is a line break or another control character within the token");
}

Result<std::string_view> FindToken(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  if (text.empty()) return Error("there is no token in it");
  if (Error error = CheckToken(text); !error.ok()) return error;
  return text;
}

Credentials::Credentials(const Kubeconfig& config, Duration look_every, std::function<void(const std::string&)> warn)
    : token_file_(config.token_file), look_every_(look_every.ns), warn_(std::move(warn)) {
  if (!config.token.empty() || !config.username.empty() || !token_file_.empty()) util::ForbidCoreDumps();
  if (!config.token.empty()) header_ = "Bearer " + config.token;
  if (!config.username.empty()) header_ = "Basic " + EncodeBase64(config.username + ":" + config.password);
  if (!token_file_.empty()) Look();
}

std::string Credentials::Header() {
  const std::lock_guard lock(mutex_);
  if (!token_file_.empty() && std::chrono::steady_clock::now() - looked_ >= look_every_) Look();
  return header_;
}

bool Credentials::Renew(const std::string& header) {
  const std::lock_guard lock(mutex_);
  if (!token_file_.empty() && header_ == header) Look();
  return header_ != header;
}

void Credentials::Look() {
  looked_ = std::chrono::steady_clock::now();
  // Read, not mapped: whoever writes the file may cut it under our eyes.
  errno = 0;
  std::ifstream file(token_file_, std::ios::binary);
  std::string read(kMaxToken, '\0');
  file.read(read.data(), static_cast<std::streamsize>(read.size()));
  const int problem = errno;
  const Result<std::string_view> token =
      FindToken(std::string_view(read).substr(0, static_cast<size_t>(file.gcount())));
  if (token.ok()) {
    header_ = "Bearer " + std::string(*token);
  } else if (warn_) {
    const bool read_nothing = file.bad() || file.gcount() == 0;
    warn_("token file " + token_file_ + ": " +
          (read_nothing && problem != 0 ? std::generic_category().message(problem) : token.error().text()) +
          "; the last one that was there stays in use");
  }
}

}  // namespace berth::client
