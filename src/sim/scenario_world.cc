// SPDX-License-Identifier: Apache-2.0
// Following the objects of a scenario through its steps.
#include "sim/scenario_world.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "api/decode.h"
#include "api/defaults.h"
#include "api/file_text.h"
#include "api/json_value.h"
#include "api/load_error.h"
#include "api/yaml.h"
#include "berth/host/annotations.h"
#include "berth/host/share_lists.h"
#include "sim/run_for.h"
#include "sim/simulated_cluster_internal.h"

namespace berth::sim {
namespace {

const std::string& TextOf(const Value* value) {
  static const std::string kNone;
  return value && value->kind() == Value::Kind::kString ? value->text() : kNone;
}

// The key of an object as written; no value when it has no kind that we know or no name.
std::optional<ScenarioWorld::Key> WorldKey(const Value& raw) {
  const std::optional<Kind> kind = FindKind(TextOf(raw.Find("kind")));
  const Value* meta = raw.Find("metadata");
  if (!kind || !meta || TextOf(meta->Find("name")).empty()) return std::nullopt;
  ScenarioWorld::Key key{*kind, "", TextOf(meta->Find("name"))};
  if (IsNamespaced(*kind)) key.namespace_ = TextOf(meta->Find("namespace"));
  if (IsNamespaced(*kind) && key.namespace_.empty()) key.namespace_ = "default";
  return key;
}

ScenarioWorld::Key WorldKey(const ClusterObject& object) {
  const ObjectMeta& meta = MetaOf(object);
  return {KindOf(object), meta.namespace_, meta.name};
}

// The files that LoadObjects reads of `paths`; those that cannot be read were complained about there.
std::vector<std::string> FilesOf(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-") continue;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".yaml" || extension == ".yml" || extension == ".json") files.push_back(it->path().string());
    }
  }
  return files;
}

void UnrollInto(const Value& value, const std::string& path, int depth, std::vector<RawObject>& out) {
  constexpr int kMaxDepth = 16;
  auto each = [&](const std::vector<Value>& items, const std::string& where, const std::string& kind,
                  const std::string& api_version) {
    for (size_t i = 0; i < items.size(); ++i) {
      Value item = items[i];
      if (item.kind() == Value::Kind::kObject && !kind.empty()) {
        // Items of a typed list may leave out what the list says.
        if (!item.Find("kind")) item.Set("kind", Value::String(kind));
        if (!item.Find("apiVersion")) item.Set("apiVersion", Value::String(api_version));
      }
      UnrollInto(item, where + "[" + std::to_string(i) + "]", depth + 1, out);
    }
  };
  if (value.kind() == Value::Kind::kArray && depth < kMaxDepth) return each(value.items(), path, "", "");
  const std::string& kind = TextOf(value.Find("kind"));
  const Value* items = value.Find("items");
  constexpr std::string_view kList = "List";
  const bool is_list = kind.size() >= kList.size() && kind.substr(kind.size() - kList.size()) == kList;
  if (is_list && items && items->kind() == Value::Kind::kArray && depth < kMaxDepth)
    return each(items->items(), path + ".items", kind.substr(0, kind.size() - kList.size()),
                TextOf(value.Find("apiVersion")));
  out.push_back({path, value});
}

// A pod's priority is decided when it is created; later changes of its class do not reach it.
void KeepPriority(const Pod& before, Pod& after) {
  if (after.priority_class_name != before.priority_class_name) return;
  after.priority = before.priority;
  after.preemption_policy = before.preemption_policy;
}

// What no API server minds, but the simulated kubelet cannot read.
void CheckRunFor(const Pod& pod, std::vector<LoadError>& errors) {
  const std::string problem = RunForProblem(pod);
  if (problem.empty()) return;
  errors.push_back({"", "Pod", FullName(pod), kRunForPath, *pod.meta.annotations.Find(kRunForAnnotation), problem});
}

}  // namespace

std::string KnownKinds() {
  std::string text;
  for (const KindInfo& info : kKinds) text += (text.empty() ? "\"" : ", \"") + std::string(info.name) + "\"";
  return text;
}

Value MergePatch(const Value& target, const Value& patch) {
  if (patch.kind() != Value::Kind::kObject) return patch;
  Value merged = Value::Object();
  static const Value kNull;
  if (target.kind() == Value::Kind::kObject) {
    for (const auto& [key, value] : target.members()) {
      const Value* change = patch.Find(key);
      if (!change) {
        merged.Set(key, value);
      } else if (!change->is_null()) {
        merged.Set(key, MergePatch(value, *change));
      }
    }
  }
  for (const auto& [key, value] : patch.members())
    if (!value.is_null() && !target.Find(key)) merged.Set(key, MergePatch(kNull, value));
  return merged;
}

std::vector<RawObject> Unroll(const Value& value, const std::string& path) {
  std::vector<RawObject> out;
  UnrollInto(value, path, 0, out);
  return out;
}

std::string ScenarioWorld::Key::Text() const {
  return std::string(ToString(kind)) + " " + Quoted(namespace_.empty() ? name : namespace_ + "/" + name);
}

