// SPDX-License-Identifier: Apache-2.0
#include "conform/request.h"

#include <cctype>

#include "berth/value.h"

namespace berth::conform {
namespace {

constexpr std::string_view kUnknown = R"("BerthConformUnknown":{"list":[null,7,"x"],"flag":true},)";

// Writes one message with the keys in the case asked for.
class Writer {
 public:
  explicit Writer(const Question& question) : question_(question) {}

  std::string Write() {
    text_ = "{";
    if (question_.unknown_fields) text_ += kUnknown;
    Key("Pod");
    text_ += question_.pod;
    text_ += ",";
    if (question_.target.verb == Verb::kPreempt) {
      Victims();
    } else {
      Nodes();
    }
    text_ += "}";
    return std::move(text_);
  }

 private:
  void Key(std::string_view name) {
    std::string key(name);
    if (question_.lower_case) {
      key = name == "UID" ? "uid" : static_cast<char>(std::tolower(static_cast<unsigned char>(key[0]))) + key.substr(1);
    }
    text_ += '"' + key + "\":";
  }

  void Nodes() {
    const bool names = question_.target.shape == Shape::kNames;
    size_t size = text_.size() + 100;
    for (const SampleNode& node : question_.nodes) size += names ? node.name.size() + 3 : node.json.size() + 1;
    text_.reserve(size);
    Key("Nodes");
    if (names) {
      text_ += "null";
    } else {
      text_ += question_.list_nulls ? R"({"metadata":{"continue":null,"remainingItemCount":null},"items":[)"
                                    : R"({"metadata":{},"items":[)";
      for (size_t i = 0; i < question_.nodes.size(); ++i) {
        if (i > 0) text_ += ',';
        text_ += question_.nodes[i].json;
      }
      text_ += "]}";
    }
    text_ += ',';
    Key("NodeNames");
    if (!names) {
      text_ += "null";
      return;
    }
    text_ += '[';
    for (size_t i = 0; i < question_.nodes.size(); ++i) {
      if (i > 0) text_ += ',';
      text_ += Quote(question_.nodes[i].name);
    }
    text_ += ']';
  }

  void Victims() {
    const bool meta = question_.target.shape == Shape::kNames;
    Key(meta ? "NodeNameToVictims" : "NodeNameToMetaVictims");
    text_ += "null,";
    Key(meta ? "NodeNameToMetaVictims" : "NodeNameToVictims");
    text_ += '{';
    for (size_t i = 0; i < question_.nodes.size(); ++i) {
      text_ += (i == 0 ? "" : ",") + Quote(question_.nodes[i].name) + ":{";
      if (question_.unknown_fields) text_ += kUnknown;
      Key("Pods");
      text_ += '[';
      bool first = true;
      for (const Victim& victim : VictimsOn(question_.nodes[i].name)) {
        if (!first) text_ += ',';
        first = false;
        if (meta) {
          text_ += '{';
          Key("UID");
          text_ += Quote(victim.uid) + "}";
        } else {
          text_ += question_.unset_times ? PodWithUnsetTime(victim.json) : victim.json;
        }
      }
      text_ += "],";
      Key("NumPDBViolations");
      text_ += std::to_string(kPdbViolations) + "}";
    }
    text_ += '}';
  }

  const Question& question_;
  std::string text_;
};

}  // namespace

std::string_view ToString(Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return "filter";
    case Verb::kPrioritize:
      return "prioritize";
    case Verb::kPreempt:
      return "preempt";
    case Verb::kBind:
      break;
  }
  return "bind";
}

std::string_view ToString(Shape shape) { return shape == Shape::kNodes ? "nodes" : "names"; }

std::string ToString(Target target) {
  std::string text(ToString(target.verb));
  return target.verb == Verb::kBind ? text : text + "." + std::string(ToString(target.shape));
}

std::string WriteQuestion(const Question& question) { return Writer(question).Write(); }

std::vector<Victim> VictimsOn(const std::string& node) {
  std::vector<Victim> victims;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "victim-" + std::to_string(i) + "-on-" + node;
    // Not in the order of their names, so that sorting is found out.
    const std::string uid = std::string(i == 0 ? "c" : i == 1 ? "a" : "b") + "-victim-on-" + node;
    victims.push_back({uid, R"({"metadata":{"name":)" + Quote(name) + R"(,"namespace":"default","uid":)" + Quote(uid) +
                                R"(},"spec":{"nodeName":)" + Quote(node) + R"(,"priority":)" +
                                std::to_string(300 - 100 * i) +
                                R"(,"containers":[{"name":"main","image":"registry.example/team/victim:v1",)"
                                R"("resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]},"status":{"phase":)"
                                R"("Running","startTime":"2026-01-01T00:00:00Z"}})"});
  }
  return victims;
}

std::string WriteBinding(std::string_view pod, std::string_view pod_namespace, std::string_view uid,
                         std::string_view node) {
  return R"({"PodName":)" + Quote(pod) + R"(,"PodNamespace":)" + Quote(pod_namespace) + R"(,"PodUID":)" + Quote(uid) +
         R"(,"Node":)" + Quote(node) + "}";
}

}  // namespace berth::conform
