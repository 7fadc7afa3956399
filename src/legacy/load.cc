// SPDX-License-Identifier: Apache-2.0
#include "legacy/load.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "api/json_value.h"
#include "config/decode.h"
#include "config/yaml_text.h"

namespace berth::legacy {
namespace {

constexpr size_t kSourceBudget = size_t{4} << 20;
constexpr size_t kCommentWidth = 100;

// A manifest where its content was meant.
Problem MisplacedConfigMap(const Source& source) {
  const Value* data = source.document.Find("data");
  std::string what = "this is a ConfigMap's manifest, not a configuration: ";
  for (const auto& [key, value] : data == nullptr ? std::vector<Value::Member>() : data->members()) {
    if (value.kind() != Value::Kind::kString) continue;
    const std::string path = "data." + key;
    return {source.name, source.lines.Of(path), path,
            what + "give the text of this key as a file of its own, as a pod sees it that mounts the ConfigMap", true};
  }
  return {source.name, source.lines.Of("kind"), "kind", what + "and it has no data", true};
}

Problem MoreThanOne(const std::string& name, const std::vector<SourceDocument>& documents) {
  std::string kinds;
  for (const SourceDocument& document : documents) {
    std::vector<FieldError> ignored;
    const std::string kind = ParseJson(document.json, ignored).TextAt("kind");
    kinds += (kinds.empty() ? "" : ", then ") + (kind.empty() ? "one without kind" : kind);
  }
  return {name, documents[1].lines.Of(""), "",
          "more than one document; a configuration file holds one: here is " + kinds, true};
}

// Enabled plugins that nobody registered, by their paths in a document of v1.
std::vector<FieldError> UnknownPlugins(const Value& document, const Registry& registry) {
  std::vector<FieldError> errors;
  const auto look = [&](const Value& set, const std::string& path, const std::string& what) {
    const Value* enabled = set.Find("enabled");
    for (size_t i = 0; enabled != nullptr && i < enabled->items().size(); ++i) {
      const std::string name = enabled->items()[i].TextAt("name");
      if (name.empty() || registry.Find(name) != nullptr) continue;
      const Row* row = FindRow(RowKind::kPlugin, name);
      const std::string quoted = Value::String(name).ToJson();
      errors.push_back({path + ".enabled[" + std::to_string(i) + "].name",
                        "Invalid value: " + quoted + ": " + what + " " + quoted + " does not exist" +
                            (row == nullptr ? "" : ". " + std::string(row->text))});
    }
  };
  const Value* profiles = document.Find("profiles");
  for (size_t i = 0; profiles != nullptr && i < profiles->items().size(); ++i) {
    const Value* plugins = profiles->items()[i].Find("plugins");
    if (plugins == nullptr) continue;
    const std::string path = "profiles[" + std::to_string(i) + "].plugins.";
    if (const Value* multi = plugins->Find("multiPoint")) look(*multi, path + "multiPoint", "plugin");
    for (size_t at = 0; at < kPointCount; ++at) {
      const auto point = static_cast<Point>(at);
      const std::string key = config::PluginsKey(point);
      if (const Value* set = plugins->Find(key)) look(*set, path + key, std::string(ToString(point)) + "Plugin");
    }
  }
  return errors;
}

void LoadOld(const Source& source, const Registry& registry, const LoadOptions& options, Loaded& loaded) {
  Draft draft(source, loaded.version);
  std::unique_ptr<Source> policy;
  ConvertOptions convert;
  convert.defaults = options.unnamed == config::UnnamedPlugins::kDefaults;
  convert.policy = options.policy;
  loaded.document = Convert(convert, draft, policy);
  config::Loaded today = config::LoadDocument(loaded.document, registry, options.unnamed, options.adjust);
  draft.TakeTodays(today.errors);
  loaded.config = std::move(today.config);
  for (Problem& problem : draft.problems()) loaded.problems.push_back(std::move(problem));
  // As they are found in the files; those of a Policy that a file names after its own.
  std::ranges::stable_sort(loaded.problems, {}, [&](const Problem& problem) {
    return std::pair(problem.source != source.name, problem.line);
  });
  for (const FieldError& error : UnknownPlugins(loaded.document, registry))
    loaded.unknown.push_back(draft.FromToday(error));
  loaded.changes = std::move(draft.changes());
}

// Comments by path: of the path a change names, or of the nearest one around it that is written.
config::YamlComments CommentsOf(const Loaded& loaded, const std::string& name, std::vector<std::string>& head) {
  config::YamlComments comments;
  for (const Change& change : loaded.changes) {
    std::string text = change.line > 0 ? "line " + std::to_string(change.line) : "";
    if (change.source != name) text = "Policy, " + text;
    if (!change.path.empty()) text += (text.empty() ? "" : ", ") + change.path;
    const FieldError shown{"", (text.empty() ? "" : text + ": ") + change.text};
    if (change.today.empty()) {
      head.push_back(shown.ToString());
    } else {
      comments[change.today].push_back(shown.ToString());
    }
  }
  return comments;
}

}  // namespace

std::string Loaded::Warning(const std::string& file) const {
  if (!IsOld(version)) return "";
  return file + " is a " +
         (version == Version::kPolicy ? "Policy" : "configuration of " + std::string(ToString(version))) +
         ", which kube-scheduler no longer reads; berth config convert writes it as " +
         std::string(config::kApiVersion) + " and says what has changed";
}

Loaded Load(std::string_view text, const std::string& name, const Registry& registry, const LoadOptions& options) {
  Loaded loaded;
  Source source;
  source.name = name;
  std::vector<SourceDocument> documents;
  const Error error = ReadSource(text, kSourceBudget, 2, documents);
  if (error.ok() && documents.size() > 1) {
    loaded.problems.push_back(MoreThanOne(name, documents));
    return loaded;
  }
  std::vector<FieldError> errors;
  if (error.ok() && documents.size() == 1) {
    source.document = ParseJson(documents[0].json, errors);
    source.lines = std::move(documents[0].lines);
    loaded.version = VersionOf(source.document);
  }
  if (loaded.version == Version::kOther && source.document.TextAt("kind") == "ConfigMap") {
    loaded.problems.push_back(MisplacedConfigMap(source));
    return loaded;
  }
  if (!IsOld(loaded.version)) {
    loaded.version = Version::kV1;
    config::Loaded today = config::LoadConfiguration(text, registry, options.unnamed, options.adjust);
    for (FieldError& one : today.errors) {
      const std::string hint =
          one.text.starts_with("unknown field \"") ? HintFor(Version::kV1, one.path) : std::string();
      loaded.problems.push_back({name, source.lines.Of(one.path), one.path, one.text + hint, !hint.empty()});
    }
    loaded.config = std::move(today.config);
    for (const FieldError& one : UnknownPlugins(source.document, registry))
      loaded.unknown.push_back({name, source.lines.Of(one.path), one.path, one.text, true});
    return loaded;
  }
  if (loaded.version == Version::kPolicy && !options.no_policy.empty()) {
    const char* field = source.document.Find("kind") != nullptr ? "kind" : "";
    loaded.problems.push_back({name, source.lines.Of(field), field, options.no_policy});
    return loaded;
  }
  for (const FieldError& one : errors) loaded.problems.push_back({name, source.lines.Of(one.path), one.path, one.text});
  LoadOld(source, registry, options, loaded);
  return loaded;
}

Loaded LoadFlags(Value document, const std::string& name, const Registry& registry, const LoadOptions& options) {
  Loaded loaded;
  loaded.version = Version::kV1alpha1;
  Source source;
  source.name = name;
  source.document = std::move(document);
  LoadOld(source, registry, options, loaded);
  // Nobody has written that document: the flag's name says it all.
  for (Problem& problem : loaded.problems)
    if (problem.source == name) problem.path.clear();
  return loaded;
}

std::string CommentedFile(const Loaded& loaded, const std::string& name) {
  std::vector<std::string> head;
  config::YamlComments wanted = CommentsOf(loaded, name, head), comments;
  for (auto& [path, texts] : wanted) {
    std::string at = path;
    while (!at.empty() && !Exists(loaded.document, at)) {
      const size_t end = at.find_last_of(".[");
      at.resize(end == std::string::npos ? 0 : end);
    }
    std::vector<std::string>& to = at.empty() ? head : comments[at];
    to.insert(to.end(), texts.begin(), texts.end());
  }
  head.insert(head.begin(),
              "Converted from " +
                  (loaded.version == Version::kPolicy ? "a Policy" : std::string(ToString(loaded.version))) + ", " +
                  name + ", by berth config convert.");
  std::string file;
  for (const std::string& text : head) config::AppendComment(text, 0, kCommentWidth, file);
  return file + config::ToYaml(loaded.document, comments);
}

Value ChangesDocument(const Loaded& loaded, const std::string& name) {
  Value changes = Value::Array();
  for (const Change& change : loaded.changes) {
    Value one = Value::Object({{"file", Value::String(change.source)}, {"line", Value::Int(change.line)}});
    one.Set("field", Value::String(change.path));
    if (!change.today.empty()) one.Set("today", Value::String(change.today));
    one.Set("change", Value::String(std::string(ToString(change.fate))));
    one.Set("text", Value::String(FieldError{"", change.text}.ToString()));
    changes.Append(std::move(one));
  }
  return Value::Object({{"apiVersion", Value::String("berth.dev/v1alpha1")},
                        {"kind", Value::String("ConvertedConfiguration")},
                        {"file", Value::String(name)},
                        {"from", Value::String(std::string(ToString(loaded.version)))},
                        {"changes", std::move(changes)},
                        {"configuration", loaded.document}});
}

}  // namespace berth::legacy
