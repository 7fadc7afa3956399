// SPDX-License-Identifier: Apache-2.0
// Random stories of scheduler and simulated cluster, checked after every step.
//
//   model_runner [--seeds N] [--first S]   N stories from seed S on (default: 2000 from 1; fewer with sanitizers)
//   model_runner --replay FILE             one story from a file, with its log
//   model_runner --churn [N]               N pods coming and going (default 200000; fewer with sanitizers)
//
// Every tenth story is told twice and has to go the same way. A story that fails is shrunk and written to
// model-seed-S.yaml in the current folder, which `berth sim` reads, too. Closes with "N passed, N failed"; exit code 1
// when a story failed, 2 when nothing could be tried.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "churn.h"
#include "config/load.h"
#include "plugins/builtin.h"
#include "shrink.h"
#include "story.h"
#include "world.h"

namespace berth::model {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSeeds = 600, kChurn = 20'000;
#elif !defined(NDEBUG)
constexpr int64_t kSeeds = 400, kChurn = 50'000;
#else
constexpr int64_t kSeeds = 2000, kChurn = 200'000;
#endif
constexpr int kStopAfter = 3;  // failing stories; one bug shows in many

struct Totals {
  uint64_t steps = 0, attempts = 0, bindings = 0, preemptions = 0, bind_failures = 0, outside = 0, overslept = 0;
  void Add(const Outcome& outcome) {
    steps += outcome.steps;
    attempts += outcome.attempts;
    bindings += outcome.bindings;
    preemptions += outcome.preemptions;
    bind_failures += outcome.bind_failures;
    outside += outcome.outside;
    overslept += outcome.overslept;
  }
};

// The first line in which the two logs differ.
std::string Difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string x, y;
  while (std::getline(left, x) && std::getline(right, y) && x == y) {
  }
  return "\"" + x + "\" and \"" + y + "\"";
}

class Runner {
 public:
  Runner() {
    plugins::RegisterBuiltinPlugins(registry_);
    config_ = config::DefaultConfiguration(registry_);
  }

  Outcome Tell(const Story& story, bool twice) {
    Outcome outcome = RunStory(story, config_, registry_, twice);
    if (!twice || !outcome.failure.empty()) return outcome;
    const Outcome again = RunStory(story, config_, registry_, true, true);
    if (again.log == outcome.log) return outcome;
    outcome.failure = "not the same";
    outcome.text = "two runs of one story differ: " + Difference(outcome.log, again.log);
    return outcome;
  }

  int Seeds(uint64_t first, int64_t count) {
    const auto start = std::chrono::steady_clock::now();
    int64_t passed = 0, failed = 0;
    Totals totals;
    for (int64_t i = 0; i < count && failed < kStopAfter; ++i) {
      const uint64_t seed = first + static_cast<uint64_t>(i);
      const Story story = MakeStory(seed);
      const Outcome outcome = Tell(story, seed % 10 == 0);
      totals.Add(outcome);
      if (outcome.failure.empty()) {
        ++passed;
      } else {
        ++failed;
        Report(story, outcome);
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << totals.steps << " steps, " << totals.attempts << " attempts, " << totals.bindings << " bindings ("
              << totals.outside << " by others), " << totals.bind_failures << " failed bindings, " << totals.preemptions
              << " preemptions, " << totals.overslept << " pods woken by the timeout only; " << took.count() << " s\n"
              << passed << " passed, " << failed << " failed\n";
    return failed > 0 ? 1 : 0;
  }

  int Replay(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const Result<Story> story = ReadStory(text.str());
    if (!file || !story.ok()) {
      std::cerr << path << ": " << (file ? story.error().text() : "cannot be read") << "\n";
      return 2;
    }
    const Outcome outcome = RunStory(*story, config_, registry_, true);
    std::cout << outcome.log << outcome.text << "\n";
    return outcome.failure.empty() ? 0 : 1;
  }

  int Churn(int64_t pods) {
    const bool good = RunChurn(pods, config_, registry_) == 0;
    std::cout << (good ? "1 passed, 0 failed\n" : "0 passed, 1 failed\n");
    return good ? 0 : 1;
  }

 private:
  void Report(const Story& story, const Outcome& outcome) {
    std::cout << "seed " << story.seed << ", " << outcome.text << std::endl;
    const bool twice = outcome.failure == "not the same";
    const Story small =
        Shrink(story, [&](const Story& candidate) { return Tell(candidate, twice).failure == outcome.failure; });
    const Outcome last = Tell(small, twice);
    const std::string path = "model-seed-" + std::to_string(story.seed) + ".yaml";
    std::ofstream(path) << small.ToYaml("From seed " + std::to_string(story.seed) + "; model_runner --replay says:\n" +
                                        last.text);
    std::cout << "  shrunk from " << story.steps.size() << " steps to " << small.steps.size() << ", " << path << ": "
              << last.text << std::endl;
  }

  Registry registry_;
  config::SchedulerConfiguration config_;
};

int Main(int argc, char** argv) {
  uint64_t first = 1;
  int64_t seeds = kSeeds, churn = 0;
  std::string replay;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (arg == "--churn" && !value) {
      churn = kChurn;
      continue;
    }
    if (!value) {
      std::cerr << "model_runner: unknown option or no value: " << arg << "\n";
      return 2;
    }
    ++i;
    if (arg == "--replay") {
      replay = value;
      continue;
    }
    char* end = nullptr;
    const int64_t number = std::strtoll(value, &end, 10);
    if (*end != '\0' || number < 0) {
      std::cerr << "model_runner: " << arg << ": not a number: " << value << "\n";
      return 2;
    }
    if (arg == "--seeds") {
      seeds = number;
    } else if (arg == "--first") {
      first = static_cast<uint64_t>(number);
    } else if (arg == "--churn") {
      churn = number;
    } else {
      std::cerr << "model_runner: unknown option " << arg << "\n";
      return 2;
    }
  }
  Runner runner;
  if (!replay.empty()) return runner.Replay(replay);
  if (churn > 0) return runner.Churn(churn);
  return runner.Seeds(first, seeds);
}

}  // namespace
}  // namespace berth::model

int main(int argc, char** argv) { return berth::model::Main(argc, argv); }
