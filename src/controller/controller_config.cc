// SPDX-License-Identifier: Apache-2.0
// The profile of a controller.
#include "controller/controller_config.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/json_value.h"
#include "berth/value.h"
#include "config/load.h"
#include "controller/placements.h"
#include "util/text.h"

namespace berth::controller {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPlacements{
    {{"random", RandomNode::kName}, {"first", FirstNode::kName}, {"least-pods", LeastPodsNode::kName}}};

struct NamedPlugin {
  std::string name;
  Value args;  // null: none
};

// NAME or NAME=JSON.
Result<NamedPlugin> ReadPlugin(const std::string& text, const Registry& registry) {
  NamedPlugin plugin;
  const size_t equals = text.find('=');
  plugin.name = text.substr(0, equals);
  const std::string flag = "--plugin " + plugin.name + ": ";
  const PluginDescriptor* known = registry.Find(plugin.name);
  if (known == nullptr) return Error("--plugin: there is no plugin " + util::Quoted(plugin.name));
  if ((known->points & (Bit(Point::kPreFilter) | Bit(Point::kFilter) | Bit(Point::kScore))) == 0)
    return Error(flag + "it neither filters nor scores nodes");
  if (equals == std::string::npos) return plugin;
  std::vector<FieldError> errors;
  plugin.args = ParseJson(text.substr(equals + 1), errors);
  if (!errors.empty()) return Error(flag + "its arguments are not JSON: " + errors.front().ToString());
  if (plugin.args.kind() != Value::Kind::kObject) return Error(flag + "its arguments are not a JSON object");
  return plugin;
}

Value EnabledOnly(const std::vector<std::string_view>& names) {
  Value enabled = Value::Array();
  for (const std::string_view name : names) enabled.Append(Value::Object({{"name", Value::String(std::string(name))}}));
  return Value::Object({{"enabled", std::move(enabled)}});
}

}  // namespace

Result<config::SchedulerConfiguration> ControllerConfiguration(const ControllerOptions& options,
                                                               const Registry& registry) {
  if (options.scheduler_name.empty())
    return Error("--scheduler-name is missing: the spec.schedulerName of the pods to bind");
  std::vector<NamedPlugin> plugins;
  if (options.plugins.empty()) {
    const auto found = std::find_if(kPlacements.begin(), kPlacements.end(),
                                    [&](const auto& one) { return one.first == options.placement; });
    if (found == kPlacements.end())
      return Error("--placement: there is no " + util::Quoted(options.placement) +
                   "; random, first and least-pods are");
    plugins.push_back(
        {std::string(found->second), Value::Object({{"readyNodesOnly", Value::Bool(options.ready_nodes_only)}})});
  } else {
    for (const std::string& text : options.plugins) {
      Result<NamedPlugin> plugin = ReadPlugin(text, registry);
      if (!plugin.ok()) return plugin.error();
      plugins.push_back(std::move(plugin).value());
    }
    if (options.ready_nodes_only) plugins.push_back({std::string(ReadyNodes::kName), Value()});
  }

  std::vector<std::string_view> names;
  Value arguments = Value::Array();
  for (const NamedPlugin& plugin : plugins) {
    names.push_back(plugin.name);
    if (plugin.args.is_null()) continue;
    arguments.Append(Value::Object({{"name", Value::String(plugin.name)}, {"args", plugin.args}}));
  }
  const Value enabled = Value::Object({{"preEnqueue", EnabledOnly({"SchedulingGates"})},
                                       {"queueSort", EnabledOnly({"PrioritySort"})},
                                       {"bind", EnabledOnly({"DefaultBinder"})},
                                       {"multiPoint", EnabledOnly(names)}});
  const Value profile = Value::Object({{"schedulerName", Value::String(options.scheduler_name)},
                                       {"plugins", enabled},
                                       {"pluginConfig", std::move(arguments)}});
  const Value file = Value::Object({{"apiVersion", Value::String(std::string(config::kApiVersion))},
                                    {"kind", Value::String(std::string(config::kKind))},
                                    {"profiles", Value::Array({profile})}});
  config::Loaded loaded = config::LoadConfiguration(file.ToJson(), registry, config::UnnamedPlugins::kNone,
                                                    [&](config::SchedulerConfiguration& config) {
                                                      config.leader_election = options.leader_election;
                                                      config.client_connection = options.client_connection;
                                                    });
  if (loaded.ok()) return std::move(loaded.config);
  std::string text;
  for (const FieldError& error : loaded.errors) text += (text.empty() ? "" : "; ") + error.ToString();
  return Error(std::move(text));
}

}  // namespace berth::controller
