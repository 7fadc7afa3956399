// SPDX-License-Identifier: Apache-2.0
#include "cli/rehearsed_extenders.h"

#include <charconv>
#include <utility>

#include "api/source_text.h"
#include "extender_client/http_extender.h"
#include "net/url.h"
#include "util/text.h"

namespace berth::cli {

void RehearsedExtenders::Declare(Command& command) {
  command.Choice("extenders", &mode_, {"ignore", "call"},
                 "the configuration's extenders: ignore (default), or call them for real; bind is never called");
  command.Strings("extender-url", &urls_,
                  "INDEX=URL: the extender at this place of the configuration, from 0, is at URL; may repeat");
}

std::string RehearsedExtenders::Objection() {
  redirected_.clear();
  for (const std::string& text : urls_) {
    const std::string flag = "flag --extender-url: " + util::Quoted(text) + ": ";
    const size_t equals = text.find('=');
    size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(equals, text.size()), index);
    if (equals == std::string::npos || equals == 0 || error != std::errc() || end != text.data() + equals)
      return flag + "must be INDEX=URL, such as 0=http://127.0.0.1:8080";
    const std::string url = text.substr(equals + 1);
    if (const Result<net::Url> parsed = net::ParseUrl(url); !parsed.ok()) return flag + parsed.error().text();
    if (!redirected_.emplace(index, url).second) return flag + "this extender was given before";
  }
  if (!redirected_.empty() && !call()) return "flag --extender-url: needs --extenders=call";
  return "";
}

Error RehearsedExtenders::Redirect(config::SchedulerConfiguration& config) const {
  for (const auto& [index, url] : redirected_) {
    if (index >= config.extenders.size())
      return Error("flag --extender-url: " + std::to_string(index) + ": the configuration has " +
                   std::to_string(config.extenders.size()) + " extenders");
    config.extenders[index].url_prefix = url;
  }
  return Error::Ok();
}

std::vector<std::string> RehearsedExtenders::NotAsked(const config::SchedulerConfiguration& config) const {
  std::vector<std::string> lines;
  for (size_t i = 0; !call() && i < config.extenders.size(); ++i)
    lines.push_back("extenders[" + std::to_string(i) + "] (" + config.extenders[i].url_prefix +
                    ") was not asked: --extenders=call asks it");
  return lines;
}

void RehearsedExtenders::Keep(std::string_view kind, const std::string& full_name, std::string_view json) {
  if (call() && (kind == "Pod" || kind == "Node"))
    sources_.insert_or_assign(std::string(kind) + " " + full_name, TrimmedSource(json, /*managed_fields=*/true));
}

Result<std::vector<std::shared_ptr<framework::Extender>>> RehearsedExtenders::Make(
    const config::SchedulerConfiguration& config) const {
  if (!call()) return std::vector<std::shared_ptr<framework::Extender>>();
  const auto find = [this](const std::string& key, const ObjectMeta& meta) {
    const auto it = sources_.find(key);
    return it == sources_.end() ? std::string() : CompletedSource(it->second, meta);
  };
  extender_client::HttpExtenderOptions options;
  options.pod_json = [find](const Pod& pod) { return find("Pod " + FullName(pod), pod.meta); };
  options.node_json = [find](const Node& node) { return find("Node " + node.name(), node.meta); };
  std::vector<config::Extender> harmless = config.extenders;
  for (config::Extender& extender : harmless) extender.bind_verb.clear();
  return extender_client::MakeExtenders(harmless, options);
}

}  // namespace berth::cli
