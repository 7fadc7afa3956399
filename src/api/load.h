// SPDX-License-Identifier: Apache-2.0
// Whole sets of objects out of files, folders and text, as the API server would have stored them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/load_error.h"
#include "berth/annotations.h"
#include "berth/host/cluster_object.h"

namespace berth {

// Every kind, each in the order the files have it.
class LoadedObjects {
 public:
  template <class T>
  using List = std::vector<Ptr<T>>;

  // Those of one kind, by its struct.
  template <class T>
  List<T>& of() {
    return std::get<List<T>>(lists_);
  }
  template <class T>
  const List<T>& of() const {
    return std::get<List<T>>(lists_);
  }
  size_t size() const;
  // All of them, what others refer to first: namespaces, priority classes, nodes; pods come last.
  void ForEach(const std::function<void(const ClusterObject&)>& fn) const;

 private:
  template <class>
  struct ListsOf;
  template <class... Ts>
  struct ListsOf<TypeList<Ts...>> {
    using Type = std::tuple<List<Ts>...>;
  };
  ListsOf<KindTypes>::Type lists_;
};

using SourceFn = std::function<void(std::string_view kind, const std::string& full_name, std::string_view json)>;

struct LoadOptions {
  AnnotationKeys annotations = {};  // of pods and nodes: those that are kept
  // Called once for every kind that is not read, with the file it was met in first.
  std::function<void(const std::string& api_version, const std::string& kind, const std::string& file)> unread_kind;
  // Called for every object with the JSON that it was read from (api/source_text.h); null: nobody wants it.
  SourceFn source = {};
};

struct LoadResult {
  LoadedObjects objects;          // only the good ones when there are errors
  std::vector<LoadError> errors;  // all of them, in file order; those between objects last
  bool ok() const { return errors.empty(); }
};

// Reads `paths` in order: files, folders (their *.yaml, *.yml and *.json, sorted by name; not their subfolders) and `-`
// for standard input. Objects are validated, defaulted and admitted (api/defaults.h) once everything is read; a kind,
// namespace and name may come once. Never throws.
LoadResult LoadObjects(const std::vector<std::string>& paths, const LoadOptions& options = {});

// The same for text in memory: YAML or JSON documents, or a JSON array of objects. `name` stands for the file.
LoadResult LoadObjectsFromText(std::string_view text, const LoadOptions& options = {}, const std::string& name = "");

}  // namespace berth
