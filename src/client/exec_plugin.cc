// SPDX-License-Identifier: Apache-2.0
// Upstream: client-go plugin/pkg/client/auth/exec/exec.go (v0.36.4).
#include "client/exec_plugin.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "api/json_reader.h"
#include "api/json_scan.h"
#include "api/json_value.h"
#include "api/yaml.h"
#include "client/credentials.h"
#include "util/core_dumps.h"
#include "util/read_file.h"
#include "util/run_program.h"
#include "util/secret_text.h"
#include "util/system_clock.h"

namespace berth::client {
namespace {

Result<Value> ReadOutput(const std::string& output) {
  Value credential;
  bool found = false;
  const Error error = ForEachDocument(output, [&](const std::string& json) {
    if (found) return Error("there is more than one document");
    found = true;
    std::vector<FieldError> errors;
    credential = ParseJson(json, errors);
    return errors.empty() ? Error::Ok() : Error(errors.front().ToString());
  });
  if (!error.ok()) return Error("decoding stdout: " + util::WithoutSecrets(error.text()));
  if (!found) return Error("decoding stdout: there is nothing in it");
  if (credential.TextAt("kind") != "ExecCredential") return Error("decoding stdout: kind: must be ExecCredential");
  return credential;
}

Result<bool> Interactive(InteractiveMode mode) {
  if (mode == InteractiveMode::kNever) return false;
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (mode == InteractiveMode::kAlways && !terminal)
    return Error("exec plugin cannot support interactive mode: standard input is not a terminal");
  return terminal;
}

}  // namespace

Result<ExecCredential> ReadExecCredential(const std::string& output, const std::string& api_version) {
  const Result<Value> read = ReadOutput(output);
  if (!read.ok()) return read.error();
  if (const std::string version = read->TextAt("apiVersion"); version != api_version) {
    return Error("exec plugin is configured to use API version " + api_version + ", plugin returned version " +
                 util::WithoutSecrets(version));
  }
  const Value* status = read->Find("status");
  if (status == nullptr || status->is_null()) return Error("exec plugin didn't return a status field");
  if (status->kind() != Value::Kind::kObject) return Error("decoding stdout: status: must be an object");
  for (const char* field : {"token", "clientCertificateData", "clientKeyData", "expirationTimestamp"}) {
    const Value* found = status->Find(field);
    if (found != nullptr && !found->is_null() && found->kind() != Value::Kind::kString)
      return Error(std::string("decoding stdout: status.") + field + ": must be a string");
  }
  ExecCredential credential;
  credential.token = status->TextAt("token");
  credential.certificate_data = status->TextAt("clientCertificateData");
  credential.key_data = status->TextAt("clientKeyData");
  if (credential.token.empty() && credential.certificate_data.empty() && credential.key_data.empty())
    return Error("exec plugin didn't return a token or cert/key pair");
  if (credential.certificate_data.empty() != credential.key_data.empty())
    return Error("exec plugin returned only certificate or key, not both");
  if (const Error error = CheckToken(credential.token); !error.ok())
    return error.Wrap("exec plugin returned a bad token");
  if (const std::string date = status->TextAt("expirationTimestamp"); !date.empty()) {
    credential.expires = ParseTime(date);
    if (!credential.expires) return Error("decoding stdout: status.expirationTimestamp: must be a time (RFC 3339)");
  }
  net::TlsClientOptions identity;
  identity.certificate_data = credential.certificate_data;
  identity.key_data = credential.key_data;
  const net::IdentityErrors wrong = net::CheckIdentity(identity);
  if (!wrong.certificate.ok()) return wrong.certificate.Wrap("failed parsing client key/certificate");
  if (!wrong.key.ok()) return wrong.key.Wrap("failed parsing client key/certificate");
  return credential;
}

std::string ExecInfo(const ExecConfig& config, bool interactive) {
  std::string info = R"({"kind":"ExecCredential","apiVersion":)";
  AppendJsonString(config.api_version, info);
  info += ",\"spec\":{";
  if (!config.cluster.empty()) info += "\"cluster\":" + config.cluster + ",";
  info += std::string("\"interactive\":") + (interactive ? "true" : "false") + "}}\n";
  return info;
}

ExecPlugin::ExecPlugin(ExecConfig config, ExecPluginOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      tally_(options_.tally != nullptr ? *options_.tally : ExecPluginTally::OfProcess()) {}

ExecPlugin::~ExecPlugin() {
  stop_ = true;
  {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  tally_.Expires(this, std::nullopt);
}

std::shared_ptr<ExecPlugin> ExecPlugin::Shared(const ExecConfig& config) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<ExecPlugin>> plugins;
  std::string key = ExecInfo(config, false) + config.command + '\0' + config.install_hint + '\0' +
                    std::to_string(static_cast<int>(config.mode));
  for (const std::string& arg : config.args) key += '\0' + arg;
  for (const auto& [name, value] : config.env) key += '\0' + name + "=" + value;
  const std::lock_guard lock(mutex);
  std::erase_if(plugins, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<ExecPlugin>& known = plugins[key];
  std::shared_ptr<ExecPlugin> plugin = known.lock();
  if (!plugin) known = plugin = std::make_shared<ExecPlugin>(config);
  return plugin;
}

std::optional<std::string> ExecPlugin::KnownHeader() const {
  if (!header_) return std::nullopt;
  return expires_ && Now() > *expires_ ? std::nullopt : header_;
}

Time ExecPlugin::Now() const { return options_.now ? options_.now() : util::SystemClock().Now(); }

std::optional<std::string> ExecPlugin::Known() {
  const std::lock_guard lock(mutex_);
  return KnownHeader();
}

void ExecPlugin::Ask(Done done, util::Deadline until) {
  std::optional<Result<std::string>> at_once;
  {
    const std::lock_guard lock(mutex_);
    const auto lasts = std::chrono::nanoseconds(options_.failure_lasts.ns);
    if (const std::optional<std::string> header = KnownHeader()) {
      at_once.emplace(*header);
    } else if (failure_ && waiting_.empty() && std::chrono::steady_clock::now() - failed_ < lasts) {
      at_once.emplace(*failure_);
    } else {
      waiting_.push_back({std::move(done), until});
      if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
      changed_.notify_all();
      return;
    }
  }
  done(*at_once);
}

void ExecPlugin::Refuse(const std::string& header) {
  const std::lock_guard lock(mutex_);
  if (header_ == header) header_.reset();
}

void ExecPlugin::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    lock.unlock();
    Result<ExecCredential> answer = stop_ ? Error("cancelled", ErrorKind::kCancelled) : Run();
    if (answer.ok()) {
      // Before anybody connects with it.
      identity_->Set(answer->certificate_data, answer->key_data);
      NoteCertificate(answer->certificate_data);
    }
    lock.lock();
    failure_.reset();
    header_.reset();
    if (answer.ok()) {
      header_ = answer->token.empty() ? "" : "Bearer " + answer->token;
      expires_ = answer->expires;
    } else {
      failure_ = answer.error().Wrap("getting credentials");
      failed_ = std::chrono::steady_clock::now();
    }
    const Result<std::string> said = answer.ok() ? Result<std::string>(*header_) : Result<std::string>(*failure_);
    const std::vector<Waiter> waiting = std::exchange(waiting_, {});
    lock.unlock();
    for (const Waiter& waiter : waiting) waiter.done(said);
    lock.lock();
  }
}

void ExecPlugin::TellTheLate() {
  std::vector<Waiter> late;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::stable_partition(waiting_.begin(), waiting_.end(),
                                             [](const Waiter& waiter) { return !util::IsOver(waiter.until); });
    late.assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first, waiting_.end());
  }
  if (late.empty()) return;
  const Error error("exec: executable " + config_.command + " has not answered in time", ErrorKind::kTimedOut);
  for (const Waiter& waiter : late) waiter.done(error.Wrap("getting credentials"));
}

