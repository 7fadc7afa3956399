// SPDX-License-Identifier: Apache-2.0
// Scenario: what happens to a cluster and what is expected of its pods, read from a file and checked before it runs.
// docs/scenarios.md has its fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/load.h"
#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/host/cluster_object.h"
#include "sim/generate.h"

namespace berth::sim {

// One object becomes another. Both are as the files and steps have them: what the cluster wrote (a pod's node, say) is
// not in them and stays, unless the two differ in it.
struct Change {
  Kind kind = Kind::kPod;
  std::string namespace_, name;
  std::optional<ClusterObject> before;  // none: it is new
  std::optional<ClusterObject> after;   // none: it is deleted
  bool patch = false;                   // changes what is there, and never creates
};

struct Step {
  std::string path;  // steps[3]
  Duration at;
  std::vector<Change> changes;
};

struct Expectation {
  enum class Type : uint8_t { kOnNode, kPlaced, kPending, kGone };
  std::string path;             // expect[3]
  std::optional<Duration> at;   // none: at the end
  std::string namespace_, pod;  // the pod's name
  Type type = Type::kPending;
  std::vector<std::string> nodes;  // kOnNode: one of these
  bool listed = false;             // the nodes stand in nodeIn
  std::string message;             // kPending: a part of the message

  std::string FullPod() const { return namespace_ + "/" + pod; }
  // "on node n", "pending with a message that has \"…\"".
  std::string Text() const;
};

struct Scenario {
  std::string file, name, description;
  std::string config;  // a path; empty: none named
  std::optional<uint64_t> seed;
  bool faults = false;
  std::optional<Duration> duration;
  LoadedObjects objects;      // at 0s, besides the generated ones
  GenerateOptions generated;  // at 0s
  std::vector<Step> steps;    // times never go back
  std::vector<Expectation> expectations;
};

// What the command line adds to every scenario.
struct ScenarioInput {
  std::vector<std::string> files = {};  // objects, as LoadObjects takes them
  GenerateOptions generated = {};
  bool seed_given = false;     // generated.seed wins over the scenario's
  std::string asked_for = {};  // namespace/name of a pod that has to exist at some time (--explain); may be empty
  bool read_files = true;      // false: a scenario that names files is an error; for text from strangers
  // Which annotations of pods and nodes are kept for plugins, when the scenario names this configuration (empty: none);
  // asked before objects are read. Null: none.
  std::function<AnnotationKeys(const std::string& config)> annotations = {};
  // As LoadOptions::source, of the objects that are there at 0s.
  SourceFn source = {};
};

struct ScenarioLoad {
  Scenario scenario;                          // usable only without errors
  std::vector<std::string> errors, warnings;  // one line each; all of them
  bool ok() const { return errors.empty(); }
};

// Reads one scenario file, everything it names, and checks that every step and expectation makes sense. Never throws.
ScenarioLoad LoadScenario(const std::string& path, const ScenarioInput& input);
// The same for text; `path` stands for the file in messages and for what is relative to it.
ScenarioLoad LoadScenarioFromText(std::string_view text, const std::string& path, const ScenarioInput& input);
// The input alone: nothing happens but what the cluster and the scheduler do.
ScenarioLoad LoadWithoutScenario(const ScenarioInput& input);

}  // namespace berth::sim
