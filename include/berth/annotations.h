// SPDX-License-Identifier: Apache-2.0
// AnnotationKeys: which annotations a plugin reads.
#pragma once

#include <string>
#include <vector>

namespace berth {
inline namespace v1 {

// Objects may carry any number of annotations, of any size, that no scheduler looks at. So every host keeps only those
// that a plugin says it reads (Plugin::Annotations), and shows them through Pod::Annotation, Node::Annotation and
// NodeView::Annotation; any other reads as absent.
struct AnnotationKeys {
  std::vector<std::string> pods, nodes;

  bool empty() const { return pods.empty() && nodes.empty(); }
  bool operator==(const AnnotationKeys&) const = default;
};

}  // namespace v1
}  // namespace berth
