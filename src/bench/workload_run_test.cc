// SPDX-License-Identifier: Apache-2.0
// Workloads from their text to what became of the pods. Templates are files in a folder of their own.
#include "bench/workload_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/load.h"
#include "plugins/builtin.h"

namespace berth::bench {
namespace {

using ::testing::HasSubstr;

class WorkloadRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    config_ = config::DefaultConfiguration(registry_);
    folder_ = (std::filesystem::temp_directory_path() / "berth-bench-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    folder_ += "/";
    // Four of these fill a base node; three must go for `high`.
    File("low.yaml", Pod("low-", "900m", ""));
    File("high.yaml", Pod("high-", "3", "priority: 10, "));
    File("huge.yaml", Pod("huge-", "9", "priority: 10, "));
    File("gated.yaml", Pod("gated-", "100m", "schedulingGates: [{name: hold}], "));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void File(const std::string& name, const std::string& text) { std::ofstream(folder_ + name) << text; }
  static std::string Pod(const std::string& prefix, const std::string& cpu, const std::string& spec,
                         const std::string& meta = "") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {generateName: " + prefix + meta + "}\nspec: {" + spec +
           "containers: [{name: c, image: i, resources: {requests: {cpu: \"" + cpu + "\"}}}]}\n";
  }
  Result<WorkloadResult> Run(const std::string& ops, bool verify = false, const std::string& params = "{}") {
    const WorkloadFile file = ParseWorkloads(
        "- name: C\n  workloadTemplate:\n" + ops + "  workloads:\n  - {name: W, params: " + params + "}\n",
        folder_ + "f.yaml");
    if (!file.errors.empty()) return Error(file.errors[0]);
    Result<WorkloadPlan> plan = MakePlan(file.cases[0], file.cases[0].workloads[0], file.folder);
    if (!plan.ok()) return plan.error();
    return RunWorkload(plan.value(), config_, registry_, verify);
  }
  std::string ErrorOf(const std::string& ops) {
    const Result<WorkloadResult> result = Run(ops);
    return result.ok() ? "no error" : result.error().text();
  }

  Registry registry_;
  config::SchedulerConfiguration config_;
  std::string folder_;
};

TEST_F(WorkloadRunTest, MeasuredPodsAreScheduledAndCounted) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 5}\n"
          "  - {opcode: createPods, count: 7}\n"
          "  - {opcode: createPods, count: 10, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->nodes, 5u);
  EXPECT_EQ(result->pods, 10u);
  EXPECT_EQ(result->scheduled, 10u);
  EXPECT_EQ(result->unschedulable, 0u);
  EXPECT_EQ(result->attempts, 10u);
  EXPECT_GT(result->attempt_ns, 0);
  EXPECT_GE(result->p99, result->p50);
  EXPECT_GT(result->rss_mb, 0);
}

TEST_F(WorkloadRunTest, TheProcessHasUsedWhatItsThreadHas) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 50}\n"
          "  - {opcode: createPods, count: 200, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_GE(result->process_ns, result->attempt_ns + result->event_ns);
}

TEST_F(WorkloadRunTest, NodesAreCountedByTheirPods) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 3}\n"
          "  - {opcode: createPods, count: 3}\n"
          "  - {opcode: createPods, count: 1, collectMetrics: true}\n"
          "  - {opcode: createNodes, count: 2}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->nodes_by_pods, (std::map<size_t, size_t>{{0, 2}, {1, 2}, {2, 1}}));
}

TEST_F(WorkloadRunTest, PodsThatFitNowhereEndTheWait) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 2}\n"
          "  - {opcode: createPods, count: 4, podTemplatePath: huge.yaml, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 0u);
  EXPECT_EQ(result->unschedulable, 4u);
  EXPECT_EQ(result->attempts, 4u);
  EXPECT_THAT(result->unscheduled, HasSubstr("Insufficient cpu"));
}

TEST_F(WorkloadRunTest, VictimsAreGoneAtOnce) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 3}\n"
          "  - {opcode: createPods, count: 12, podTemplatePath: low.yaml}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: high.yaml, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 3u);
  EXPECT_EQ(result->attempts, 6u);  // each once to preempt and once to be placed
}