ScenarioWorld::ScenarioWorld(const GenerateOptions& generated, AnnotationKeys annotations, std::string prefix,
                             ScenarioLoad& out)
    : generator_(generated), annotations_(std::move(annotations)), prefix_(std::move(prefix)), out_(out) {
  AddKeys(annotations_, {{std::string(kRunForAnnotation)}, {}});
  out_.scenario.generated = generated;
}

void ScenarioWorld::Complain(const std::string& path, const std::string& text) {
  out_.errors.push_back((prefix_.empty() ? "" : prefix_ + ": ") + path + ": " + text);
}

// Pods are told apart by uid: of two with one uid, the second would silently not be there.
void ScenarioWorld::CheckUid(const Pod& pod, std::vector<LoadError>& errors) {
  if (pod.uid().empty()) return;
  const auto [first, added] = pod_of_uid_.emplace(pod.uid(), FullName(pod));
  if (added || first->second == FullName(pod)) return;
  errors.push_back({"", "Pod", FullName(pod), "metadata.uid", pod.uid(),
                    "Duplicate value: " + Quoted(pod.uid()) + ", which is also the uid of " + first->second});
}

void ScenarioWorld::Load(const std::vector<std::string>& paths) {
  LoadOptions options;
  options.annotations = annotations_;
  options.source = source_;
  options.unread_kind = [&](const std::string& api_version, const std::string& kind, const std::string& file) {
    out_.warnings.push_back(file + ": objects of kind " + kind + " (" + api_version + ") are ignored");
  };
  LoadResult result = LoadObjects(paths, options);
  for (const auto& pod : result.objects.of<Pod>()) {
    CheckRunFor(*pod, result.errors);
    CheckUid(*pod, result.errors);
  }
  result.objects.ForEach([&](const ClusterObject& object) {
    const Key key = WorldKey(object);
    if (Find(key))
      result.errors.push_back({"", std::string(ToString(key.kind)), FullName(MetaOf(object)), "metadata.name", key.name,
                               "Duplicate value: " + Quoted(key.name) + ": --nodes and --pods generate it, too"});
    entries_[key].now = object;
  });
  for (const LoadError& error : result.errors) {
    out_.errors.push_back(error.Text());
    const std::optional<Kind> kind = FindKind(error.kind);
    if (!kind || error.name.empty()) {
      unreadable_ = true;
      continue;
    }
    const size_t slash = error.name.find('/');
    Key key{*kind, "", error.name};
    if (slash != std::string::npos) key = {*kind, error.name.substr(0, slash), error.name.substr(slash + 1)};
    refused_.insert(std::move(key));
  }
  out_.scenario.objects = std::move(result.objects);
}

void ScenarioWorld::ReadRaw(const std::vector<std::string>& paths, const std::set<Key>& wanted) {
  if (wanted.empty()) return;
  for (const std::string& file : FilesOf(paths)) {
    // For the second time, which a pipe does not give.
    const Result<FileText> text = FileText::Read(file, kMaxFileBytes, util::FileKinds::kRegular);
    if (!text.ok()) continue;
    // Errors of the text were found by Load.
    (void)ForEachDocument(text->text(), [&](const std::string& json) {
      std::vector<FieldError> errors;
      for (RawObject& raw : Unroll(ParseJson(json, errors), "")) {
        const std::optional<Key> key = WorldKey(raw.value);
        if (key && wanted.count(*key)) entries_[*key].raw = std::move(raw.value);
      }
      return Error::Ok();
    });
  }
}

ScenarioWorld::Entry* ScenarioWorld::Find(const Key& key) {
  if (const auto it = entries_.find(key); it != entries_.end()) return &it->second;
  if (key.kind == Kind::kNode) {
    const std::optional<int64_t> index = generator_.FindNode(key.name);
    if (!index) return nullptr;
    return &(entries_[key] = {ClusterObject(generator_.MakeNode(*index)), generator_.NodeManifest(*index)});
  }
  if (key.kind == Kind::kPod) {
    const std::optional<int64_t> index = generator_.FindPod(key.namespace_, key.name);
    if (!index) return nullptr;
    return &(entries_[key] = {ClusterObject(generator_.MakePod(*index)), generator_.PodManifest(*index)});
  }
  return nullptr;
}

ScenarioWorld::Presence ScenarioWorld::PresenceOf(const Key& key) {
  if (refused_.count(key)) return Presence::kUnknown;
  const Entry* entry = Find(key);
  if (entry && entry->now) return Presence::kHere;
  return !entry && unreadable_ ? Presence::kUnknown : Presence::kAbsent;
}

bool ScenarioWorld::EverExists(const Key& key) const {
  if (unreadable_ || refused_.count(key) || entries_.count(key)) return true;
  if (key.kind == Kind::kNode) return generator_.FindNode(key.name).has_value();
  return key.kind == Kind::kPod && generator_.FindPod(key.namespace_, key.name).has_value();
}

