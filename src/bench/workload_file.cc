// SPDX-License-Identifier: Apache-2.0
// Cases and workloads. Upstream: test/integration/scheduler_perf/scheduler_perf.go (v1.36.4).
#include "bench/workload_file.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "api/file_text.h"
#include "api/json_value.h"
#include "api/yaml.h"

namespace berth::bench {
namespace {

class Reader {
 public:
  Reader(WorkloadFile& out, std::string file) : out_(out), file_(std::move(file)) {}

  void Case(const Value& raw, const std::string& path) {
    if (raw.kind() != Value::Kind::kObject) return Fail(path + ": must be an object, a test case");
    TestCase& test_case = out_.cases.emplace_back();
    test_case.path = path;
    ArgsReader reader(&raw, path, &errors_);
    reader.String("name", test_case.name);
    if (test_case.name.empty()) reader.Complain("name", "Required value");
    if (!names_.insert(test_case.name).second) reader.Complain("name", "Duplicate value: \"" + test_case.name + "\"");
    reader.String("defaultPodTemplatePath", test_case.default_pod_template);
    reader.String("schedulerConfigPath", test_case.scheduler_config);
    Ignore(reader, test_case.feature_gates);
    const Value* ops = reader.Raw("workloadTemplate");
    size_t index = 0;
    reader.Objects("workloadTemplate",
                   [&](ArgsReader& op) { test_case.ops.push_back(ReadOperation(op, ops->items()[index++])); });
    if (!ops || ops->items().empty()) reader.Complain("workloadTemplate", "Required value");
    std::set<std::string> names;
    reader.Objects("workloads", [&](ArgsReader& workload) {
      Workload& one = test_case.workloads.emplace_back();
      one.path = workload.path();
      workload.String("name", one.name);
      if (one.name.empty()) workload.Complain("name", "Required value");
      if (!names.insert(one.name).second) workload.Complain("name", "Duplicate value: \"" + one.name + "\"");
      if (const Value* params = workload.Raw("params"); params && !params->is_null()) {
        if (params->kind() == Value::Kind::kObject) {
          one.params = *params;
        } else {
          workload.Invalid("params", params->ToJson(), "must be a map");
        }
      }
      (void)workload.Raw("threshold");  // pods per second through an API server: not ours to meet
      (void)workload.Raw("thresholdMetricSelector");
      Ignore(workload, one.feature_gates);
    });
    if (test_case.workloads.empty()) reader.Complain("workloads", "Required value");
    reader.Finish();
  }

  void Fail(const std::string& text) { out_.errors.push_back(file_ + ": " + text); }

  void Finish() {
    for (const FieldError& error : errors_) Fail(error.ToString());
  }

 private:
  // Fields of cases and workloads that choose or measure on upstream's side only.
  void Ignore(ArgsReader& reader, std::set<std::string>& feature_gates) {
    std::vector<std::string> labels;
    reader.Strings("labels", labels);
    const Value* gates = reader.Raw("featureGates");
    if (gates && gates->kind() == Value::Kind::kObject) {
      for (const auto& [gate, on] : gates->members()) {
        if (on.kind() == Value::Kind::kBool) {
          feature_gates.insert(gate);
        } else {
          reader.Invalid("featureGates[" + gate + "]", on.ToJson(), "must be true or false");
        }
      }
    } else if (gates && !gates->is_null()) {
      reader.Invalid("featureGates", gates->ToJson(), "must be a map");
    }
    (void)reader.Raw("metricsCollectorConfig");
    (void)reader.Raw("defaultThresholdMetricSelector");
  }

  WorkloadFile& out_;
  const std::string file_;
  std::vector<FieldError> errors_;
  std::set<std::string> names_;
};

// A parameter that upstream's program reads itself.
constexpr char kDeclaredFeatures[] = "numNodeDeclaredFeatures";
constexpr int64_t kMaxDeclaredFeatures = 1000;

Result<int64_t> DeclaredFeatures(const Workload& workload) {
  const Value* given = workload.params.Find(kDeclaredFeatures);
  if (!given) return int64_t{0};
  int64_t count = -1;
  const std::string& text = given->text();
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, count);
  if (given->kind() != Value::Kind::kNumber || failure != std::errc() || stop != end || count < 0 ||
      count > kMaxDeclaredFeatures)
    return Error("parameter " + std::string(kDeclaredFeatures) + ": must be a whole number between 0 and " +
                 std::to_string(kMaxDeclaredFeatures) + ", got " + given->ToJson());
  return count;
}

}  // namespace

WorkloadFile ParseWorkloads(std::string_view text, const std::string& path) {
  WorkloadFile out;
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos) out.folder = path.substr(0, slash + 1);
  Reader reader(out, path);
  const Error error = ForEachDocument(text, [&](const std::string& json) {
    std::vector<FieldError> errors;
    const Value root = ParseJson(json, errors);
    for (const FieldError& one : errors) reader.Fail(one.ToString());
    if (!errors.empty()) return Error::Ok();
    if (root.kind() != Value::Kind::kArray) return Error("must be a list of test cases");
    for (size_t i = 0; i < root.items().size(); ++i) reader.Case(root.items()[i], "[" + std::to_string(i) + "]");
    return Error::Ok();
  });
  if (!error.ok()) reader.Fail(error.text());
  reader.Finish();
  if (out.errors.empty() && out.cases.empty()) reader.Fail("there is no test case in it");
  return out;
}

WorkloadFile ReadWorkloadFile(const std::string& path) {
  const Result<FileText> text = FileText::Read(path);
  if (text.ok()) return ParseWorkloads(text->text(), path);
  WorkloadFile out;
  out.errors.push_back(path + ": " + text.error().text());
  return out;
}

Result<std::vector<Operation>> Unroll(const TestCase& test_case, const Workload& workload,
                                      std::vector<std::string>& notes) {
  std::vector<Operation> ops;
  std::vector<std::string> used;
  const Result<int64_t> features = DeclaredFeatures(workload);
  if (!features.ok()) return features.error();
  if (*features > 0) {
    used.emplace_back(kDeclaredFeatures);
    notes.push_back(workload.path + ": params." + kDeclaredFeatures +
                    ": nodes declare so many features; pods, other than upstream's, ask for none of them");
  }
  for (const Operation& op : test_case.ops) {
    Result<Operation> filled = FillIn(op, workload.params, used);
    if (!filled.ok()) return filled.error();
    if (filled->code == OpCode::kCreateNodes) filled.value().declared_features = *features;
    if (filled->code != OpCode::kCreatePodSets) {
      ops.push_back(std::move(filled).value());
      continue;
    }
    for (int64_t i = 0; i < filled->count; ++i) {
      ops.push_back(*filled->pods);
      ops.back().namespace_ = filled->prefix + "-" + std::to_string(i);
    }
  }
  for (const auto& [name, value] : workload.params.members())
    if (std::find(used.begin(), used.end(), name) == used.end())
      notes.push_back(workload.path + ": params." + name + ": no op asks for it");
  return ops;
}

}  // namespace berth::bench
