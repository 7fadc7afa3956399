// SPDX-License-Identifier: Apache-2.0
// The JSON that an object was read from, kept with it where somebody has to pass the whole object on (HTTP extenders).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "berth/host/cluster_object.h"

namespace berth {

// The text goes with the pointer: copies of the pointer have it, copies of the object have not. Objects without one
// cost nothing for it; with one they cost its length.
template <class T>
Ptr<T> WithSource(T object, std::string json);
// Null: it was not kept. Valid as long as the object.
template <class T>
const std::string* SourceOf(const Ptr<T>& object);

// An object's JSON as kube-scheduler would send it on: without kind and apiVersion, and without managedFields unless
// they are wanted. REQUIRES: `json` is a valid JSON object.
std::string TrimmedSource(std::string_view json, bool managed_fields);

// The same with the metadata that the API server would have added where it is absent: namespace and uid.
std::string CompletedSource(std::string_view json, const ObjectMeta& meta);

// Calls fn for the objects of one document, those of lists and arrays one by one. REQUIRES: `json` is valid.
void ForEachSource(
    std::string_view json,
    const std::function<void(std::string_view kind, const std::string& full_name, std::string_view json)>& fn);

// Implementation.

struct SourceKeeper {
  std::string json;
  template <class T>
  void operator()(const T* object) const {
    delete object;
  }
};

template <class T>
Ptr<T> WithSource(T object, std::string json) {
  json.shrink_to_fit();
  return Ptr<T>(new const T(std::move(object)), SourceKeeper{std::move(json)});
}

template <class T>
const std::string* SourceOf(const Ptr<T>& object) {
  const auto* keeper = std::get_deleter<SourceKeeper>(object);
  return keeper ? &keeper->json : nullptr;
}

}  // namespace berth
