// SPDX-License-Identifier: Apache-2.0
// Field by field. Upstream: test/integration/scheduler_perf, operations.go and update.go (v1.36.4).
#include "bench/operation.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::bench {
namespace {

constexpr IntRange kCounts{0, kMaxCount};

struct Known {
  const char* opcode;
  OpCode code;
};
constexpr Known kKnown[] = {
    {"createNodes", OpCode::kCreateNodes},
    {"createNamespaces", OpCode::kCreateNamespaces},
    {"createPods", OpCode::kCreatePods},
    {"createPodSets", OpCode::kCreatePodSets},
    {"deletePods", OpCode::kDeletePods},
    {"churn", OpCode::kChurn},
    {"barrier", OpCode::kBarrier},
    {"sleep", OpCode::kSleep},
    {"startCollectingMetrics", OpCode::kStartCollectingMetrics},
    {"stopCollectingMetrics", OpCode::kStopCollectingMetrics},
    {"createAny", OpCode::kCreateAny},
    {"updateAny", OpCode::kUpdateAny},
    {"createResourceDriver", OpCode::kNotBuilt},
    {"createResourceClaims", OpCode::kNotBuilt},
    {"allocResourceClaims", OpCode::kNotBuilt},
};

void ReadParam(ArgsReader& reader, const char* field, std::string& out) {
  reader.String(field, out);
  if (!out.empty() && (out.size() < 2 || out[0] != '$')) {
    reader.Invalid(field, "\"" + out + "\"", "must be $ and the name of a parameter");
    out.clear();
  }
}

void ReadCount(ArgsReader& reader, Operation& op, std::optional<int64_t> missing) {
  const bool given = reader.Has("count");
  reader.Int("count", op.count, kCounts);
  ReadParam(reader, "countParam", op.count_param);
  if (given || !op.count_param.empty()) return;
  if (missing) {
    op.count = *missing;
  } else if (!reader.Has("countParam")) {
    reader.Complain("count", "Required value: count or countParam");
  }
}

// A path, or a complaint that it is missing.
void ReadPath(ArgsReader& reader, const char* field, std::string& out) {
  reader.String(field, out);
  if (out.empty()) reader.Complain(field, "Required value");
}

void ReadNamespace(ArgsReader& reader, Operation& op) {
  std::string name;
  reader.String("namespace", name);
  if (!name.empty()) op.namespace_ = name;
}

// The map in a field; null when there is none, with a complaint if there is something else.
const Value* ReadMap(ArgsReader& reader, const char* field) {
  const Value* map = reader.Raw(field);
  if (!map || map->is_null()) return nullptr;
  if (map->kind() == Value::Kind::kObject) return map;
  reader.Invalid(field, map->ToJson(), "must be a map");
  return nullptr;
}

void ReadLabels(ArgsReader& reader, Operation& op) {
  const Value* labels = ReadMap(reader, "labelSelector");
  if (!labels) return;
  for (const auto& [key, value] : labels->members()) {
    if (value.kind() != Value::Kind::kString) {
      reader.Invalid("labelSelector[" + key + "]", value.ToJson(), "must be a string");
    } else {
      op.selector.labels[key] = value.text();
    }
  }
}

void ReadDuration(ArgsReader& reader, Operation& op) {
  reader.Time("duration", op.duration);
  ReadParam(reader, "durationParam", op.duration_param);
  if (op.duration < Duration{} || op.duration > kMaxSleep)
    reader.Invalid("duration", "\"" + FormatDuration(op.duration) + "\"", "must be between 0s and 1h");
}

void ReadAmounts(ArgsReader& strategy, Operation::AllocatableStrategy& out) {
  const Value* amounts = ReadMap(strategy, "nodeAllocatable");
  if (!amounts) return;
  for (const auto& [name, amount] : amounts->members()) {
    if (amount.kind() == Value::Kind::kString || amount.kind() == Value::Kind::kNumber) {
      out.allocatable.emplace_back(name, amount.text());
    } else {
      strategy.Invalid("nodeAllocatable[" + name + "]", amount.ToJson(), "must be a quantity");
    }
  }
}

void ReadLimits(ArgsReader& strategy, Operation::AllocatableStrategy& out) {
  const Value* drivers = ReadMap(strategy, "csiNodeAllocatable");
  if (!drivers) return;
  for (const auto& [name, driver] : drivers->members()) {
    const std::string path = "csiNodeAllocatable[" + name + "]";
    const Value* count = driver.kind() == Value::Kind::kObject ? driver.Find("count") : nullptr;
    if (!count) {
      strategy.Invalid(path, driver.ToJson(), "must have a count");
      continue;
    }
    int32_t limit = 0;
    const char* end = count->text().data() + count->text().size();
    const auto [stop, failure] = std::from_chars(count->text().data(), end, limit);
    if (count->kind() != Value::Kind::kNumber || failure != std::errc() || stop != end || limit < 0) {
      strategy.Invalid(path + ".count", count->ToJson(), "must be a whole number between 0 and 2147483647");
    } else {
      out.csi_limits[name] = limit;
    }
  }
}

void ReadStrategies(ArgsReader& reader, Operation& op) {
  reader.Object("labelNodePrepareStrategy", [&](ArgsReader& strategy) {
    Operation::LabelStrategy& out = op.label_strategy.emplace();
    strategy.String("labelKey", out.key);
    strategy.Strings("labelValues", out.values);
    if (out.key.empty()) strategy.Complain("labelKey", "Required value");
    if (out.values.empty()) strategy.Complain("labelValues", "Required value");
  });
  reader.Object("uniqueNodeLabelStrategy", [&](ArgsReader& strategy) {
    strategy.String("labelKey", op.unique_label_key);
    if (op.unique_label_key.empty()) strategy.Complain("labelKey", "Required value");
  });
  reader.Object("nodeAllocatableStrategy", [&](ArgsReader& strategy) {
    Operation::AllocatableStrategy& out = op.allocatable_strategy.emplace();
    ReadAmounts(strategy, out);
    ReadLimits(strategy, out);
    strategy.Strings("migratedPlugins", out.migrated_plugins);
  });
  if (op.label_strategy.has_value() + op.allocatable_strategy.has_value() + !op.unique_label_key.empty() > 1)
    reader.Complain("labelNodePrepareStrategy", "Forbidden: at most one node strategy");
}

void ReadPods(ArgsReader& reader, Operation& op) {
  ReadCount(reader, op, std::nullopt);
  reader.Bool("steadyState", op.steady_state);
  ReadParam(reader, "steadyStateParam", op.steady_state_param);
  ReadDuration(reader, op);
  reader.Bool("collectMetrics", op.collect_metrics);
  ReadNamespace(reader, op);
  reader.String("podTemplatePath", op.template_path);
  reader.Bool("skipWaitToCompletion", op.skip_wait);
  reader.String("persistentVolumeTemplatePath", op.volume_template_path);
  reader.String("persistentVolumeClaimTemplatePath", op.claim_template_path);
  if (op.collect_metrics && op.skip_wait)
    reader.Complain("collectMetrics", "Forbidden: not together with skipWaitToCompletion");
  if (op.steady_state && op.skip_wait)
    reader.Complain("steadyState", "Forbidden: not together with skipWaitToCompletion");
}

void ReadChurn(ArgsReader& reader, Operation& op) {
  std::string mode;
  reader.Enum("mode", mode, {"create", "recreate"});
  if (mode.empty()) reader.Complain("mode", "Required value: create or recreate");
  op.recreate = mode == "recreate";
  reader.Int("number", op.number, kCounts);
  if (op.recreate && op.number == 0) reader.Invalid("number", "0", "must be greater than 0 with mode recreate");
  reader.Int("intervalMilliseconds", op.interval_ms, {0, 3'600'000});
  if (op.interval_ms == 0) op.interval_ms = 500;
  ReadNamespace(reader, op);
  reader.Strings("templatePaths", op.template_paths);
  if (op.template_paths.empty()) reader.Complain("templatePaths", "Required value");
}

void ReadAny(ArgsReader& reader, Operation& op) {
  ReadPath(reader, "templatePath", op.template_path);
  ReadNamespace(reader, op);
  ReadCount(reader, op, 1);
}

// The parameter, or an error that names it.
Result<const Value*> Param(const Value& params, const std::string& dollar_name, std::vector<std::string>& used) {
  const std::string name = dollar_name.substr(1);
  used.push_back(name);
  const Value* found = params.Find(name);
  if (!found) return Error("parameter " + name + " is not given");
  return found;
}

Error FillCount(Operation& op, const Value& params, std::vector<std::string>& used) {
  if (op.count_param.empty()) return Error::Ok();
  const Result<const Value*> found = Param(params, op.count_param, used);
  if (!found.ok()) return found.error();
  const std::string& text = (*found)->text();
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, op.count);
  if ((*found)->kind() != Value::Kind::kNumber || failure != std::errc() || stop != end || op.count < 0 ||
      op.count > kMaxCount)
    return Error("parameter " + op.count_param.substr(1) + ": must be a whole number between 0 and " +
                 std::to_string(kMaxCount) + ", got " + (*found)->ToJson());
  return Error::Ok();
}

