// SPDX-License-Identifier: Apache-2.0
// Template text to objects.
#include "bench/object_template.h"

#include <cctype>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "api/decode.h"
#include "api/file_text.h"
#include "api/json_value.h"
#include "api/yaml.h"
#include "bench/value_edit.h"
#include "berth/host/share_lists.h"

namespace berth::bench {
namespace {

// Go's decoder takes NodeTaintsPolicy for nodeTaintsPolicy, and one of upstream's own templates relies on it.
Value WithGoKeys(const Value& pod) {
  const Value& spec = At(pod, "spec");
  const Value& constraints = At(spec, "topologySpreadConstraints");
  if (constraints.items().empty()) return pod;
  Value list = Value::Array();
  for (const Value& constraint : constraints.items()) {
    Value out = Value::Object();
    for (const auto& [name, value] : constraint.members()) {
      std::string key = name;
      if (!key.empty()) key[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(key[0])));
      out.Set(key, value);
    }
    if (constraint.members().empty()) {
      list.Append(constraint);
    } else {
      list.Append(std::move(out));
    }
  }
  return With(pod, "spec", With(spec, "topologySpreadConstraints", std::move(list)));
}

Value WithAllocatable(const Value& node, const std::vector<std::pair<std::string, std::string>>& more) {
  const Value& status = At(node, "status");
  const Value& own = At(status, "allocatable");
  Value amounts = own.is_null() ? At(status, "capacity") : own;
  if (amounts.is_null()) amounts = Value::Object();
  for (const auto& [name, amount] : more) amounts = With(amounts, name, Value::String(amount));
  return With(node, "status", With(status, "allocatable", std::move(amounts)));
}

// Upstream's templates of CSI volumes leave the handle to its program.
Value WithVolumeHandle(const Value& volume) {
  const Value& spec = At(volume, "spec");
  const Value& csi = At(spec, "csi");
  if (csi.kind() != Value::Kind::kObject || !At(csi, "volumeHandle").is_null()) return volume;
  return With(volume, "spec", With(spec, "csi", With(csi, "volumeHandle", Value::String("-"))));
}

// Kinds of which templates without actions are decoded once.
bool IsCopied(Kind kind) {
  return kind == Kind::kPod || kind == Kind::kNode || kind == Kind::kPersistentVolume ||
         kind == Kind::kPersistentVolumeClaim;
}

}  // namespace

std::string UidOf(uint64_t serial) {
  ObjectMeta meta;
  InventIdentity(serial, meta);
  return meta.uid;
}

Result<ObjectTemplate> ObjectTemplate::Read(const std::string& path) {
  const Result<FileText> text = FileText::Read(path);
  if (!text.ok()) return text.error().Wrap(path);
  return Parse(text->text(), path);
}

Result<ObjectTemplate> ObjectTemplate::Parse(std::string_view text, const std::string& source) {
  ObjectTemplate out;
  out.source_ = source;
  Result<TextTemplate> parsed = TextTemplate::Parse(text);
  if (!parsed.ok()) return parsed.error().Wrap(source);
  out.text_ = std::move(parsed).value();
  const Result<Value> first = out.Render(0, 1);
  if (!first.ok()) return first.error();
  out.kind_name_ = At(*first, "kind").text();
  if (out.kind_name_.empty()) return Error(source + ": kind: Required value");
  const std::optional<Kind> known = FindKind(out.kind_name_);
  if (!known) return out;
  out.known_ = true;
  out.kind_ = *known;
  const Value& meta = At(*first, "metadata");
  out.finalizers_ = !At(meta, "finalizers").items().empty();
  if (out.text_.constant()) {
    out.name_ = At(meta, "name").text();
    out.generate_name_ = At(meta, "generateName").text();
  }
  return out;
}

Result<Value> ObjectTemplate::Render(int64_t index, int64_t count) const {
  const Result<std::string> text = text_.Render(index, count);
  if (!text.ok()) return text.error().Wrap(source_);
  Value value;
  size_t documents = 0;
  const Error error = ForEachDocument(*text, [&](const std::string& json) {
    if (++documents > 1) return Error("must have one object, has more");
    std::vector<FieldError> errors;
    value = ParseJson(json, errors);
    return errors.empty() ? Error::Ok() : Error(errors.front().ToString());
  });
  if (!error.ok()) return error.Wrap(source_);
  if (value.kind() != Value::Kind::kObject) return Error(source_ + ": must be one object");
  return value;
}

Result<Value> ObjectTemplate::MakeValue(const Making& making) const {
  Result<Value> rendered = Render(making.index, making.count);
  if (!rendered.ok()) return rendered.error();
  Value value = std::move(rendered).value();
  Value meta = At(value, "metadata");
  if (meta.is_null()) meta = Value::Object();
  std::string name = making.name;
  if (name.empty()) name = At(meta, "name").text();
  if (name.empty() && !At(meta, "generateName").text().empty())
    name = At(meta, "generateName").text() + std::to_string(making.serial);
  if (!name.empty()) meta = With(meta, "name", Value::String(name));
  if (IsNamespaced(kind_) && !making.namespace_.empty())
    meta = With(meta, "namespace", Value::String(making.namespace_));
  value = With(value, "metadata", std::move(meta));
  if (kind_ == Kind::kPod) value = WithGoKeys(value);
  if (kind_ == Kind::kPersistentVolume) value = WithVolumeHandle(value);
  if (kind_ == Kind::kNode && !allocatable_.empty()) value = WithAllocatable(value, allocatable_);
  return value;
}

Result<ClusterObject> ObjectTemplate::Decode(const Making& making, const PriorityClasses& classes) const {
  const Result<Value> value = MakeValue(making);
  if (!value.ok()) return value.error();
  DecodedObject decoded = DecodeObject(value->ToJson(), DecodeMode::kFile, making.annotations);
  if (decoded.known() && decoded.errors.empty()) {
    MetaOf(decoded.object).uid = UidOf(making.serial);
    if (auto* pod = std::get_if<DecodedPod>(&decoded.object)) {
      ApplyAdmission(classes, *pod, decoded.errors);
      pod->pod.resources = ComputePodResources(pod->pod);
      ShareLists(pod->pod);
    }
  }
  if (!decoded.errors.empty()) {
    decoded.errors.front().file = source_;
    return Error(decoded.errors.front().Text());
  }
  if (!decoded.known()) return Error(source_ + ": " + decoded.api_version + " " + decoded.kind + " is not read");
  return *ToClusterObject(std::move(decoded.object));
}

Result<ClusterObject> ObjectTemplate::Make(const Making& making, const PriorityClasses& classes) {
  if (!text_.constant() || !IsCopied(kind_)) return Decode(making, classes);
  if (!prototype_) {
    Result<ClusterObject> made = Decode(making, classes);
    if (!made.ok()) return made;
    prototype_ = std::move(made).value();
  }
  ObjectMeta meta = MetaOf(*prototype_);
  meta.name = !making.name.empty() ? making.name
              : !name_.empty()     ? name_
                                   : generate_name_ + std::to_string(making.serial);
  if (IsNamespaced(kind_)) meta.namespace_ = making.namespace_;
  meta.uid = UidOf(making.serial);
  return WithMeta(*prototype_, std::move(meta));
}

}  // namespace berth::bench
