// SPDX-License-Identifier: Apache-2.0
// A thin layer over simdjson's on-demand reader for the decoders: it knows the path it is at, reads typed values, and
// records what is wrong instead of stopping, so that all errors of an object are listed. Include it in decoder .cc
// files only: it pulls in simdjson.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/load_error.h"
#include "api/validate_names.h"
#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/quantity.h"

namespace berth {

using JsonValue = simdjson::ondemand::value;

// Of one object in peer mode: how long a list or map in it may be, and all of them together. No API server stores
// objects that come near; without a bound `{}`, three bytes, would be a hundred in memory.
inline constexpr size_t kMaxPeerItems = 10'000;
inline constexpr size_t kMaxPeerItemsInAll = 100'000;

class At;
struct PodParts;

// The state of decoding one object. Not thread safe. Errors go to the vector given; kind, name and file of an error
// are filled in by whoever owns the object (decode_objects.cc).
class Context {
 public:
  Context(DecodeMode mode, std::vector<LoadError>& errors) : mode_(mode), errors_(errors) {}

  // True in file mode, where every value gets the API server's validation.
  bool strict() const { return mode_ == DecodeMode::kFile; }
  DecodeMode mode() const { return mode_; }
  // From now on the first error ends the reading as something malformed does. For messages from anybody: each of their
  // bytes could be an error, and nobody reads a list of millions.
  void StopAtFirstError() { stop_at_error_ = true; }
  // Which annotations of pods and nodes are kept; null, as at first: none. REQUIRES: outlives the reading.
  void KeepAnnotations(const AnnotationKeys* keys) { annotations_ = keys; }
  const AnnotationKeys& annotations() const {
    static const AnnotationKeys none;
    return annotations_ ? *annotations_ : none;
  }
  // What of pods was read before; null, as at first: everything is read. REQUIRES: peer mode; outlives the reading.
  void UseParts(PodParts* parts) { parts_ = parts; }
  PodParts* parts() const { return parts_; }
  // Something malformed was met: nothing behind it can be read.
  bool broken() const { return broken_; }
  size_t error_count() const { return errors_.size(); }
  std::string Path() const;

  // The forms of the API server's complaints about the value at the current path.
  void Invalid(std::string_view value, std::string_view detail);  // value in quotes
  void InvalidNumber(int64_t value, std::string_view detail);
  void InvalidRaw(std::string_view value, std::string_view detail);  // value as it is
  void Required(std::string_view detail = "");
  void Forbidden(std::string_view detail);
  void TooLong(size_t bytes);  // more than so many bytes
  void Duplicate(std::string_view value, std::string_view detail = "");
  void Unsupported(std::string_view value, std::initializer_list<std::string_view> supported);
  void Invalid(std::string_view value, const Complaints& complaints);
  void WrongType(std::string_view expected, JsonValue value);
  // The same of something that is in no field, so that nobody knows what it is: it is not shown.
  void WrongTypeUnseen(std::string_view expected, JsonValue value);
  // The same for who knows what it is instead.
  void MustBe(std::string_view expected, std::string_view got, std::string_view raw = "");
  void Broken(simdjson::error_code error);
  void Malformed(std::string_view what, std::string_view form = "JSON");
  // Somebody else met malformed JSON in the same document and recorded it: read no further.
  void Stop() { broken_ = true; }

  // A list or map of an object (ObjectScope) that has `size` items is to have one more: false, and recorded, if those
  // are too many.
  bool HasRoom(size_t size) {
    return !bounded_ || (size < kMaxPeerItems && items_++ < kMaxPeerItemsInAll) || TooMany(size);
  }

  // How many items the lists and maps of the last such object have, together.
  size_t items() const { return items_; }

  // In file mode, complains about an enum value that is not one of `supported`.
  // An unknown enum never fails a peer's object; it just never matches.
  bool CheckEnum(std::string_view value, std::initializer_list<std::string_view> supported);

 private:
  friend class At;
  friend class ObjectScope;
  void WrongType(std::string_view expected, JsonValue value, bool shown);
  void Record(std::string value, std::string message, bool malformed = false);
  bool TooMany(size_t size);  // false

  DecodeMode mode_;
  PodParts* parts_ = nullptr;
  const AnnotationKeys* annotations_ = nullptr;
  std::vector<LoadError>& errors_;
  const At* last_ = nullptr;  // of the path
  bool broken_ = false, stop_at_error_ = false;
  bool bounded_ = false;  // within an object of a peer's
  size_t items_ = 0;      // read of its lists
};

// For as long as it lives one Kubernetes object is being read, not the message around it: in peer mode its lists and
// maps are bounded.
class ObjectScope {
 public:
  explicit ObjectScope(Context& context) : context_(context) {
    context.bounded_ = !context.strict();
    context.items_ = 0;
  }
  ~ObjectScope() { context_.bounded_ = false; }
  ObjectScope(const ObjectScope&) = delete;
  ObjectScope& operator=(const ObjectScope&) = delete;

 private:
  Context& context_;
};

// Puts one step on the path for as long as it lives. The path is a chain of these: a step costs no memory, of which
// every member of every object would want some.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"  // g++ 12 does not see that the destructor takes it back
#endif
class At {
 public:
  // REQUIRES: `key` outlives it.
  At(Context& context, std::string_view key, bool bracketed = false)
      : context_(context), before_(context.last_), key_(key), bracketed_(bracketed) {
    context.last_ = this;
  }
  At(Context& context, size_t index) : context_(context), before_(context.last_), index_(static_cast<int64_t>(index)) {
    context.last_ = this;
  }
  ~At() { context_.last_ = before_; }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

