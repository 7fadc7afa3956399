// SPDX-License-Identifier: Apache-2.0
// More parts of a pod's signature, for plugins that compare pods with pods. Lists are preceded by their length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/depends.h"
#include "berth/pod.h"

namespace berth::plugins {

void SignLabels(const Labels& labels, Signature& out);
void SignSelector(const std::optional<LabelSelector>& selector, Signature& out);
void SignStrings(const std::vector<std::string>& strings, Signature& out);
// nodeSelector and required node affinity.
void SignRequiredNodeAffinity(const Pod& pod, Signature& out);

}  // namespace berth::plugins
