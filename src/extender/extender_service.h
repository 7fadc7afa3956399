// SPDX-License-Identifier: Apache-2.0
// ExtenderService: one profile's plugins, answering the extender protocol's questions. Knows nothing of HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/host/reach.h"
#include "berth/registry.h"
#include "berth/snapshot.h"
#include "config/types.h"
#include "extender/extender_args.h"
#include "extender/extender_reply.h"
#include "extender/node_cache.h"
#include "extender/plugin_timer.h"
#include "extender/request_cluster.h"
#include "framework/host.h"
#include "framework/plugin_indexes.h"
#include "framework/profile.h"
#include "util/deadline.h"
#include "util/metrics.h"

namespace berth::extender {

// What we know of the cluster ourselves: node data for requests that carry names only.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  // Calls `read` once, on this thread, with a snapshot that stands still meanwhile; or says why there is none yet.
  // Thread safety: any thread.
  virtual Error Read(const std::function<void(const Snapshot&)>& read) = 0;
  // The same of a cluster in which these nodes take the place of those of their names. `keep`: they are in memory
  // anyway, and may be kept for the next call.
  virtual Error ReadWith(std::span<const std::shared_ptr<const Node>> nodes, bool keep,
                         const std::function<void(const Snapshot&)>& read) = 0;
  virtual bool ready() const = 0;
};

// The way to the API server for bindings. Nothing is sent after the deadline: whoever asked may have given up. `done`
// is called once, on any thread.
class Binder {
 public:
  virtual ~Binder() = default;
  // The pod as the API server has it; kNotFound when there is none.
  virtual void FindPod(const std::string& ns, const std::string& name, util::Deadline until,
                       std::function<void(Result<std::shared_ptr<const Pod>>)> done) = 0;
  virtual void Bind(const Pod& pod, const std::string& node, util::Deadline until,
                    std::function<void(Verdict)> done) = 0;
};

struct ServiceOptions {
  // Prioritize answers the plugins' own numbers times their weights instead of 0 to 10.
  bool raw_scores = false;
  // Pods of these schedulers may be bound; empty: any.
  std::vector<std::string> scheduler_names = {};
  // Not empty: bind answers this and does nothing.
  std::string bind_refusal = {};
  util::Metrics* metrics = nullptr;  // of the plugins' time; may be null, else it outlives the service
  LogSink* log = nullptr;            // of the plugins; the same
};

// The protocol carries PreFilter, Filter, PreScore, Score and Bind. What plugins see of the cluster:
//
// | they look at | request has Nodes                         | request has NodeNames, and preempt |
// |--------------|-------------------------------------------|------------------------------------|
// | names        | the request's nodes                       | the names, nothing else            |
// | nodes        | the request's nodes                       | the NodeSource's cluster           |
// | the cluster  | the NodeSource's cluster with those nodes | the NodeSource's cluster           |
//
// Without a NodeSource the last row, first column is the request's nodes, without pods; the right column is an error.
//
// Thread safety: all methods; plugins are asked by one thread at a time. A PreFilter plugin that looks at the set of
// nodes and their labels alone is asked about the request's nodes when none of them passes, whatever else we know.
class ExtenderService {
 public:
  // The Error lists what is wrong with the profile: what BuildProfile refuses, and each plugin at an extension point
  // that the protocol cannot carry. `nodes` and `binder` may be null: then questions that need them are answered with
  // an error. REQUIRES: all but the configuration outlive the service.
  static Result<std::unique_ptr<ExtenderService>> Make(const config::Profile& profile, const Registry& registry,
                                                       const Clock& clock, NodeSource* nodes, Binder* binder,
                                                       ServiceOptions options = {});

