// SPDX-License-Identifier: Apache-2.0
#include "client/credentials.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/base64.h"
#include "net/http_text.h"
#include "util/core_dumps.h"
#include "util/read_file.h"

namespace berth::client {
namespace {

constexpr uint64_t kMaxToken = uint64_t{64} << 10;

// A key as part of a header's name; the server undoes it (client-go: transport/round_trippers.go, v0.36.4).
std::string HeaderKey(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name;
  for (const char c : key) {
    if (c != '%' && net::IsToken(std::string_view(&c, 1))) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += '%';
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

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

Result<std::string> ReadTokenFile(const std::string& path) {
  // Requests wait meanwhile, so nothing but a file will do.
  const util::FileContent content = util::ReadFile(path, {kMaxToken, util::FileKinds::kRegular});
  if (!content.ok()) return Error(content.problem);
  const Result<std::string_view> token = FindToken(content.text);
  if (!token.ok()) return token.error();
  return std::string(*token);
}

net::Headers ImpersonationHeaders(const Impersonation& as) {
  net::Headers headers;
  if (as.user.empty()) return headers;
  headers.Add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.Add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.Add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) headers.Add("Impersonate-Extra-" + HeaderKey(key), value);
  }
  return headers;
}

Credentials::Credentials(const Kubeconfig& config, Duration look_every, std::function<void(const std::string&)> warn)
    : impersonation_(ImpersonationHeaders(config.impersonate)),
      plugin_(config.exec.command.empty() ? nullptr : ExecPlugin::Shared(config.exec)),
      token_file_(config.token_file),
      look_every_(look_every.ns),
      warn_(std::move(warn)) {
  if (!config.token.empty() || !config.username.empty() || !token_file_.empty()) util::ForbidCoreDumps();
  std::string header;
  if (!config.token.empty()) header = "Bearer " + config.token;
  if (!config.username.empty()) header = "Basic " + EncodeBase64(config.username + ":" + config.password);
  header_ = std::make_shared<const std::string>(std::move(header));
  if (!token_file_.empty()) Look();
}

std::shared_ptr<const std::string> Credentials::Known() {
  if (plugin_) {
    std::optional<std::string> known = plugin_->Known();
    return known ? std::make_shared<const std::string>(*std::move(known)) : nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (!token_file_.empty() && std::chrono::steady_clock::now() - looked_ >= look_every_) Look();
  return header_;
}

void Credentials::Ask(ExecPlugin::Done done, util::Deadline until) {
  if (plugin_) return plugin_->Ask(std::move(done), until);
  done(Header());
}

bool Credentials::Renew(const std::string& header) {
  if (plugin_) {
    plugin_->Refuse(header);
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (!token_file_.empty() && *header_ == header) Look();
  return *header_ != header;
}

void Credentials::Look() {
  looked_ = std::chrono::steady_clock::now();
  const Result<std::string> token = ReadTokenFile(token_file_);
  if (token.ok()) {
    std::string header = "Bearer " + *token;
    if (header != *header_) header_ = std::make_shared<const std::string>(std::move(header));
  } else if (warn_) {
    warn_("token file " + token_file_ + ": " + token.error().text() + "; the last one that was there stays in use");
  }
}

}  // namespace berth::client
