// SPDX-License-Identifier: Apache-2.0
// Typed reading of JSON values with the path of the field at hand; errors are recorded and reading goes on.
#include "api/json_reader.h"

#include <algorithm>

namespace berth {
namespace {

using simdjson::ondemand::json_type;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// The type of a value that is there; false for null and malformed JSON.
bool TypeOf(Context& context, JsonValue& value, json_type& type) {
  if (context.broken()) return false;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type != json_type::null) return true;
  IsNull(context, value);
  return false;
}

template <class T>
bool ReadOptional(Context& context, JsonValue value, std::optional<T>& out) {
  T read{};
  out.reset();
  if (!Read(context, value, read)) return false;
  out = std::move(read);
  return true;
}

template <class Int>
bool ReadInt(Context& context, JsonValue value, Int& out, std::string_view name) {
  json_type type;
  if (!TypeOf(context, value, type)) return false;
  if (type != json_type::number) return context.WrongType(name, value), false;
  const std::string raw(Trim(value.raw_json_token()));
  int64_t read = 0;
  if (auto error = value.get_int64().get(read)) {
    const bool integer = raw.find_first_of(".eE") == std::string::npos;
    context.InvalidRaw(raw, integer ? "out of range for " + std::string(name) : "must be an integer");
    return false;
  }
  if (read < std::numeric_limits<Int>::min() || read > std::numeric_limits<Int>::max()) {
    context.InvalidRaw(raw, "out of range for " + std::string(name));
    return false;
  }
  out = static_cast<Int>(read);
  return true;
}

}  // namespace

std::string Context::Path() const {
  std::string path;
  if (last_) last_->AppendTo(path);
  return path;
}

void At::AppendTo(std::string& path) const {
  if (before_) before_->AppendTo(path);
  if (index_ >= 0) {
    path += '[' + std::to_string(index_) + ']';
  } else if (bracketed_) {
    path += '[';
    path += key_;
    path += ']';
  } else {
    if (!path.empty()) path += '.';
    path += key_;
  }
}

void Context::Record(std::string value, std::string message, bool malformed) {
  if (stop_at_error_) {
    if (!errors_.empty()) return;
    broken_ = true;
  }
  LoadError error;
  error.path = Path();
  error.value = std::move(value);
  error.message = std::move(message);
  error.malformed = malformed;
  errors_.push_back(std::move(error));
}

bool Context::TooMany(size_t size) {
  if (size >= kMaxPeerItems) {
    InvalidRaw(std::to_string(size + 1), "must have at most " + std::to_string(kMaxPeerItems) + " items");
  } else {
    InvalidRaw(std::to_string(kMaxPeerItemsInAll + 1),
               "the lists of one object must have at most " + std::to_string(kMaxPeerItemsInAll) + " items together");
  }
  return false;
}

void Context::Invalid(std::string_view value, std::string_view detail) {
  Record(std::string(value), "Invalid value: " + Quoted(value) + (detail.empty() ? "" : ": ") + std::string(detail));
}

void Context::Invalid(std::string_view value, const Complaints& complaints) {
  for (const std::string& complaint : complaints) Invalid(value, complaint);
}

void Context::InvalidNumber(int64_t value, std::string_view detail) { InvalidRaw(std::to_string(value), detail); }

void Context::InvalidRaw(std::string_view value, std::string_view detail) {
  Record(std::string(value), "Invalid value: " + std::string(value) + ": " + std::string(detail));
}

void Context::Required(std::string_view detail) {
  Record("", std::string("Required value") + (detail.empty() ? "" : ": ") + std::string(detail));
}

void Context::Forbidden(std::string_view detail) { Record("", "Forbidden: " + std::string(detail)); }

void Context::TooLong(size_t bytes) {
  Record("", "Too long: may not be more than " + std::to_string(bytes) + " bytes");
}

void Context::Duplicate(std::string_view value, std::string_view detail) {
  Record(std::string(value), "Duplicate value: " + Quoted(value) + (detail.empty() ? "" : ": ") + std::string(detail));
}

