// SPDX-License-Identifier: Apache-2.0
// Templates that went through the loader once, copied for every node and pod.
#include "sim/generate.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cstdio>

#include "api/load.h"
#include "util/random.h"

namespace berth::sim {
namespace {

struct Shape {
  const char* cpu;
  const char* memory;
};
constexpr std::array<Shape, 4> kShapes = {{{"8", "32Gi"}, {"16", "64Gi"}, {"16", "128Gi"}, {"32", "128Gi"}}};
constexpr std::array<const char*, 3> kZones = {"zone-a", "zone-b", "zone-c"};
constexpr std::array<Shape, 5> kRequests = {
    {{"100m", "128Mi"}, {"250m", "256Mi"}, {"250m", "1Gi"}, {"500m", "512Mi"}, {"1", "2Gi"}}};
constexpr int64_t kTaintEvery = 20;
constexpr size_t kApps = 20;
constexpr const char* kTaintKey = "example.com/batch";

// A number that looks random for every (seed, stream, index).
uint64_t Draw(uint64_t seed, uint64_t stream, uint64_t index) {
  return util::Scramble((seed + index + 1) * util::kSplitMixStep + stream * 0xd1b54a32d192ed03U);
}

struct NodeKind {
  size_t shape, zone;
  bool tainted;
  size_t index() const { return (shape * kZones.size() + zone) * 2 + (tainted ? 1 : 0); }
};

NodeKind KindOfNode(const GenerateOptions& options, int64_t index) {
  return {Draw(options.seed, 1, static_cast<uint64_t>(index)) % kShapes.size(),
          static_cast<size_t>(index) % kZones.size(), index % kTaintEvery == kTaintEvery - 1};
}
size_t AppOf(const GenerateOptions& options, int64_t index) {
  return Draw(options.seed, 2, static_cast<uint64_t>(index)) % kApps;
}

Value Text(const std::string& text) { return Value::String(text); }

Labels NodeLabels(const std::string& name, size_t zone) {
  return Labels({{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", kZones[zone]}});
}

Value ManifestOfNode(const std::string& name, const NodeKind& kind) {
  Value labels = Value::Object();
  for (const auto& [key, value] : NodeLabels(name, kind.zone)) labels.Set(key, Text(value));
  Value spec = Value::Object();
  if (kind.tainted) {
    Value taint = Value::Object({{"key", Text(kTaintKey)}, {"value", Text("true")}, {"effect", Text("NoSchedule")}});
    spec.Set("taints", Value::Array({std::move(taint)}));
  }
  Value allocatable = Value::Object(
      {{"cpu", Text(kShapes[kind.shape].cpu)}, {"memory", Text(kShapes[kind.shape].memory)}, {"pods", Text("110")}});
  return Value::Object({{"apiVersion", Text("v1")},
                        {"kind", Text("Node")},
                        {"metadata", Value::Object({{"name", Text(name)}, {"labels", std::move(labels)}})},
                        {"spec", std::move(spec)},
                        {"status", Value::Object({{"allocatable", std::move(allocatable)}})}});
}

Value ManifestOfPod(const std::string& name, size_t app, uint64_t seed) {
  char app_name[16];
  std::snprintf(app_name, sizeof app_name, "app-%02zu", app);
  const Shape& request = kRequests[Draw(seed, 3, app) % kRequests.size()];
  Value requests = Value::Object({{"cpu", Text(request.cpu)}, {"memory", Text(request.memory)}});
  Value container = Value::Object({{"name", Text("main")},
                                   {"image", Text(std::string("registry.example/") + app_name + ":1")},
                                   {"resources", Value::Object({{"requests", std::move(requests)}})}});
  Value spec = Value::Object();
  if (app % 10 == 9) {
    Value toleration = Value::Object({{"key", Text(kTaintKey)}, {"operator", Text("Exists")}});
    spec.Set("tolerations", Value::Array({std::move(toleration)}));
  }
  spec.Set("containers", Value::Array({std::move(container)}));
  Value labels = Value::Object({{"app", Text(app_name)}});
  return Value::Object(
      {{"apiVersion", Text("v1")},
       {"kind", Text("Pod")},
       {"metadata",
        Value::Object({{"name", Text(name)}, {"namespace", Text("default")}, {"labels", std::move(labels)}})},
       {"spec", std::move(spec)}});
}

template <class T>
T Unidentified(const std::vector<std::shared_ptr<const T>>& loaded) {
  assert(loaded.size() == 1);
  T object = *loaded.front();
  object.meta.uid.clear();
  object.meta.creation_time.reset();
  return object;
}

std::string Numbered(const char* format, int64_t index) {
  char name[40];
  std::snprintf(name, sizeof name, format, static_cast<long long>(index));
  return name;
}

std::optional<int64_t> FindNumbered(std::string_view name, std::string_view prefix, int64_t count,
                                    std::string (*name_of)(int64_t)) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  int64_t index = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, index);
  if (error != std::errc() || stop != end || index < 0 || index >= count || name_of(index) != name) return std::nullopt;
  return index;
}

}  // namespace

std::vector<std::string> Check(const GenerateOptions& options) {
  std::vector<std::string> errors;
  auto check = [&](const char* flag, int64_t value, int64_t most) {
    if (value >= 0 && value <= most) return;
    errors.push_back(std::string("flag ") + flag + ": must be between 0 and " + std::to_string(most) + ", got " +
                     std::to_string(value));
  };
  check("--nodes", options.nodes, GenerateOptions::kMaxNodes);
  check("--pods", options.pods, GenerateOptions::kMaxPods);
  return errors;
}

Generator::Generator(const GenerateOptions& options) : options_(options) {
  if (options.nodes > 0) {
    node_templates_.resize(kShapes.size() * kZones.size() * 2);
    for (size_t shape = 0; shape < kShapes.size(); ++shape)
      for (size_t zone = 0; zone < kZones.size(); ++zone)
        for (const bool tainted : {false, true}) {
          const NodeKind kind{shape, zone, tainted};
          node_templates_[kind.index()] =
              Unidentified(LoadObjectsFromText(ManifestOfNode("node", kind).ToJson()).objects.of<Node>());
        }
  }
  for (size_t app = 0; app < kApps; ++app)
    pod_templates_.push_back(
        Unidentified(LoadObjectsFromText(ManifestOfPod("pod", app, options.seed).ToJson()).objects.of<Pod>()));
}

std::string Generator::NodeName(int64_t index) { return Numbered("node-%05lld", index); }
std::string Generator::PodName(int64_t index) { return Numbered("pod-%06lld", index); }

std::shared_ptr<const Node> Generator::MakeNode(int64_t index) const {
  const NodeKind kind = KindOfNode(options_, index);
  auto node = std::make_shared<Node>(node_templates_[kind.index()]);
  node->meta.name = NodeName(index);
  node->meta.labels = NodeLabels(node->meta.name, kind.zone);
  return node;
}

std::shared_ptr<const Pod> Generator::MakePod(int64_t index) const {
  auto pod = std::make_shared<Pod>(pod_templates_[AppOf(options_, index)]);
  pod->meta.name = PodName(index);
  return pod;
}

Value Generator::NodeManifest(int64_t index) const {
  return ManifestOfNode(NodeName(index), KindOfNode(options_, index));
}
Value Generator::PodManifest(int64_t index) const {
  return ManifestOfPod(PodName(index), AppOf(options_, index), options_.seed);
}

std::optional<int64_t> Generator::FindNode(std::string_view name) const {
  return FindNumbered(name, "node-", options_.nodes, NodeName);
}
std::optional<int64_t> Generator::FindPod(std::string_view ns, std::string_view name) const {
  if (ns != "default") return std::nullopt;
  return FindNumbered(name, "pod-", options_.pods, PodName);
}

}  // namespace berth::sim
