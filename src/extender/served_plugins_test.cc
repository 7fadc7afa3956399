// SPDX-License-Identifier: Apache-2.0
// Every built-in plugin that the protocol can carry, asked natively and through the extender in both shapes: equal
// verdicts, equal scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/decode.h"
#include "extender/extender_service.h"
#include "extender/extender_test_util.h"
#include "framework/judge.h"
#include "plugins/builtin.h"

namespace berth::extender {
namespace {

using framework::Judge;
using framework::Judgement;

constexpr const char* kNodes[] = {
    R"({"metadata":{"name":"plain","labels":{"zone":"a","kubernetes.io/hostname":"plain"}},"spec":{},
        "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})",
    R"({"metadata":{"name":"small","labels":{"zone":"b","disk":"ssd","kubernetes.io/hostname":"small"}},
        "status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"110"},
        "images":[{"names":["registry.example/app:1"],"sizeBytes":800000000}]}})",
    R"({"metadata":{"name":"tainted","labels":{"zone":"a","disk":"hdd"}},
        "spec":{"taints":[{"key":"team","value":"x","effect":"NoSchedule"}]},
        "status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})",
    R"({"metadata":{"name":"soft","labels":{"zone":"b","disk":"ssd"}},
        "spec":{"taints":[{"key":"old","effect":"PreferNoSchedule"}]},
        "status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110","acme.example/gpu":"2"}}})",
    R"({"metadata":{"name":"cordoned"},"spec":{"unschedulable":true},
        "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})",
};

constexpr struct {
  const char* name;
  const char* pod;
} kCases[] = {
    {"a pod that asks for nothing",
     R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{}]}})"},
    {"cpu and memory", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":"2","memory":"2Gi"}}}]}})"},
    {"an extended resource", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"acme.example/gpu":"1"},"limits":{"acme.example/gpu":"1"}}}]}})"},
    {"a node selector", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"nodeSelector":{"disk":"ssd"},
        "containers":[{"name":"c"}]}})"},
    {"tolerations", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"tolerations":[{"key":"team",
        "operator":"Exists"},{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}],
        "containers":[{"name":"c"}]}})"},
    {"a node by name", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"nodeName":"soft",
        "containers":[{"name":"c"}]}})"},
    {"preferred affinity", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"affinity":{"nodeAffinity":{
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[
        {"key":"zone","operator":"In","values":["b"]}]}}]}},"containers":[{"name":"c"}]}})"},
    {"one node by field", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"affinity":{"nodeAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":
        "metadata.name","operator":"In","values":["small"]}]}]}}},"containers":[{"name":"c"}]}})"},
    {"an image and a host port",
     R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "image":"registry.example/app:1","ports":[{"containerPort":80,"hostPort":80}]}]}})"},
    {"anti-affinity and spread", R"({"metadata":{"name":"p","namespace":"d","uid":"u","labels":{"app":"web"}},"spec":{
        "affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{
        "matchLabels":{"app":"web"}},"topologyKey":"kubernetes.io/hostname"}]}},"topologySpreadConstraints":[{
        "maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{
        "app":"web"}}}],"containers":[{"name":"c"}]}})"},
};

// Pods that run already, for the shapes that see them.
constexpr const char* kRunning[] = {
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"d","uid":"w1","labels":{"app":"web"}},
        "spec":{"nodeName":"plain","containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":80}],
        "resources":{"requests":{"cpu":"3"}}}]}})",
};

constexpr PointSet kCarried =
    Bit(Point::kPreFilter) | Bit(Point::kFilter) | Bit(Point::kPreScore) | Bit(Point::kScore) | Bit(Point::kBind);

template <class T>
T Take(AnyObject object);
template <>
Node Take<Node>(AnyObject object) {
  return std::get<Node>(std::move(object));
}
template <>
Pod Take<Pod>(AnyObject object) {
  return std::get<DecodedPod>(std::move(object)).pod;
}
template <class T>
T Decoded(const std::string& json) {
  DecodedObject decoded = DecodeObject(json, DecodeMode::kPeer);
  for (const LoadError& error : decoded.errors) ADD_FAILURE() << error.Text();
  return Take<T>(std::move(decoded.object));
}
// With the type that objects in requests leave out.
std::string Typed(const char* kind, std::string json) {
  return json.insert(1, std::string(R"("apiVersion":"v1","kind":")") + kind + "\",");
}

// What was said: node to `fits` or the reasons, or one sentence for the pod as a whole.
using Answers = std::map<std::string, std::string>;

