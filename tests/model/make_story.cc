// SPDX-License-Identifier: Apache-2.0
// Random stories. Few small nodes and many pods, so that they are short of everything.
#include <algorithm>
#include <string>
#include <utility>

#include "random.h"
#include "story.h"

namespace berth::model {
namespace {

constexpr int kStoryMillis = 120'000;

Value Text(std::string text) { return Value::String(std::move(text)); }
Value Object(std::vector<Value::Member> members) { return Value::Object(std::move(members)); }
Value List(std::vector<Value> items) { return Value::Array(std::move(items)); }

struct PodPlan {
  std::string ns, name;
  Value manifest;
  bool there = false, gated = false, placed = false;  // as the story has it; the cluster may be further
};

class StoryMaker {
 public:
  // Every third story is about volumes, too.
  explicit StoryMaker(uint64_t seed) : random_(seed * 2 + 1), storage_(seed % 3 == 0) { story_.seed = seed; }

  Story Make() {
    story_.faults = MakeFaults();
    MakeClasses();
    if (storage_) MakeStorage();
    const int nodes = 1 + random_.Below(4);
    for (int i = 0; i < nodes; ++i) CreateNode();
    for (int i = random_.Below(6); i > 0; --i) CreatePod();
    const int steps = 15 + random_.Below(50);
    // Half the stories are busy for a few seconds only: what happens within milliseconds is where races are.
    const int length = random_.Percent(50) ? kStoryMillis : 8'000;
    for (int i = 0; i < steps; ++i) {
      if (!random_.Percent(45)) now_ += random_.Percent(40) ? random_.Below(8) : random_.Below(2 * length / steps + 1);
      now_ = std::min(now_, kStoryMillis);
      OneThing();
    }
    std::stable_sort(late_.begin(), late_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    MergeLate();
    return Repaired(story_);
  }

 private:
  sim::Faults MakeFaults() {
    const int kind = random_.Below(10);
    if (kind < 2) return sim::Faults::None();
    if (kind < 5) return sim::Faults::Default();
    if (kind < 7) return Storm();
    const auto some = [&](int most) { return random_.Percent(50) ? random_.Below(most) : 0; };
    return {.watch_cut = some(60),
            .too_old = some(400),
            .conflict = some(150),
            .throttled = some(150),
            .server_error = some(150),
            .lost_answer = some(250),
            .duplicate = some(200),
            .reordered = some(300),
            .touched = some(200),
            .slow = some(200),
            .provision = some(200)};
  }

  // One kind of request often goes wrong: what is tried again has time to meet something else.
  sim::Faults Storm() {
    sim::Faults faults;
    const int much = 100 + random_.Below(500);
    switch (random_.Below(5)) {
      case 0:
        faults.conflict = much;
        break;
      case 1:
        faults.throttled = much / 2;
        break;
      case 2:
        faults.lost_answer = much;
        break;
      case 3:
        faults.slow = much;
        faults.conflict = much / 2;
        break;
      default:
        faults.watch_cut = much / 3;
        faults.too_old = much;
    }
    return faults;
  }

  void Add(const char* verb, Value what) { AddAt(now_, verb, std::move(what)); }
  void AddAt(int millis, const char* verb, Value what) {
    Value step = Object({{"at", Text(std::to_string(millis) + "ms")}, {verb, std::move(what)}});
    if (millis == now_) {
      times_.push_back(millis);
      story_.steps.push_back(std::move(step));
    } else {
      late_.emplace_back(millis, std::move(step));
    }
  }
  // Steps that were planned for later take their place in the order of time.
  void MergeLate() {
    std::vector<Value> steps;
    size_t next = 0;
    for (size_t i = 0; i < story_.steps.size(); ++i) {
      for (; next < late_.size() && late_[next].first < times_[i]; ++next) steps.push_back(late_[next].second);
      steps.push_back(story_.steps[i]);
    }
    for (; next < late_.size(); ++next) steps.push_back(late_[next].second);
    story_.steps = std::move(steps);
  }

  void MakeClasses() {
    const auto add = [&](const char* name, int value, const char* policy) {
      Add("apply", Object({{"apiVersion", Text("scheduling.k8s.io/v1")},
                           {"kind", Text("PriorityClass")},
                           {"metadata", Object({{"name", Text(name)}})},
                           {"value", Value::Int(value)},
                           {"preemptionPolicy", Text(policy)}}));
    };
    add("low", -10, "PreemptLowerPriority");
    add("high", 1000, "PreemptLowerPriority");
    add("higher", 2000, "PreemptLowerPriority");
    add("polite", 1500, "Never");
  }

  // Disks of nodes, volumes that are made when a node is known, and volumes that are made at once.
  void MakeStorage() {
    const auto add = [&](const char* name, const char* provisioner, const char* mode, Value annotations) {
      Add("apply", Object({{"apiVersion", Text("storage.k8s.io/v1")},
                           {"kind", Text("StorageClass")},
                           {"metadata", Object({{"name", Text(name)}, {"annotations", std::move(annotations)}})},
                           {"provisioner", Text(provisioner)},
                           {"volumeBindingMode", Text(mode)}}));
    };
    add("disk", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", Object({}));
    add("made", "made.example.com", "WaitForFirstConsumer",
        Object({{"sim.berth.dev/provision-failures", Text(random_.Of({"0", "0", "1"}))},
                {"sim.berth.dev/topology-key", Text("kubernetes.io/hostname")}}));
    add("now", "now.example.com", "Immediate", Object({}));
    for (int i = 2 + random_.Below(5); i > 0; --i) CreateDisk();
  }
  void CreateDisk() {
    const std::string node = "n" + std::to_string(random_.Below(4));
    Value host =
        Object({{"key", Text("kubernetes.io/hostname")}, {"operator", Text("In")}, {"values", List({Text(node)})}});
    Value terms = List({Object({{"matchExpressions", List({std::move(host)})}})});
    Add("apply",
        Object({{"apiVersion", Text("v1")},
                {"kind", Text("PersistentVolume")},
                {"metadata", Object({{"name", Text("disk-" + std::to_string(disks_++))}})},
                {"spec", Object({{"capacity", Object({{"storage", Text(random_.Of({"1Gi", "2Gi", "5Gi"}))}})},
                                 {"accessModes", List({Text("ReadWriteOnce")})},
                                 {"storageClassName", Text("disk")},
                                 {"local", Object({{"path", Text("/mnt/disk")}})},
                                 {"nodeAffinity",
                                  Object({{"required", Object({{"nodeSelectorTerms", std::move(terms)}})}})}})}}));
  }
  // A pod's volumes. Most have claims of their own, which may come after the pod; some share one.
  Value Volumes(const std::string& ns) {
    Value volumes = List({});
    for (int i = random_.Percent(25) ? 2 : 1; i > 0; --i) {
      std::string claim = "claim-" + std::to_string(claims_);
      if (claims_ > 0 && random_.Percent(15)) {
        claim =
            "claim-" + std::to_string(random_.Below(claims_));  // perhaps of another namespace: then it is not there
      } else {
        ++claims_;
        Value object = Object(
            {{"apiVersion", Text("v1")},
             {"kind", Text("PersistentVolumeClaim")},
             {"metadata", Object({{"name", Text(claim)}, {"namespace", Text(ns)}})},
             {"spec", Object({{"accessModes", List({Text("ReadWriteOnce")})},
                              {"storageClassName", Text(random_.Of({"disk", "disk", "made", "now"}))},
                              {"resources",
                               Object({{"requests", Object({{"storage", Text(random_.Of({"1Gi", "2Gi"}))}})}})}})}});
        AddAt(now_ + (random_.Percent(80) ? 0 : 1 + random_.Below(3000)), "apply", std::move(object));
      }
      volumes.Append(Object(
          {{"name", Text("v" + std::to_string(i))}, {"persistentVolumeClaim", Object({{"claimName", Text(claim)}})}}));
    }
    return volumes;
  }

  Value Allocatable() {
    return Object({{"cpu", Text(random_.Of({"500m", "1", "2", "4"}))},
                   {"memory", Text(random_.Of({"512Mi", "1Gi", "2Gi", "4Gi"}))},
                   {"pods", Text(random_.Of({"2", "3", "5", "8"}))}});
  }
  Value Taints() {
    if (random_.Percent(40)) return List({});
    return List({Object({{"key", Text(random_.Of({"dedicated", "flaky"}))},
                         {"value", Text("yes")},
                         {"effect", Text(random_.Of({"NoSchedule", "PreferNoSchedule", "NoExecute"}))}})});
  }
  void CreateNode() {
    const std::string name = "n" + std::to_string(nodes_.size());
    nodes_.push_back({name, true});
    ApplyNode(name);
  }
  void ApplyNode(const std::string& name) {
    Value spec = Object({});
    if (random_.Percent(15)) spec.Set("taints", Taints());
    Add("apply",
        Object({{"apiVersion", Text("v1")},
                {"kind", Text("Node")},
                {"metadata", Object({{"name", Text(name)},
                                     {"labels", Object({{"topology.kubernetes.io/zone", Text(random_.Of({"z0", "z1"}))},
                                                        {"kubernetes.io/hostname", Text(name)},
                                                        {"disk", Text(random_.Of({"ssd", "hdd"}))}})}})},
                {"spec", std::move(spec)},
                {"status", Object({{"allocatable", Allocatable()}})}}));
  }

  Value Containers(bool with_port) {
    Value requests = Object({});
    if (random_.Percent(85)) requests.Set("cpu", Text(random_.Of({"100m", "250m", "500m", "500m", "1", "2"})));
    if (random_.Percent(60)) requests.Set("memory", Text(random_.Of({"64Mi", "256Mi", "512Mi", "1Gi"})));
    Value container =
        Object({{"name", Text("c")}, {"image", Text("i")}, {"resources", Object({{"requests", requests}})}});
    if (with_port) {
      const int port = 8080 + random_.Below(2);
      container.Set("ports", List({Object({{"containerPort", Value::Int(port)}, {"hostPort", Value::Int(port)}})}));
    }
    return List({std::move(container)});
  }
  // Only requests can be changed of a pod that exists.
  Value Resized(const PodPlan& pod) {
    const Value* ports = pod.manifest.Find("spec")->Find("containers")->items().front().Find("ports");
    Value container = Containers(false).items().front();
    if (ports) container.Set("ports", *ports);
    return List({std::move(container)});
  }
  Value Selector() { return Object({{"matchLabels", Object({{"app", Text(random_.Of({"a", "b", "c"}))}})}}); }
  Value AffinityTerm() {
    return List(
        {Object({{"labelSelector", Selector()},
                 {"topologyKey", Text(random_.Of({"kubernetes.io/hostname", "topology.kubernetes.io/zone"}))}})});
  }
  Value Affinity() {
    const int kind = random_.Below(4);
    if (kind == 0)
      return Object({{"nodeAffinity",
                      Object({{"requiredDuringSchedulingIgnoredDuringExecution",
                               Object({{"nodeSelectorTerms",
                                        List({Object({{"matchExpressions",
                                                       List({Object({{"key", Text("disk")},
                                                                     {"operator", Text(random_.Of({"In", "NotIn"}))},
                                                                     {"values", List({Text("ssd")})}})})}})})}})}})}});
    return Object({{kind == 1 ? "podAffinity" : "podAntiAffinity",
                    Object({{"requiredDuringSchedulingIgnoredDuringExecution", AffinityTerm()}})}});
  }

  void CreatePod() {
    PodPlan plan;
    const bool foreign = random_.Percent(8);
    plan.name = (foreign ? kForeignPrefix : "p-") + std::to_string(pods_.size());
    plan.ns = random_.Percent(15) ? "shop" : "default";
    Value meta = Object({{"name", Text(plan.name)},
                         {"namespace", Text(plan.ns)},
                         {"labels", Object({{"app", Text(random_.Of({"a", "b", "c"}))}})}});
    if (random_.Percent(30))
      meta.Set("annotations", Object({{"sim.berth.dev/run-for", Text(random_.Of({"0s", "1s", "5s", "20s", "40s"}))}}));
    Value spec = Object({});
    if (foreign) spec.Set("schedulerName", Text("other"));
    if (random_.Percent(50)) spec.Set("priorityClassName", Text(random_.Of({"low", "high", "higher", "polite"})));
    if (random_.Percent(12)) {
      plan.gated = true;
      spec.Set("schedulingGates", List({Object({{"name", Text("example.com/wait")}})}));
    }
    if (random_.Percent(12)) spec.Set("nodeSelector", Object({{"disk", Text(random_.Of({"ssd", "hdd", "none"}))}}));
    if (random_.Percent(20)) spec.Set("affinity", Affinity());
    if (random_.Percent(12))
      spec.Set(
          "topologySpreadConstraints",
          List({Object({{"maxSkew", Value::Int(1 + random_.Below(2))},
                        {"topologyKey", Text(random_.Of({"kubernetes.io/hostname", "topology.kubernetes.io/zone"}))},
                        {"whenUnsatisfiable", Text(random_.Of({"DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"}))},
                        {"labelSelector", Selector()}})}));
    if (random_.Percent(25))
      spec.Set("tolerations",
               List({Object({{"key", Text(random_.Of({"dedicated", "flaky"}))}, {"operator", Text("Exists")}})}));
    if (random_.Percent(3) && !plan.gated) {
      plan.placed = true;
      spec.Set("nodeName", Text(AnyNode()));
    }
    spec.Set("containers", Containers(random_.Percent(12)));
    if (storage_ && random_.Percent(50)) spec.Set("volumes", Volumes(plan.ns));
    plan.manifest = Object({{"apiVersion", Text("v1")}, {"kind", Text("Pod")}, {"metadata", meta}, {"spec", spec}});
    plan.there = true;
    Add("apply", plan.manifest);
    if (random_.Percent(10)) {  // short-lived: it goes while it is decided about, bound, or waits to be tried again
      plan.there = false;
      AddAt(now_ + 1 + random_.Below(random_.Percent(50) ? 8 : 1500), "delete", Key(plan));
    }
    pods_.push_back(std::move(plan));
  }

  std::string AnyNode() { return nodes_[static_cast<size_t>(random_.Below(static_cast<int>(nodes_.size())))].first; }
  // One that is there (or was: the story may not know); null without.
  PodPlan* AnyPod() {
    std::vector<PodPlan*> there;
    for (PodPlan& pod : pods_)
      if (pod.there) there.push_back(&pod);
    return there.empty() ? nullptr : there[static_cast<size_t>(random_.Below(static_cast<int>(there.size())))];
  }
  static Value Key(const PodPlan& pod) {
    return Object({{"kind", Text("Pod")}, {"namespace", Text(pod.ns)}, {"name", Text(pod.name)}});
  }
  void PatchPod(const PodPlan& pod, Value patch) {
    Value what = Key(pod);
    what.Set("patch", std::move(patch));
    Add("patch", std::move(what));
  }
  void PatchNode(Value patch) {
    const auto& [name, there] = nodes_[static_cast<size_t>(random_.Below(static_cast<int>(nodes_.size())))];
    if (there) Add("patch", Object({{"kind", Text("Node")}, {"name", Text(name)}, {"patch", std::move(patch)}}));
  }

  void OneThing() {
    if (storage_ && random_.Percent(6)) return CreateDisk();
    const int dice = random_.Below(100);
    if (dice < 45) return CreatePod();
    if (dice < 72) {
      PodPlan* pod = AnyPod();
      if (pod) ChangePod(*pod, dice - 45);
      return;
    }
    if (dice < 76)
      return PatchNode(
          Object({{"metadata", Object({{"labels", Object({{"disk", Text(random_.Of({"ssd", "hdd"}))}})}})}}));
    if (dice < 82) return PatchNode(Object({{"spec", Object({{"taints", Taints()}})}}));
    if (dice < 87) return PatchNode(Object({{"spec", Object({{"unschedulable", Value::Bool(random_.Percent(50))}})}}));
    if (dice < 94) return PatchNode(Object({{"status", Object({{"allocatable", Allocatable()}})}}));
    if (dice < 97) return CreateOrDeleteNode();
    Disruptions();
  }

  // 27 sides.
  void ChangePod(PodPlan& pod, int dice) {
    if (dice < 9) {
      pod.there = false;
      Add("delete", Key(pod));
      if (random_.Percent(35)) Recreate(pod);
    } else if (dice < 13) {
      PatchPod(pod, Object({{"metadata", Object({{"labels", Object({{"app", Text(random_.Of({"a", "b", "c"}))}})}})}}));
    } else if (dice < 18) {
      for (PodPlan& other : pods_)
        if (other.there && other.gated) {
          other.gated = false;
          return PatchPod(other, Object({{"spec", Object({{"schedulingGates", Value()}})}}));
        }
    } else if (dice < 21) {
      PatchPod(pod, Object({{"spec", Object({{"containers", Resized(pod)}})}}));
    } else if (!pod.gated && !pod.placed) {
      pod.placed = true;
      PatchPod(pod, Object({{"spec", Object({{"nodeName", Text(AnyNode())}})}}));
    }
  }
  void Recreate(PodPlan& pod) {
    if (random_.Percent(60)) {
      pod.there = true;
      const Value* spec = pod.manifest.Find("spec");
      pod.gated = spec->Find("schedulingGates") != nullptr;
      pod.placed = spec->Find("nodeName") != nullptr;
      return Add("apply", pod.manifest);
    }
    AddAt(now_ + 1 + random_.Below(2000), "apply", pod.manifest);  // the story itself does not speak of it again
  }

  void CreateOrDeleteNode() {
    auto& [name, there] = nodes_[static_cast<size_t>(random_.Below(static_cast<int>(nodes_.size())))];
    if (!there) {
      there = true;
      return ApplyNode(name);
    }
    if (random_.Percent(50)) return CreateNode();
    there = false;
    Add("delete", Object({{"kind", Text("Node")}, {"name", Text(name)}}));
  }

  void Disruptions() {
    Add("apply", Object({{"apiVersion", Text("policy/v1")},
                         {"kind", Text("PodDisruptionBudget")},
                         {"metadata", Object({{"name", Text("budget")}, {"namespace", Text("default")}})},
                         {"spec", Object({{"selector", Selector()}, {"minAvailable", Value::Int(1)}})},
                         {"status", Object({{"disruptionsAllowed", Value::Int(random_.Below(2))}})}}));
  }

  Random random_;
  const bool storage_;
  int disks_ = 0, claims_ = 0;  // made so far
  Story story_;
  int now_ = 0;
  std::vector<int> times_;                           // of the story's steps
  std::vector<std::pair<int, Value>> late_;          // steps of a later time
  std::vector<std::pair<std::string, bool>> nodes_;  // name, and whether it is there
  std::vector<PodPlan> pods_;
};

}  // namespace

Story MakeStory(uint64_t seed) { return StoryMaker(seed).Make(); }

}  // namespace berth::model
