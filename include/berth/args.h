// SPDX-License-Identifier: Apache-2.0
// ArgsReader: a plugin's arguments, declared and range-checked in one place: the plugin's own Args::Read.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/value.h"

namespace berth {
inline namespace v1 {

// One complaint about one field, rendered as Kubernetes renders it: `path: Invalid value: 120: must be …`.
struct FieldError {
  std::string path;
  std::string text;  // without the path
  // Path and text; what looks like a key or a token is shown as ***.
  std::string ToString() const;
  bool operator==(const FieldError&) const = default;
};

// A duration in Go's form, "10s" or "1h30m"; the Error is Go's sentence.
Result<Duration> ParseDuration(std::string_view text);
// Back again, as Go prints it: "10m0s", "1.5s".
std::string FormatDuration(Duration duration);

// The closed range of an integer argument. `text` replaces the default complaint.
struct IntRange {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  const char* text = nullptr;
};

// Reads one JSON object field by field. Every getter leaves its target alone when the field is absent or null, so a
// struct's initialisers are its defaults. Wrong types, values out of range and, at the end, fields nobody asked for are
// added to the error list; reading goes on, so all errors are found at once.
class ArgsReader {
 public:
  // `object` may be null (no args). REQUIRES: `errors` outlives the reader.
  ArgsReader(const Value* object, std::string path, std::vector<FieldError>* errors);

  bool Has(std::string_view field);
  void Int(std::string_view field, int64_t& out, IntRange range = {});
  void Int32(std::string_view field, int32_t& out, IntRange range = {});
  void Bool(std::string_view field, bool& out);
  void String(std::string_view field, std::string& out);
  // A string out of `allowed`; complaint as Kubernetes': Unsupported value: "x": supported values: "A", "B".
  void Enum(std::string_view field, std::string& out, const std::vector<std::string>& allowed);
  void Strings(std::string_view field, std::vector<std::string>& out);
  void Float(std::string_view field, double& out);
  // A Go duration such as "10s" or "1h30m".
  void Time(std::string_view field, Duration& out);
  // Calls `read` with a reader of the nested object, or of every object of the list; not at all when absent.
  void Object(std::string_view field, const std::function<void(ArgsReader&)>& read);
  void Objects(std::string_view field, const std::function<void(ArgsReader&)>& read);
  // The field as it is, for what none of the above fits; null when absent. The field counts as known.
  const Value* Raw(std::string_view field);

  // `path.field: Invalid value: <value>: <text>`
  void Invalid(std::string_view field, const std::string& value, const std::string& text);
  // `path.field: <text>`, for Required, Forbidden, Duplicate and the like.
  void Complain(std::string_view field, const std::string& text);
  // `path.field`, or just the path for an empty field.
  std::string PathOf(std::string_view field) const;
  const std::string& path() const { return path_; }
  // Complains about fields that were never asked for; at the top level apiVersion and kind are always welcome. The
  // framework calls it for the top level; Object and Objects do it for what they opened.
  void Finish();

 private:
  ArgsReader Nested(const Value& object, std::string path) const;
  const Value* Take(std::string_view field, Value::Kind want, const char* type_name);

  const Value* object_;
  std::string path_;
  std::vector<FieldError>* errors_;
  std::vector<std::string> known_;
  bool nested_ = false;
};

}  // namespace v1
}  // namespace berth
