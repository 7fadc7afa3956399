// SPDX-License-Identifier: Apache-2.0
// ObjectChange: what happened to an object that is neither a pod nor a node, whatever its kind.
#pragma once

#include <memory>
#include <utility>

namespace berth {
inline namespace v1 {

// Before and after of one object; before is null for one that appeared, after for one that is gone. Whoever is told
// asks for the kinds it knows and gets null for all others. Does not keep the objects.
class ObjectChange {
 public:
  ObjectChange() = default;  // of no object
  template <class T>
  ObjectChange(const T* before, const T* after) : tag_(&kTag<T>), before_(before), after_(after) {}

  bool empty() const { return tag_ == nullptr; }
  template <class T>
  bool Is() const {
    return tag_ == &kTag<T>;
  }
  template <class T>
  const T* before() const {
    return Is<T>() ? static_cast<const T*>(before_) : nullptr;
  }
  template <class T>
  const T* after() const {
    return Is<T>() ? static_cast<const T*>(after_) : nullptr;
  }

 private:
  template <class T>
  inline static char kTag = 0;  // its address is the type's name

  const char* tag_ = nullptr;
  const void* before_ = nullptr;
  const void* after_ = nullptr;
};

// The same, keeping the objects alive.
class SharedObjectChange {
 public:
  SharedObjectChange() = default;
  template <class T>
  SharedObjectChange(std::shared_ptr<const T> before, std::shared_ptr<const T> after)
      : view_(before.get(), after.get()), before_(std::move(before)), after_(std::move(after)) {}
  const ObjectChange& view() const { return view_; }

 private:
  ObjectChange view_;
  std::shared_ptr<const void> before_, after_;
};

}  // namespace v1
}  // namespace berth
