// SPDX-License-Identifier: Apache-2.0
// Plays recorded stories and compares with kube-scheduler, step by step: which pods an event woke and where to, every
// attempt in order with its node or message, who was evicted, and who waits for whom afterwards.
//
//   story_runner [--story NAME] FILE...
//
// Of a story that differs the first difference is printed.
#include <memory>
#include <string>
#include <vector>

#include "plugins/builtin.h"
#include "recorded/recordings.h"
#include "story_world.h"

namespace berth::stories {
namespace {

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
  const Result<config::SchedulerConfiguration> configuration = recorded::ConfigurationOf(story, registry);
  if (!configuration.ok()) return configuration.error().text();
  const auto says = [&](const char* key) { return story.Find(key) && story.Find(key)->bool_value(); };
  const bool slow = says("slowBindings");
  Result<std::unique_ptr<StoryWorld>> made = StoryWorld::Make(*configuration, registry, slow, says("slowEvictions"));
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

}  // namespace
}  // namespace berth::stories

int main(int argc, char** argv) {
  berth::Registry registry;
  berth::plugins::RegisterBuiltinPlugins(registry);
  return berth::recorded::Run(argc, argv, {"story", "name", {"steps"}}, [&](const berth::Value& story) {
    const std::string wrong = berth::stories::Play(story, registry);
    return wrong.empty() ? std::vector<std::string>() : std::vector<std::string>{wrong};
  });
}
