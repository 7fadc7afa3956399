// SPDX-License-Identifier: Apache-2.0
// Arguments of NodeResourcesFit; rules and texts of upstream's ValidateNodeResourcesFitArgs.
#include <algorithm>
#include <iterator>

#include "berth/value.h"
#include "plugins/common/label_syntax.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {
namespace {

constexpr const char* kStrategyNames[] = {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"};

void CheckNames(ArgsReader& in, const char* field, const std::vector<std::string>& names, bool is_group) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string at = std::string(field) + "[" + std::to_string(i) + "]";
    if (is_group && names[i].find('/') != std::string::npos) {
      in.Invalid(at, Quote(names[i]), "resource group name can't contain '/'");
    }
    for (const std::string& complaint : LabelKeyComplaints(names[i])) in.Invalid(at, Quote(names[i]), complaint);
  }
}

Value WriteStrings(const std::vector<std::string>& texts) {
  Value list = Value::Array();
  for (const std::string& text : texts) list.Append(Value::String(text));
  return list;
}

}  // namespace

void NodeResourcesFit::Args::Read(ArgsReader& in) {
  in.Strings("ignoredResources", ignored_resources);
  CheckNames(in, "ignoredResources", ignored_resources, false);
  in.Strings("ignoredResourceGroups", ignored_resource_groups);
  CheckNames(in, "ignoredResourceGroups", ignored_resource_groups, true);
  in.Object("scoringStrategy", [&](ArgsReader& s) {
    std::string type;
    const std::vector<std::string> allowed(std::begin(kStrategyNames), std::end(kStrategyNames));
    if (s.Has("type")) {
      s.Enum("type", type, allowed);
    } else {
      s.Complain("type", R"(Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", )"
                         R"("RequestedToCapacityRatio")");
    }
    const auto named = std::find(allowed.begin(), allowed.end(), type);
    if (named != allowed.end()) strategy = static_cast<Strategy>(named - allowed.begin());

    ReadResourceSpecs(s, resources);
    for (size_t i = 0; i < resources.size(); ++i) {
      if (resources[i].weight > 0 && resources[i].weight <= 100) continue;
      ComplainOfWeight(s, i, resources[i].weight,
                       "resource weight of " + resources[i].name + " not in valid range (0, 100]");
    }

    const bool has_shape = s.Has("requestedToCapacityRatio");
    if (strategy == Strategy::kRequestedToCapacityRatio) {
      if (!has_shape) {
        s.Complain("requestedToCapacityRatio",
                   "Required value: must be specified when type is RequestedToCapacityRatio");
      }
      s.Object("requestedToCapacityRatio", [&](ArgsReader& r) { ReadShape(r, shape); });
    } else if (has_shape) {
      s.Complain("requestedToCapacityRatio", "Forbidden: must be nil when type is not RequestedToCapacityRatio");
    }
  });
}

Value NodeResourcesFit::Args::Write() const {
  Value args = Value::Object({{"kind", Value::String("NodeResourcesFitArgs")},
                              {"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")}});
  if (!ignored_resources.empty()) args.Set("ignoredResources", WriteStrings(ignored_resources));
  if (!ignored_resource_groups.empty()) args.Set("ignoredResourceGroups", WriteStrings(ignored_resource_groups));
  Value scoring = Value::Object({{"type", Value::String(kStrategyNames[static_cast<size_t>(strategy)])},
                                 {"resources", WriteResourceSpecs(resources)}});
  if (strategy == Strategy::kRequestedToCapacityRatio) {
    scoring.Set("requestedToCapacityRatio", Value::Object({{"shape", WriteShape(shape)}}));
  }
  args.Set("scoringStrategy", std::move(scoring));
  return args;
}

}  // namespace berth::plugins
