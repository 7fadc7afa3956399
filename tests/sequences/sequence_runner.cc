// SPDX-License-Identifier: Apache-2.0
// Plays sequences: one cluster, pods placed one after another, changes in between. At every placing the one decision of
// an engine that remembers is compared with kube-scheduler's verdict about the cluster as we have made it so far.
//
//   sequence_runner [--sequence NAME] FILE...
//   sequence_runner --place FILE    the sequences on standard output, with our placements, to be judged by upstream
//
// A sequence ends at the first step with a difference, for nothing after it is comparable.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/builtin.h"
#include "recorded/decided.h"
#include "recorded/recordings.h"
#include "sequence_world.h"

namespace berth::sequences {
namespace {

const recorded::Form kForm{"sequence", "name", {"objects", "steps"}};

struct Totals {
  size_t sequences = 0, placings = 0, compared = 0;
  framework::Memory::Stats memory;
};

// Where our placement is not the recorded one, although the verdict is the same.
std::string StaleNote(const Value& step, const Value& placed) {
  const Value* recorded = step.Find("placed");
  if (!recorded || *recorded == placed) return "";
  return "kube-scheduler agrees with the verdict, but the recording goes on from " + recorded->ToJson() +
         " and we from " + placed.ToJson() +
         ": equals are settled otherwise now; record anew (tests/upstream/record-sequences.sh)";
}

// Plays one sequence; `steps` gets its steps with what was placed. Returns what is wrong with the first bad step.
std::vector<std::string> Play(const Value& sequence, const Registry& registry, Value* steps, Totals& totals) {
  const Result<config::SchedulerConfiguration> configuration = recorded::ConfigurationOf(sequence, registry);
  if (!configuration.ok()) return {configuration.error().text()};
  Result<std::unique_ptr<SequenceWorld>> made = SequenceWorld::Make(*configuration, registry);
  if (!made.ok()) return {"config: " + made.error().text()};
  SequenceWorld& world = **made;
  std::vector<std::string> wrong = world.Fill(*sequence.Find("objects"));
  size_t number = 0;
  for (const Value& step : sequence.Find("steps")->items()) {
    if (!wrong.empty()) break;
    ++number;
    wrong = world.Apply(step);
    if (wrong.empty() && !steps) {
      if (std::string note = StaleNote(step, world.placed()); !note.empty()) wrong.push_back(std::move(note));
    }
    for (std::string& text : wrong) text.insert(0, "step " + std::to_string(number) + ": ");
    totals.compared += step.Find("expected") != nullptr;
    if (!steps) continue;
    Value with = step;
    if (!world.placed().is_null()) with.Set("placed", world.placed());
    steps->Append(std::move(with));
  }
  ++totals.sequences;
  totals.placings += world.placings();
  const framework::Memory::Stats stats = world.memory_stats();
  totals.memory.decisions += stats.decisions;
  totals.memory.left += stats.left;
  totals.memory.hits += stats.hits;
  totals.memory.full_passes += stats.full_passes;
  totals.memory.repaired_rows += stats.repaired_rows;
  return wrong;
}

// Writes the sequences of a file with placements.
int WritePlaced(const std::string& file, const Registry& registry) {
  Totals totals;
  int code = 0;
  const Error error = recorded::ForEach(file, kForm, [&](const Value& sequence, const std::string&) {
    Value steps = Value::Array();
    const std::vector<std::string> wrong = Play(sequence, registry, &steps, totals);
    if (!wrong.empty()) {
      std::cerr << sequence.Find("name")->text() << ": " << wrong.front() << "\n";
      code = 1;
      return false;
    }
    Value out = Value::Object();
    for (const auto& [key, value] : sequence.members()) out.Set(key, key == "steps" ? steps : value);
    std::cout << out.ToJson() << "\n";
    return true;
  });
  if (!error.ok()) std::cerr << error.text() << "\n";
  return error.ok() ? code : 2;
}

int Main(int argc, char** argv) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  if (argc == 3 && std::string_view(argv[1]) == "--place") return WritePlaced(argv[2], registry);
  Totals totals;
  const int code = recorded::Run(argc, argv, kForm,
                                 [&](const Value& sequence) { return Play(sequence, registry, nullptr, totals); });
  std::cerr << totals.placings << " placings, " << totals.compared << " compared with kube-scheduler; "
            << totals.memory.decisions << " decided from memory (" << totals.memory.hits << " of known pods, "
            << totals.memory.full_passes << " full passes, " << totals.memory.repaired_rows << " rows repaired), "
            << totals.memory.left << " left to the judge\n";
  // A single sequence may have nothing to remember; all of them cannot.
  return code != 0 || totals.sequences < 2 || totals.placings == 0 ? code : recorded::DemandUse(totals.memory);
}

}  // namespace
}  // namespace berth::sequences

int main(int argc, char** argv) { return berth::sequences::Main(argc, argv); }