Error FillDuration(Operation& op, const Value& params, std::vector<std::string>& used) {
  if (op.duration_param.empty()) return Error::Ok();
  const Result<const Value*> found = Param(params, op.duration_param, used);
  if (!found.ok()) return found.error();
  const Result<Duration> parsed = ParseDuration((*found)->text());
  if ((*found)->kind() != Value::Kind::kString || !parsed.ok() || *parsed < Duration{} || *parsed > kMaxSleep)
    return Error("parameter " + op.duration_param.substr(1) + ": must be a duration between 0s and 1h, got " +
                 (*found)->ToJson());
  op.duration = *parsed;
  return Error::Ok();
}

}  // namespace

bool PodSelector::Matches(const std::string& ns, const Labels& pod_labels) const {
  if (!namespaces.empty() && std::find(namespaces.begin(), namespaces.end(), ns) == namespaces.end()) return false;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& wanted) {
    const std::string* value = pod_labels.Find(wanted.first);
    return value && *value == wanted.second;
  });
}

std::string NamespaceOf(const Operation& op, size_t index) {
  return op.namespace_.value_or("namespace-" + std::to_string(index));
}

std::string VolumeNameOf(const std::string& ns, int64_t index) { return ns + "-vol-" + std::to_string(index); }

std::string ClaimNameOf(int64_t index) { return "pvc-" + std::to_string(index); }

