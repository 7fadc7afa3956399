// SPDX-License-Identifier: Apache-2.0
// Generated clusters: nodes and pods by the thousand, the same ones for the same seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/node.h"
#include "berth/pod.h"
#include "berth/value.h"

namespace berth::sim {

// Three zones, four sizes of nodes, every twentieth node tainted for batch work; twenty apps, each with a label and
// requests of its own, two of which tolerate that taint. Pods have no priority and never end.
struct GenerateOptions {
  int64_t nodes = 0;
  int64_t pods = 0;
  uint64_t seed = 0;

  static constexpr int64_t kMaxNodes = 1'000'000;
  static constexpr int64_t kMaxPods = 10'000'000;
};

// What is wrong with the counts, one sentence per flag.
std::vector<std::string> Check(const GenerateOptions& options);

// Makes objects one at a time: node-00000, node-00001, … and pod-000000, pod-000001, … in namespace default. Uids and
// times are left to the cluster. Pods beyond options.pods are those that `--churn` brings.
class Generator {
 public:
  // REQUIRES: Check(options) is empty.
  explicit Generator(const GenerateOptions& options);

  std::shared_ptr<const Node> MakeNode(int64_t index) const;
  std::shared_ptr<const Pod> MakePod(int64_t index) const;
  // The same objects as a file would have them.
  Value NodeManifest(int64_t index) const;
  Value PodManifest(int64_t index) const;

  static std::string NodeName(int64_t index);
  static std::string PodName(int64_t index);
  // The index of a generated object's name; no value when none of the first `nodes` or `pods` has this name.
  std::optional<int64_t> FindNode(std::string_view name) const;
  std::optional<int64_t> FindPod(std::string_view ns, std::string_view name) const;
  const GenerateOptions& options() const { return options_; }

 private:
  GenerateOptions options_;
  std::vector<Node> node_templates_;  // by shape, zone and taint
  std::vector<Pod> pod_templates_;    // by app
};

}  // namespace berth::sim
