// SPDX-License-Identifier: Apache-2.0
// The same object written as JSON and as YAML decodes to equal structs, or to the same errors.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/decode_test_util.h"
#include "api/json_scan.h"
#include "api/yaml_scalar.h"

namespace berth {
namespace {

// A small tree to write in both forms.
struct Tree {
  enum Kind { kRaw, kText, kList, kMap } kind = kRaw;
  std::string text;                                 // kRaw: a JSON literal; kText: a string
  std::vector<std::pair<std::string, Tree>> items;  // kList: keys unused
};

Tree Raw(std::string text) { return {Tree::kRaw, std::move(text), {}}; }
Tree Text(std::string text) { return {Tree::kText, std::move(text), {}}; }
Tree Map(std::vector<std::pair<std::string, Tree>> items) { return {Tree::kMap, "", std::move(items)}; }
Tree Items(std::vector<Tree> items) {
  Tree tree{Tree::kList, "", {}};
  for (Tree& item : items) tree.items.emplace_back("", std::move(item));
  return tree;
}

std::string ToJson(const Tree& tree) {
  std::string out;
  switch (tree.kind) {
    case Tree::kRaw:
      return tree.text;
    case Tree::kText:
      AppendJsonString(tree.text, out);
      return out;
    default:
      break;
  }
  const bool map = tree.kind == Tree::kMap;
  out = map ? "{" : "[";
  for (const auto& [key, item] : tree.items) {
    if (out.size() > 1) out += ",";
    if (map) {
      AppendJsonString(key, out);
      out += ":";
    }
    out += ToJson(item);
  }
  return out + (map ? "}" : "]");
}

// A string plain where that is safe, else in double quotes; `style` varies the choice.
std::string YamlString(const std::string& text, unsigned style) {
  const bool plain = !text.empty() &&
                     text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
                         std::string::npos &&
                     text[0] != '-' && ResolveScalar(text).kind == ScalarKind::kString;
  if (plain && style % 3 != 0) return text;
  if (style % 2 == 0 && text.find('\n') == std::string::npos && text.find('\'') == std::string::npos)
    return "'" + text + "'";
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

void ToYaml(const Tree& tree, int indent, unsigned& style, std::string& out) {
  ++style;
  if (tree.kind == Tree::kRaw) {
    out += " " + tree.text + "\n";
  } else if (tree.kind == Tree::kText) {
    out += " " + YamlString(tree.text, style) + "\n";
  } else if (tree.items.empty() || style % 7 == 0) {
    out += " " + ToJson(tree) + "\n";  // flow style
  } else {
    out += "\n";
    for (const auto& [key, item] : tree.items) {
      out += std::string(static_cast<size_t>(indent), ' ');
      out += tree.kind == Tree::kMap ? YamlString(key, ++style) + ":" : "-";
      ToYaml(item, indent + 2, style, out);
    }
  }
}

template <class T>
T Pick(std::vector<T> choices) {
  return *rc::gen::elementOf(choices);
}
bool Chance(int percent) { return *rc::gen::inRange(0, 100) < percent; }

// Mostly well-formed values, some that are not: both forms must agree on the errors too.
Tree Amount() {
  return Pick<Tree>({Text("100m"), Text("1Gi"), Raw("2"), Raw("0.5"), Raw("1000"), Text("1500u"), Text("3e2"),
                     Raw("null"), Text("-1"), Text("lots"), Text("9223372036854775807"), Raw("18446744073709551616")});
}
Tree Name() {
  return Text(Pick<std::string>({"a", "web-1", "yes", "null", "1", "1e3", "0x1F", "Bad_Name", "", "x.y", "~", "no"}));
}
std::string Key() {
  return Pick<std::string>(
      {"app", "zone", "on", "1", "example.com/x", "kubernetes.io/hostname", "a b", "null", "1.5", "y"});
}
Tree LabelMap() {
  Tree map = Map({});
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const std::string key = Key();
    bool again = false;
    for (const auto& item : map.items) again = again || item.first == key;
    if (!again) map.items.emplace_back(key, Chance(90) ? Name() : Raw(Pick<std::string>({"5", "true", "null"})));
  }
  return map;
}
Tree Expressions(bool node) {
  std::vector<Tree> list;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    std::vector<Tree> values;
    for (int k = *rc::gen::inRange(0, 3); k > 0; --k) values.push_back(Name());
    list.push_back(Map({{"key", Text(Key())},
                        {"operator", Text(Pick<std::string>(
                                         {"In", "NotIn", "Exists", "DoesNotExist", node ? "Gt" : "In", "Lt", "Is"}))},
                        {"values", Items(values)}}));
  }
  return Items(list);
}
Tree Selector() {
  if (Chance(15)) return Raw("null");
  return Map({{"matchLabels", LabelMap()}, {"matchExpressions", Expressions(false)}});
}
Tree ResourcesTree() {
  Tree requests = Map({}), limits = Map({});
  for (const char* name : {"cpu", "memory", "example.com/gpu", "hugepages-2Mi"}) {
    if (Chance(40)) requests.items.emplace_back(name, Amount());
    if (Chance(30)) limits.items.emplace_back(name, Amount());
  }
  return Map({{"requests", requests}, {"limits", limits}});
}
Tree Meta() {
  return Map(
      {{"name", Name()},
       {"namespace", Name()},
       {"labels", LabelMap()},
       {"creationTimestamp", Pick<Tree>({Raw("null"), Text("2024-02-29T12:00:00Z"), Text("2024-02-30T12:00:00Z")})}});
}

Tree RandomPod() {
  std::vector<Tree> containers, tolerations, terms, constraints;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    containers.push_back(Map({{"name", Text("c" + std::to_string(i))},
                              {"image", Text("registry.example/a:1")},
                              {"resources", ResourcesTree()},
                              {"ports", Items({Map({{"containerPort", Raw(Pick<std::string>({"80", "0", "70000"}))},
                                                    {"hostPort", Raw(Pick<std::string>({"0", "80", "null"}))}})})}}));
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    tolerations.push_back(Map({{"key", Text(Key())},
                               {"operator", Text(Pick<std::string>({"", "Equal", "Exists", "Gt"}))},
                               {"value", Name()},
                               {"effect", Text(Pick<std::string>({"", "NoSchedule", "NoExecute"}))}}));
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    terms.push_back(Map({{"weight", Raw(Pick<std::string>({"1", "100", "0"}))},
                         {"podAffinityTerm", Map({{"topologyKey", Text(Key())},
                                                  {"labelSelector", Selector()},
                                                  {"matchLabelKeys", Items({Text(Key())})}})}}));
    constraints.push_back(Map({{"maxSkew", Raw(Pick<std::string>({"1", "2", "0"}))},
                               {"topologyKey", Text(Key())},
                               {"whenUnsatisfiable", Text(Pick<std::string>({"DoNotSchedule", "ScheduleAnyway"}))},
                               {"labelSelector", Selector()}}));
  }
  return Map(
      {{"apiVersion", Text("v1")},
       {"kind", Text("Pod")},
       {"metadata", Meta()},
       {"spec",
        Map({{"containers", Items(containers)},
             {"tolerations", Items(tolerations)},
             {"nodeSelector", LabelMap()},
             {"priority", Raw(Pick<std::string>({"5", "-5", "null", "2147483648", "1.5"}))},
             {"topologySpreadConstraints", Items(constraints)},
             {"affinity",
              Map({{"podAntiAffinity", Map({{"preferredDuringSchedulingIgnoredDuringExecution", Items(terms)}})},
                   {"nodeAffinity", Map({{"requiredDuringSchedulingIgnoredDuringExecution",
                                          Map({{"nodeSelectorTerms",
                                                Items({Map({{"matchExpressions", Expressions(true)}})})}})}})}})}})}});
}

