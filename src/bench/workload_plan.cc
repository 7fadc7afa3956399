// SPDX-License-Identifier: Apache-2.0
// From a case and a workload to ops with templates.
#include <utility>

#include "bench/workload_run.h"

namespace berth::bench {
namespace {

// What scheduler_perf creates when an op names no template.
constexpr char kBasePod[] =
    "apiVersion: v1\n"
    "kind: Pod\n"
    "metadata: {generateName: pod-}\n"
    "spec:\n"
    "  containers:\n"
    "  - {name: pause, image: pause, ports: [{containerPort: 80}],\n"
    "     resources: {limits: {cpu: 100m, memory: 500Mi}, requests: {cpu: 100m, memory: 500Mi}}}\n";
constexpr char kBaseNamespace[] = "apiVersion: v1\nkind: Namespace\n";
std::string BaseNode(size_t op) {
  return "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-" + std::to_string(op) +
         "-}\nstatus:\n  capacity: {pods: \"110\", cpu: \"4\", memory: 32Gi}\n"
         "  conditions: [{type: Ready, status: \"True\"}]\n";
}

class Planner {
 public:
  Planner(WorkloadPlan& plan, const TestCase& test_case, const std::string& folder)
      : plan_(plan), case_(test_case), folder_(folder) {}

  Error Add(Operation op) {
    const size_t index = plan_.steps.size();
    WorkloadPlan::Step& step = plan_.steps.emplace_back(WorkloadPlan::Step{std::move(op), {}});
    const Operation& o = step.op;
    switch (o.code) {
      case OpCode::kCreateNodes:
        if (Error error = Take(step, o.template_path, BaseNode(index), Kind::kNode); !error.ok()) return error;
        if (o.allocatable_strategy && !step.templates.empty())
          step.templates[0].AddAllocatable(o.allocatable_strategy->allocatable);
        break;
      case OpCode::kCreateNamespaces:
        return Take(step, o.template_path, kBaseNamespace, Kind::kNamespace);
      case OpCode::kCreatePods:
        if (Error error = Take(step, o.template_path.empty() ? case_.default_pod_template : o.template_path, kBasePod,
                               Kind::kPod);
            !error.ok())
          return error;
        if (o.volume_template_path.empty() && o.claim_template_path.empty()) break;
        if (o.volume_template_path.empty() || o.claim_template_path.empty())
          return Error(o.path +
                       ": persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath: must both be given");
        if (Error error = Take(step, o.volume_template_path, "", Kind::kPersistentVolume); !error.ok()) return error;
        return Take(step, o.claim_template_path, "", Kind::kPersistentVolumeClaim);
      case OpCode::kChurn:
        for (const std::string& path : o.template_paths)
          if (Error error = Take(step, path, "", {}); !error.ok()) return error;
        break;
      case OpCode::kCreateAny:
      case OpCode::kUpdateAny:
        if (Error error = Take(step, o.template_path, "", {}); !error.ok()) return error;
        if (step.templates.empty()) break;
        if (IsNamespaced(step.templates[0].kind()) != o.namespace_.has_value())
          return Error(
              o.path + ".namespace: " + std::string(ToString(step.templates[0].kind())) +
              (o.namespace_ ? " objects have no namespace, got \"" + *o.namespace_ + "\"" : " objects need one"));
        break;
      case OpCode::kNotBuilt:
        NotBuilt(o, "dynamic resource allocation is not there yet");
        break;
      default:
        break;
    }
    return Error::Ok();
  }

 private:
  void NotBuilt(const Operation& op, const std::string& why) {
    if (plan_.not_built.empty()) plan_.not_built = op.path + ": " + op.opcode + ": " + why;
  }

  Error Take(WorkloadPlan::Step& step, const std::string& path, const std::string& base, std::optional<Kind> kind) {
    if (!plan_.not_built.empty()) return Error::Ok();  // its templates may be of kinds that nobody reads
    const std::string full = path.empty() || path[0] == '/' ? path : folder_ + path;
    Result<ObjectTemplate> read =
        path.empty() ? ObjectTemplate::Parse(base, step.op.opcode) : ObjectTemplate::Read(full);
    if (!read.ok()) return read.error().Wrap(step.op.path);
    if (kind && (!read->known() || read->kind() != *kind))
      return Error(step.op.path + ": " + full + ": kind: must be " + std::string(ToString(*kind)) + ", got " +
                   read->kind_name());
    if (!read->known()) {
      NotBuilt(step.op, full + ": objects of kind " + read->kind_name() + " are not read");
      return Error::Ok();
    }
    step.templates.push_back(std::move(read).value());
    return Error::Ok();
  }

  WorkloadPlan& plan_;
  const TestCase& case_;
  const std::string& folder_;
};

}  // namespace

Result<WorkloadPlan> MakePlan(const TestCase& test_case, const Workload& workload, const std::string& folder) {
  WorkloadPlan plan;
  plan.test_case = test_case.name;
  plan.workload = workload.name;
  if (!test_case.scheduler_config.empty())
    plan.scheduler_config =
        test_case.scheduler_config[0] == '/' ? test_case.scheduler_config : folder + test_case.scheduler_config;
  const std::string context = workload.path + " (" + test_case.name + "/" + workload.name + ")";
  Result<std::vector<Operation>> ops = Unroll(test_case, workload, plan.notes);
  if (!ops.ok()) return ops.error().Wrap(context);
  // What cannot be run is known before any template is opened.
  Planner planner(plan, test_case, folder);
  for (const Operation& op : *ops)
    if (op.code == OpCode::kNotBuilt)
      if (const Error error = planner.Add(op); !error.ok()) return error.Wrap(context);
  plan.steps.clear();
  for (Operation& op : ops.value())
    if (const Error error = planner.Add(std::move(op)); !error.ok()) return error.Wrap(context);
  return plan;
}

}  // namespace berth::bench