TEST_F(WorkloadRunTest, ChurnComesByVirtualTime) {
  // 600 pods take two seconds: ten churned pods at 200 ms, the last of them as the measurement ends.
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 20}\n"
          "  - {opcode: churn, mode: create, templatePaths: [huge.yaml], intervalMilliseconds: 200}\n"
          "  - {opcode: createPods, count: 600, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 600u);
  EXPECT_GE(result->attempts, 609u);
  EXPECT_LE(result->attempts, 610u);
}

TEST_F(WorkloadRunTest, RecreatedNodesComeAndGo) {
  File("node.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {generateName: churned-}\nstatus: {capacity: {pods: \"0\"}}\n");
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 20}\n"
          "  - {opcode: churn, mode: recreate, number: 1, templatePaths: [node.yaml], intervalMilliseconds: 1000}\n"
          "  - {opcode: createPods, count: 450, collectMetrics: true}\n"
          "  - {opcode: sleep, duration: 1s}\n"
          "  - {opcode: createPods, count: 10, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 460u);
  EXPECT_EQ(result->nodes, 20u);  // created after one second, deleted after two
}

TEST_F(WorkloadRunTest, DeletedPodsMakeRoomForThoseThatWait) {
  const Result<WorkloadResult> result = Run(
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 4, namespace: full, podTemplatePath: low.yaml}\n"
      "  - {opcode: startCollectingMetrics, namespaces: [waiting]}\n"
      "  - {opcode: createPods, count: 4, namespace: waiting, podTemplatePath: low.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: barrier, stageRequirement: Attempted}\n"
      "  - {opcode: deletePods, namespace: full, deletePodsPerSecond: 50, skipWaitToCompletion: true}\n"
      "  - {opcode: barrier}\n"
      "  - {opcode: stopCollectingMetrics}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->pods, 4u);
  EXPECT_EQ(result->scheduled, 4u);
  EXPECT_GE(result->attempts, 8u);
}

TEST_F(WorkloadRunTest, UpdatesWakeThoseWhomTheyHelp) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n-{{.Index}}}\nstatus: {capacity: {cpu: \"";
  File("small.yaml", node + "1\", pods: \"10\"}}\n");
  File("larger.yaml", node + "8\", pods: \"10\"}}\n");
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 2, nodeTemplatePath: small.yaml}\n"
          "  - {opcode: startCollectingMetrics, namespaces: [a]}\n"
          "  - {opcode: createPods, count: 4, namespace: a, podTemplatePath: high.yaml, skipWaitToCompletion: true}\n"
          "  - {opcode: barrier, stageRequirement: Attempted}\n"
          "  - {opcode: updateAny, count: 2, templatePath: larger.yaml, updatePerSecond: 100}\n"
          "  - {opcode: barrier}\n"
          "  - {opcode: stopCollectingMetrics}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 4u);
}

TEST_F(WorkloadRunTest, PodsWithFinalizersTerminateAndAreSkipped) {
  File("held.yaml", Pod("held-", "100m", "", ", finalizers: [example.com/f]"));
  const Result<WorkloadResult> result = Run(
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 3, namespace: held, podTemplatePath: held.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: deletePods, namespace: held}\n"
      "  - {opcode: createPods, count: 2, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 2u);
  EXPECT_EQ(result->attempts, 5u);
}

TEST_F(WorkloadRunTest, PodsOfAnotherSchedulerAreNeverAttemptedNotEvenWhenTheyTerminate) {
  File("theirs.yaml", Pod("theirs-", "100m", "schedulerName: theirs, ", ", finalizers: [example.com/f]"));
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 3, namespace: a, podTemplatePath: theirs.yaml, skipWaitToCompletion: true}\n"
          "  - {opcode: deletePods, namespace: a}\n"
          "  - {opcode: createPods, count: 2, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 2u);
  EXPECT_EQ(result->attempts, 2u);
}

TEST_F(WorkloadRunTest, GatedPodsCountAsAttempted) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: gated.yaml, skipWaitToCompletion: true}\n"
          "  - {opcode: barrier, stageRequirement: Attempted}\n"
          "  - {opcode: createPods, count: 2, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->attempts, 2u);
}

