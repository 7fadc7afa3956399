// SPDX-License-Identifier: Apache-2.0
// Which of kube-scheduler's forms of configuration a document is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/value.h"

namespace berth::legacy {

enum class Version : uint8_t {
  kPolicy,
  kComponentConfig,  // componentconfig/v1alpha1
  kV1alpha1,
  kV1alpha2,
  kV1beta1,
  kV1beta2,
  kV1beta3,
  kV1,    // today's KubeSchedulerConfiguration
  kOther  // none of them
};

// As people know it: "Policy", "kubescheduler.config.k8s.io/v1alpha1".
std::string_view ToString(Version version);

// By apiVersion and kind; a document with neither, or without one of the two, is a Policy if it has a field of one.
Version VersionOf(const Value& document);

inline bool IsOld(Version version) { return version != Version::kV1 && version != Version::kOther; }
// v1alpha1, under either name.
inline bool IsAlpha1(Version version) { return version == Version::kComponentConfig || version == Version::kV1alpha1; }

}  // namespace berth::legacy