  // Of a step that is an index.
  void SetIndex(size_t index) { index_ = static_cast<int64_t>(index); }

 private:
  friend class Context;
  void AppendTo(std::string& path) const;  // with all steps before it

  Context& context_;
  const At* const before_;
  std::string_view key_;
  int64_t index_ = -1;  // -1: a key
  bool bracketed_ = false;
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// What a member is called. Compares with a word as two numbers are compared, where std::string_view calls a function; a
// decoder asks a dozen times which member it has.
class MemberName : public std::string_view {
 public:
  MemberName(std::string_view name) : std::string_view(name) {}  // NOLINT: implicit on purpose
  template <size_t N>
  [[gnu::always_inline]] friend bool operator==(MemberName name, const char (&word)[N]) {
    return name.size() == N - 1 && std::memcmp(name.data(), word, N - 1) == 0;
  }
};

// Each reader leaves `out` alone and returns false when the value is null or of the wrong type (then recorded).
bool Read(Context& context, JsonValue value, std::string& out);
bool Read(Context& context, JsonValue value, std::optional<std::string>& out);
bool Read(Context& context, JsonValue value, bool& out);
bool Read(Context& context, JsonValue value, std::optional<bool>& out);
bool Read(Context& context, JsonValue value, int32_t& out);
bool Read(Context& context, JsonValue value, std::optional<int32_t>& out);
bool Read(Context& context, JsonValue value, int64_t& out);
bool Read(Context& context, JsonValue value, std::optional<Time>& out);
// A JSON string or number; null is zero, as upstream has it.
bool Read(Context& context, JsonValue value, Quantity& out);
bool Read(Context& context, JsonValue value, std::optional<Quantity>& out);
bool Read(Context& context, JsonValue value, std::vector<std::string>& out);
inline bool Read(Context& context, JsonValue value, List<std::string>& out) { return Read(context, value, out.Edit()); }

// True when the value is null; malformed JSON is recorded and counts as null.
bool IsNull(Context& context, JsonValue value);

// True for {}, which simdjson cannot begin twice: who looks into an object before it is read must ask first, and then
// not look. Malformed JSON is recorded. REQUIRES: an object that was not begun.
bool IsEmptyObject(Context& context, JsonValue value);

// The text of a field's key. Valid while the document is.
std::string_view KeyOf(Context& context, simdjson::ondemand::field& field);

// Calls fn(name, value), the name a MemberName, for every member of an object with the key on the path (as `.key`, or,
// of a map, `[key]` when `bracketed`). False for null and wrong types, and where a map is too long.
template <class Fn>
bool ForEachMember(Context& context, JsonValue value, Fn&& fn, bool bracketed = false) {
  if (context.broken()) return false;
  simdjson::ondemand::json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type == simdjson::ondemand::json_type::null) return IsNull(context, value), false;
  if (type != simdjson::ondemand::json_type::object) return context.WrongType("an object", value), false;
  simdjson::ondemand::object object;
  if (auto error = value.get_object().get(object)) return context.Broken(error), false;
  size_t size = 0;
  for (auto item : object) {
    simdjson::ondemand::field field;
    if (auto error = std::move(item).get(field)) return context.Broken(error), false;
    const std::string_view key = KeyOf(context, field);
    if (context.broken()) return false;
    At at(context, key, bracketed);
    if (bracketed && !context.HasRoom(size++)) return false;
    fn(MemberName(key), field.value());
    if (context.broken()) return false;
  }
  return true;
}

// Calls fn(value) for every item of an array with its index on the path. False for null and wrong types, and where
// a list is too long.
template <class Fn>
bool ForEachItem(Context& context, JsonValue value, Fn&& fn) {
  if (context.broken()) return false;
  simdjson::ondemand::json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type == simdjson::ondemand::json_type::null) return IsNull(context, value), false;
  if (type != simdjson::ondemand::json_type::array) return context.WrongType("an array", value), false;
  simdjson::ondemand::array array;
  if (auto error = value.get_array().get(array)) return context.Broken(error), false;
  At at(context, size_t{0});
  size_t index = 0;
  for (auto item : array) {
    JsonValue element;
    if (auto error = std::move(item).get(element)) return context.Broken(error), false;
    at.SetIndex(index);
    if (!context.HasRoom(index++)) return false;
    fn(element);
    if (context.broken()) return false;
  }
  return true;
}

// An array decoded into a vector by fn(context, value) -> T. An absent (null) array leaves `out` empty.
template <class Value, class T, class Fn>
bool ReadList(Context& context, Value value, std::vector<T>& out, Fn&& fn) {
  out.clear();
  return ForEachItem(context, value, [&](Value item) { out.push_back(fn(context, item)); });
}

template <class Value, class T, class Fn>
bool ReadList(Context& context, Value value, List<T>& out, Fn&& fn) {
  return ReadList(context, value, out.Edit(), std::forward<Fn>(fn));
}

// RFC 3339, as metav1.Time reads it; no value when malformed.
std::optional<Time> ParseTime(std::string_view text);
// Beyond what 64 bits of nanoseconds hold (years 1678 to 2262) the nearest end stands for it. REQUIRES: 0 <= nanos <
// 1e9.
Time TimeOfUnix(int64_t seconds, int64_t nanos);

}  // namespace berth
