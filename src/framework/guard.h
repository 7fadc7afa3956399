// SPDX-License-Identifier: Apache-2.0
// Guard: what stands around every call in plugin_call.h. A plugin that throws costs its pod, not the process.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "berth/error.h"

namespace berth::framework {

// Runs `call`; when it throws, `on_throw(text)` makes the result.
template <class Call, class OnThrow>
auto Guard(Call&& call, OnThrow&& on_throw) -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::exception& e) {
    return on_throw(std::string("plugin threw: ") + e.what());
  } catch (...) {
    return on_throw(std::string("plugin threw something that is not a std::exception"));
  }
}

// The same for calls that return an Error.
template <class Call>
Error GuardError(Call&& call) {
  return Guard(std::forward<Call>(call), [](std::string text) { return Error(std::move(text)); });
}

}  // namespace berth::framework
