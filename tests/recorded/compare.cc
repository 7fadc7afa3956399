// SPDX-License-Identifier: Apache-2.0
// A walk over both documents.
#include "compare.h"

#include <algorithm>
#include <map>
#include <set>

namespace berth::recorded {
namespace {

class Walk {
 public:
  explicit Walk(const std::vector<std::string>& unstable) : unstable_(unstable) {}

  void Compare(const std::string& path, const std::string& general, const Value* want, const Value* got) {
    if (std::find(unstable_.begin(), unstable_.end(), general) != unstable_.end()) return;
    static const Value kNull;
    if (!want) want = &kNull;
    if (!got) got = &kNull;
    if (want->kind() != got->kind()) return Differ(path, *want, *got);
    if (want->kind() == Value::Kind::kObject) return CompareObjects(path, general, *want, *got);
    if (want->kind() != Value::Kind::kArray) {
      if (!(*want == *got)) Differ(path, *want, *got);
      return;
    }
    const std::string name = general.substr(general.rfind('.') + 1);
    if (name == "reasons" || name == "winners") {
      if (Sorted(*want) != Sorted(*got)) Differ(path, *want, *got);
    } else if (name == "nodes" || name == "candidates") {
      CompareKeyed(path, general, name == "nodes" ? "name" : "node", *want, *got);
    } else if (!(*want == *got)) {
      Differ(path, *want, *got);
    }
  }

  std::vector<std::string> differences;

 private:
  static std::vector<std::string> Sorted(const Value& array) {
    std::vector<std::string> texts;
    for (const Value& item : array.items()) texts.push_back(item.text());
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  void CompareObjects(const std::string& path, const std::string& general, const Value& want, const Value& got) {
    std::set<std::string> keys;
    for (const auto& [key, value] : want.members()) keys.insert(key);
    for (const auto& [key, value] : got.members()) keys.insert(key);
    for (const std::string& key : keys) {
      if (path.empty() && (key == "apiVersion" || key == "kind")) continue;
      if (key == "selectedAnyOf") continue;
      if (const Value* any = key == "selected" ? want.Find("selectedAnyOf") : nullptr) {
        const std::vector<std::string> equals = Sorted(*any);
        const Value* mine = got.Find(key);
        if (mine && std::find(equals.begin(), equals.end(), mine->text()) != equals.end()) continue;
      }
      Compare(path.empty() ? key : path + "." + key, general.empty() ? key : general + "." + key, want.Find(key),
              got.Find(key));
    }
  }

  void CompareKeyed(const std::string& path, const std::string& general, const char* key, const Value& want,
                    const Value& got) {
    std::map<std::string, std::pair<const Value*, const Value*>> pairs;
    auto text = [&](const Value& item) { return item.Find(key) ? item.Find(key)->text() : std::string(); };
    for (const Value& item : want.items()) pairs[text(item)].first = &item;
    for (const Value& item : got.items()) pairs[text(item)].second = &item;
    for (const auto& [name, pair] : pairs) Compare(path + "[" + name + "]", general, pair.first, pair.second);
  }

  void Differ(const std::string& path, const Value& want, const Value& got) {
    differences.push_back(path + ": kube-scheduler says " + want.ToJson() + ", berth says " + got.ToJson());
  }

  const std::vector<std::string>& unstable_;
};

}  // namespace

std::vector<std::string> Differences(const Value& want, const Value& got, const std::vector<std::string>& unstable) {
  Walk walk(unstable);
  walk.Compare("", "", &want, &got);
  return walk.differences;
}

}  // namespace berth::recorded
