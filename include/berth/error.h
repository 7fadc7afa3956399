// SPDX-License-Identifier: Apache-2.0
// Error and Result: what went wrong outside of a verdict (api server, network, configuration, a plugin's own failure).
// A pod that does not fit is not an Error; that is a Verdict (verdict.h).
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace berth {
inline namespace v1 {

// An Error is either ok() or a text that already names what was being done to what.
class [[nodiscard]] Error {
 public:
  static Error Ok() { return Error(); }
  explicit Error(std::string text) : text_(std::move(text)) {}

  bool ok() const { return !text_.has_value(); }
  // REQUIRES: !ok()
  const std::string& text() const {
    assert(!ok());
    return *text_;
  }
  // The same error with `context` and a colon in front; Ok stays Ok.
  Error Wrap(const std::string& context) const { return ok() ? Error() : Error(context + ": " + *text_); }

 private:
  Error() = default;
  std::optional<std::string> text_;
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
