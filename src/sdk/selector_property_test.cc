// SPDX-License-Identifier: Apache-2.0
// Selectors against a naive model over std::map, with few keys and values so that matches are common.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/labels.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth {
namespace {

using Map = std::map<std::string, std::string>;

rc::Gen<std::string> LabelKey() { return rc::gen::element<std::string>("a", "b", "c", "d"); }
rc::Gen<std::string> LabelValue() {
  return rc::gen::element<std::string>("", "0", "1", "2", "10", "-3", "x", "y", "z", "u", "v", "w");
}

// Built from a list, since few keys cannot fill a large map.
rc::Gen<Map> AnyMap() {
  return rc::gen::map(rc::gen::container<std::vector<Labels::Entry>>(rc::gen::pair(LabelKey(), LabelValue())),
                      [](const std::vector<Labels::Entry>& entries) { return Map(entries.begin(), entries.end()); });
}

rc::Gen<Requirement> AnyRequirement() {
  return rc::gen::exec([] {
    Requirement r;
    r.key = *LabelKey();
    r.op = *rc::gen::element(SelectorOp::kIn, SelectorOp::kNotIn, SelectorOp::kExists, SelectorOp::kDoesNotExist,
                             SelectorOp::kGt, SelectorOp::kLt, SelectorOp::kUnknown);
    if (r.op == SelectorOp::kIn || r.op == SelectorOp::kNotIn) {
      const auto values = *rc::gen::container<std::vector<std::string>>(LabelValue());
      const std::set<std::string> unique(values.begin(), values.end());
      r.values.assign(unique.begin(), unique.end());
    } else if (r.op == SelectorOp::kGt || r.op == SelectorOp::kLt) {
      r.values = {*LabelValue()};
    }
    return r;
  });
}

// Few, so that a conjunction holds often enough to test something.
rc::Gen<std::vector<Requirement>> Requirements() {
  return rc::gen::resize(4, rc::gen::container<std::vector<Requirement>>(AnyRequirement()));
}

bool IsNumber(const std::string& text) {
  const size_t start = !text.empty() && text[0] == '-' ? 1 : 0;
  return text.size() > start &&
         std::all_of(text.begin() + static_cast<long>(start), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool Holds(const Requirement& r, const Map& labels) {
  const bool present = labels.count(r.key) > 0;
  const std::string value = present ? labels.at(r.key) : "";
  const bool listed = std::count(r.values.begin(), r.values.end(), value) > 0;
  if (r.op == SelectorOp::kIn) return present && listed;
  if (r.op == SelectorOp::kNotIn) return !(present && listed);
  if (r.op == SelectorOp::kExists) return present;
  if (r.op == SelectorOp::kDoesNotExist) return !present;
  if (r.op == SelectorOp::kUnknown || !present || !IsNumber(value) || !IsNumber(r.values[0])) return false;
  const int have = std::stoi(value), limit = std::stoi(r.values[0]);
  return r.op == SelectorOp::kGt ? have > limit : have < limit;
}

bool AllHold(const std::vector<Requirement>& requirements, const Map& labels) {
  for (const Requirement& r : requirements) {
    if (!Holds(r, labels)) return false;
  }
  return true;
}

Labels ToLabels(const Map& map) { return Labels(std::vector<Labels::Entry>(map.begin(), map.end())); }

RC_GTEST_PROP(SelectorPropertyTest, LabelsFindWhatAMapFinds, ()) {
  const auto entries = *rc::gen::container<std::vector<Labels::Entry>>(rc::gen::pair(LabelKey(), LabelValue()));
  Map model;
  for (const auto& [key, value] : entries) model[key] = value;
  const Labels labels(entries);
  RC_ASSERT(labels.size() == model.size());
  RC_ASSERT(std::equal(labels.begin(), labels.end(), model.begin(), model.end(),
                       [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  for (const char* key : {"", "a", "b", "bb", "c", "d", "e"}) {
    const std::string* found = labels.Find(key);
    RC_ASSERT((found != nullptr) == (model.count(key) > 0));
    if (found != nullptr) RC_ASSERT(*found == model[key]);
  }
  RC_ASSERT(labels == ToLabels(model));
  RC_ASSERT(labels.hash() == ToLabels(model).hash());
}

RC_GTEST_PROP(SelectorPropertyTest, RequirementsMatchAsTheModelDoes, ()) {
  const auto labels = *AnyMap();
  const Labels shared = ToLabels(labels);
  for (int i = 0; i < 50; ++i) {
    const Requirement r = *AnyRequirement();
    RC_ASSERT(r.Matches(shared) == Holds(r, labels));
  }
}

RC_GTEST_PROP(SelectorPropertyTest, SelectorsMatchAsTheModelDoes, ()) {
  const auto labels = *AnyMap();
  const LabelSelector selector{*Requirements(), ""};
  RC_ASSERT(selector.Matches(ToLabels(labels)) == AllHold(selector.requirements, labels));
}

RC_GTEST_PROP(SelectorPropertyTest, AMapSelectsItsSupersets, ()) {
  const auto wanted = *AnyMap();
  const auto labels = *AnyMap();
  const bool superset = std::includes(labels.begin(), labels.end(), wanted.begin(), wanted.end());
  RC_ASSERT(SelectorFromMap(ToLabels(wanted)).Matches(ToLabels(labels)) == superset);
}

RC_GTEST_PROP(SelectorPropertyTest, NodeSelectorsMatchAsTheModelDoes, ()) {
  const auto labels = *AnyMap();
  const std::string name = *rc::gen::element<std::string>("n1", "n2");
  NodeSelector selector;
  bool want = false;
  const int terms = *rc::gen::inRange(0, 4);
  for (int i = 0; i < terms; ++i) {
    NodeSelectorTerm term;
    term.match_expressions = *Requirements();
    const int fields = *rc::gen::inRange(0, 3);
    bool fields_hold = true;
    for (int f = 0; f < fields; ++f) {
      const bool in = *rc::gen::arbitrary<bool>();
      const std::string value = *rc::gen::element<std::string>("n1", "n2");
      term.match_fields.push_back({"metadata.name", in ? SelectorOp::kIn : SelectorOp::kNotIn, {value}});
      fields_hold = fields_hold && (value == name) == in;
    }
    const bool empty = term.match_expressions.empty() && fields == 0;
    want = want || (!empty && fields_hold && AllHold(term.match_expressions, labels));
    selector.terms.push_back(std::move(term));
  }
  RC_ASSERT(selector.Matches(name, ToLabels(labels)) == want);
}

RC_GTEST_PROP(SelectorPropertyTest, TolerationsMatchAsTheModelDoes, ()) {
  const auto effects = rc::gen::element(TaintEffect::kNone, TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule,
                                        TaintEffect::kNoExecute);
  const auto keys = rc::gen::element<std::string>("", "k1", "k2");
  const auto values = rc::gen::element<std::string>("", "1", "2");
  const Taint taint{*keys, *values, *effects};
  const Toleration t{*keys,
                     *rc::gen::element(TolerationOp::kEqual, TolerationOp::kExists, TolerationOp::kLt,
                                       TolerationOp::kGt, TolerationOp::kUnknown),
                     *values, *effects};
  const bool effect_ok = t.effect == TaintEffect::kNone || t.effect == taint.effect;
  const bool key_ok = t.key.empty() || t.key == taint.key;
  const bool op_ok = t.op == TolerationOp::kExists || (t.op == TolerationOp::kEqual && t.value == taint.value);
  RC_ASSERT(t.Tolerates(taint) == (effect_ok && key_ok && op_ok));
}

}  // namespace
}  // namespace berth
