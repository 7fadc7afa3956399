// SPDX-License-Identifier: Apache-2.0
#include "serving/health.h"

#include <set>

#include "serving/replies.h"
#include "serving/url_text.h"
#include "util/go_values.h"

namespace berth::serving {

void HealthRecord::Note(const std::string& check, const std::string& endpoint, bool passed) {
  const std::lock_guard lock(mutex_);
  last_[{check, endpoint}] = passed;
  ++counts_[{check, passed ? "success" : "error", endpoint}];
}

void HealthRecord::Reset() {
  const std::lock_guard lock(mutex_);
  last_.clear();
  counts_.clear();
}

std::string HealthRecord::Text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  // Names of checks are ours, and hold nothing that would have to be escaped.
  if (!last_.empty()) {
    text +=
        "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n"
        "# TYPE kubernetes_healthcheck gauge\n";
    for (const auto& [key, passed] : last_) {
      text +=
          "kubernetes_healthcheck{name=\"" + key.first + "\",type=\"" + key.second + "\"} " + (passed ? "1\n" : "0\n");
    }
    text +=
        "# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n"
        "# TYPE kubernetes_healthchecks_total counter\n";
    for (const auto& [key, count] : counts_) {
      const auto& [check, result, endpoint] = key;
      text += "kubernetes_healthchecks_total{name=\"" + check + "\",status=\"" + result + "\",type=\"" + endpoint +
              "\"} " + GoFloat(static_cast<double>(count)) + "\n";
    }
  }
  const int64_t hundredths = process_start_.ns / 10'000'000;
  text +=
      "# HELP process_start_time_seconds [ALPHA] Start time of the process since unix epoch in seconds.\n"
      "# TYPE process_start_time_seconds gauge\n"
      "process_start_time_seconds " +
      GoFloat(static_cast<double>(hundredths) / 100) + "\n";
  return text;
}

HealthEndpoint::HealthEndpoint(std::string name, std::vector<HealthCheck> checks, HealthRecord& record,
                               std::function<void(const std::string&, const std::string&)> on_failure,
                               std::function<std::string()> notes)
    : name_(std::move(name)),
      checks_(std::move(checks)),
      record_(record),
      on_failure_(std::move(on_failure)),
      notes_(std::move(notes)) {
  if (checks_.empty()) checks_.push_back({"ping", [] { return Error::Ok(); }});
}

std::vector<std::string> HealthEndpoint::Paths() const {
  std::vector<std::string> paths = {"/" + name_};
  for (const HealthCheck& check : checks_) paths.push_back("/" + name_ + "/" + check.name);
  return paths;
}

std::optional<net::HttpResponse> HealthEndpoint::Handle(std::string_view path, std::string_view query) const {
  if (!path.starts_with('/') || !path.substr(1).starts_with(name_)) return std::nullopt;
  path.remove_prefix(1 + name_.size());
  if (path.empty()) return All(query);
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  for (const HealthCheck& check : checks_) {
    if (check.name != path) continue;
    const Error error = check.check();
    if (error.ok()) return PlainText(200, "ok");
    return TextError(500, "internal server error: " + error.text());
  }
  return std::nullopt;
}

net::HttpResponse HealthEndpoint::All(std::string_view text) const {
  const Query query(text);
  const std::vector<std::string> asked = query.All("exclude");
  const std::set<std::string> excluded(asked.begin(), asked.end());
  std::set<std::string> unknown = excluded;
  std::string lines, reasons, failed;
  for (const HealthCheck& check : checks_) {
    if (excluded.contains(check.name)) {
      unknown.erase(check.name);
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const Error error = check.check();
    record_.Note(check.name, name_, error.ok());
    if (error.ok()) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    lines += "[-]" + check.name + " failed: reason withheld\n";
    reasons += "[-]" + check.name + " failed: " + error.text() + "\n";
    failed += (failed.empty() ? "" : ",") + check.name;
  }
  if (!unknown.empty()) {
    lines += "warn: some health checks cannot be excluded: no matches for ";
    bool first = true;
    for (const std::string& name : unknown) lines += (std::exchange(first, false) ? "" : ",") + GoQuoted(name);
    lines += "\n";
  }
  if (notes_) lines += notes_();
  if (!failed.empty()) {
    if (on_failure_) on_failure_(failed, reasons);
    return TextError(500, lines + name_ + " check failed");
  }
  net::HttpResponse response = PlainText(200, query.Has("verbose") ? lines + name_ + " check passed\n" : "ok");
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

std::string GoFloat(double value) { return util::FormatGoDouble(value); }

}  // namespace berth::serving
