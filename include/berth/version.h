// SPDX-License-Identifier: Apache-2.0
// The SDK's version. Everything a plugin sees lives in `berth::v1`, an inline namespace, so a plugin built against
// another SDK fails to link or is refused by name instead of crashing.
#pragma once

#define BERTH_SDK_VERSION 1

namespace berth {
inline namespace v1 {

inline constexpr int kSdkVersion = BERTH_SDK_VERSION;
inline constexpr const char* kVersion = "0.1.0";
// The kube-scheduler release whose behaviour is matched.
inline constexpr const char* kUpstreamVersion = "v1.36.4";

}  // namespace v1
}  // namespace berth
