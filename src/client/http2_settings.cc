// SPDX-License-Identifier: Apache-2.0
// Upstream: apimachinery, pkg/util/net/http.go (v0.36.4).
#include "client/http2_settings.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "util/text.h"

namespace berth::client {
namespace {

constexpr int64_t kMostSeconds = 1'000'000'000;
constexpr size_t kMaxValueShown = 64;  // bytes, in a sentence

}  // namespace

Http2Settings Http2Settings::From(const std::function<std::string(const char* name)>& variable,
                                  std::vector<std::string>* warnings) {
  Http2Settings settings;
  settings.enabled = variable("DISABLE_HTTP2").empty();
  const auto seconds = [&](const char* name, Duration& out) {
    const std::string text = variable(name);
    if (text.empty()) return;
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const char* const begin = text.data() + (text[0] == '+' ? 1 : 0);
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && stop == end && number <= kMostSeconds) {
      out = Duration::Seconds(number);
    } else if (warnings != nullptr) {
      warnings->push_back("environment variable " + std::string(name) + ": \"" + util::Shortened(text, kMaxValueShown) +
                          "\" is not a number of seconds: " + std::to_string(out.ns / 1'000'000'000) + " are used");
    }
  };
  seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", settings.ping_after);
  seconds("HTTP2_PING_TIMEOUT_SECONDS", settings.ping_timeout);
  if (settings.ping_timeout.ns <= 0) settings.ping_timeout = Http2Settings().ping_timeout;  // as x/net/http2 takes it
  return settings;
}

Http2Settings Http2Settings::FromEnvironment(std::vector<std::string>* warnings) {
  return From(
      [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
      },
      warnings);
}

}  // namespace berth::client
