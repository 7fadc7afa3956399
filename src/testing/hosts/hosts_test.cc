// SPDX-License-Identifier: Apache-2.0
// Plugins in every host that berth/testing.h offers: equal answers, and what the simulator finds out besides.
#include "testing/hosts/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace berth {
namespace {

using ::testing::HasSubstr;

// Nodes above 30 degrees are out. Says what it reads, so that the answers are remembered.
class Heat final : public NodePlugin {
 public:
  static constexpr Reason kHot{"node(s) were hot", Remedy::kNone};
  Verdict FilterNode(const Pod&, NodeView node) const override { return Celsius(node) > 30 ? kHot : kFits; }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return 100 - Celsius(node); }
  Depends DependsOn(Point) const override { return Depends::OnRow(row_field::kLabels); }
  bool Sign(const Pod&, Signature&) const override { return true; }

 private:
  static int64_t Celsius(NodeView node) { return node.IntLabel("celsius").value_or(0); }
};

// At most two pods on a node, nominated ones included; namespaces may be closed altogether.
class Couples final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr Reason kFull{"node(s) had two pods already"};
  PreFilterOutcome PreFilter(const Cycle& cycle) const override {
    const Namespace* ns = cycle.snapshot().objects<Namespace>().Find(cycle.pod().namespace_());
    if (ns && ns->meta.labels.Has("alone")) return PreFilterOutcome::Skip();
    return PreFilterOutcome::Ok();
  }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch& nodes, Rejections& out) const override {
    const VerdictId full = out.Intern(kFull);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.active()[i] && nodes.pods(i).size() >= 2) out.Reject(i, full);
    return Error::Ok();
  }
};

// Reads labels and says that it reads taints.
class Liar final : public NodePlugin {
 public:
  Verdict FilterNode(const Pod&, NodeView node) const override {
    return node.Label("x") ? Verdict(Code::kUnschedulable, "x") : Verdict();
  }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return node.Label("x") ? 1 : 2; }
  Depends DependsOn(Point) const override { return Depends::OnRow(row_field::kTaints); }
  bool Sign(const Pod&, Signature&) const override { return true; }
};

class Broken final : public NodePlugin {
 public:
  Verdict FilterNode(const Pod&, NodeView) const override { return Verdict::Fail("the sensor is gone"); }
};

TEST(HostsTest, EveryHostGivesTheSameVerdictOfANode) {
  const struct {
    const char* name;
    Node node;
    Verdict want;
  } cases[] = {
      {"cool", MakeNode("n").Label("celsius", "20"), kFits},
      {"hot", MakeNode("n").Label("celsius", "31"), Heat::kHot},
      {"no reading", MakeNode("n"), kFits},
  };
  for (const auto& c : cases) {
    for (const Host host : kAllHosts) {
      SCOPED_TRACE(::testing::Message() << c.name << ", host " << ToString(host));
      EXPECT_EQ(FilterOne(host, Heat(), MakePod(), c.node), c.want);
    }
  }
}

TEST(HostsTest, EveryHostShowsPodsNominationsAndOtherObjects) {
  TestCluster cluster;
  cluster.Add(MakeNode("empty")).Add(MakeNode("one")).Add(MakeNode("two"));
  cluster.Add(MakePod("a").OnNode("one")).Add(MakePod("b").OnNode("two")).Add(MakePod("c").OnNode("two"));
  const std::map<std::string, Verdict> want = {{"empty", kFits}, {"one", kFits}, {"two", Couples::kFull}};
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    EXPECT_EQ(FilterAll(host, Couples(), MakePod(), cluster), want);
  }

  cluster.Add(MakePod("d").Nominated("one").Priority(5));
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    EXPECT_EQ(FilterAll(host, Couples(), MakePod(), cluster).at("one"), Couples::kFull);
  }

  Namespace ns;
  ns.meta.name = "quiet";
  ns.meta.labels = Labels({{"alone", ""}});
  cluster.AddObject(ns);
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    EXPECT_EQ(FilterAll(host, Couples(), MakePod().Namespace("quiet"), cluster).at("two"), kFits);
  }
}

