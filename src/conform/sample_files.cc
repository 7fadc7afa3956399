// SPDX-License-Identifier: Apache-2.0
// Objects out of files, as kube-scheduler would send them.
#include <utility>

#include "api/file_text.h"
#include "api/json_value.h"
#include "api/yaml.h"
#include "berth/value.h"
#include "conform/samples.h"

namespace berth::conform {
namespace {

std::string NameOf(const Value& object) {
  const Value* metadata = object.Find("metadata");
  return metadata == nullptr ? "" : metadata->TextAt("name");
}

// Informers give objects without kind; pods come without managedFields.
Value AsSent(const Value& object, bool managed_fields) {
  Value sent = Value::Object();
  for (const auto& [key, value] : object.members()) {
    if (key == "kind" || key == "apiVersion") continue;
    if (key != "metadata" || managed_fields) {
      sent.Set(key, value);
      continue;
    }
    Value metadata = Value::Object();
    for (const auto& [name, field] : value.members()) {
      if (name != "managedFields") metadata.Set(name, field);
    }
    sent.Set(key, std::move(metadata));
  }
  return sent;
}

void Collect(const Value& object, const std::string& kind, std::vector<Value>& found) {
  const std::string own = object.TextAt("kind");
  if (own == kind) found.push_back(object);
  const Value* items = object.Find("items");
  if (items == nullptr || !own.ends_with("List")) return;
  for (const Value& item : items->items()) {
    // Items of a NodeList need not say what they are.
    if (own == kind + "List" || item.TextAt("kind") == kind) found.push_back(item);
  }
}

Result<std::vector<Value>> ReadObjects(const std::string& path, const std::string& kind) {
  Result<FileText> file = FileText::Read(path);
  if (!file.ok()) return file.error().Wrap(path);
  std::vector<Value> found;
  const Error error = ForEachDocument(file->text(), [&](const std::string& json) {
    std::vector<FieldError> errors;
    const Value document = ParseJson(json, errors);
    if (!errors.empty()) return Error(errors.front().ToString());
    Collect(document, kind, found);
    return Error::Ok();
  });
  if (!error.ok()) return error.Wrap(path);
  if (found.empty()) return Error(path + ": no " + kind + " in it");
  for (const Value& object : found) {
    if (NameOf(object).empty()) return Error(path + ": a " + kind + " without metadata.name");
  }
  return found;
}

}  // namespace

Result<std::string> ReadPod(const std::string& path) {
  Result<std::vector<Value>> pods = ReadObjects(path, "Pod");
  if (!pods.ok()) return pods.error();
  return AsSent(pods->front(), /*managed_fields=*/false).ToJson();
}

Result<std::vector<SampleNode>> ReadNodes(const std::string& path) {
  Result<std::vector<Value>> found = ReadObjects(path, "Node");
  if (!found.ok()) return found.error();
  std::vector<SampleNode> nodes;
  for (const Value& object : *found) {
    nodes.push_back({NameOf(object), AsSent(object, /*managed_fields=*/true).ToJson()});
  }
  return nodes;
}

}  // namespace berth::conform
