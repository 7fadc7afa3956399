// SPDX-License-Identifier: Apache-2.0
#include "legacy/spread_and_labels.h"

#include <algorithm>
#include <utility>

namespace berth::legacy {
namespace {

Value Expression(const std::string& label, bool present) {
  return Value::Object(
      {{"key", Value::String(label)}, {"operator", Value::String(present ? "Exists" : "DoesNotExist")}});
}

const Value& Member(const Value& object, std::string_view key) {
  static const Value kNothing;
  const Value* found = object.Find(key);
  return found == nullptr ? kNothing : *found;
}

constexpr std::string_view kAdded = "addedAffinity";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

}  // namespace

Value RequireLabels(const Value& args, const LabelWishes& wishes) {
  std::vector<Value> expressions;
  for (const std::string& label : wishes.present) expressions.push_back(Expression(label, true));
  for (const std::string& label : wishes.absent) expressions.push_back(Expression(label, false));
  if (expressions.empty()) return args;
  const Value& added = Member(args, kAdded);
  const Value& required = Member(added, kRequired);
  std::vector<Value> terms = Member(required, "nodeSelectorTerms").items();
  if (terms.empty()) terms.push_back(Value::Object());
  Value narrowed = Value::Array();
  for (const Value& term : terms) {
    std::vector<Value> all = Member(term, "matchExpressions").items();
    all.insert(all.end(), expressions.begin(), expressions.end());
    narrowed.Append(With(term, "matchExpressions", Value::Array(std::move(all))));
  }
  return With(args, kAdded, With(added, kRequired, With(required, "nodeSelectorTerms", std::move(narrowed))));
}

Value PreferLabels(const Value& args, const LabelWishes& wishes, int64_t label_weight, int64_t own_weight) {
  const auto count = static_cast<int64_t>(wishes.preferred.size() + wishes.not_preferred.size());
  if (count == 0) return args;
  const int64_t weight = std::clamp<int64_t>(100 * label_weight / (label_weight + own_weight) / count, 1, 100);
  const Value& added = Member(args, kAdded);
  std::vector<Value> terms = Member(added, kPreferred).items();
  const auto add = [&](const std::string& label, bool present) {
    terms.push_back(Value::Object(
        {{"weight", Value::Int(weight)},
         {"preference", Value::Object({{"matchExpressions", Value::Array({Expression(label, present)})}})}}));
  };
  for (const std::string& label : wishes.preferred) add(label, true);
  for (const std::string& label : wishes.not_preferred) add(label, false);
  return With(args, kAdded, With(added, kPreferred, Value::Array(std::move(terms))));
}

Value SpreadOver(const Value& args, const std::vector<std::string>& labels, bool system) {
  std::vector<Value> constraints = Member(args, "defaultConstraints").items();
  const auto add = [&](const std::string& key, int64_t skew) {
    constraints.push_back(Value::Object({{"maxSkew", Value::Int(skew)},
                                         {"topologyKey", Value::String(key)},
                                         {"whenUnsatisfiable", Value::String("ScheduleAnyway")}}));
  };
  if (system && constraints.empty()) {
    add("kubernetes.io/hostname", 3);
    add("topology.kubernetes.io/zone", 5);
  }
  for (const std::string& label : labels) {
    const bool there = std::ranges::any_of(constraints, [&](const Value& constraint) {
      return Member(constraint, "topologyKey").text() == label &&
             Member(constraint, "whenUnsatisfiable").text() == "ScheduleAnyway";
    });
    if (!there) add(label, 1);
  }
  return With(With(args, "defaultConstraints", Value::Array(std::move(constraints))), "defaultingType",
              Value::String("List"));
}

Value ScoreResources(const Value& args, const std::string& type, const Value& resources, const Value& shape) {
  Value strategy = Value::Object({{"type", Value::String(type)}});
  if (!resources.is_null()) strategy.Set("resources", resources);
  if (!shape.is_null()) strategy.Set("requestedToCapacityRatio", Value::Object({{"shape", shape}}));
  return With(args, "scoringStrategy", std::move(strategy));
}

}  // namespace berth::legacy