// Fits where the node's note is the pod's, if it says that it reads both.
class Notes final : public NodePlugin {
 public:
  static constexpr Reason kOther{"node(s) had another note"};
  explicit Notes(AnnotationKeys keys) : keys_(std::move(keys)) {}
  AnnotationKeys Annotations() const override { return keys_; }
  Verdict FilterNode(const Pod& pod, NodeView node) const override {
    const std::string* of_pod = pod.Annotation("note");
    const std::string* of_node = node.Annotation("note");
    return of_pod && of_node && *of_pod == *of_node ? kFits : kOther;
  }

 private:
  const AnnotationKeys keys_;
};

TEST(HostsTest, EveryHostShowsTheAnnotationsThatThePluginDeclares) {
  TestCluster cluster;
  cluster.Add(MakeNode("a").Annotation("note", "x")).Add(MakeNode("b").Annotation("note", "y"));
  const Pod pod = MakePod().Annotation("note", "x").Annotation("other", "y");
  const std::map<std::string, Verdict> want = {{"a", kFits}, {"b", Notes::kOther}};
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    // Whatever another plugin was shown before.
    EXPECT_EQ(FilterAll(host, Heat(), pod, cluster).at("b"), kFits);
    EXPECT_EQ(FilterAll(host, Notes({{"note"}, {"note"}}), pod, cluster), want);
  }
  // Others are absent.
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    EXPECT_FALSE(FilterAll(host, Notes({{"note"}, {}}), pod, cluster).at("a").fits());
    EXPECT_FALSE(FilterAll(host, Notes({{}, {"note"}}), pod, cluster).at("a").fits());
  }
}

TEST(HostsTest, EveryHostGivesTheSameRawScores) {
  TestCluster cluster;
  cluster.Add(MakeNode("cool").Label("celsius", "18")).Add(MakeNode("warm").Label("celsius", "26"));
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    const ScoreResult scores = ScoreAll(host, Heat(), MakePod(), cluster);
    EXPECT_EQ(scores.error, "");
    EXPECT_EQ(scores.raw, (std::map<std::string, int64_t>{{"cool", 82}, {"warm", 74}}));
    const bool tenths = host == Host::kExtender;
    EXPECT_EQ(scores.normalized,
              (std::map<std::string, int64_t>{{"cool", tenths ? 8 : 82}, {"warm", tenths ? 7 : 74}}));
  }
}

TEST(HostsTest, TheSimulatorSaysWhatAPluginReadsWithoutDeclaringIt) {
  TestCluster cluster;
  cluster.Add(MakeNode("n")).Add(MakeNode("m"));
  const Verdict verdict = FilterAll(Host::kSimulator, Liar(), MakePod(), cluster).at("n");
  EXPECT_EQ(verdict.code(), Code::kError);
  EXPECT_THAT(verdict.message(), HasSubstr("node labels in Filter, which it does not declare"));
  EXPECT_THAT(ScoreAll(Host::kSimulator, Liar(), MakePod(), cluster).error,
              HasSubstr("node labels in Score, which it does not declare"));
}

TEST(HostsTest, APluginThatFailsIsAnErrorInEveryHost) {
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    const Verdict verdict = FilterOne(host, Broken(), MakePod(), MakeNode("n"));
    EXPECT_EQ(verdict.code(), Code::kError);
    EXPECT_THAT(verdict.message(), HasSubstr("the sensor is gone"));
  }
}

TEST(HostsTest, TheSimulatorSaysWhenItCannotAsk) {
  const Verdict named = FilterOne(Host::kSimulator, Heat(), MakePod().OnNode("n"), MakeNode("n"));
  EXPECT_EQ(named.code(), Code::kError);
  EXPECT_THAT(named.message(), HasSubstr("never tried to place default/pod"));
  TestCluster cluster;
  cluster.Add(MakeNode("n")).Add(MakePod().OnNode("n"));
  EXPECT_THAT(FilterAll(Host::kSimulator, Heat(), MakePod(), cluster).at("n").message(), HasSubstr("already exists"));
}

}  // namespace
}  // namespace berth
