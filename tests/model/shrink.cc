// SPDX-License-Identifier: Apache-2.0
// Delta debugging: big pieces first, then smaller ones.
#include "shrink.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace berth::model {
namespace {

Value Without(const Value& object, const std::string& key) {
  Value rest = Value::Object();
  for (const auto& [name, value] : object.members())
    if (name != key) rest.Set(name, value);
  return rest;
}
Value With(const Value& object, const std::string& key, const Value& replacement) {
  Value changed = Value::Object();
  for (const auto& [name, value] : object.members()) changed.Set(name, name == key ? replacement : value);
  return changed;
}

class Shrinker {
 public:
  Shrinker(Story story, const std::function<bool(const Story&)>& fails, int patience)
      : best_(std::move(story)), fails_(fails), patience_(patience) {}

  Story Run() {
    bool smaller = true;
    while (smaller && patience_ > 0) {
      smaller = CalmDown();
      smaller |= DropSteps();
      smaller |= DropFields();
    }
    return best_;
  }

 private:
  bool Try(Story candidate) {
    if (patience_-- <= 0) return false;
    candidate = Repaired(candidate);
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // The two mixes that a scenario file can name are the best; failing that, as few faults as possible.
  bool CalmDown() {
    if (!best_.faults.any()) return false;
    Story calm = best_;
    calm.faults = sim::Faults::None();
    if (Try(calm)) return true;
    bool smaller = false;
    for (int sim::Faults::*fault :
         {&sim::Faults::watch_cut, &sim::Faults::too_old, &sim::Faults::conflict, &sim::Faults::throttled,
          &sim::Faults::server_error, &sim::Faults::lost_answer, &sim::Faults::duplicate, &sim::Faults::reordered,
          &sim::Faults::touched, &sim::Faults::slow}) {
      if (best_.faults.*fault == 0) continue;
      Story fewer = best_;
      fewer.faults.*fault = 0;
      smaller |= Try(fewer);
    }
    return smaller;
  }

  bool DropSteps() {
    bool smaller = false;
    for (size_t size = std::max<size_t>(best_.steps.size() / 2, 1); size > 0; size /= 2) {
      for (size_t at = 0; at < best_.steps.size();) {
        Story rest = best_;
        const auto first = rest.steps.begin() + static_cast<std::ptrdiff_t>(at);
        rest.steps.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, rest.steps.size() - at)));
        if (Try(std::move(rest))) {
          smaller = true;
        } else {
          at += size;
        }
      }
    }
    return smaller;
  }

  bool DropFields() {
    bool smaller = false;
    for (size_t i = 0; i < best_.steps.size(); ++i)
      for (const char* part : {"spec", "metadata"}) {
        const Value* object = best_.steps[i].Find("apply");
        const Value* fields = object ? object->Find(part) : nullptr;
        if (!fields) continue;
        std::vector<std::string> keys;
        for (const auto& member : fields->members()) keys.push_back(member.first);
        for (const std::string& key : keys) {
          if (key == "name" || key == "namespace" || key == "containers") continue;
          const Value& now = *best_.steps[i].Find("apply");
          Story plainer = best_;
          plainer.steps[i] = With(best_.steps[i], "apply", With(now, part, Without(*now.Find(part), key)));
          const size_t count = best_.steps.size();
          if (!Try(std::move(plainer))) continue;
          smaller = true;
          if (best_.steps.size() != count) return true;  // other steps went with it
        }
      }
    return smaller;
  }

  Story best_;
  const std::function<bool(const Story&)>& fails_;
  int patience_;
};

}  // namespace

Story Shrink(const Story& story, const std::function<bool(const Story&)>& fails, int patience) {
  return Shrinker(story, fails, patience).Run();
}

}  // namespace berth::model