TEST_F(WorkloadRunTest, SteadyStateStartsOverUntilTheTimeIsUp) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 30, steadyState: true, duration: 1s, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_GE(result->scheduled, 300u);
  EXPECT_LE(result->scheduled, 360u);
  EXPECT_EQ(result->unschedulable, 0u);
}

TEST_F(WorkloadRunTest, ASteadyStateThatGetsStuckEndsWithTheTime) {
  // Gated pods are never tried, so no attempt would move the clock.
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: gated.yaml, steadyState: true, duration: 1s, "
          "collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->pods, 3u);
  EXPECT_EQ(result->unschedulable, 3u);
}

TEST_F(WorkloadRunTest, ASteadyStateOfPodsThatComeWithTheirNodeEndsWithTheTime) {
  // Nobody awaits them, so no attempt would move the clock.
  File("bound.yaml", Pod("bound-", "100m", "nodeName: elsewhere, "));
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 5, podTemplatePath: bound.yaml, steadyState: true, duration: 1s, "
          "collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->pods, 5u);
  EXPECT_EQ(result->attempts, 0u);
}

TEST_F(WorkloadRunTest, ASteadyStateEndsWhenChurnFails) {
  File("growing.yaml", Pod("growing-", "{{MultiplyInt .Index 1e15}}", ""));
  EXPECT_THAT(ErrorOf("  - {opcode: createNodes, count: 1}\n"
                      "  - {opcode: churn, mode: create, templatePaths: [growing.yaml], intervalMilliseconds: 10}\n"
                      "  - {opcode: createPods, count: 3, podTemplatePath: gated.yaml, steadyState: true, "
                      "duration: 1s}\n"),
              HasSubstr("the result is too large"));
}

TEST_F(WorkloadRunTest, PodsThatWaitWhenTheMeasurementBeginsAreMeasured) {
  const Result<WorkloadResult> result = Run(
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 4, namespace: full, podTemplatePath: low.yaml}\n"
      "  - {opcode: createPods, count: 2, namespace: waiting, podTemplatePath: low.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: barrier, stageRequirement: Attempted}\n"
      "  - {opcode: startCollectingMetrics, namespaces: [waiting]}\n"
      "  - {opcode: deletePods, namespace: full}\n"
      "  - {opcode: barrier, namespaces: [waiting]}\n"
      "  - {opcode: stopCollectingMetrics}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->pods, 2u);
  EXPECT_EQ(result->scheduled, 2u);
}

class WantsFeature2 final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "WantsFeature2";
  Error Filter(const Cycle&, const PluginState*, const NodeBatch& nodes, Rejections& out) const override {
    const VerdictId no = out.Intern(Verdict(Reason{"no Feature2", Remedy::kNone}));
    const VerdictId own = out.Intern(Verdict(Reason{"a list of its own", Remedy::kNone}));
    for (size_t i = 0; i < nodes.size(); ++i) {
      const List<std::string>& declared = nodes.snapshot().node(nodes.row(i)).declared_features;
      if (std::find(declared.begin(), declared.end(), "Feature2") == declared.end()) {
        out.Reject(i, no);
      } else if (!declared.SharesWith(nodes.snapshot().node(nodes.row(0)).declared_features)) {
        out.Reject(i, own);
      }
    }
    return Error::Ok();
  }
};

TEST_F(WorkloadRunTest, PodsThatComeWithTheirNodeNeedNobody) {
  File("bound.yaml", Pod("bound-", "100m", "nodeName: elsewhere, "));
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: bound.yaml, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 3u);
  EXPECT_EQ(result->unschedulable, 0u);
  EXPECT_EQ(result->attempts, 0u);
}

