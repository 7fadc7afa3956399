// SPDX-License-Identifier: Apache-2.0
// One plugin that filters and scores by annotations, of the pod and of nodes: the same answers in explain, in the
// simulator and from the extender, in both shapes and from a copy of a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "api/json_value.h"
#include "berth/testing.h"
#include "cli/explain_command.h"
#include "cli/sim_command.h"
#include "extender/extender_service.h"
#include "extender/extender_test_util.h"
#include "extender/plugin_cases_test_util.h"
#include "net/tls_test_util.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kCelsius[] = "acme.example/celsius", kMost[] = "acme.example/max-celsius";

// Keeps pods off nodes that are hotter than the pod allows, and prefers cool ones.
class Racks final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Racks";
  static constexpr Reason kHot{"node(s) were too hot", Remedy::kNone};
  AnnotationKeys Annotations() const override { return {.pods = {kMost}, .nodes = {kCelsius}}; }
  Depends DependsOn(Point) const override { return Depends::OnRow(row_field::kAnnotations); }
  bool Sign(const Pod&, Signature&) const override { return true; }  // which annotations enter without it
  Verdict FilterNode(const Pod& pod, NodeView node) const override {
    return Number(node.Annotation(kCelsius), 0) > Number(pod.Annotation(kMost), 99) ? kHot : kFits;
  }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return 100 - Number(node.Annotation(kCelsius), 0); }

 private:
  static int64_t Number(const std::string* text, int64_t absent) { return text ? std::stoll(*text) : absent; }
};

// Reads what it does not declare, and says whether it saw it.
class Peeks final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Peeks";
  static constexpr Reason kSeen{"node(s) had an annotation that nobody declares", Remedy::kNone};
  Verdict FilterNode(const Pod& pod, NodeView node) const override {
    return pod.Annotation("sim.berth.dev/run-for") || pod.Annotation("acme.example/note") ||
                   node.Annotation("acme.example/note")
               ? kSeen
               : kFits;
  }
};

constexpr char kNodes[] = R"([
{"apiVersion":"v1","kind":"Node","metadata":{"name":"hot","annotations":{"acme.example/celsius":"45","acme.example/note":"x"}},
 "status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"warm","annotations":{"acme.example/celsius":"30"}},
 "status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"cool","annotations":{"acme.example/celsius":"20"}},
 "status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}}])";

std::string AnnotatedPod(const std::string& name, const std::string& annotations) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"d","uid":"u-)" + name +
         R"(","annotations":{)" + annotations + R"(}},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}
std::string Allowing(const std::string& most) { return R"("acme.example/max-celsius":")" + most + "\""; }

std::string ConfigurationOf(const std::string& plugins) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
         "profiles: [{plugins: {multiPoint: {enabled: [" +
         plugins + "]}}}]\n";
}

// Node to its score, or to nothing where it does not fit.
using Scores = std::map<std::string, int64_t>;

