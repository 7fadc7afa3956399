// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario: no crash, every error is a line, and what loads without errors is in order of time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::sim::ScenarioInput input;
  input.generated = {.nodes = 3, .pods = 3, .seed = 1};
  input.read_files = false;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::sim::ScenarioLoad load = berth::sim::LoadScenarioFromText(text, "s.yaml", input);
  for (const std::string& error : load.errors) {
    if (error.empty()) std::abort();
  }
  if (!load.ok()) return 0;
  berth::Duration last;
  for (const berth::sim::Step& step : load.scenario.steps) {
    if (step.at < last) std::abort();
    last = step.at;
    for (const berth::sim::Change& change : step.changes) {
      if ((!change.before && !change.after) || change.name.empty()) std::abort();
    }
  }
  return 0;
}
