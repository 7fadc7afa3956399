// SPDX-License-Identifier: Apache-2.0
// Judges recorded cases (one JSON object a line, .jsonl or .jsonl.gz) with Berth and compares with what kube-scheduler
// said. Mismatches are saved under conformance-mismatches/, each as a case file that this program reads again.
//
//   conformance_runner [--case ID] FILE...
//
// Closes with "N passed, N failed"; exit code 1 when a case failed, 2 when a file could not be read.
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "api/json_value.h"
#include "api/load.h"
#include "berth/registry.h"
#include "compare.h"
#include "config/load.h"
#include "framework/engine.h"
#include "framework/explanation.h"
#include "plugins/builtin.h"
#include "sim/offline.h"

namespace berth {
namespace {

// Cases are judged at the moment they were made for: pods without a start time count as started now.
class CaseClock final : public Clock {
 public:
  Time Now() const override { return {1'798'761'600'000'000'000}; }
};

class Lines {
 public:
  explicit Lines(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {}
  ~Lines() {
    if (file_) gzclose(file_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  bool ok() const { return file_ != nullptr; }
  bool Next(std::string& line) {
    line.clear();
    char buffer[1 << 16];
    while (gzgets(file_, buffer, sizeof buffer)) {
      line += buffer;
      if (!line.empty() && line.back() == '\n') return true;
    }
    return !line.empty();
  }

 private:
  gzFile file_;
};

// What is wrong with our answer to one case; empty: nothing.
std::vector<std::string> Check(const Value& test, const Registry& registry) {
  const Value* config = test.Find("config");
  config::SchedulerConfiguration configuration = config::DefaultConfiguration(registry);
  if (config && config->kind() == Value::Kind::kString) {
    config::Loaded loaded = config::LoadConfiguration(config->text(), registry);
    if (!loaded.ok()) return {"config: " + loaded.errors.front().ToString()};
    configuration = std::move(loaded.config);
  }
  const LoadResult loaded = LoadObjectsFromText(test.Find("objects")->ToJson());
  if (!loaded.ok()) {
    std::vector<std::string> texts;
    for (const LoadError& error : loaded.errors) texts.push_back("objects: " + error.Text());
    return texts;
  }
  const CaseClock clock;
  Result<std::unique_ptr<framework::Engine>> engine = framework::Engine::Make(configuration, registry, clock);
  if (!engine.ok()) return {"config: " + engine.error().text()};
  std::vector<std::string> undeclared;
  (*engine)->WatchReads([&](const std::string& text) { undeclared.push_back(text); });
  const std::shared_ptr<const Pod> pod = sim::FindPod(loaded.objects, test.Find("pod")->text());
  if (!pod) return {"pod: not among the objects"};
  const framework::Profile* profile = (*engine)->FindProfile(pod->scheduler_name);
  if (!profile) profile = &(*engine)->first_profile();
  const Value got = framework::ToValue(sim::ExplainOffline(*engine.value(), *profile, loaded.objects, *pod));
  std::vector<std::string> unstable;
  if (const Value* names = test.Find("unstable"))
    for (const Value& name : names->items()) unstable.push_back(name.text());
  std::vector<std::string> differences = conformance::Differences(*test.Find("expected"), got, unstable);
  differences.insert(differences.end(), undeclared.begin(), undeclared.end());
  return differences;
}

int Run(int argc, char** argv) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--case" && i + 1 < argc) {
      only = argv[++i];
    } else {
      files.push_back(argv[i]);
    }
  }
  size_t passed = 0, failed = 0;
  for (const std::string& file : files) {
    Lines lines(file);
    if (!lines.ok()) {
      std::cerr << file << ": cannot be opened\n";
      return 2;
    }
    for (std::string line; lines.Next(line);) {
      std::vector<FieldError> errors;
      const Value test = ParseJson(line, errors);
      if (!errors.empty() || !test.Find("id") || !test.Find("pod") || !test.Find("objects") || !test.Find("expected")) {
        std::cerr << file << ": not a case: " << (errors.empty() ? line.substr(0, 80) : errors[0].ToString()) << "\n";
        return 2;
      }
      const std::string id = test.Find("id")->text();
      if (!only.empty() && id != only) continue;
      const std::vector<std::string> differences = Check(test, registry);
      if (differences.empty()) {
        ++passed;
        continue;
      }
      ++failed;
      const std::filesystem::path folder = "conformance-mismatches";
      std::filesystem::create_directories(folder);
      const std::string saved = (folder / (id + ".jsonl")).string();
      std::ofstream(saved) << line;
      std::cout << "FAILED " << id << " (again: conformance_runner " << saved << ")\n";
      for (size_t i = 0; i < differences.size() && i < 8; ++i) std::cout << "  " << differences[i] << "\n";
      if (differences.size() > 8) std::cout << "  ... " << differences.size() - 8 << " more\n";
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { return berth::Run(argc, argv); }