void ExecPlugin::NoteCertificate(const std::string& certificate) {
  if (certificate == certificate_) return;
  if (dates_) tally_.Rotated((Now() - dates_->not_before).seconds());
  certificate_ = certificate;
  dates_ = net::DatesOf(certificate);
  tally_.Expires(this, dates_ ? std::optional(dates_->not_after) : std::nullopt);
}

// client-go sees what Go tells of a process: -1 for one that a signal has ended, which is how we end one.
void ExecPlugin::Count(const util::ProgramResult& result) {
  switch (result.end) {
    case util::ProgramEnd::kExited:
      return tally_.Called(result.code, result.code == 0 ? "no_error" : "plugin_execution_error");
    case util::ProgramEnd::kMissing:
      return tally_.Called(1, "plugin_not_found_error");
    case util::ProgramEnd::kLate:
    case util::ProgramEnd::kTooMuch:
      return tally_.Called(-1, "plugin_execution_error");
    case util::ProgramEnd::kFailed:
      return tally_.Called(1, "client_internal_error");
    case util::ProgramEnd::kStopped:
      return;
  }
}

Result<ExecCredential> ExecPlugin::Run() {
  util::ForbidCoreDumps();
  const Result<bool> interactive = Interactive(config_.mode);
  if (!interactive.ok()) return interactive.error();
  util::ProgramCall call;
  call.program = config_.command;
  call.args = config_.args;
  std::vector<std::pair<std::string, std::string>> variables = config_.env;
  variables.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(config_, *interactive));
  call.environment = util::EnvironmentWith(variables);
  call.gets_stdin = *interactive;
  call.timeout = options_.timeout;
  call.max_output = options_.max_output;
  call.stop = &stop_;
  call.meanwhile = [this] { TellTheLate(); };
  const util::ProgramResult result = util::RunProgram(call);
  Count(result);
  const std::string what = "exec: executable " + config_.command;
  switch (result.end) {
    case util::ProgramEnd::kExited:
      if (result.code != 0) return Error(what + " failed with exit code " + std::to_string(result.code));
      return ReadExecCredential(result.output, config_.api_version);
    case util::ProgramEnd::kMissing:
      return Error(what + " not found" + (config_.install_hint.empty() ? "" : ": " + config_.install_hint));
    case util::ProgramEnd::kFailed:
      break;
    case util::ProgramEnd::kLate:
      return Error(what + " did not end within " + std::to_string(options_.timeout.ns / 1'000'000'000) + " s");
    case util::ProgramEnd::kTooMuch:
      return Error(what + " wrote more than " + util::BytesText(options_.max_output));
    case util::ProgramEnd::kStopped:
      return Error("cancelled", ErrorKind::kCancelled);
  }
  return Error(what + ": " + result.problem);
}

}  // namespace berth::client