void Context::Unsupported(std::string_view value, std::initializer_list<std::string_view> supported) {
  std::string list;
  for (std::string_view word : supported) {
    if (!list.empty()) list += ", ";
    list += Quoted(word);
  }
  Record(std::string(value), "Unsupported value: " + Quoted(value) + ": supported values: " + list);
}

bool Context::CheckEnum(std::string_view value, std::initializer_list<std::string_view> supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return true;
  if (strict()) Unsupported(value, supported);
  return false;
}

void Context::WrongType(std::string_view expected, JsonValue value) { WrongType(expected, value, true); }
void Context::WrongTypeUnseen(std::string_view expected, JsonValue value) { WrongType(expected, value, false); }

void Context::WrongType(std::string_view expected, JsonValue value, bool shown) {
  json_type type;
  if (auto error = value.type().get(type)) return Broken(error);
  std::string_view got = "null";
  std::string raw;
  switch (type) {
    case json_type::array:
      got = "an array";
      break;
    case json_type::object:
      got = "an object";
      break;
    case json_type::string:
      got = "a string";
      break;
    case json_type::number:
      got = "a number";
      break;
    case json_type::boolean:
      got = "a boolean";
      break;
    case json_type::null:
      break;
  }
  if (shown && type != json_type::array && type != json_type::object) raw = Trim(value.raw_json_token());
  MustBe(expected, got, raw);
}

void Context::MustBe(std::string_view expected, std::string_view got, std::string_view raw) {
  std::string value(raw);
  Record(value, "Invalid value" + (value.empty() ? "" : ": " + value) + ": must be " + std::string(expected) +
                    ", not " + std::string(got));
}

void Context::Broken(simdjson::error_code error) { Malformed(simdjson::error_message(error)); }

void Context::Malformed(std::string_view what, std::string_view form) {
  if (broken_) return;
  broken_ = true;
  Record("", "malformed " + std::string(form) + ": " + std::string(what), true);
}

bool IsNull(Context& context, JsonValue value) {
  if (context.broken()) return true;
  bool null = true;
  if (auto error = value.is_null().get(null)) context.Broken(error);
  return null;
}

bool IsEmptyObject(Context& context, JsonValue value) {
  const char* at = nullptr;
  if (auto error = value.current_location().get(at)) return context.Broken(error), false;
  do ++at;
  while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n');  // the padding ends it
  return *at == '}';
}

std::string_view KeyOf(Context& context, simdjson::ondemand::field& field) {
  // simdjson's first stage has seen every string's closing quote, so this ends.
  const char* raw = field.key().raw();
  const char* end = raw;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') return {raw, static_cast<size_t>(end - raw)};
  std::string_view key;
  if (auto error = field.unescaped_key().get(key)) context.Broken(error);
  return key;
}

bool Read(Context& context, JsonValue value, std::string& out) {
  json_type type;
  if (!TypeOf(context, value, type)) return false;
  if (type != json_type::string) return context.WrongType("a string", value), false;
  std::string_view text;
  if (auto error = value.get_string().get(text)) return context.Broken(error), false;
  out = text;
  return true;
}

bool Read(Context& context, JsonValue value, bool& out) {
  json_type type;
  if (!TypeOf(context, value, type)) return false;
  if (type != json_type::boolean) return context.WrongType("a boolean", value), false;
  if (auto error = value.get_bool().get(out)) return context.Broken(error), false;
  return true;
}

bool Read(Context& context, JsonValue value, int32_t& out) { return ReadInt(context, value, out, "an int32"); }
bool Read(Context& context, JsonValue value, int64_t& out) { return ReadInt(context, value, out, "an int64"); }

bool Read(Context& context, JsonValue value, std::optional<Time>& out) {
  out.reset();
  std::string text;
  if (!Read(context, value, text)) return false;
  out = ParseTime(text);
  if (!out) context.Invalid(text, "must be a time in RFC 3339 form, e.g. 2006-01-02T15:04:05Z");
  return out.has_value();
}

