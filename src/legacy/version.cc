// SPDX-License-Identifier: Apache-2.0
#include "legacy/version.h"

#include <array>

#include "util/text.h"

namespace berth::legacy {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";

struct Named {
  Version version;
  std::string_view name;
};
constexpr auto kConfigurations = std::to_array<Named>({
    {Version::kComponentConfig, "componentconfig/v1alpha1"},
    {Version::kV1alpha1, "kubescheduler.config.k8s.io/v1alpha1"},
    {Version::kV1alpha2, "kubescheduler.config.k8s.io/v1alpha2"},
    {Version::kV1beta1, "kubescheduler.config.k8s.io/v1beta1"},
    {Version::kV1beta2, "kubescheduler.config.k8s.io/v1beta2"},
    {Version::kV1beta3, "kubescheduler.config.k8s.io/v1beta3"},
    {Version::kV1, "kubescheduler.config.k8s.io/v1"},
});

// By its fields. Those that both kinds have are a Policy's only where nothing else is.
bool LooksLikePolicy(const Value& document) {
  bool policy = false, shared = false, other = false;
  for (const auto& [key, value] : document.members()) {
    const std::string lower = util::Lower(key);
    if (lower == "predicates" || lower == "priorities" || lower == "alwayscheckallpredicates") {
      policy = true;
    } else if (lower == "extenders" || lower == "hardpodaffinitysymmetricweight") {
      shared = true;
    } else {
      other |= lower != "kind" && lower != "apiversion";
    }
  }
  return policy || (shared && !other);
}

}  // namespace

std::string_view ToString(Version version) {
  if (version == Version::kPolicy) return "Policy";
  for (const Named& one : kConfigurations)
    if (one.version == version) return one.name;
  return "";
}

Version VersionOf(const Value& document) {
  const std::string version = document.TextAt("apiVersion"), kind = document.TextAt("kind");
  if (kind == "Policy" && (version.empty() || version == "v1" || version == std::string(kGroup) + "v1"))
    return Version::kPolicy;
  if (kind.empty() && (version.empty() || version == "v1") && LooksLikePolicy(document)) return Version::kPolicy;
  if (kind != "KubeSchedulerConfiguration") return Version::kOther;
  for (const Named& one : kConfigurations)
    if (one.name == version) return one.version;
  return Version::kOther;
}

}  // namespace berth::legacy
