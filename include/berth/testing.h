// SPDX-License-Identifier: Apache-2.0
// For tests of plugins: builders for pods and nodes, a small cluster, and questions to one plugin.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/host/cluster_object.h"
#include "berth/sdk.h"

namespace berth {
inline namespace v1 {

// `MakeNode("n").Label("zone", "a").Capacity({{"cpu", "4"}})` converts to Node. Without Capacity a node has 4 cpu,
// 16Gi memory and room for 110 pods.
class MakeNode {
 public:
  explicit MakeNode(std::string name);
  MakeNode& Label(const std::string& key, const std::string& value);
  MakeNode& Annotation(const std::string& key, const std::string& value);
  MakeNode& Taint(std::string key, std::string value, TaintEffect effect);
  MakeNode& Unschedulable();
  // Replaces the capacity. Quantities that do not parse abort the test.
  MakeNode& Capacity(const std::vector<std::pair<std::string, std::string>>& amounts);
  MakeNode& Image(std::string name, int64_t size_bytes);
  MakeNode& Feature(std::string name);
  operator Node() const { return Build(); }  // NOLINT: implicit on purpose
  Node Build() const;

 private:
  Node node_;
  std::vector<Labels::Entry> labels_, annotations_;
};

// `MakePod("p").Request({{"cpu", "1"}}).OnNode("n")` converts to Pod. Namespace `default`, one container.
class MakePod {
 public:
  explicit MakePod(std::string name = "pod");
  MakePod& Namespace(std::string ns);
  MakePod& Uid(std::string uid);
  MakePod& Label(const std::string& key, const std::string& value);
  MakePod& Annotation(const std::string& key, const std::string& value);
  MakePod& Priority(int32_t priority);
  MakePod& OnNode(std::string node);
  MakePod& Nominated(std::string node);
  MakePod& Terminating();
  MakePod& StartTime(Time time);
  // Requests of the first container; replaces earlier ones.
  MakePod& Request(const std::vector<std::pair<std::string, std::string>>& amounts);
  // A further container with these requests.
  MakePod& Container(const std::vector<std::pair<std::string, std::string>>& amounts, std::string image = "");
  MakePod& InitContainer(const std::vector<std::pair<std::string, std::string>>& amounts, bool sidecar = false);
  MakePod& Image(std::string image);
  MakePod& HostPort(int32_t port, std::string protocol = "TCP", std::string ip = "");
  MakePod& NodeSelector(const std::string& key, const std::string& value);
  MakePod& RequireNode(NodeSelectorTerm term);  // ORed with earlier ones
  MakePod& PreferNode(int32_t weight, NodeSelectorTerm term);
  MakePod& Tolerate(Toleration toleration);
  MakePod& PodAffinity(PodAffinityTerm term);
  MakePod& PodAntiAffinity(PodAffinityTerm term);
  MakePod& PreferPodAffinity(int32_t weight, PodAffinityTerm term);
  MakePod& PreferPodAntiAffinity(int32_t weight, PodAffinityTerm term);
  MakePod& Spread(TopologySpreadConstraint constraint);
  MakePod& Gate(std::string name);
  // Anything else.
  template <class Fn>
  MakePod& With(Fn&& fn) {
    fn(pod_);
    return *this;
  }
  operator Pod() const { return Build(); }  // NOLINT: implicit on purpose
  Pod Build() const;

 private:
  Pod pod_;
  std::vector<Labels::Entry> labels_, annotations_;
  std::vector<Labels::Entry> node_selector_;
};

// Small helpers for terms and selectors.
Requirement Require(std::string key, SelectorOp op, std::vector<std::string> values = {});
LabelSelector SelectLabels(std::vector<Labels::Entry> match_labels);

struct ScoreResult;

// A cluster to judge on. Order of addition is upstream's insertion order. As in every host, a plugin that is asked
// about it sees the annotations that it declares, and no others.
class TestCluster {
 public:
  TestCluster();
  ~TestCluster();
  TestCluster& Add(Node node);
  // A pod with a node name is placed, one with a nomination is nominated; uids are invented where absent.
  TestCluster& Add(Pod pod);
  // An object of any kind, pods and nodes too.
  template <class T>
  TestCluster& AddObject(T object) {
    return Put(std::make_shared<const T>(std::move(object)));
  }
  Snapshot snapshot() const;

 private:
  friend std::map<std::string, Verdict> FilterAll(const Plugin&, const Pod&, const TestCluster&);
  friend ScoreResult ScoreAll(const Plugin&, const Pod&, const TestCluster&);
  TestCluster& Put(const ClusterObject& object);
  // From now on plugins are shown only annotations of these keys.
  void Show(const AnnotationKeys& keys) const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// How GoogleTest shows them: `Unschedulable: rack is too hot`, or `fits`.
void PrintTo(const Verdict& verdict, std::ostream* out);
void PrintTo(const Reason& reason, std::ostream* out);

// What one plugin says, through the same code that runs it in production. Node name to verdict; a PreFilter rejection
// is every node's verdict. A plugin failure is a verdict of code Error.
std::map<std::string, Verdict> FilterAll(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);
Verdict FilterOne(const Plugin& plugin, const Pod& pod, const Node& node);

// Scores after Normalize, or raw ones; empty when PreScore skipped. Every node takes part.
struct ScoreResult {
  std::map<std::string, int64_t> raw, normalized;
  std::string error;
};
ScoreResult ScoreAll(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);

// Where plugins run. Of the same plugin every host gets the same answer; a table of cases over kAllHosts shows it.
// Link berth::testing.
enum class Host : uint8_t {
  kNative,     // asked on its own, as the functions above and `explain --offline` do
  kExtender,   // behind kube-scheduler: a request with the cluster's nodes, and the reply
  kSimulator,  // in the scheduler that `sim` and production run, with --verify: an answer that is remembered wrongly,
               // and a read that is not declared, are verdicts of code Error that say so
};
inline constexpr Host kAllHosts[] = {Host::kNative, Host::kExtender, Host::kSimulator};
std::string_view ToString(Host host);

// As the functions above. The host has an object of its own that passes every call on to `plugin`.
//
// The protocol of extenders leaves some things out: several reasons are one text, a rejection by PreFilter is a
// failure, and scores other than raw ones are 0 to 10. A pod that names its node is placed by nobody, so the simulator
// fails.
std::map<std::string, Verdict> FilterAll(Host host, const Plugin& plugin, const Pod& pod, const TestCluster& cluster);
Verdict FilterOne(Host host, const Plugin& plugin, const Pod& pod, const Node& node);
ScoreResult ScoreAll(Host host, const Plugin& plugin, const Pod& pod, const TestCluster& cluster);

// A clock that stands still until it is moved.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time now = {1'767'225'600'000'000'000}) : now_(now) {}  // 2026-01-01T00:00:00Z
  Time Now() const override { return now_; }
  void Advance(Duration d) { now_ = now_ + d; }

 private:
  Time now_;
};

// Keeps what plugins log, whatever the level.
class TestLog final : public LogSink {
 public:
  TestLog();
  ~TestLog() override;
  void Write(const LogRecord& record) override;
  // As the program's text log has them, but for time, process and place: `I "Rack is hot" celsius=40`.
  std::vector<std::string> lines() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A Handle for constructing plugins in tests: manual clock, a fixed random sequence, nobody waiting, binds refused.
// `log` outlives it; null: what plugins log goes to standard error.
std::unique_ptr<Handle> MakeTestHandle(std::vector<std::string> extender_ignored_resources = {},
                                       LogSink* log = nullptr);

}  // namespace v1
}  // namespace berth