TEST_F(WorkloadRunTest, NodesDeclareTheFeaturesThatAParameterAsksFor) {
  registry_.Add<WantsFeature2>();
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{plugins: {multiPoint: {enabled: [{name: WantsFeature2}]}}}]\n",
      registry_);
  ASSERT_TRUE(loaded.ok());
  config_ = loaded.config;
  const std::string ops =
      "  - {opcode: createNodes, count: 2}\n"
      "  - {opcode: createPods, count: 4, collectMetrics: true}\n";
  Result<WorkloadResult> result = Run(ops, false, "{numNodeDeclaredFeatures: 2}");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 4u);
  EXPECT_EQ(result->nodes_by_pods, (std::map<size_t, size_t>{{2, 2}}));  // both nodes share one list
  result = Run(ops, false, "{numNodeDeclaredFeatures: 1}");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 0u);
  EXPECT_THAT(result->unscheduled, HasSubstr("no Feature2"));
}

TEST_F(WorkloadRunTest, AVerifiedRunComparesEveryDecision) {
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 3}\n"
          "  - {opcode: createPods, count: 12, podTemplatePath: low.yaml}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: high.yaml, collectMetrics: true}\n",
          true);
  ASSERT_TRUE(result.ok()) << result.error().text();
  ASSERT_TRUE(result->comparison.has_value());
  EXPECT_EQ(result->comparison->decisions, 18u);
  EXPECT_EQ(result->comparison->differences, 0u) << result->comparison->first;
  EXPECT_EQ(result->scheduled, 3u);
}

TEST_F(WorkloadRunTest, WhatIsNotBuiltIsNamedAndNotRun) {
  Result<WorkloadResult> result = Run("  - {opcode: createResourceDriver, driverName: d}\n");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->not_built,
            "[0].workloadTemplate[0]: createResourceDriver: dynamic resource allocation is not there yet");
  File("crd.yaml", "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n");
  result = Run("  - {opcode: createAny, templatePath: crd.yaml}\n");
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->not_built, HasSubstr("objects of kind Gadget are not read"));
}

TEST_F(WorkloadRunTest, PodsMayComeWithABoundVolumeEach) {
  File("pv.yaml",
       "apiVersion: v1\nkind: PersistentVolume\nspec: {accessModes: [ReadOnlyMany], capacity: {storage: 1Gi}, "
       "csi: {driver: ebs.csi.aws.com}}\n");
  File("pvc.yaml",
       "apiVersion: v1\nkind: PersistentVolumeClaim\n"
       "metadata: {annotations: {pv.kubernetes.io/bind-completed: \"true\"}}\n"
       "spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}\n");
  const std::string ops =
      "  - {opcode: createNodes, count: 2}\n"
      "  - {opcode: createPods, count: 4, collectMetrics: true, persistentVolumeTemplatePath: pv.yaml, "
      "persistentVolumeClaimTemplatePath: pvc.yaml}\n";
  const Result<WorkloadResult> result = Run(ops);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->not_built, "");
  EXPECT_EQ(result->scheduled, 4u);
  EXPECT_THAT(ErrorOf("  - {opcode: createPods, count: 1, persistentVolumeClaimTemplatePath: pvc.yaml}\n"),
              HasSubstr("persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath: must both be given"));
}

