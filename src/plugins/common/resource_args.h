// SPDX-License-Identifier: Apache-2.0
// Arguments that several plugins share: lists of weighted resources and the points of a scoring function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/args.h"
#include "berth/resources.h"

namespace berth::plugins {

struct ResourceSpec {
  std::string name;
  int64_t weight = 1;
  bool operator==(const ResourceSpec&) const = default;
};

// cpu and memory, weight 1 each.
std::vector<ResourceSpec> DefaultResourceSpecs();
// Reads `resources`: absent or empty means the default, weight 0 means 1. Names and weights are the caller's to judge.
void ReadResourceSpecs(ArgsReader& in, std::vector<ResourceSpec>& out);
Value WriteResourceSpecs(const std::vector<ResourceSpec>& specs);
// `Invalid value: <weight>: <text>` at the weight of resource `index`.
void ComplainOfWeight(ArgsReader& in, size_t index, int64_t weight, const std::string& text);

// True for what a score can count: cpu, memory, ephemeral-storage and scalar resources. Others are never on a node.
bool IsScored(ResourceId id);

struct ShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;  // 0 to 10 in the configuration
  bool operator==(const ShapePoint&) const = default;
};

// Reads and checks `shape`: at least one point, utilization in [0, 100] and increasing, score in [0, 10].
void ReadShape(ArgsReader& in, std::vector<ShapePoint>& out);
Value WriteShape(const std::vector<ShapePoint>& shape);
// The broken linear function through the points, with scores scaled to 100. REQUIRES: at least one point.
int64_t ShapeAt(const std::vector<ShapePoint>& shape, int64_t utilization);

}  // namespace berth::plugins
