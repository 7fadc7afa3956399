// SPDX-License-Identifier: Apache-2.0
// Reading it.
#include "sim/run_for.h"

#include "api/load_error.h"
#include "berth/args.h"

namespace berth::sim {

std::string RunForProblem(const Pod& pod) {
  const std::string* text = pod.meta.annotations.Find(kRunForAnnotation);
  if (text == nullptr) return "";
  const Result<Duration> run_for = ParseDuration(*text);
  const std::string start = "Invalid value: " + Quoted(*text) + ": ";
  if (!run_for.ok()) return start + run_for.error().text();
  const bool good = *run_for >= Duration{} && *run_for <= kLongestRun;
  return good ? "" : start + "must be between 0s and 87600h";
}

}  // namespace berth::sim