Tree RandomNode() {
  Tree amounts = ResourcesTree().items[0].second;
  return Map(
      {{"apiVersion", Text("v1")},
       {"kind", Text("Node")},
       {"metadata", Meta()},
       {"spec",
        Map({{"unschedulable", Raw(Pick<std::string>({"true", "false", "null"}))},
             {"taints", Items({Map({{"key", Text(Key())},
                                    {"value", Name()},
                                    {"effect", Text(Pick<std::string>({"NoSchedule", "NoExecute", "Never"}))}})})}})},
       {"status", Map({{Pick<std::string>({"capacity", "allocatable"}), amounts}})}});
}

template <class T>
void BothFormsAgree(const Tree& tree, bool& decoded_without_errors) {
  const std::string json = ToJson(tree);
  std::string yaml;
  unsigned style = *rc::gen::arbitrary<unsigned>();
  ToYaml(tree, 0, style, yaml);
  RC_LOG() << yaml;
  std::string from_yaml;
  const Error error = ForEachDocument(yaml, [&](std::string text) {
    from_yaml = std::move(text);
    return Error::Ok();
  });
  RC_ASSERT(error.ok());
  const DecodedObject a = DecodeObject(json, DecodeMode::kFile);
  const DecodedObject b = DecodeObject(from_yaml, DecodeMode::kFile);
  // A number's text may differ (0.5 or 5e-1); what it means may not.
  RC_ASSERT(a.errors.size() == b.errors.size());
  for (size_t i = 0; i < a.errors.size(); ++i) RC_ASSERT(a.errors[i].path == b.errors[i].path);
  const T* x = std::get_if<T>(&a.object);
  const T* y = std::get_if<T>(&b.object);
  RC_ASSERT(x != nullptr);
  RC_ASSERT(y != nullptr);
  if constexpr (std::is_same_v<T, DecodedPod>) {
    RC_ASSERT(x->pod == y->pod);
    RC_ASSERT(x->extras.priority == y->extras.priority);
  } else {
    RC_ASSERT(*x == *y);
  }
  decoded_without_errors = a.errors.empty();
}

RC_GTEST_PROP(JsonYamlPropertyTest, PodsDecodeToEqualStructs, ()) {
  bool clean = false;
  BothFormsAgree<DecodedPod>(RandomPod(), clean);
  RC_CLASSIFY(clean);
}

RC_GTEST_PROP(JsonYamlPropertyTest, NodesDecodeToEqualStructs, ()) {
  bool clean = false;
  BothFormsAgree<Node>(RandomNode(), clean);
  RC_CLASSIFY(clean);
}

}  // namespace
}  // namespace berth
