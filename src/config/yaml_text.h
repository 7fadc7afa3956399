// SPDX-License-Identifier: Apache-2.0
// A Value printed as YAML that kubectl and kube-scheduler read back as the same Value.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/value.h"

namespace berth::config {

// Block style, members in their order; ends with a newline. Strings that YAML would read as something else are quoted.
std::string ToYaml(const Value& value);

// Comments in front of fields and items, by path (`profiles[0].plugins`); a text each.
using YamlComments = std::map<std::string, std::vector<std::string>>;
std::string ToYaml(const Value& value, const YamlComments& comments);
// The text as comment lines of at most `width` columns behind `indent` blanks; words are not broken.
void AppendComment(const std::string& text, size_t indent, size_t width, std::string& out);

}  // namespace berth::config