  // `only_best`: of the nodes that fit only the one with the highest total passes, the first in the request among
  // equals.
  FilterResult Filter(const ExtenderArgs& args, bool only_best = false);
  // One entry per node of the request, in its order; 0 for a node that nobody knows. The names are those of `args`.
  Result<std::vector<HostPriority>> Prioritize(const ExtenderArgs& args);
  Result<std::vector<HostPriority>> Prioritize(ExtenderArgs&& args) = delete;
  // The candidates on which the pod passes the filters once their victims are gone, otherwise as they came.
  Result<VictimMap> Preempt(const ExtenderPreemptionArgs& args);
  // `done` is called once, on any thread, with the reply's Error; empty: bound.
  // `came`: since when whoever asks has waited.
  void Bind(const ExtenderBindingArgs& args, std::function<void(std::string)> done,
            std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now());

  // What a NodeSource has to keep for the filters (`filter`) and scores (`score`), and what the plugins keep of it
  // themselves: owned by the service, to be read within NodeSource::Read alone. Call once, before the first request.
  std::vector<Kind> Kinds(bool filter, bool score) const;
  std::vector<PluginIndex*> MakeIndexes();

  // For DecodeExtenderArgs: it knows which parts of nodes the plugins read.
  NodeCache& cache() { return *cache_; }
  // And which annotations, of pods too.
  const AnnotationKeys& annotations() const { return profile_->annotations; }
  bool ready() const { return nodes_ == nullptr || nodes_->ready(); }
  const framework::Profile& profile() const { return *profile_; }

 private:
  // Plugins write through it. A binding that kube-scheduler asked for has that request's deadline, however long its
  // plugin has taken. Thread safety: any thread.
  class BindWriter final : public Writer {
   public:
    explicit BindWriter(Binder* binder) : binder_(binder) {}
    void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) override;
    // A request that is under way for as long as the token lives, which may be longer than this.
    std::shared_ptr<void> Expect(const Pod& pod, const std::string& node, util::Deadline until);

   private:
    struct Expected {
      std::mutex mutex;
      std::multimap<std::pair<std::string, std::string>, util::Deadline> by_uid_and_node;
    };
    Binder* binder_;
    const std::shared_ptr<Expected> expected_ = std::make_shared<Expected>();
  };
  // Called with a cluster and, by place in the request, the row of each node there; kNoRow: unknown.
  using Ask = std::function<void(const Snapshot&, std::span<const Row>)>;

  ExtenderService(const Clock& clock, NodeSource* nodes, Binder* binder, ServiceOptions options, std::string name);
  Error WithCluster(const ExtenderArgs& args, bool filter, bool score, const Ask& ask);
  // Whether plugins may compare the items of the pod's lists with all of this cluster.
  static Error CheckWork(size_t pod_items, const Snapshot& snapshot);
  Reach ReachOf(bool filter, bool score) const;
  bool ReadsImages() const;
  // A plugin that judges a row by more than that row may see the order of all, which is then the request's.
  bool SeesOrder() const;
  FilterResult FilterRows(const ExtenderArgs& args, const Snapshot& snapshot, std::span<const Row> rows,
                          bool only_best) const;
  // What a PreFilter plugin says against the pod if these nodes are all there are; empty: nothing.
  std::string RejectionOn(const Pod& pod, const Snapshot& snapshot, std::span<const Row> rows) const;
  // By place; rows that are kNoRow get `absent`.
  Result<std::vector<int64_t>> Totals(const Pod& pod, const Snapshot& snapshot, std::span<const Row> rows,
                                      int64_t absent) const;
  void BindPod(std::shared_ptr<const Pod> pod, const std::string& node, util::Deadline until,
               std::function<void(std::string)> done);

  const Clock& clock_;
  NodeSource* const nodes_;
  Binder* const binder_;
  const ServiceOptions options_;
  BindWriter writer_;
  framework::HostServices services_;
  framework::Host host_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::PluginIndexes> indexes_;  // null until they are asked for
  std::unique_ptr<PluginTimer> timer_;                 // null without metrics
  std::unique_ptr<NodeCache> cache_;
  std::mutex judging_;  // for plugins and the two clusters
  std::unique_ptr<RequestCluster> sent_, named_;
};

}  // namespace berth::extender