TEST_F(WorkloadRunTest, ClaimsThatWaitForTheirConsumerAreBoundWhereItGoes) {
  File("class.yaml",
       "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\n"
       "provisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n");
  File("node.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {name: \"n-{{.Index}}\"}\n"
       "status: {capacity: {pods: \"110\", cpu: \"4\", memory: 32Gi}}\n");
  File("pv.yaml",
       "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: \"disk-{{.Index}}\"}\n"
       "spec:\n  accessModes: [ReadWriteOnce]\n  capacity: {storage: 1Gi}\n  storageClassName: local\n"
       "  local: {path: /mnt}\n  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
       "kubernetes.io/hostname, operator: In, values: [\"n-{{Mod .Index 3}}\"]}]}]}}\nstatus: {phase: Available}\n");
  File("pvc.yaml",
       "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: \"claim-{{.Index}}\"}\n"
       "spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}\n");
  File("pod.yaml",
       "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n  containers: [{name: c, image: i}]\n"
       "  volumes: [{name: d, persistentVolumeClaim: {claimName: \"claim-{{.Index}}\"}}]\n");
  const Result<WorkloadResult> result =
      Run("  - {opcode: createNodes, count: 3, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createAny, templatePath: class.yaml}\n"
          "  - {opcode: createAny, count: 5, templatePath: pv.yaml}\n"
          "  - {opcode: createNamespaces, count: 1, prefix: ns}\n"
          "  - {opcode: createAny, count: 7, namespace: ns-0, templatePath: pvc.yaml}\n"
          "  - {opcode: createPods, count: 7, namespace: ns-0, podTemplatePath: pod.yaml, collectMetrics: true}\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->scheduled, 5u) << "there are five disks";
}

TEST_F(WorkloadRunTest, BarriersKnowTheirNamespaces) {
  EXPECT_THAT(ErrorOf("  - {opcode: barrier, namespaces: [nowhere]}\n"), HasSubstr("unknown namespace nowhere"));
}

TEST_F(WorkloadRunTest, TemplatesThatAreMissingOrWrongAreNamed) {
  EXPECT_THAT(ErrorOf("  - {opcode: createPods, count: 1, podTemplatePath: none.yaml}\n"),
              HasSubstr("none.yaml: cannot open file"));
  EXPECT_THAT(ErrorOf("  - {opcode: createNodes, count: 1, nodeTemplatePath: low.yaml}\n"),
              HasSubstr("low.yaml: kind: must be Node, got Pod"));
  EXPECT_THAT(ErrorOf("  - {opcode: createAny, templatePath: low.yaml}\n"),
              HasSubstr(".namespace: Pod objects need one"));
  File("bad.yaml", Pod("bad-", "many", ""));
  EXPECT_THAT(ErrorOf("  - {opcode: createPods, count: 1, podTemplatePath: bad.yaml}\n"),
              ::testing::AllOf(HasSubstr("bad.yaml"), HasSubstr("requests[cpu]"), HasSubstr("many")));
  EXPECT_THAT(ErrorOf("  - {opcode: updateAny, namespace: a, templatePath: low.yaml}\n"), HasSubstr("is not there"));
  EXPECT_THAT(ErrorOf("  - {opcode: stopCollectingMetrics}\n"), HasSubstr("no metrics are being collected"));
}

TEST_F(WorkloadRunTest, ExtendersTakeASecondForThoseTheyManageAndNothingForOthers) {
  config::Extender extender;
  extender.url_prefix = "http://127.0.0.1:1";
  extender.filter_verb = "filter";
  extender.prioritize_verb = "prioritize";
  extender.weight = 1;
  extender.managed_resources = {{"example.com/licence", false}};
  config_.extenders = {extender};
  File("node.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {name: \"node-{{.Index}}\"}\n"
       "status: {capacity: {cpu: 4, memory: 32Gi, pods: 110, example.com/licence: 9}}\n");
  File("licensed.yaml",
       "apiVersion: v1\nkind: Pod\nmetadata: {generateName: licensed-}\nspec: {containers: [{name: c, image: i,\n"
       "  resources: {requests: {cpu: 100m, example.com/licence: 1}, limits: {example.com/licence: 1}}}]}\n");
  const std::string head =
      "  - {opcode: createNodes, count: 5, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, count: 3, namespace: l, podTemplatePath: licensed.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: sleep, duration: 500ms}\n";
  const Result<WorkloadResult> beside =
      Run(head + "  - {opcode: createPods, count: 20, namespace: p, collectMetrics: true}\n", /*verify=*/true);
  ASSERT_TRUE(beside.ok()) << beside.error().text();
  EXPECT_EQ(beside->scheduled, 20u);
  EXPECT_EQ(beside->attempts, 20u) << "the others wait";
  EXPECT_EQ(beside->comparison->differences, 0u) << beside->comparison->first;
  EXPECT_EQ(beside->nodes_by_pods, (std::map<size_t, size_t>{{4, 5}}));
  // A filter and a prioritize call each, one after the other.
  const Result<WorkloadResult> after =
      Run(head + "  - {opcode: sleep, duration: 5s}\n  - {opcode: barrier, labelSelector: {}}\n");
  ASSERT_TRUE(after.ok()) << after.error().text();
  size_t placed = 0;
  for (const auto& [pods, nodes] : after->nodes_by_pods) placed += pods * nodes;
  EXPECT_EQ(placed, 3u);
}

}  // namespace
}  // namespace berth::bench
