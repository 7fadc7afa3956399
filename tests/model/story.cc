// SPDX-License-Identifier: Apache-2.0
// Stories as documents: writing, reading, repairing.
#include "story.h"

#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "api/json_value.h"
#include "api/yaml.h"

namespace berth::model {
namespace {

constexpr char kFaultsAre[] = "faults:";

struct NamedFault {
  const char* name;
  int sim::Faults::*value;
};
constexpr std::array<NamedFault, 11> kFaults = {{{"watch_cut", &sim::Faults::watch_cut},
                                                 {"too_old", &sim::Faults::too_old},
                                                 {"conflict", &sim::Faults::conflict},
                                                 {"throttled", &sim::Faults::throttled},
                                                 {"server_error", &sim::Faults::server_error},
                                                 {"lost_answer", &sim::Faults::lost_answer},
                                                 {"duplicate", &sim::Faults::duplicate},
                                                 {"reordered", &sim::Faults::reordered},
                                                 {"touched", &sim::Faults::touched},
                                                 {"slow", &sim::Faults::slow},
                                                 {"provision", &sim::Faults::provision}}};

bool Same(const sim::Faults& a, const sim::Faults& b) {
  for (const NamedFault& fault : kFaults)
    if (a.*fault.value != b.*fault.value) return false;
  return true;
}

// Empty for the two mixes that a scenario can name.
std::string Description(const sim::Faults& faults) {
  if (!faults.any() || Same(faults, sim::Faults::Default())) return "";
  std::string text = kFaultsAre;
  for (const NamedFault& fault : kFaults)
    if (faults.*fault.value > 0) text += std::string(" ") + fault.name + "=" + std::to_string(faults.*fault.value);
  return text;
}

std::string Member(const Value& object, std::string_view key) {
  const Value* member = object.Find(key);
  return member ? member->text() : "";
}

// kind/namespace/name of what a step is about.
std::string Target(const Value& step) {
  if (const Value* object = step.Find("apply")) {
    const Value* meta = object->Find("metadata");
    if (!meta) return "";
    return Member(*object, "kind") + "/" + Member(*meta, "namespace") + "/" + Member(*meta, "name");
  }
  const Value* key = step.Find("patch") ? step.Find("patch") : step.Find("delete");
  return key ? Member(*key, "kind") + "/" + Member(*key, "namespace") + "/" + Member(*key, "name") : "";
}

}  // namespace

std::string Story::ToJson() const {
  Value document = Value::Object({{"apiVersion", Value::String("berth.dev/v1alpha1")},
                                  {"kind", Value::String("Scenario")},
                                  {"seed", Value::Int(static_cast<int64_t>(seed))},
                                  {"faults", Value::Bool(faults.any())},
                                  {"description", Value::String(Description(faults))},
                                  {"steps", Value::Array(steps)}});
  return document.ToJson();
}

std::string Story::ToYaml(const std::string& comment) const {
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
  text += "apiVersion: berth.dev/v1alpha1\nkind: Scenario\nseed: " + std::to_string(seed) +
          "\nfaults: " + (faults.any() ? "true" : "false") + "\n";
  if (const std::string description = Description(faults); !description.empty())
    text += "description: \"" + description + "\"\n";
  text += steps.empty() ? "steps: []\n" : "steps:\n";
  for (const Value& step : steps) text += "- " + step.ToJson() + "\n";
  return text;
}

Result<Story> ReadStory(const std::string& text) {
  Story story;
  std::vector<FieldError> errors;
  Value document;
  const Error error = ForEachDocument(text, [&](const std::string& json) {
    document = ParseJson(json, errors);
    return Error::Ok();
  });
  if (!error.ok()) return error;
  if (!errors.empty()) return Error(errors.front().ToString());
  if (const std::string seed = Member(document, "seed"); !seed.empty())
    story.seed = std::strtoull(seed.c_str(), nullptr, 10);
  if (const Value* faults = document.Find("faults"); faults && faults->bool_value())
    story.faults = sim::Faults::Default();
  std::istringstream words(Member(document, "description"));
  std::string word;
  if (words >> word && word == kFaultsAre) {
    story.faults = sim::Faults::None();
    while (words >> word) {
      for (const NamedFault& fault : kFaults) {
        const std::string start = std::string(fault.name) + "=";
        if (word.starts_with(start)) story.faults.*fault.value = std::atoi(word.c_str() + start.size());
      }
    }
  }
  if (const Value* steps = document.Find("steps")) story.steps = steps->items();
  return story;
}

Story Repaired(const Story& story) {
  Story repaired = story;
  repaired.steps.clear();
  std::set<std::string> there;
  for (const Value& step : story.steps) {
    const std::string target = Target(step);
    if (step.Find("apply")) {
      there.insert(target);
    } else if (!there.contains(target)) {
      continue;
    }
    if (step.Find("delete")) there.erase(target);
    repaired.steps.push_back(step);
  }
  return repaired;
}

}  // namespace berth::model