std::vector<std::string> FeatureNames(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 1; i <= count; ++i) names.push_back("Feature" + std::to_string(i));
  std::sort(names.begin(), names.end());
  return names;
}

std::string ClaimsNotBuilt(const Operation& op) {
  return op.path + ": createPods: pod resourceClaims: dynamic resource allocation is not there yet";
}

Operation ReadOperation(ArgsReader& reader, const Value& raw) {
  Operation op;
  op.path = reader.path();
  reader.String("opcode", op.opcode);
  const Known* known = nullptr;
  for (const Known& one : kKnown)
    if (op.opcode == one.opcode) known = &one;
  if (!known) {
    reader.Invalid("opcode", "\"" + op.opcode + "\"", "unknown op");
    for (const auto& member : raw.members()) (void)reader.Raw(member.first);  // one complaint is enough
    return op;
  }
  op.code = known->code;
  switch (op.code) {
    case OpCode::kCreateNodes:
      ReadCount(reader, op, std::nullopt);
      reader.String("nodeTemplatePath", op.template_path);
      ReadStrategies(reader, op);
      break;
    case OpCode::kCreateNamespaces:
      ReadCount(reader, op, std::nullopt);
      ReadPath(reader, "prefix", op.prefix);
      reader.String("namespaceTemplatePath", op.template_path);
      break;
    case OpCode::kCreatePods:
      ReadPods(reader, op);
      break;
    case OpCode::kCreatePodSets:
      ReadCount(reader, op, std::nullopt);
      ReadPath(reader, "namespacePrefix", op.prefix);
      reader.Object("createPodsOp", [&](ArgsReader& nested) {
        Operation pods;
        pods.code = OpCode::kCreatePods;
        pods.path = nested.path();
        nested.Enum("opcode", pods.opcode, {"createPods"});
        pods.opcode = "createPods";
        ReadPods(nested, pods);
        op.pods = std::make_shared<const Operation>(std::move(pods));
      });
      if (!op.pods) reader.Complain("createPodsOp", "Required value");
      break;
    case OpCode::kDeletePods:
      ReadPath(reader, "namespace", op.prefix);
      op.namespace_ = std::exchange(op.prefix, "");
      ReadLabels(reader, op);
      reader.Bool("skipWaitToCompletion", op.skip_wait);
      reader.Int("deletePodsPerSecond", op.per_second, kCounts);
      break;
    case OpCode::kChurn:
      ReadChurn(reader, op);
      break;
    case OpCode::kBarrier: {
      reader.Strings("namespaces", op.selector.namespaces);
      ReadLabels(reader, op);
      std::string stage;
      reader.Enum("stageRequirement", stage, {"Attempted", "Scheduled"});
      op.attempted = stage == "Attempted";
      break;
    }
    case OpCode::kSleep:
      ReadDuration(reader, op);
      break;
    case OpCode::kStartCollectingMetrics: {
      std::string name;
      reader.String("name", name);
      reader.Strings("namespaces", op.selector.namespaces);
      if (op.selector.namespaces.empty()) reader.Complain("namespaces", "Required value");
      ReadLabels(reader, op);
      break;
    }
    case OpCode::kStopCollectingMetrics:
      break;
    case OpCode::kCreateAny:
      ReadAny(reader, op);
      break;
    case OpCode::kUpdateAny: {
      ReadAny(reader, op);
      reader.Int("updatePerSecond", op.per_second, kCounts);
      reader.Strings("subresources", op.subresources);
      break;
    }
    case OpCode::kNotBuilt:
      for (const auto& member : raw.members()) (void)reader.Raw(member.first);
      break;
  }
  return op;
}

