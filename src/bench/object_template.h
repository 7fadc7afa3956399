// SPDX-License-Identifier: Apache-2.0
// ObjectTemplate: a file that describes many objects of one kind, as scheduler_perf's templates do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/defaults.h"
#include "bench/text_template.h"
#include "berth/host/cluster_object.h"
#include "berth/value.h"

namespace berth::bench {

// What one object is made from.
struct Making {
  int64_t index = 0, count = 1;     // .Index and .Count
  std::string namespace_;           // of namespaced kinds
  std::string name;                 // replaces what the template says; empty: the template's name or generateName
  uint64_t serial = 0;              // makes generated names and uids unique
  AnnotationKeys annotations = {};  // of pods and nodes: those that are kept
};

// As unique as the serial number.
std::string UidOf(uint64_t serial);

// The text is rendered, decoded, validated, defaulted and admitted for every object, as the API server would; only
// pods, nodes, volumes and claims of templates without actions are decoded once and copied. Thread safety: none.
class ObjectTemplate {
 public:
  // `path` as it is to be opened. The error names it.
  static Result<ObjectTemplate> Read(const std::string& path);
  static Result<ObjectTemplate> Parse(std::string_view text, const std::string& source);

  // As written; a kind that nobody reads has no other use than to be named.
  const std::string& kind_name() const { return kind_name_; }
  bool known() const { return known_; }
  // REQUIRES: known(), as does all that follows.
  Kind kind() const { return kind_; }
  // Objects stay, terminating, when they are deleted.
  bool has_finalizers() const { return finalizers_; }
  // Nodes can give this, besides what the template says. Call before Make.
  void AddAllocatable(std::vector<std::pair<std::string, std::string>> amounts) { allocatable_ = std::move(amounts); }
  // The object as it is to be posted, for an API server that decodes and judges it itself. Errors name the file.
  Result<Value> MakeValue(const Making& making) const;
  // Errors name the file, the field and the value.
  Result<ClusterObject> Make(const Making& making, const PriorityClasses& classes);

 private:
  Result<Value> Render(int64_t index, int64_t count) const;
  Result<ClusterObject> Decode(const Making& making, const PriorityClasses& classes) const;

  std::string source_;
  TextTemplate text_;
  std::string kind_name_;
  bool known_ = false;
  Kind kind_ = Kind::kPod;
  bool finalizers_ = false;
  std::string name_, generate_name_;  // of templates without actions
  std::vector<std::pair<std::string, std::string>> allocatable_;
  std::optional<ClusterObject> prototype_;
};

}  // namespace berth::bench
