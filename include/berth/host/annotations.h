// SPDX-License-Identifier: Apache-2.0
// What hosts do with annotations: keep those that plugins declare, and note which ones are read.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>

#include "berth/annotations.h"
#include "berth/labels.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth {
inline namespace v1 {

// Adds `more` to `keys`, which stay sorted, each once.
void AddKeys(AnnotationKeys& keys, const AnnotationKeys& more);

// The annotations whose keys are wanted.
Labels Kept(const Labels& annotations, std::span<const std::string> keys);
// The object with those annotations alone; itself where it has no others.
std::shared_ptr<const Pod> Shown(std::shared_ptr<const Pod> pod, const AnnotationKeys& keys);
std::shared_ptr<const Node> Shown(std::shared_ptr<const Node> node, const AnnotationKeys& keys);

// While it lives it notes which annotations are asked for on this thread, whether they are there or not; within it
// another one may.
class AnnotationWatch {
 public:
  AnnotationWatch();
  ~AnnotationWatch();
  AnnotationWatch(const AnnotationWatch&) = delete;
  AnnotationWatch& operator=(const AnnotationWatch&) = delete;

  const std::set<std::string, std::less<>>& pods() const { return pods_; }
  const std::set<std::string, std::less<>>& nodes() const { return nodes_; }

 private:
  friend struct Node;
  friend struct Pod;
  static thread_local AnnotationWatch* current_;

  AnnotationWatch* const before_;
  std::set<std::string, std::less<>> pods_, nodes_;
};

}  // namespace v1
}  // namespace berth
