// SPDX-License-Identifier: Apache-2.0
// SameTemplate: whether two pods differ in nothing that plugins may look at.
#pragma once

#include "berth/pod.h"

namespace berth::framework {

// Equal but for who the pod is and how it fared so far: replicas of one template are. A field that is added to Pod does
// not compile in same_template.cc before somebody says on which side it is.
bool SameTemplate(const Pod& a, const Pod& b);

}  // namespace berth::framework