std::string ScenarioWorld::Absence(const Key& key) {
  return Find(key) ? key.Text() + " is deleted by an earlier step"
                   : "no file, earlier step or generator creates " + key.Text();
}

std::optional<ClusterObject> ScenarioWorld::Decode(const Value& raw, const std::string& path,
                                                   const std::optional<ClusterObject>& before) {
  DecodedObject decoded = DecodeObject(raw.ToJson(), DecodeMode::kFile, annotations_);
  if (!decoded.known() && decoded.errors.empty()) {
    Complain(path + ".kind", "Unsupported value: " + Quoted(decoded.kind) + " (apiVersion " +
                                 Quoted(decoded.api_version) + "): supported values: " + KnownKinds());
    return std::nullopt;
  }
  auto* pod = std::get_if<DecodedPod>(&decoded.object);
  if (pod) {
    LoadedObjects::List<PriorityClass> classes;
    // Entries are ordered by kind: only the classes are walked, not all the pods for every pod.
    for (auto it = entries_.lower_bound({Kind::kPriorityClass, "", ""});
         it != entries_.end() && it->first.kind == Kind::kPriorityClass; ++it)
      if (it->second.now) classes.push_back(std::get<Ptr<PriorityClass>>(*it->second.now));
    std::vector<LoadError> errors;
    ApplyAdmission(PriorityClasses(classes), *pod, errors);
    // A class that was refused should not be called missing as well.
    const bool refused = refused_.count({Kind::kPriorityClass, "", pod->pod.priority_class_name}) || unreadable_;
    if (!refused) decoded.errors.insert(decoded.errors.end(), errors.begin(), errors.end());
    CheckRunFor(pod->pod, decoded.errors);
    CheckUid(pod->pod, decoded.errors);
    if (before) KeepPriority(*std::get<Ptr<Pod>>(*before), pod->pod);
  }
  if (!decoded.errors.empty()) {
    for (LoadError& error : decoded.errors) {
      error.file = (prefix_.empty() ? "" : prefix_ + ": ") + path;
      out_.errors.push_back(error.Text());
    }
    return std::nullopt;
  }
  // Identity carries over, as if it had been written into the file.
  if (before) {
    ObjectMeta& meta = MetaOf(decoded.object);
    const ObjectMeta& old = MetaOf(*before);
    if (meta.uid.empty()) meta.uid = old.uid;
    if (!meta.creation_time) meta.creation_time = old.creation_time;
    if (meta.resource_version.empty()) meta.resource_version = old.resource_version;
  }
  if (pod) {
    pod->pod.resources = ComputePodResources(pod->pod);
    ShareLists(pod->pod);
  }
  return ToClusterObject(std::move(decoded.object));
}

std::vector<Change> ScenarioWorld::Apply(const Value& objects, const std::string& path) {
  std::vector<Change> changes;
  for (RawObject& raw : Unroll(objects, path)) {
    const std::optional<Key> written = WorldKey(raw.value);
    Entry* known = written ? Find(*written) : nullptr;
    std::optional<ClusterObject> before = known ? known->now : std::nullopt;
    std::optional<ClusterObject> after = Decode(raw.value, raw.path, before);
    if (!after) {
      if (written) refused_.insert(*written);
      continue;
    }
    const Key key = WorldKey(*after);
    entries_[key] = {*after, std::move(raw.value)};
    changes.push_back({key.kind, key.namespace_, key.name, std::move(before), std::move(after), false});
  }
  return changes;
}

std::vector<Change> ScenarioWorld::Patch(const Key& key, const Value& patch, const std::string& path) {
  const Presence presence = PresenceOf(key);
  if (presence == Presence::kUnknown) return {};
  if (presence == Presence::kAbsent) {
    Complain(path + ".name", Absence(key));
    return {};
  }
  Entry& entry = *Find(key);
  if (!entry.raw) {
    Complain(path + ".name", key.Text() + " was read from standard input; only objects of files can be patched");
    return {};
  }
  Value raw = MergePatch(*entry.raw, patch);
  if (WorldKey(raw) != key) {
    Complain(path + ".patch", "kind, name and namespace of " + key.Text() + " cannot be changed");
    return {};
  }
  std::optional<ClusterObject> before = entry.now;
  std::optional<ClusterObject> after = Decode(raw, path, before);
  if (!after) {
    refused_.insert(key);
    return {};
  }
  entry = {*after, std::move(raw)};
  return {{key.kind, key.namespace_, key.name, std::move(before), std::move(after), true}};
}

std::vector<Change> ScenarioWorld::Delete(const Key& key, const std::string& path) {
  const Presence presence = PresenceOf(key);
  if (presence == Presence::kUnknown) return {};
  if (presence == Presence::kAbsent) {
    Complain(path + ".name", Absence(key));
    return {};
  }
  Entry& entry = *Find(key);
  std::optional<ClusterObject> before = std::exchange(entry.now, std::nullopt);
  entry.raw.reset();
  return {{key.kind, key.namespace_, key.name, std::move(before), std::nullopt, false}};
}

}  // namespace berth::sim