Result<Operation> FillIn(const Operation& op, const Value& params, std::vector<std::string>& used) {
  Operation out = op;
  if (const Error error = FillCount(out, params, used); !error.ok()) return error.Wrap(op.path);
  if (const Error error = FillDuration(out, params, used); !error.ok()) return error.Wrap(op.path);
  if (!op.steady_state_param.empty()) {
    const Result<const Value*> found = Param(params, op.steady_state_param, used);
    if (!found.ok()) return found.error().Wrap(op.path);
    if ((*found)->kind() != Value::Kind::kBool)
      return Error(op.path + ": parameter " + op.steady_state_param.substr(1) + ": must be true or false, got " +
                   (*found)->ToJson());
    out.steady_state = (*found)->bool_value();
  }
  if (out.code == OpCode::kCreatePods && out.steady_state && out.duration <= Duration{})
    return Error(op.path + ".duration: must be greater than 0s with steadyState");
  if (op.pods) {
    Result<Operation> pods = FillIn(*op.pods, params, used);
    if (!pods.ok()) return pods.error();
    if (out.count > kMaxPodSets)
      return Error(op.path + ": " + std::to_string(out.count) + " sets of pods are more than " +
                   std::to_string(kMaxPodSets));
    if (out.count > 0 && pods->count > kMaxCount / out.count)
      return Error(op.path + ": " + std::to_string(out.count) + " sets of " + std::to_string(pods->count) +
                   " pods are more than " + std::to_string(kMaxCount));
    out.pods = std::make_shared<const Operation>(std::move(pods).value());
  }
  return out;
}

}  // namespace berth::bench