class PluginAnnotationsTest : public ::testing::Test {
 protected:
  PluginAnnotationsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    registry_.Add<Racks>();
    registry_.Add<Peeks>();
  }
  std::string Config(const std::string& plugins = "{name: Racks}") const {
    return folder_.Write("config.yaml", ConfigurationOf(plugins));
  }
  Value Explain(const std::string& pods, const std::string& pod, const std::string& config) {
    std::ostringstream out, err;
    EXPECT_EQ(ExplainCommand(
                  {"--offline", "-f", folder_.Write("nodes.json", kNodes), "-f",
                   folder_.Write("pods.json", "[" + pods + "]"), "--config", config, "--pod", "d/" + pod, "-o", "json"},
                  registry_, out, err),
              0)
        << err.str();
    std::vector<FieldError> errors;
    return ParseJson(out.str(), errors);
  }
  Scores Explained(const std::string& pod_text) {
    Scores scores;
    const Value document = Explain(pod_text, "p", Config());
    for (const Value& node : document.Find("nodes")->items()) {
      const Value* racks = node.Find("scores") ? node.Find("scores")->Find("Racks") : nullptr;
      if (node.Find("feasible")->bool_value())
        scores[node.Find("name")->text()] = racks ? std::stoll(racks->Find("raw")->text()) : -1;
    }
    return scores;
  }
  // Through the decoder of requests. `names`: the request has names alone, and the nodes are in the copy of a cluster.
  Scores Served(const std::string& pod_text, bool names) {
    const AnnotationKeys keys = Racks().Annotations();
    extender::TestNodes nodes;
    std::string list;
    for (const DecodedObject& decoded : DecodeDocument(kNodes, DecodeMode::kPeer, keys)) {
      const Node& node = std::get<Node>(decoded.object);
      nodes.Add(node);
      list += (list.empty() ? "\"" : ",\"") + node.name() + "\"";
    }
    std::string body = names ? R"({"Pod":)" + pod_text + R"(,"NodeNames":[)" + list + "]}"
                             : R"({"Pod":)" + pod_text + R"(,"Nodes":{"items":)" + kNodes + "}}";
    extender::ServiceOptions options;
    options.raw_scores = true;
    auto service =
        extender::ExtenderService::Make(extender::ProfileOf({"Racks"}), registry_, clock_, &nodes, nullptr, options);
    if (!service.ok()) {
      ADD_FAILURE() << service.error().text();
      return {};
    }
    const auto args = extender::DecodeExtenderArgs(body, &(*service)->cache(), (*service)->annotations());
    if (!args.ok()) {
      ADD_FAILURE() << args.error().text();
      return {};
    }
    Scores scores;
    const extender::FilterResult passed = (*service)->Filter(*args);
    EXPECT_EQ(passed.error, "");
    const auto priorities = (*service)->Prioritize(*args);
    EXPECT_TRUE(priorities.ok());
    for (const size_t place : passed.passed) {
      for (const extender::HostPriority& priority : *priorities)
        if (priority.host == args->node_name(place)) scores[std::string(priority.host)] = priority.score;
    }
    return scores;
  }
  // Where the simulator's scheduler puts pods: `pod on node`, or why not; and what it said on standard error.
  std::string Simulate(const std::vector<std::string>& args) {
    std::ostringstream out, err;
    code_ = SimCommand(args, registry_, out, err);
    said_ = err.str();
    return out.str();
  }

  Registry registry_;
  net::TestFolder folder_;
  ManualClock clock_;
  int code_ = 0;
  std::string said_;
};

TEST_F(PluginAnnotationsTest, AnswersAlikeInEveryHost) {
  const std::pair<std::string, Scores> cases[] = {
      {"", {{"hot", 55}, {"warm", 70}, {"cool", 80}}},
      {Allowing("30"), {{"warm", 70}, {"cool", 80}}},
      {Allowing("44"), {{"warm", 70}, {"cool", 80}}},
      {Allowing("45") + R"(,"acme.example/celsius":"7")", {{"hot", 55}, {"warm", 70}, {"cool", 80}}},
  };
  for (const auto& [annotations, want] : cases) {
    SCOPED_TRACE(annotations);
    const std::string pod = AnnotatedPod("p", annotations);
    EXPECT_EQ(Explained(pod), want);
    EXPECT_EQ(Served(pod, false), want);
    EXPECT_EQ(Served(pod, true), want);
  }
}

TEST_F(PluginAnnotationsTest, TheSimulatorPlacesByThemAndByTheirChanges) {
  const std::string pods = "[" + AnnotatedPod("any", "") + "," + AnnotatedPod("cautious", Allowing("25")) + "," +
                           AnnotatedPod("arctic", Allowing("5")) + "]";
  folder_.Write("objects.json", kNodes);
  folder_.Write("pods.json", pods);
  const std::string story = folder_.Write("story.yaml",
                                          "apiVersion: berth.dev/v1alpha1\nkind: Scenario\n"
                                          "files: [objects.json, pods.json]\nconfig: config.yaml\n"
                                          "steps:\n"
                                          "- {at: 20s, patch: {kind: Node, name: hot, patch: {metadata: {annotations: "
                                          "{acme.example/celsius: '3'}}}}}\n"
                                          "expect:\n"
                                          "- {at: 10s, pod: d/any, node: cool}\n"
                                          "- {at: 10s, pod: d/cautious, node: cool}\n"
                                          "- {at: 10s, pod: d/arctic, pending: true, message: too hot}\n"
                                          "- {pod: d/arctic, node: hot}\n");
  Config();
  const std::string text = Simulate({story, "--verify"});
  EXPECT_EQ(code_, 0) << text << said_;
  EXPECT_THAT(said_, HasSubstr("decisions made twice, no difference"));
}

