// SPDX-License-Identifier: Apache-2.0
// ArgsReader: typed fields out of a Value, with complaints in Kubernetes' form.
#include "berth/args.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "berth/value.h"
#include "util/secret_text.h"

namespace berth {
inline namespace v1 {
namespace {

std::string RangeText(const IntRange& range) {
  if (range.text != nullptr) return range.text;
  constexpr IntRange kAny;
  if (range.max == kAny.max) return "must be at least " + std::to_string(range.min);
  if (range.min == kAny.min) return "must be at most " + std::to_string(range.max);
  return "must be in [" + std::to_string(range.min) + ", " + std::to_string(range.max) + "]";
}

// What is said of a value that is not what it must be. A list or an object is not shown: it may hold anything.
std::string WrongType(const Value& value, const std::string& must_be) {
  if (value.kind() == Value::Kind::kArray) return "Invalid value: " + must_be + ", not a list";
  if (value.kind() == Value::Kind::kObject) return "Invalid value: " + must_be + ", not an object";
  return "Invalid value: " + value.ToJson() + ": " + must_be;
}

}  // namespace

std::string FieldError::ToString() const { return util::WithoutSecrets(path.empty() ? text : path + ": " + text); }

ArgsReader::ArgsReader(const Value* object, std::string path, std::vector<FieldError>* errors)
    : object_(object), path_(std::move(path)), errors_(errors) {
  if (object_ != nullptr && object_->kind() != Value::Kind::kObject) {
    // Without a path this is the whole document, and whatever it is, it is none that was meant for us to read.
    if (!object_->is_null()) {
      Complain("", path_.empty() ? "Invalid value: must be an object" : WrongType(*object_, "must be an object"));
    }
    object_ = nullptr;
  }
}

ArgsReader ArgsReader::Nested(const Value& object, std::string path) const {
  ArgsReader reader(&object, std::move(path), errors_);
  reader.nested_ = true;
  return reader;
}

const Value* ArgsReader::Raw(std::string_view field) {
  if (std::find(known_.begin(), known_.end(), field) == known_.end()) known_.emplace_back(field);
  const Value* value = object_ == nullptr ? nullptr : object_->Find(field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ArgsReader::Has(std::string_view field) { return Raw(field) != nullptr; }

const Value* ArgsReader::Take(std::string_view field, Value::Kind want, const char* type_name) {
  const Value* value = Raw(field);
  if (value == nullptr || value->kind() == want) return value;
  Complain(field, WrongType(*value, std::string("must be ") + type_name));
  return nullptr;
}

void ArgsReader::Int(std::string_view field, int64_t& out, IntRange range) {
  const Value* value = Take(field, Value::Kind::kNumber, "an integer");
  if (value == nullptr) return;
  const std::string& text = value->text();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return Invalid(field, text, "must fit in 64 bits");
  if (error != std::errc() || end != text.data() + text.size()) return Invalid(field, text, "must be an integer");
  if (number < range.min || number > range.max) return Invalid(field, text, RangeText(range));
  out = number;
}

void ArgsReader::Int32(std::string_view field, int32_t& out, IntRange range) {
  const Value* value = Take(field, Value::Kind::kNumber, "an integer");
  if (value == nullptr) return;
  const std::string& text = value->text();
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return Invalid(field, text, "must fit in 32 bits");
  if (error != std::errc() || end != text.data() + text.size()) return Invalid(field, text, "must be an integer");
  if (number < range.min || number > range.max) return Invalid(field, text, RangeText(range));
  out = number;
}

void ArgsReader::Float(std::string_view field, double& out) {
  const Value* value = Take(field, Value::Kind::kNumber, "a number");
  if (value == nullptr) return;
  const std::string& text = value->text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return Invalid(field, text, "must be a number");
  out = number;
}

void ArgsReader::Bool(std::string_view field, bool& out) {
  if (const Value* value = Take(field, Value::Kind::kBool, "true or false")) out = value->bool_value();
}

void ArgsReader::String(std::string_view field, std::string& out) {
  if (const Value* value = Take(field, Value::Kind::kString, "a string")) out = value->text();
}

void ArgsReader::Enum(std::string_view field, std::string& out, const std::vector<std::string>& allowed) {
  const Value* value = Take(field, Value::Kind::kString, "a string");
  if (value == nullptr) return;
  if (std::find(allowed.begin(), allowed.end(), value->text()) != allowed.end()) {
    out = value->text();
    return;
  }
  std::string list;
  for (const std::string& name : allowed) {
    if (!list.empty()) list += ", ";
    list += Quote(name);
  }
  Complain(field, "Unsupported value: " + Quote(value->text()) + ": supported values: " + list);
}

void ArgsReader::Strings(std::string_view field, std::vector<std::string>& out) {
  const Value* value = Take(field, Value::Kind::kArray, "a list of strings");
  if (value == nullptr) return;
  std::vector<std::string> texts;
  for (size_t i = 0; i < value->items().size(); ++i) {
    const Value& item = value->items()[i];
    if (item.kind() != Value::Kind::kString && !item.is_null()) {
      Complain(std::string(field) + "[" + std::to_string(i) + "]", WrongType(item, "must be a string"));
    }
    texts.push_back(item.kind() == Value::Kind::kString ? item.text() : "");
  }
  out = std::move(texts);
}

void ArgsReader::Time(std::string_view field, Duration& out) {
  const Value* value = Take(field, Value::Kind::kString, "a duration such as \"10s\"");
  if (value == nullptr) return;
  const Result<Duration> duration = ParseDuration(value->text());
  if (!duration.ok()) return Invalid(field, Quote(value->text()), duration.error().text());
  out = *duration;
}

void ArgsReader::Object(std::string_view field, const std::function<void(ArgsReader&)>& read) {
  const Value* value = Take(field, Value::Kind::kObject, "an object");
  if (value == nullptr) return;
  ArgsReader reader = Nested(*value, PathOf(field));
  read(reader);
  reader.Finish();
}

void ArgsReader::Objects(std::string_view field, const std::function<void(ArgsReader&)>& read) {
  const Value* value = Take(field, Value::Kind::kArray, "a list");
  if (value == nullptr) return;
  for (size_t i = 0; i < value->items().size(); ++i) {
    ArgsReader reader = Nested(value->items()[i], PathOf(field) + "[" + std::to_string(i) + "]");
    read(reader);
    reader.Finish();
  }
}

void ArgsReader::Invalid(std::string_view field, const std::string& value, const std::string& text) {
  Complain(field, "Invalid value: " + value + ": " + text);
}

void ArgsReader::Complain(std::string_view field, const std::string& text) {
  errors_->push_back({PathOf(field), text});
}

std::string ArgsReader::PathOf(std::string_view field) const {
  if (field.empty()) return path_;
  return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
}

void ArgsReader::Finish() {
  if (object_ == nullptr) return;
  for (const auto& [name, value] : object_->members()) {
    if (!nested_ && (name == "apiVersion" || name == "kind")) continue;
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    Complain(name, "unknown field " + Quote(name));
  }
}

}  // namespace v1
}  // namespace berth
