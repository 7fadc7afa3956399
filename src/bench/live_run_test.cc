// SPDX-License-Identifier: Apache-2.0
// Workloads on an API server of the test's: what is made, what is waited for, and that nothing is left.
#include "bench/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/live_cleanup.h"
#include "bench/live_test_util.h"
#include "util/steady_clock.h"

namespace berth::bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LiveRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "berth-live-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    folder_ += "/";
    options_.timeout = Duration::Seconds(20);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void File(const std::string& name, const std::string& text) { std::ofstream(folder_ + name) << text; }
  LiveOutcome Run(const std::string& ops) {
    const WorkloadFile file =
        ParseWorkloads("- name: C\n  workloadTemplate:\n" + ops + "  workloads:\n  - {name: W}\n", folder_ + "f.yaml");
    if (!file.errors.empty()) return {Error(file.errors[0]), {}};
    Result<WorkloadPlan> plan = MakePlan(file.cases[0], file.cases[0].workloads[0], file.folder);
    if (!plan.ok()) return {plan.error(), {}};
    options_.server = cluster_.config();
    return RunLive(plan.value(), clock_, options_);
  }
  std::string ErrorOf(const std::string& ops) {
    const LiveOutcome outcome = Run(ops);
    EXPECT_THAT(outcome.left, IsEmpty());
    return outcome.result.ok() ? "no error" : outcome.result.error().text();
  }
  static std::string PodText(const std::string& meta, const std::string& spec = "") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {" + meta + "}\nspec: {" + spec +
           "containers: [{name: c, image: i}]}\n";
  }

  const util::SteadyClock clock_;
  // A request of a run that was interrupted may reach the cluster after it: what on_request writes outlives it.
  std::atomic<int> interruptions_ = 0;
  FakeCluster cluster_;
  LiveRunOptions options_;
  std::string folder_;
};

const char kSmall[] =
    "  - {opcode: createNodes, count: 2}\n"
    "  - {opcode: createPods, count: 3, collectMetrics: true}\n";

TEST_F(LiveRunTest, PodsAreMeasuredAndNothingIsLeft) {
  const LiveOutcome outcome =
      Run("  - {opcode: createNodes, count: 3}\n"
          "  - {opcode: createPods, count: 2}\n"
          "  - {opcode: createPods, count: 40, collectMetrics: true}\n");
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  const WorkloadResult& result = *outcome.result;
  EXPECT_EQ(result.test_case + "/" + result.workload, "C/W");
  EXPECT_EQ(result.nodes, 3u);
  EXPECT_EQ(result.pods, 40u);
  EXPECT_EQ(result.scheduled, 40u);
  EXPECT_EQ(result.unschedulable, 0u);
  EXPECT_THAT(result.nodes_by_pods, ElementsAre(std::pair(0u, 2u), std::pair(42u, 1u)));
  ASSERT_TRUE(result.live);
  EXPECT_EQ(result.live->bound, 40u);
  EXPECT_GT(result.live->window_s, 0);
  EXPECT_GE(result.live->last_binding_s, result.live->first_binding_s);
  EXPECT_GE(result.live->window_s, result.live->last_binding_s);
  EXPECT_FALSE(result.live->peak_mb);
  EXPECT_THAT(outcome.left, IsEmpty());
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, NewNodesLoseTheTaintThatAdmissionGivesThem) {
  File("node.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {generateName: n-}\n"
       "spec: {taints: [{key: own, effect: NoSchedule}]}\nstatus: {capacity: {cpu: \"4\"}}\n");
  const LiveOutcome outcome =
      Run("  - opcode: createNodes\n    count: 1\n    nodeTemplatePath: node.yaml\n"
          "    labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}\n");
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  EXPECT_THAT(cluster_.Requests("POST /api/v1/nodes"),
              ElementsAre(AllOf(HasSubstr("\"kubernetes.io/hostname\":\"n-0\""), HasSubstr("\"zone\":\"a\""))));
  EXPECT_THAT(
      cluster_.Requests("PATCH /api/v1/nodes/n-0"),
      ElementsAre(AllOf(HasSubstr(R"("taints":[{"key":"own","effect":"NoSchedule"}])"), HasSubstr("\"uid\":\""))));
}

