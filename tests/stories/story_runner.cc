// SPDX-License-Identifier: Apache-2.0
// Plays recorded stories (one JSON object a line, .jsonl or .jsonl.gz) and compares with kube-scheduler, step by step:
// which pods an event woke and where to, every attempt in order with its node or message, who was evicted, and who
// waits for whom afterwards.
//
//   story_runner [--story NAME] FILE...
//
// Of a story that differs the first difference is printed. Closes with "N passed, N failed"; exit code 1 when a story
// failed, 2 when a file could not be read.
#include <zlib.h>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_value.h"
#include "config/load.h"
#include "plugins/builtin.h"
#include "story_world.h"

namespace berth::stories {
namespace {

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
      if (line.back() == '\n') return true;
    }
    return !line.empty();
  }

 private:
  gzFile file_;
};

// What a step is about, in a few words.
std::string Title(const Value& step) {
  const auto text = [](const Value* value) { return value ? value->text() : std::string(); };
  std::string title = text(step.Find("op"));
  if (const Value* object = step.Find("object")) {
    const Value* meta = object->Find("metadata");
    return title + " " + text(object->Find("kind")) + " " + (meta ? text(meta->Find("name")) : "");
  }
  title += " " + text(step.Find("pod"));
  if (const Value* node = step.Find("node")) title += " " + node->text();
  return title;
}

// The first field that differs; empty: none.
std::string Difference(const Value& expected, const Value& got) {
  for (const char* field : {"queued", "attempts", "evicted", "unschedulable", "gated", "nominated"}) {
    const Value *theirs = expected.Find(field), *ours = got.Find(field);
    if (!theirs) return std::string("the recording has no ") + field;
    if (*theirs == *ours) continue;
    std::string text =
        std::string(field) + "\n    kube-scheduler: " + theirs->ToJson() + "\n    berth:          " + ours->ToJson();
    return text;
  }
  return "";
}

// Why a story is not told the same way here; empty: it is.
std::string Play(const Value& story, const Registry& registry) {
  config::SchedulerConfiguration configuration = config::DefaultConfiguration(registry);
  if (const Value* text = story.Find("config"); text && text->kind() == Value::Kind::kString) {
    config::Loaded loaded = config::LoadConfiguration(text->text(), registry);
    if (!loaded.ok()) return "config: " + loaded.errors.front().ToString();
    configuration = std::move(loaded.config);
  }
  const auto says = [&](const char* key) { return story.Find(key) && story.Find(key)->bool_value(); };
  const bool slow = says("slowBindings");
  Result<std::unique_ptr<StoryWorld>> made = StoryWorld::Make(configuration, registry, slow, says("slowEvictions"));
  if (!made.ok()) return "config: " + made.error().text();
  StoryWorld& world = **made;
  size_t number = 0;
  for (const Value& step : story.Find("steps")->items()) {
    const std::string where = "step " + std::to_string(++number) + " (" + Title(step) + "): ";
    if (const std::string wrong = world.Apply(step); !wrong.empty()) return where + wrong;
    if (const Value* expected = step.Find("expect")) {
      const Value queued = world.Queued();
      Value got = world.Attempts();
      got.Set("queued", queued);
      if (const std::string difference = Difference(*expected, got); !difference.empty()) return where + difference;
    }
    if (const std::string wrong = world.CheckInvariants(); !wrong.empty()) return where + "invariant: " + wrong;
    // With slow bindings somebody else may bind the pod elsewhere meanwhile: upstream complains of that as well.
    const std::vector<std::string>& complaints = world.complaints();
    if (!complaints.empty() && !slow) return where + "complaint: " + complaints.front();
  }
  return "";
}

int Run(int argc, char** argv) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--story" && i + 1 < argc) {
      only = argv[++i];
    } else {
      files.emplace_back(argv[i]);
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
      const Value story = ParseJson(line, errors);
      if (!errors.empty() || !story.Find("name") || !story.Find("steps")) {
        std::cerr << file << ": not a story: " << (errors.empty() ? line.substr(0, 80) : errors[0].ToString()) << "\n";
        return 2;
      }
      const std::string name = story.Find("name")->text();
      if (!only.empty() && name != only) continue;
      const std::string difference = Play(story, registry);
      if (difference.empty()) {
        ++passed;
        continue;
      }
      ++failed;
      std::cout << "FAILED " << name << " (" << file << ")\n  " << difference << "\n";
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed || passed == 0 ? 1 : 0;
}

}  // namespace
}  // namespace berth::stories

int main(int argc, char** argv) { return berth::stories::Run(argc, argv); }
