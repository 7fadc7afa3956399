// SPDX-License-Identifier: Apache-2.0
// Reading, checking and writing of shared resource arguments; texts as upstream's validation_pluginargs.go.
#include "plugins/common/resource_args.h"

#include "berth/plugin.h"

namespace berth::plugins {
namespace {

constexpr int32_t kMaxShapeScore = 10;
constexpr int64_t kShapeScale = kMaxScore / kMaxShapeScore;

std::string At(const char* list, size_t index, const char* field) {
  return std::string(list) + "[" + std::to_string(index) + "]." + field;
}

}  // namespace

std::vector<ResourceSpec> DefaultResourceSpecs() { return {{"cpu", 1}, {"memory", 1}}; }

void ReadResourceSpecs(ArgsReader& in, std::vector<ResourceSpec>& out) {
  std::vector<ResourceSpec> read;
  in.Objects("resources", [&](ArgsReader& item) {
    ResourceSpec spec{"", 0};
    item.String("name", spec.name);
    item.Int("weight", spec.weight);
    if (spec.weight == 0) spec.weight = 1;
    read.push_back(std::move(spec));
  });
  out = read.empty() ? DefaultResourceSpecs() : std::move(read);
}

Value WriteResourceSpecs(const std::vector<ResourceSpec>& specs) {
  Value list = Value::Array();
  for (const ResourceSpec& spec : specs) {
    list.Append(Value::Object({{"name", Value::String(spec.name)}, {"weight", Value::Int(spec.weight)}}));
  }
  return list;
}

void ComplainOfWeight(ArgsReader& in, size_t index, int64_t weight, const std::string& text) {
  in.Invalid(At("resources", index, "weight"), std::to_string(weight), text);
}

bool IsScored(ResourceId id) {
  switch (id) {
    case ResourceId::kCpu:
    case ResourceId::kMemory:
    case ResourceId::kEphemeralStorage:
      return true;
    case ResourceId::kPods:
      return false;
  }
  return IsScalarResource(ResourceName(id));
}

void ReadShape(ArgsReader& in, std::vector<ShapePoint>& out) {
  std::vector<ShapePoint> read;
  in.Objects("shape", [&](ArgsReader& item) {
    ShapePoint point;
    item.Int32("utilization", point.utilization);
    item.Int32("score", point.score);
    read.push_back(point);
  });
  out = std::move(read);
  if (out.empty()) {
    in.Complain("shape", "Required value: at least one point must be specified");
    return;
  }
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i - 1].utilization < out[i].utilization) continue;
    in.Invalid(At("shape", i, "utilization"), std::to_string(out[i].utilization),
               "values must be sorted in increasing order");
    break;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].utilization < 0 || out[i].utilization > 100) {
      in.Invalid(At("shape", i, "utilization"), std::to_string(out[i].utilization), "not in valid range [0, 100]");
    }
    if (out[i].score < 0 || out[i].score > kMaxShapeScore) {
      in.Invalid(At("shape", i, "score"), std::to_string(out[i].score), "not in valid range [0, 10]");
    }
  }
}

Value WriteShape(const std::vector<ShapePoint>& shape) {
  Value list = Value::Array();
  for (const ShapePoint& point : shape) {
    list.Append(Value::Object({{"utilization", Value::Int(point.utilization)}, {"score", Value::Int(point.score)}}));
  }
  return list;
}

int64_t ShapeAt(const std::vector<ShapePoint>& shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    const int64_t y = shape[i].score * kShapeScale;
    if (i == 0) return y;
    const int64_t before = shape[i - 1].score * kShapeScale;
    const int64_t width = shape[i].utilization - shape[i - 1].utilization;
    return before + (y - before) * (utilization - shape[i - 1].utilization) / width;
  }
  return shape.back().score * kShapeScale;
}

}  // namespace berth::plugins
