// SPDX-License-Identifier: Apache-2.0
// --emulated-version and --min-compatibility-version: which release's behaviour is asked for. Berth has that of one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"

namespace berth::config {

// What a version flag sets for the component "kube", "1.36"; empty: nothing. Errors are kube-scheduler's.
Result<std::string> ReadVersionFlag(std::span<const std::string> values);

// What is wrong with both of them together, in kube-scheduler's words, and in ours when an older release is to be
// emulated: its feature gates have other defaults. REQUIRES: what ReadVersionFlag gave.
std::vector<std::string> CheckEmulation(const std::string& emulated, const std::string& min_compatibility);

// --version=vX.Y.Z…: what is wrong with it as a name for the release that is matched; empty: nothing.
std::string CheckReportedVersion(std::string_view text);

}  // namespace berth::config
