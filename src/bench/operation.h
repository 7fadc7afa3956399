// SPDX-License-Identifier: Apache-2.0
// Operation: one op of a workload template in scheduler_perf's format, read strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/args.h"
#include "berth/clock.h"
#include "berth/error.h"
#include "berth/labels.h"
#include "berth/pod.h"
#include "berth/value.h"

namespace berth::bench {

// Of one op. Far beyond any cluster, and small enough that a slip of the finger does not eat all memory.
inline constexpr int64_t kMaxCount = 1'000'000;
inline constexpr int64_t kMaxPodSets = 10'000;  // each reads its template
inline constexpr Duration kMaxSleep = Duration::Seconds(3600);

enum class OpCode : uint8_t {
  kCreateNodes,
  kCreateNamespaces,
  kCreatePods,
  kCreatePodSets,
  kDeletePods,
  kChurn,
  kBarrier,
  kSleep,
  kStartCollectingMetrics,
  kStopCollectingMetrics,
  kCreateAny,
  kUpdateAny,
  kNotBuilt,  // an op of scheduler_perf's that needs something Berth does not have yet
};

// Which pods an op means; what is empty asks for nothing.
struct PodSelector {
  std::vector<std::string> namespaces;
  std::map<std::string, std::string> labels;  // all of these
  bool Matches(const std::string& ns, const Labels& pod_labels) const;
  bool Matches(const Pod& pod) const { return Matches(pod.namespace_(), pod.meta.labels); }
};

// The fields of all ops; each op has its own few. Paths are as written, relative to the folder of the workload file.
struct Operation {
  OpCode code = OpCode::kNotBuilt;
  std::string opcode;  // as written
  std::string path;    // workloadTemplate[2]

  int64_t count = 0;
  std::string count_param;  // $name; takes precedence
  std::string template_path;
  std::optional<std::string> namespace_;
  std::string prefix;      // of namespaces; of createPodSets' too
  PodSelector selector;    // barrier, startCollectingMetrics, deletePods
  int64_t per_second = 0;  // deletePods, updateAny; 0: at once
  bool skip_wait = false;

  // createNodes: at most one of the strategies.
  struct LabelStrategy {
    std::string key;
    std::vector<std::string> values;  // round robin
  };
  std::optional<LabelStrategy> label_strategy;
  std::string unique_label_key;
  struct AllocatableStrategy {
    std::vector<std::pair<std::string, std::string>> allocatable;
    std::map<std::string, int32_t> csi_limits;  // by driver
    std::vector<std::string> migrated_plugins;
  };
  std::optional<AllocatableStrategy> allocatable_strategy;
  int64_t declared_features = 0;  // nodes declare Feature1, Feature2, …

  // createPods.
  bool collect_metrics = false;
  bool steady_state = false;
  std::string steady_state_param;
  Duration duration;  // sleep's, too
  std::string duration_param;
  std::string volume_template_path, claim_template_path;
  std::shared_ptr<const Operation> pods;  // createPodSets' createPodsOp

  std::vector<std::string> subresources;  // updateAny

  // churn.
  bool recreate = false;
  int64_t number = 0;
  int64_t interval_ms = 500;
  std::vector<std::string> template_paths;

  bool attempted = false;  // barrier: stageRequirement Attempted instead of Scheduled
};

// What every way of running ops has to agree on, upstream's program included.
// Where the pods and churned objects of the op with this index go.
std::string NamespaceOf(const Operation& op, size_t index);
// Of the pod with this index, if its op gives each pod a volume.
std::string VolumeNameOf(const std::string& ns, int64_t index);
std::string ClaimNameOf(int64_t index);
// Feature1, Feature2, …, sorted.
std::vector<std::string> FeatureNames(int64_t count);
// Why a workload with such a pod is not run.
std::string ClaimsNotBuilt(const Operation& op);

// Reads one op; everything wrong with it is added to the reader's errors, fields it does not know included.
Operation ReadOperation(ArgsReader& reader, const Value& raw);

// The op with a workload's parameters filled in. `used` gets the names of those it asked for.
Result<Operation> FillIn(const Operation& op, const Value& params, std::vector<std::string>& used);

}  // namespace berth::bench