TEST_F(LiveRunTest, DeletionsAreAtOnceAndOfOurOwnOnly) {
  ASSERT_TRUE(Run(kSmall).result.ok());
  const std::vector<std::string> deletions = cluster_.Requests("DELETE ");
  EXPECT_THAT(deletions, SizeIs(2 + 3 + 1));
  for (const std::string& deletion : deletions)
    EXPECT_THAT(deletion, AllOf(HasSubstr("\"gracePeriodSeconds\":0"), HasSubstr(R"("preconditions":{"uid":"u)")));
}

TEST_F(LiveRunTest, WhatExistsAlreadyIsNamedAndStays) {
  cluster_.Put("/api/v1/nodes/node-0-1", R"({"metadata":{"name":"node-0-1","uid":"theirs"}})");
  EXPECT_EQ(ErrorOf(kSmall),
            "[0].workloadTemplate[0]: Node node-0-1 exists already, and was not made by this run: it is left as it is");
  EXPECT_THAT(cluster_.Paths(), ElementsAre("/api/v1/nodes/node-0-1"));
  EXPECT_THAT(cluster_.Requests("DELETE /api/v1/nodes/node-0-1"), IsEmpty());
}

TEST_F(LiveRunTest, AnObjectWhoseAnswerIsLostIsFoundAgain) {
  cluster_.rules = {{"POST", "/api/v1/nodes", {0, "", ""}, 1, true},
                    {"POST", "/api/v1/namespaces/namespace-1/pods", {0, "", ""}, 1, true},
                    {"POST", "/api/v1/namespaces/namespace-1/pods", {500, "", ""}, 1, false}};
  const LiveOutcome outcome = Run(kSmall);
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  EXPECT_EQ(outcome.result->nodes, 2u);
  EXPECT_EQ(outcome.result->scheduled, 3u);
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, PodsWaitForTheServiceAccountOfTheirNamespace) {
  cluster_.rules = {{"POST",
                     "/api/v1/namespaces/namespace-1/pods",
                     {403, client::StatusJson(403, "error looking up service account namespace-1/default"), ""},
                     2,
                     false}};
  EXPECT_EQ(ErrorOf(kSmall), "no error");
}

TEST_F(LiveRunTest, PodsThatNobodyBindsEndTheRun) {
  cluster_.binds = false;
  options_.timeout = Duration::Seconds(1);  // in which the watch shows them
  EXPECT_EQ(ErrorOf(kSmall),
            "[0].workloadTemplate[1]: after 1s 3 pods are still pending, among them namespace-1/pod-2, which no "
            "scheduler has tried");
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, ARefusedObjectEndsTheRunAndTheRestGoes) {
  cluster_.rules = {{"POST",
                     "/api/v1/namespaces/namespace-1/pods",
                     {422, client::StatusJson(422, "spec.containers: Required value"), ""},
                     1,
                     false}};
  EXPECT_THAT(ErrorOf(kSmall), HasSubstr("[0].workloadTemplate[1]: Pod namespace-1/pod-"));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, AnInterruptedRunDeletesWhatItMade) {
  options_.interruptions = &interruptions_;
  std::vector<std::string> told;
  options_.warn = [&](const std::string& sentence) { told.push_back(sentence); };
  cluster_.binds = false;
  cluster_.on_request = [this](const client::FakeRequest& request) {
    if (request.method == "POST" && request.target.find("/pods") != std::string::npos) interruptions_ = 1;
  };
  EXPECT_EQ(ErrorOf(kSmall), "[0].workloadTemplate[1]: interrupted");
  EXPECT_THAT(told, Contains(HasSubstr("interrupted: what was made is deleted first")));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, ASecondInterruptionLeavesTheRestAndNamesIt) {
  options_.interruptions = &interruptions_;
  cluster_.on_request = [this](const client::FakeRequest& request) {
    if (request.method == "DELETE") interruptions_ = 2;
  };
  const LiveOutcome outcome = Run(kSmall);
  EXPECT_THAT(outcome.left, Contains("Namespace namespace-1"));
  EXPECT_THAT(outcome.left, Contains("Node node-0-0"));
}

TEST_F(LiveRunTest, WhatCannotBeDeletedIsNamed) {
  cluster_.rules = {{"DELETE", "/api/v1/nodes/node-0-1", {403, client::StatusJson(403, "not you"), ""}, 1, false}};
  const LiveOutcome outcome = Run(kSmall);
  EXPECT_TRUE(outcome.result.ok());
  EXPECT_THAT(outcome.left, ElementsAre("Node node-0-1: not you"));
  EXPECT_THAT(cluster_.Paths(), ElementsAre("/api/v1/nodes/node-0-1"));
}

TEST_F(LiveRunTest, AServerThatDoesNotLetUsInIsAskedForNothingElse) {
  cluster_.rules = {{"GET", "/api/v1/namespaces", {403, client::StatusJson(403, "not you"), ""}, 1, false}};
  EXPECT_EQ(ErrorOf(kSmall), "test: " + cluster_.config().server + ": not you");
  EXPECT_THAT(cluster_.Requests("POST"), IsEmpty());
}

TEST_F(LiveRunTest, AProcessThatIsNotThereIsAnErrorBeforeAnythingIsMade) {
  options_.pid = 99'999'999;
  EXPECT_EQ(ErrorOf(kSmall), "process 99999999 is not there, or has ended");
  EXPECT_THAT(cluster_.Requests("POST"), IsEmpty());
}

TEST_F(LiveRunTest, TheProcessIsMeasuredWhereItIsKnown) {
  options_.pid = ::getpid();
  const LiveOutcome outcome = Run(kSmall);
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  ASSERT_TRUE(outcome.result->live->peak_mb);
  EXPECT_GT(*outcome.result->live->peak_mb, 1);
}

TEST_F(LiveRunTest, AVolumeAndItsClaimAreBoundBeforeThePodComes) {
  File("pod.yaml", PodText("generateName: p-"));
  File("pv.yaml", "apiVersion: v1\nkind: PersistentVolume\nspec: {csi: {driver: d}, capacity: {storage: 1Gi}}\n");
  File("pvc.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {accessModes: [ReadWriteOnce]}\n");
  EXPECT_EQ(ErrorOf("  - {opcode: createPods, count: 1, namespace: ns, podTemplatePath: pod.yaml,\n"
                    "     persistentVolumeTemplatePath: pv.yaml, persistentVolumeClaimTemplatePath: pvc.yaml}\n"),
            "no error");
  EXPECT_THAT(cluster_.Requests("POST /api/v1/persistentvolumes"),
              ElementsAre(AllOf(HasSubstr(R"("volumeHandle":"ns-vol-0")"), HasSubstr(R"("name":"pvc-0")"))));
  EXPECT_THAT(cluster_.Requests("PATCH /api/v1/namespaces/ns/persistentvolumeclaims/pvc-0/status"),
              ElementsAre(HasSubstr(R"("phase":"Bound")")));
  EXPECT_THAT(cluster_.Requests("POST /api/v1/namespaces/ns/pods"), ElementsAre(HasSubstr(R"("claimName":"pvc-0")")));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, PrioritiesInNumbersComeWithAClass) {
  File("pod.yaml", PodText("generateName: p-", "priority: -5, "));
  EXPECT_EQ(ErrorOf("  - {opcode: createPods, count: 3, podTemplatePath: pod.yaml}\n"), "no error");
  EXPECT_THAT(cluster_.Requests("POST /apis/scheduling.k8s.io/v1/priorityclasses"),
              ElementsAre(AllOf(HasSubstr(R"("name":"berth-bench-minus-5")"), HasSubstr(R"("value":-5)"))));
  EXPECT_THAT(cluster_.Requests("POST /api/v1/namespaces/namespace-0/pods"),
              Contains(HasSubstr(R"("priorityClassName":"berth-bench-minus-5")")).Times(3));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, PodsGoAsTheOpsSayAndFinalizersLast) {
  File("kept.yaml", PodText("generateName: kept-, labels: {go: \"no\"}"));
  File("held.yaml", PodText("generateName: held-, labels: {go: \"yes\"}, finalizers: [example.com/wait]"));
  EXPECT_EQ(ErrorOf("  - {opcode: createPods, count: 2, namespace: ns, podTemplatePath: kept.yaml}\n"
                    "  - {opcode: createPods, count: 2, namespace: ns, podTemplatePath: held.yaml}\n"
                    "  - {opcode: deletePods, namespace: ns, labelSelector: {go: \"yes\"}, deletePodsPerSecond: 100}\n"
                    "  - {opcode: createAny, namespace: ns, templatePath: kept.yaml}\n"),
            "no error");
  const std::vector<std::string> created = cluster_.Requests("POST /api/v1/namespaces/ns/pods");
  EXPECT_THAT(created, SizeIs(5));
  EXPECT_THAT(cluster_.Requests("DELETE /api/v1/namespaces/ns/pods/held-2"), SizeIs(2));  // by the op, and at the end
  EXPECT_THAT(cluster_.Requests("DELETE /api/v1/namespaces/ns/pods/kept-0"), SizeIs(1));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, ChurnComesAndGoesUntilTheEnd) {
  File("pod.yaml", PodText("generateName: churned-"));
  File("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: shaky}\n");
  EXPECT_EQ(ErrorOf("  - {opcode: churn, mode: recreate, number: 1, intervalMilliseconds: 10, namespace: c,\n"
                    "     templatePaths: [pod.yaml, node.yaml]}\n"
                    "  - {opcode: sleep, duration: 1s}\n"),
            "no error");
  EXPECT_GE(cluster_.Requests("POST /api/v1/namespaces/c/pods").size(), 2u);
  EXPECT_GE(cluster_.Requests("DELETE /api/v1/nodes/shaky").size(), 2u);
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, ABarrierWaitsForThePodsThatItNames) {
  File("gated.yaml", PodText("generateName: gated-, labels: {type: gated}", "schedulingGates: [{name: hold}], "));
  const std::string ops =
      "  - {opcode: createPods, count: 1, namespace: ns, podTemplatePath: gated.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: createPods, count: 2, namespace: others, skipWaitToCompletion: true}\n";
  EXPECT_EQ(ErrorOf(ops + "  - {opcode: barrier, namespaces: [others]}\n"), "no error");
  options_.timeout = Duration::Millis(300);
  EXPECT_THAT(ErrorOf(ops + "  - {opcode: barrier, labelSelector: {type: gated}}\n"),
              HasSubstr("[0].workloadTemplate[2]: after 300ms 1 pod is still pending, among them ns/gated-"));
  EXPECT_THAT(ErrorOf("  - {opcode: barrier, namespaces: [nowhere]}\n"), HasSubstr("unknown namespace nowhere"));
}

TEST_F(LiveRunTest, UpdatesPutTheObjectAnewWithItsStatus) {
  File("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nstatus: {capacity: {cpu: \"1\"}}\n");
  File("larger.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nstatus: {capacity: {cpu: \"8\"}}\n");
  File("none.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: none}\n");
  const std::string create = "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n";
  EXPECT_EQ(ErrorOf(create + "  - {opcode: updateAny, templatePath: larger.yaml}\n"), "no error");
  EXPECT_THAT(cluster_.Requests("PUT /api/v1/nodes/one?"), SizeIs(1));
  EXPECT_THAT(cluster_.Requests("PUT /api/v1/nodes/one/status"), ElementsAre(HasSubstr(R"("cpu":"8")")));
  EXPECT_THAT(ErrorOf(create + "  - {opcode: updateAny, templatePath: none.yaml}\n"),
              HasSubstr("Node none is not there, so it cannot be updated"));
}

TEST_F(LiveRunTest, UpdatesOfPodsKeepWhatTheServerHasAdded) {
  File("gated.yaml", PodText("name: p", "nodeSelector: {kept: \"yes\"}, schedulingGates: [{name: hold}], "));
  File("free.yaml", PodText("name: p, labels: {now: free}", "tolerations: [{key: t, operator: Exists}], "));
  EXPECT_EQ(ErrorOf("  - {opcode: createPods, count: 1, namespace: ns, podTemplatePath: gated.yaml,\n"
                    "     skipWaitToCompletion: true}\n"
                    "  - {opcode: updateAny, namespace: ns, templatePath: free.yaml}\n"),
            "no error");
  EXPECT_THAT(cluster_.Requests("PUT /api/v1/namespaces/ns/pods/p?"),
              ElementsAre(AllOf(HasSubstr(R"("schedulingGates":[])"), HasSubstr(R"("nodeSelector":{"kept":"yes"})"),
                                HasSubstr(R"("tolerations":[{"key":"t","operator":"Exists"}])"),
                                HasSubstr(R"("labels":{"now":"free"})"))));
}

TEST_F(LiveRunTest, ASteadyStateReplacesPodsThatAreBound) {
  const LiveOutcome outcome =
      Run("  - {opcode: createPods, count: 2, steadyState: true, duration: 1s, collectMetrics: true}\n");
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  EXPECT_GT(outcome.result->scheduled, 2u);
  EXPECT_EQ(outcome.result->pods, outcome.result->scheduled + outcome.result->unschedulable);
  EXPECT_GE(outcome.result->live->window_s, 1);
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, AnObjectWithoutANameIsNeverPosted) {
  File("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n");  // which is false in YAML
  EXPECT_EQ(ErrorOf("  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"),
            "[0].workloadTemplate[0]: Node: metadata.name: must be a name, got false");
  EXPECT_THAT(cluster_.Requests("POST"), IsEmpty());
  EXPECT_THAT(cluster_.Requests("DELETE"), IsEmpty());
}

TEST_F(LiveRunTest, WhatIsNotBuiltIsSaidAndNothingIsLeft) {
  File("pod.yaml", PodText("generateName: p-", "resourceClaims: [{name: gpu}], "));
  const LiveOutcome outcome =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 1, podTemplatePath: pod.yaml}\n");
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().text();
  EXPECT_THAT(outcome.result->not_built, HasSubstr("pod resourceClaims: dynamic resource allocation"));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

TEST_F(LiveRunTest, NamespacesThatNobodyCleansUpAreReleased) {
  cluster_.has_controller = false;
  LiveLoop loop(clock_);
  auto requests = LiveRequests::Connect(cluster_.config(), loop.inbox(), nullptr);
  ASSERT_TRUE(requests.ok());
  LiveObjects objects(**requests, loop, "mark");
  objects.Create(Kind::kNamespace, Value::Object({{"metadata", Value::Object({{"name", Value::String("ns")}})}}),
                 [](const Written& written) { EXPECT_TRUE(written.error.ok()); });
  EXPECT_THAT(CleanUp(objects, loop, [] { return false; }, {Duration::Seconds(20), Duration::Millis(10)}), IsEmpty());
  EXPECT_THAT(cluster_.Requests("PUT /api/v1/namespaces/ns/finalize"), SizeIs(1));
  EXPECT_THAT(cluster_.Paths(), IsEmpty());
}

}  // namespace
}  // namespace berth::bench
