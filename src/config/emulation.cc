// SPDX-License-Identifier: Apache-2.0
// Upstream: component-base compatibility/{registry,version}.go and version/dynamic.go, apimachinery util/version.
#include "config/emulation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/version.h"
#include "util/go_values.h"
#include "util/text.h"

namespace berth::config {
namespace {

constexpr uint64_t kFloor = 33;  // the oldest minor release of 1 that can be emulated

struct Version {
  std::vector<uint64_t> parts;
  std::string extra;  // "-rc.1+build", as written
  uint64_t part(size_t i) const { return i < parts.size() ? parts[i] : 0; }
  std::string ToString() const {
    std::string text;
    for (const uint64_t part : parts) text += (text.empty() ? "" : ".") + std::to_string(part);
    return text + extra;
  }
};

std::vector<std::string_view> SplitAt(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Identifiers with dots between them.
bool IsIdentifiers(std::string_view text) {
  return std::ranges::all_of(SplitAt(text, '.'), [](std::string_view one) {
    return !one.empty() && std::ranges::all_of(one, [](char c) {
      return util::IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
  });
}

// "-pre.release+build.data", of which either may be missing.
bool IsExtra(std::string_view text, std::string_view& pre_release) {
  const size_t plus = text.find('+');
  if (plus != std::string_view::npos && !IsIdentifiers(text.substr(plus + 1))) return false;
  pre_release = text.substr(0, plus);
  if (pre_release.empty()) return true;
  if (pre_release[0] != '-') return false;
  pre_release.remove_prefix(1);
  return IsIdentifiers(pre_release);
}

bool HasLeadingZero(std::string_view part) { return part.size() > 1 && part[0] == '0'; }

// `semantic`: three numbers, and nothing but a pre-release and build data after them.
std::string Parse(std::string_view whole, bool semantic, Version& out) {
  const std::string quoted = util::Quoted(whole);
  std::string_view text = whole;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('v')) text.remove_prefix(1);
  size_t end = 0;
  while (end < text.size() && (util::IsDigit(text[end]) ||
                               (text[end] == '.' && end > 0 && end + 1 < text.size() && util::IsDigit(text[end + 1]))))
    ++end;
  if (end == 0) return "could not parse " + quoted + " as version";
  const std::vector<std::string_view> parts = SplitAt(text.substr(0, end), '.');
  if (semantic ? parts.size() != 3 : parts.size() < 2) return "illegal version string " + quoted;
  out = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    if ((i == 0 || semantic) && HasLeadingZero(parts[i]))
      return "illegal zero-prefixed version component " + util::Quoted(parts[i]) + " in " + quoted;
    const util::GoParsed<uint64_t> number = util::ParseGoUint(parts[i], 10, 64);
    if (!number.ok())
      return "illegal non-numeric version component " + util::Quoted(parts[i]) + " in " + quoted + ": " + number.error;
    out.parts.push_back(number.value);
  }
  if (!semantic) return "";
  out.extra = util::Trimmed(text.substr(end));
  std::string_view pre_release;
  if (!IsExtra(out.extra, pre_release)) {
    return "could not parse pre-release/metadata (" + std::string(text.substr(end)) + ") in version " + quoted;
  }
  for (const std::string_view part : SplitAt(pre_release, '.')) {
    if (HasLeadingZero(part) && std::ranges::all_of(part, util::IsDigit))
      return "illegal zero-prefixed version component " + util::Quoted(part) + " in " + quoted;
  }
  return "";
}

std::string ParseAny(std::string_view text, Version& out) {
  return Parse(text, true, out).empty() ? "" : Parse(text, false, out);
}

// "1.36" as 1.36 in thousands: enough to compare.
uint64_t Order(const Version& version) { return version.part(0) * 1'000'000 + version.part(1); }

}  // namespace

Result<std::string> ReadVersionFlag(std::span<const std::string> values) {
  std::string first;
  std::vector<std::string> unknown;
  for (const std::string& value : values) {
    std::string component = "kube";
    std::string_view text = value;
    if (const size_t equals = text.find('='); equals != std::string_view::npos) {
      component = util::Trimmed(text.substr(0, equals));
      text = util::Trimmed(text.substr(equals + 1));
    }
    Version version;
    if (const std::string error = ParseAny(text, version); !error.empty()) return Error(error);
    const std::string shown = component + "=" + version.ToString();
    if (version.part(2) != 0) return Error("patch version not allowed, got: " + shown);
    if (component != "kube") {
      unknown.push_back(component);
      continue;
    }
    if (!first.empty()) return Error("duplicate version flag, kube=" + first + " and " + shown);
    first = version.ToString();
  }
  if (!unknown.empty()) return Error("component not registered: " + *std::ranges::min_element(unknown));
  return first;
}

std::vector<std::string> CheckEmulation(const std::string& emulated, const std::string& min_compatibility) {
  Version binary, wanted, least;
  ParseAny(kUpstreamVersion, binary);
  binary.parts.resize(2);
  ParseAny(emulated.empty() ? binary.ToString() : emulated, wanted);
  const Version floor{{binary.part(0), kFloor}, ""};
  if (min_compatibility.empty()) {
    least = {{wanted.part(0), wanted.part(1) == 0 ? 0 : wanted.part(1) - 1}, ""};
    if (Order(least) < Order(floor)) least = floor;
  } else {
    ParseAny(min_compatibility, least);
  }
  std::vector<std::string> errors;
  if (Order(wanted) > Order(binary) || Order(wanted) < Order(floor)) {
    errors.push_back("emulation version " + wanted.ToString() + " is not between [" + floor.ToString() + ", " +
                     binary.ToString() + ".0]");
  } else if (Order(wanted) != Order(binary)) {
    errors.push_back("--emulated-version kube=" + wanted.ToString() +
                     " is not supported: Berth decides as kube-scheduler " + binary.ToString() + " does");
  }
  if (Order(least) > Order(wanted) || Order(least) < Order(floor)) {
    errors.push_back("minCompatibilityVersion version " + least.ToString() + " is not between [" + floor.ToString() +
                     ", " + wanted.ToString() + "]");
  }
  return errors;
}

std::string CheckReportedVersion(std::string_view text) {
  if (text == kUpstreamVersion) return "";
  Version wanted, own;
  if (std::string error = Parse(text, true, wanted); !error.empty()) return error;
  Parse(kUpstreamVersion, true, own);
  if (wanted.parts == own.parts) return "";
  return "version " + util::Quoted(text) + " must match major/minor/patch of default version " +
         util::Quoted(kUpstreamVersion);
}

}  // namespace berth::config
