// SPDX-License-Identifier: Apache-2.0
// Error and Result: what went wrong outside of a verdict (api server, network, configuration, a plugin's own failure).
// A pod that does not fit is not an Error; that is a Verdict (verdict.h).
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace berth {
inline namespace v1 {

// What callers do something about. The text is for people: no program looks for words in it.
enum class ErrorKind : uint8_t {
  kOther,      // nothing that is told apart
  kNotFound,   // what was asked for is not there, and that is certain
  kTooLarge,   // beyond a limit of ours: asking for less may help
  kTimedOut,   // the time was over; what was asked for may have happened all the same
  kUnsent,     // the time was over before anything was sent: nothing has happened
  kCancelled,  // whoever asked has ended it
};

// An Error is either ok() or a text that already names what was being done to what, and its kind.
class [[nodiscard]] Error {
 public:
  static Error Ok() { return Error(); }
  explicit Error(std::string text, ErrorKind kind = ErrorKind::kOther) : text_(std::move(text)), kind_(kind) {}

  bool ok() const { return !text_.has_value(); }
  // REQUIRES: !ok()
  const std::string& text() const {
    assert(!ok());
    return *text_;
  }
  // kOther for Ok.
  ErrorKind kind() const { return kind_; }
  // The same error with `context` and a colon in front; Ok stays Ok.
  Error Wrap(const std::string& context) const { return ok() ? Error() : Error(context + ": " + *text_, kind_); }

 private:
  Error() = default;
  std::optional<std::string> text_;
  ErrorKind kind_ = ErrorKind::kOther;
};

// A value or the Error that prevented it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : data_(std::move(value)) {}  // NOLINT: implicit on purpose, `return value;`
  Result(Error error) : data_(std::move(error)) { assert(!std::get<Error>(data_).ok()); }  // NOLINT: as above

  bool ok() const { return data_.index() == 0; }
  // REQUIRES: ok()
  const T& value() const& { return std::get<0>(data_); }
  T& value() & { return std::get<0>(data_); }
  T&& value() && { return std::get<0>(std::move(data_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  // REQUIRES: !ok()
  const Error& error() const { return std::get<1>(data_); }

 private:
  std::variant<T, Error> data_;
};

}  // namespace v1
}  // namespace berth
