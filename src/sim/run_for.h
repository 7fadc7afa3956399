// SPDX-License-Identifier: Apache-2.0
// The annotation that lets a simulated pod end.
#pragma once

#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/pod.h"

namespace berth::sim {

inline constexpr std::string_view kRunForAnnotation = "sim.berth.dev/run-for";
inline constexpr char kRunForPath[] = "metadata.annotations[sim.berth.dev/run-for]";
// Ten years: far from where 64 bits of nanoseconds end.
inline constexpr Duration kLongestRun = Duration::Seconds(10LL * 365 * 24 * 3600);
// What is wrong with the pod's annotation, with its value; empty when nothing is.
std::string RunForProblem(const Pod& pod);

}  // namespace berth::sim
