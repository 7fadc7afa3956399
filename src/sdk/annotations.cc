// SPDX-License-Identifier: Apache-2.0
// Reading annotations, and keeping those that somebody reads.
#include "berth/host/annotations.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth {
inline namespace v1 {
namespace {

bool Wanted(const Labels::Entry& entry, std::span<const std::string> keys) {
  return std::find(keys.begin(), keys.end(), entry.first) != keys.end();
}

void AddTo(std::vector<std::string>& keys, const std::vector<std::string>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

template <class T>
std::shared_ptr<const T> ShownAs(std::shared_ptr<const T> object, std::span<const std::string> keys) {
  const Labels& all = object->meta.annotations;
  const auto wanted = [&](const Labels::Entry& entry) { return Wanted(entry, keys); };
  if (std::all_of(all.begin(), all.end(), wanted)) return object;
  auto copy = std::make_shared<T>(*object);
  copy->meta.annotations = Kept(all, keys);
  return copy;
}

}  // namespace

thread_local AnnotationWatch* AnnotationWatch::current_ = nullptr;

AnnotationWatch::AnnotationWatch() : before_(std::exchange(current_, this)) {}
AnnotationWatch::~AnnotationWatch() { current_ = before_; }

const std::string* Pod::Annotation(std::string_view key) const {
  if (AnnotationWatch::current_) AnnotationWatch::current_->pods_.emplace(key);
  return meta.annotations.Find(key);
}

const std::string* Node::Annotation(std::string_view key) const {
  if (AnnotationWatch::current_) AnnotationWatch::current_->nodes_.emplace(key);
  return meta.annotations.Find(key);
}

void AddKeys(AnnotationKeys& keys, const AnnotationKeys& more) {
  AddTo(keys.pods, more.pods);
  AddTo(keys.nodes, more.nodes);
}

Labels Kept(const Labels& annotations, std::span<const std::string> keys) {
  std::vector<Labels::Entry> kept;
  for (const Labels::Entry& entry : annotations)
    if (Wanted(entry, keys)) kept.push_back(entry);
  return kept.empty() ? Labels() : Labels(std::move(kept));
}

std::shared_ptr<const Pod> Shown(std::shared_ptr<const Pod> pod, const AnnotationKeys& keys) {
  return ShownAs<Pod>(std::move(pod), keys.pods);
}
std::shared_ptr<const Node> Shown(std::shared_ptr<const Node> node, const AnnotationKeys& keys) {
  return ShownAs<Node>(std::move(node), keys.nodes);
}

}  // namespace v1
}  // namespace berth