Answers Native(const Judgement& judgement, const Snapshot& snapshot, const VerdictTable& table) {
  if (judgement.kind == Judgement::Kind::kFailed) return {{"", judgement.message}};
  if (judgement.outright) return {{"", judgement.outright->verdict.message()}};
  Answers answers;
  for (const Row row : snapshot.order()) {
    const VerdictId id = judgement.verdicts[row];
    const Verdict& verdict = id == kNotJudged ? judgement.absent : table.Get(id);
    const bool unresolvable = verdict.code() == Code::kUnschedulableAndUnresolvable;
    answers[snapshot.node(row).name()] = verdict.fits() ? "fits" : (unresolvable ? "!" : "") + verdict.message();
  }
  return answers;
}

Answers Served(const ExtenderArgs& args, const FilterResult& result) {
  if (!result.error.empty()) return {{"", result.error}};
  Answers answers;
  for (const size_t place : result.passed) answers[args.node_name(place)] = "fits";
  for (const FilterResult::Failed& failed : result.failed) {
    answers[args.node_name(failed.place)] = (failed.unresolvable ? "!" : "") + result.texts[failed.text];
  }
  return answers;
}

class ServedPluginsTest : public ::testing::Test {
 protected:
  ServedPluginsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    for (const char* node : kNodes) {
      nodes_.Add(Decoded<Node>(Typed("Node", node)));
      items_ += (items_.empty() ? "" : ",") + std::string(node);
      names_ += (names_.empty() ? "\"" : ",\"") + Decoded<Node>(Typed("Node", node)).name() + "\"";
    }
  }

  // Asks one plugin about one pod. `both`: in both shapes; else by name only.
  void Compare(const std::string& plugin, const std::string& pod_json, bool both) {
    const config::Profile profile = ProfileOf({plugin});
    auto made = ExtenderService::Make(profile, registry_, clock_, &nodes_, nullptr);
    ASSERT_TRUE(made.ok()) << made.error().text();
    ExtenderService& service = *made.value();
    const Pod pod = Decoded<Pod>(Typed("Pod", pod_json));
    const Snapshot snapshot = nodes_.state.snapshot();
    VerdictTable table;
    const Judge judge(service.profile(), table, clock_);
    framework::JudgeOptions options;
    options.post_filter = false;
    const Answers want = Native(judge.Run(pod, snapshot, options), snapshot, table);
    std::vector<Row> rows;
    for (Row row = 0; row < snapshot.rows(); ++row) rows.push_back(row);
    const Judgement scored = judge.Score(pod, snapshot, rows);
    ASSERT_EQ(scored.kind, Judgement::Kind::kFits) << scored.message;

    std::vector<std::string> bodies = {R"({"Pod":)" + pod_json + R"(,"Nodes":null,"NodeNames":[)" + names_ + "]}"};
    if (both) bodies.push_back(R"({"Pod":)" + pod_json + R"(,"Nodes":{"items":[)" + items_ + R"(]},"NodeNames":null})");
    for (std::string& body : bodies) {
      const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
      ASSERT_TRUE(args.ok()) << args.error().text();
      EXPECT_EQ(Served(*args, service.Filter(*args)), want) << body;
      const auto list = service.Prioritize(*args);
      ASSERT_TRUE(list.ok()) << list.error().text();
      ASSERT_EQ(list->size(), rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        // One plugin of weight 1: a total is its score.
        const int64_t total = scored.scores.empty() ? 0 : scored.scores[0].normalized[i];
        EXPECT_EQ(list.value()[i].score, (total + 5) / 10) << list.value()[i].host;
      }
    }
  }

  void CompareAll(bool both) {
    size_t served = 0;
    for (const auto& [name, descriptor] : registry_.all()) {
      if ((descriptor.points & ~kCarried) != 0) continue;
      ++served;
      for (const auto& c : kCases) {
        SCOPED_TRACE(name + ": " + c.name);
        Compare(name, c.pod, both);
      }
    }
    EXPECT_GE(served, 10u);
  }

  Registry registry_;
  ManualClock clock_;
  TestNodes nodes_;
  std::string items_, names_;
};

TEST_F(ServedPluginsTest, VerdictsAndScoresAreTheNativeOnesInBothShapes) { CompareAll(/*both=*/true); }

TEST_F(ServedPluginsTest, NodeNamesSeeThePodsThatRun) {
  for (const char* pod : kRunning) nodes_.Add(Decoded<Pod>(pod));
  CompareAll(/*both=*/false);
}

TEST_F(ServedPluginsTest, OtherBuiltInPluginsAreRefusedByName) {
  for (const auto& [name, descriptor] : registry_.all()) {
    if ((descriptor.points & ~kCarried) == 0) continue;
    const auto made = ExtenderService::Make(ProfileOf({name}), registry_, clock_, &nodes_, nullptr);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_THAT(made.error().text(), ::testing::HasSubstr("plugin \"" + name + "\" cannot be served at "));
  }
}

}  // namespace
}  // namespace berth::extender