bool Read(Context& context, JsonValue value, Quantity& out) {
  if (context.broken()) return false;
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  std::string text;
  if (type == json_type::null) {
    IsNull(context, value);
    out = Quantity();
    return true;
  }
  if (type == json_type::string) {
    if (!Read(context, value, text)) return false;
  } else if (type == json_type::number) {
    text = Trim(value.raw_json_token());
  } else {
    return context.WrongType("a quantity", value), false;
  }
  const Result<Quantity> parsed = Quantity::Parse(Trim(text));
  if (!parsed.ok()) return context.Invalid(text, parsed.error().text()), false;
  out = *parsed;
  return true;
}

bool Read(Context& context, JsonValue value, std::vector<std::string>& out) {
  out.clear();
  return ForEachItem(context, value, [&](JsonValue item) {
    std::string text;
    // Upstream reads a null item as an empty string.
    const size_t before = context.error_count();
    Read(context, item, text);
    if (context.error_count() == before) out.push_back(std::move(text));
  });
}

bool Read(Context& context, JsonValue value, std::optional<std::string>& out) {
  return ReadOptional(context, value, out);
}
bool Read(Context& context, JsonValue value, std::optional<bool>& out) { return ReadOptional(context, value, out); }
bool Read(Context& context, JsonValue value, std::optional<int32_t>& out) { return ReadOptional(context, value, out); }
bool Read(Context& context, JsonValue value, std::optional<Quantity>& out) {
  out.reset();
  // A pointer in upstream's struct: here null is absent.
  json_type type;
  if (!TypeOf(context, value, type)) return false;
  return ReadOptional(context, value, out);
}

std::optional<Time> ParseTime(std::string_view text) {
  size_t at = 0;
  auto number = [&](size_t digits, int& out) {
    out = 0;
    for (size_t i = 0; i < digits; ++i, ++at) {
      if (at >= text.size() || text[at] < '0' || text[at] > '9') return false;
      out = out * 10 + (text[at] - '0');
    }
    return true;
  };
  auto expect = [&](char c) { return at < text.size() && text[at] == c && ++at; };
  int year, month, day, hour, minute, second;
  if (!number(4, year) || !expect('-') || !number(2, month) || !expect('-') || !number(2, day) || !expect('T') ||
      !number(2, hour) || !expect(':') || !number(2, minute) || !expect(':') || !number(2, second)) {
    return std::nullopt;
  }
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month < 1 || month > 12 || day < 1 || day > kDays[month - 1] + (month == 2 && leap ? 1 : 0) || hour > 23 ||
      minute > 59 || second > 59) {
    return std::nullopt;
  }
  int64_t nanos = 0;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
    ++at;
    int64_t unit = 100'000'000;
    const size_t start = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) nanos += unit * (text[at] - '0');
    if (at == start) return std::nullopt;
  }
  int64_t offset = 0;
  if (!expect('Z')) {
    if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return std::nullopt;
    const int sign = text[at++] == '-' ? -1 : 1;
    int hours, minutes;
    if (!number(2, hours) || !expect(':') || !number(2, minutes) || hours > 24 || minutes > 60) return std::nullopt;
    offset = sign * (hours * 3600 + minutes * 60);
  }
  if (at != text.size()) return std::nullopt;
  // Days since the epoch by the civil calendar (the year starts in March, so the leap day is last).
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t of_era = y - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
  const int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
  return TimeOfUnix(seconds, nanos);
}

Time TimeOfUnix(int64_t seconds, int64_t nanos) {
  constexpr int64_t kMaxSeconds = INT64_MAX / 1'000'000'000 - 1;
  if (seconds > kMaxSeconds) return Time{INT64_MAX};
  if (seconds < -kMaxSeconds) return Time{INT64_MIN};
  return Time{seconds * 1'000'000'000 + nanos};
}

}  // namespace berth
