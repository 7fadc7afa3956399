// SPDX-License-Identifier: Apache-2.0
// The forms of label keys and values, for plugin arguments that name them. Complaints are the API server's sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::plugins {

// What is wrong with `[prefix/]name`; nothing when it is fine.
std::vector<std::string> LabelKeyComplaints(std::string_view key);
std::vector<std::string> LabelValueComplaints(std::string_view value);
// Complaints joined by `; `.
std::string JoinComplaints(const std::vector<std::string>& complaints);

}  // namespace berth::plugins