// Pods of one template but for their annotation follow each other, and the node's changes between them.
TEST_F(PluginAnnotationsTest, WhatIsRememberedKnowsThem) {
  std::string pods;
  for (int i = 0; i < 12; ++i)
    pods += (pods.empty() ? "" : ",") + AnnotatedPod("p" + std::to_string(i), Allowing(i % 2 == 0 ? "25" : "5"));
  folder_.Write("objects.json", kNodes);
  folder_.Write("pods.json", "[" + pods + "]");
  const std::string story = folder_.Write(
      "story.yaml",
      "apiVersion: berth.dev/v1alpha1\nkind: Scenario\nfiles: [objects.json, pods.json]\nconfig: config.yaml\n"
      "expect:\n- {pod: d/p8, node: cool}\n- {pod: d/p9, pending: true, message: too hot}\n"
      "- {pod: d/p10, node: cool}\n- {pod: d/p11, pending: true}\n");
  Config();
  const std::string text = Simulate({story, "--verify"});
  EXPECT_EQ(code_, 0) << text << said_;
}

TEST_F(PluginAnnotationsTest, WhatNobodyDeclaresReadsAsAbsentAndVerifyNamesIt) {
  const std::string pod = AnnotatedPod("p", R"("sim.berth.dev/run-for":"90s","acme.example/note":"x")");
  const Value explained = Explain(pod, "p", Config("{name: Peeks}"));
  for (const Value& node : explained.Find("nodes")->items()) EXPECT_TRUE(node.Find("feasible")->bool_value());

  folder_.Write("objects.json", kNodes);
  folder_.Write("pods.json", "[" + pod + "]");
  const std::vector<std::string> args = {"-f",       folder_.Path("objects.json"), "-f", folder_.Path("pods.json"),
                                         "--config", folder_.Path("config.yaml")};
  EXPECT_THAT(Simulate(args), HasSubstr("1 pod finished"));
  EXPECT_EQ(code_, 0) << said_;

  std::vector<std::string> verified = args;
  verified.push_back("--verify");
  Simulate(verified);
  EXPECT_EQ(code_, 1);
  EXPECT_THAT(said_, HasSubstr("plugin Peeks read the pod annotation \"acme.example/note\" in Filter, which it "
                               "does not declare"));
}

TEST_F(PluginAnnotationsTest, ATestSeesWhatHostsShow) {
  TestCluster cluster;
  cluster.Add(MakeNode("hot").Annotation(kCelsius, "45").Annotation("acme.example/note", "x"));
  cluster.Add(MakeNode("cool").Annotation(kCelsius, "20"));
  const auto verdicts = FilterAll(Racks(), MakePod("p").Annotation(kMost, "30"), cluster);
  EXPECT_EQ(verdicts.at("hot").message(), "node(s) were too hot");
  EXPECT_TRUE(verdicts.at("cool").fits());
  EXPECT_EQ(ScoreAll(Racks(), MakePod("p"), cluster).raw, (std::map<std::string, int64_t>{{"hot", 55}, {"cool", 80}}));
  for (const auto& [node, verdict] : FilterAll(Peeks(), MakePod("p").Annotation("acme.example/note", "x"), cluster))
    EXPECT_TRUE(verdict.fits()) << node;
  EXPECT_EQ(FilterAll(Racks(), MakePod("p").Annotation(kMost, "30"), cluster).at("hot").message(),
            "node(s) were too hot")
      << "nothing is lost between questions";
}

}  // namespace
}  // namespace berth::cli
