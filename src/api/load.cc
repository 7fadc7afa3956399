// SPDX-License-Identifier: Apache-2.0
// From paths to objects: every document decoded, duplicates found, defaults and admission once all is read.
#include "api/load.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "api/decode.h"
#include "api/defaults.h"
#include "api/file_text.h"
#include "api/source_text.h"
#include "api/yaml.h"
#include "berth/host/share_lists.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

LoadError FileError(const std::string& file, const std::string& message) {
  LoadError error;
  error.file = file;
  error.message = message;
  return error;
}

// Collects documents, then finishes the set.
class Loader {
 public:
  explicit Loader(const LoadOptions& options) : options_(options) {}

  void Path(const std::string& path) {
    if (path == "-") return File(path);
    std::error_code error;
    if (!fs::is_directory(path, error)) return File(path);
    std::vector<std::string> files;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const std::string extension = it->path().extension().string();
      const bool wanted = extension == ".yaml" || extension == ".yml" || extension == ".json";
      std::error_code ignored;
      if (wanted && !it->is_directory(ignored)) files.push_back(it->path().string());
    }
    if (error) {
      result_.errors.push_back(FileError(path, "cannot read folder: " + error.message()));
      return;
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
      result_.errors.push_back(FileError(path, "no *.yaml, *.yml or *.json file in this folder"));
    }
    // Nobody has named them one by one, so a pipe among them is a mistake and is not waited for.
    for (const std::string& file : files) File(file, util::FileKinds::kRegular);
  }

  void File(const std::string& file, util::FileKinds kinds = util::FileKinds::kAny) {
    Result<FileText> text = FileText::Read(file, kMaxFileBytes, kinds);
    if (!text.ok()) {
      result_.errors.push_back(FileError(file, text.error().text()));
      return;
    }
    Text(text->text(), file);
  }

  void Text(std::string_view text, const std::string& file) {
    const Error error = ForEachDocument(text, [&](const std::string& json) {
      for (DecodedObject& decoded : DecodeDocument(json, DecodeMode::kFile, options_.annotations))
        Take(std::move(decoded), file);
      if (options_.source) ForEachSource(json, options_.source);
      return Error::Ok();
    });
    if (!error.ok()) result_.errors.push_back(FileError(file, error.text()));
  }

  LoadResult Finish() {
    for (size_t i = 0; i < taken_.size(); ++i) InventIdentity(i, MetaOf(taken_[i].object));
    // Classes first: pods refer to classes that may come later in the files.
    LoadedObjects::List<PriorityClass> all_classes = refused_classes_;
    for (Taken& taken : taken_) {
      if (Store(taken.object, result_.objects.of<PriorityClass>()))
        all_classes.push_back(result_.objects.of<PriorityClass>().back());
    }
    const PriorityClasses classes(all_classes);
    for (Taken& taken : taken_) {
      if (auto* decoded = std::get_if<DecodedPod>(&taken.object)) {
        StorePod(classes, taken, *decoded);
      } else {
        StoreOther(taken.object);
      }
    }
    return std::move(result_);
  }

 private:
  struct Taken {
    AnyObject object;
    std::string file;
    bool good;  // false: a pod that is looked at for further errors only
  };

  void Take(DecodedObject decoded, const std::string& file) {
    for (LoadError& error : decoded.errors) {
      error.file = file;
      result_.errors.push_back(std::move(error));
    }
    if (!decoded.known()) {
      if (decoded.errors.empty() && unread_.emplace(decoded.api_version, decoded.kind).second && options_.unread_kind) {
        options_.unread_kind(decoded.api_version, decoded.kind, file);
      }
      return;
    }
    const ObjectMeta& meta = MetaOf(decoded.object);
    if (!meta.name.empty()) {
      const auto [it, added] = seen_.emplace(std::make_tuple(decoded.kind, meta.namespace_, meta.name), file);
      if (!added) {
        LoadError error = FileError(file, "Duplicate value: " + Quoted(FullName(meta)) + ": already read" +
                                              (it->second.empty() ? "" : " from " + it->second));
        error.kind = decoded.kind;
        error.name = FullName(meta);
        error.path = "metadata.name";
        error.value = meta.name;
        result_.errors.push_back(std::move(error));
        return;
      }
    }
    const bool good = decoded.errors.empty();
    if (good || std::holds_alternative<DecodedPod>(decoded.object)) {
      taken_.push_back({std::move(decoded.object), file, good});
    } else {
      // Its pods should not be told that it does not exist.
      Store(decoded.object, refused_classes_);
    }
  }

  template <class T>
  static bool Store(AnyObject& object, std::vector<std::shared_ptr<const T>>& list) {
    T* value = std::get_if<T>(&object);
    if (value) list.push_back(std::make_shared<const T>(std::move(*value)));
    return value != nullptr;
  }

  void StorePod(const PriorityClasses& classes, const Taken& taken, DecodedPod& decoded) {
    std::vector<LoadError> errors;
    ApplyAdmission(classes, decoded, errors);
    for (LoadError& error : errors) {
      error.file = taken.file;
      result_.errors.push_back(std::move(error));
    }
    if (!errors.empty() || !taken.good) return;
    decoded.pod.resources = ComputePodResources(decoded.pod);
    ShareLists(decoded.pod);
    result_.objects.of<Pod>().push_back(std::make_shared<const Pod>(std::move(decoded.pod)));
  }

  // Neither a pod nor a priority class.
  void StoreOther(AnyObject& object) {
    std::visit(
        [&]<class T>(T&) {
          if constexpr (!std::is_same_v<T, std::monostate> && !std::is_same_v<T, DecodedPod> &&
                        !std::is_same_v<T, PriorityClass>)
            Store(object, result_.objects.of<T>());
        },
        object);
  }

  const LoadOptions& options_;
  LoadResult result_;
  std::vector<Taken> taken_;
  LoadedObjects::List<PriorityClass> refused_classes_;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> seen_;  // kind, namespace, name -> file
  std::set<std::pair<std::string, std::string>> unread_;
};

}  // namespace

size_t LoadedObjects::size() const {
  return std::apply([](const auto&... lists) { return (lists.size() + ...); }, lists_);
}

void LoadedObjects::ForEach(const std::function<void(const ClusterObject&)>& fn) const {
  const auto all_of = [&]<class T>() {
    for (const Ptr<T>& object : of<T>()) fn(object);
  };
  using First = TypeList<Namespace, PriorityClass, Node>;
  ForEachType(First{}, all_of);
  ForEachType(KindTypes{}, [&]<class T>() {
    if constexpr (!Contains<T>(First{}) && !std::is_same_v<T, Pod>) all_of.template operator()<T>();
  });
  all_of.operator()<Pod>();
}

LoadResult LoadObjects(const std::vector<std::string>& paths, const LoadOptions& options) {
  Loader loader(options);
  for (const std::string& path : paths) loader.Path(path);
  return loader.Finish();
}

LoadResult LoadObjectsFromText(std::string_view text, const LoadOptions& options, const std::string& name) {
  Loader loader(options);
  loader.Text(text, name);
  return loader.Finish();
}

}  // namespace berth
