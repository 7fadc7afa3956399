// SPDX-License-Identifier: Apache-2.0
// ScenarioWorld: the objects of a scenario as its files and steps have them, step by step, before anything runs.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/load.h"
#include "api/load_error.h"
#include "berth/annotations.h"
#include "berth/host/cluster_object.h"
#include "berth/value.h"
#include "sim/generate.h"
#include "sim/scenario.h"

namespace berth::sim {

// Of all kinds, those that a scenario can name: for messages.
std::string KnownKinds();

// RFC 7386.
Value MergePatch(const Value& target, const Value& patch);

// `List` kinds and lists become their items; each comes with the path where it stands.
struct RawObject {
  std::string path;
  Value value;
};
std::vector<RawObject> Unroll(const Value& value, const std::string& path);

// Errors are written as `prefix path: …`, with the scenario's file name as prefix.
class ScenarioWorld {
 public:
  struct Key {
    Kind kind = Kind::kPod;
    std::string namespace_, name;
    auto operator<=>(const Key&) const = default;
    // Kind "namespace/name", as messages have it.
    std::string Text() const;
  };

  // `annotations`: those of pods and nodes that are kept for plugins, besides what the simulated cluster reads itself.
  ScenarioWorld(const GenerateOptions& generated, AnnotationKeys annotations, std::string prefix, ScenarioLoad& out);
  // From now on told of the JSON of objects in files. May be null.
  void TellSources(SourceFn source) { source_ = std::move(source); }

  // Reads the objects of 0s into out.scenario.objects. Call once, first.
  void Load(const std::vector<std::string>& paths);
  // Objects that will be patched: their text is needed, too.
  void ReadRaw(const std::vector<std::string>& paths, const std::set<Key>& wanted);

  // Each returns what a step does; errors go to `out`, and the object is not complained about again.
  std::vector<Change> Apply(const Value& objects, const std::string& path);
  std::vector<Change> Patch(const Key& key, const Value& patch, const std::string& path);
  std::vector<Change> Delete(const Key& key, const std::string& path);

  // At any time; true as well where errors make it unknowable.
  bool EverExists(const Key& key) const;

 private:
  struct Entry {
    std::optional<ClusterObject> now;  // none: deleted
    std::optional<Value> raw;          // when known
  };
  enum class Presence { kHere, kAbsent, kUnknown };

  void Complain(const std::string& path, const std::string& text);
  // The entry of an object; a generated one gets its own when it is asked for. Null: never existed so far.
  Entry* Find(const Key& key);
  Presence PresenceOf(const Key& key);
  // Validates, defaults and admits; no value after errors.
  std::optional<ClusterObject> Decode(const Value& raw, const std::string& path,
                                      const std::optional<ClusterObject>& before);
  std::string Absence(const Key& key);
  void CheckUid(const Pod& pod, std::vector<LoadError>& errors);

  Generator generator_;
  AnnotationKeys annotations_;
  SourceFn source_;
  std::string prefix_;
  ScenarioLoad& out_;
  std::map<Key, Entry> entries_;
  std::map<std::string, std::string> pod_of_uid_;  // namespace/name of every pod so far that has a uid in its text
  std::set<Key> refused_;                          // objects that were refused: what depends on them is not judged
  bool unreadable_ = false;                        // some file could not be read at all: anything may be in it
};

}  // namespace berth::sim
