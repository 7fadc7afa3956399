// SPDX-License-Identifier: Apache-2.0
// The steps of a sequence.
#include "sequence_world.h"

#include <utility>

#include "api/load.h"
#include "framework/explanation.h"
#include "recorded/compare.h"
#include "recorded/decided.h"

namespace berth::sequences {
namespace {

using framework::Decision;
using framework::Engine;
using framework::Judgement;

constexpr Time kEnd{1'772'323'200'000'000'000};  // when pods were asked to stop, all of them

std::string Text(const Value* value) { return value ? value->text() : std::string(); }

}  // namespace

Result<std::unique_ptr<SequenceWorld>> SequenceWorld::Make(const config::SchedulerConfiguration& config,
                                                           const Registry& registry) {
  std::unique_ptr<SequenceWorld> world(new SequenceWorld);
  for (std::unique_ptr<Engine>* engine : {&world->engine_, &world->reference_, &world->plain_}) {
    Result<std::unique_ptr<Engine>> made = Engine::Make(config, registry, world->clock_);
    if (!made.ok()) return made.error();
    *engine = std::move(made).value();
  }
  recorded::RememberAndVerify(*world->engine_, *world->reference_, world->state_, world->differences_);
  return world;
}

std::vector<std::string> SequenceWorld::Fill(const Value& objects) {
  std::vector<std::string> wrong;
  for (const Value& object : objects.items())
    for (std::string& text : Put(object)) wrong.push_back(std::move(text));
  return wrong;
}

std::vector<std::string> SequenceWorld::Apply(const Value& step) {
  placed_ = Value();
  const std::string op = Text(step.Find("op"));
  const Value* object = step.Find("object");
  std::string pod = Text(step.Find("pod"));
  if (op == "put" && object) return Put(*object);
  if (op == "remove" && object) return Remove(*object);
  if (op == "confirm") {
    if (const auto it = pods_.find(pod); it != pods_.end() && state_.IsAssumed(it->second->uid()))
      (void)applier_.Add(it->second);
    return {};
  }
  if (op == "forget") {
    Forget(pod);
    return {};
  }
  if (op != "place") return {"no op " + op};
  if (object) {
    if (std::vector<std::string> wrong = Put(*object); !wrong.empty()) return wrong;
    const Value& meta = *object->Find("metadata");
    const std::string ns = Text(meta.Find("namespace"));
    pod = (ns.empty() ? "default" : ns) + "/" + Text(meta.Find("name"));
  }
  return Place(pod, step);
}

std::vector<std::string> SequenceWorld::Put(const Value& object) {
  LoadResult loaded = LoadObjectsFromText(object.ToJson());
  if (!loaded.ok()) return {"object: " + loaded.errors.front().Text()};
  loaded.objects.ForEach([&](const ClusterObject& any) {
    if (const auto* pod = std::get_if<Ptr<Pod>>(&any)) return PutPod(**pod);
    (void)applier_.Add(any);
  });
  return {};
}

void SequenceWorld::PutPod(const Pod& pod) {
  auto changed = std::make_shared<Pod>(pod);
  const auto [it, is_new] = pods_.try_emplace(FullName(pod));
  if (!is_new) {
    changed->node_name = it->second->node_name;
    changed->nominated_node_name = it->second->nominated_node_name;
    if (it->second->terminating()) changed->meta.deletion_time = it->second->meta.deletion_time;
  }
  // One that was assumed is confirmed by what the cluster says of it.
  const bool known = !is_new && !state_.IsAssumed(changed->uid());
  const std::shared_ptr<const Pod> before = std::exchange(it->second, changed);
  (void)(known ? applier_.Update(before, it->second) : applier_.Add(it->second));
}

void SequenceWorld::Forget(const std::string& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end() || !state_.IsAssumed(it->second->uid())) return;
  (void)state_.ForgetPod(it->second->uid());
  auto loose = std::make_shared<Pod>(*it->second);
  loose->node_name.clear();
  it->second = std::move(loose);
}

void SequenceWorld::Drop(const std::string& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end()) return;
  (void)applier_.Delete(it->second);
  pods_.erase(it);
}

std::vector<std::string> SequenceWorld::Remove(const Value& object) {
  const std::string kind = Text(object.Find("kind"));
  const Value* meta = object.Find("metadata");
  if (!meta) return {"object: no metadata"};
  const std::string name = Text(meta->Find("name"));
  std::string ns = Text(meta->Find("namespace"));
  const std::optional<Kind> known = FindKind(kind);
  if (!known) return {"no kind " + kind};
  if (!IsNamespaced(*known)) ns.clear();
  if (IsNamespaced(*known) && ns.empty()) ns = "default";
  ForEachType(KindTypes{}, [&]<class T>() {
    if (InfoOf<T>().kind != *known) return;
    if constexpr (std::is_same_v<T, Pod>) return Drop(ns + "/" + name);
    auto gone = std::make_shared<T>();
    gone->meta.namespace_ = ns;
    gone->meta.name = name;
    (void)applier_.Delete(Ptr<T>(std::move(gone)));
  });
  return {};
}

std::vector<std::string> SequenceWorld::Place(const std::string& name, const Value& step) {
  const auto it = pods_.find(name);
  if (it == pods_.end() || !it->second->node_name.empty() || it->second->terminating()) return {};
  ++placings_;
  const std::shared_ptr<const Pod> held = it->second;
  const Pod& pod = *held;
  const Value* expected = step.Find("expected");
  const std::vector<std::string> unstable = recorded::Strings(step, "unstable");
  const framework::Profile* profile = engine_->FindProfile(pod.scheduler_name);
  if (!profile) profile = &engine_->first_profile();

  const Snapshot snapshot = state_.snapshot();
  const Decision decision = engine_->Decide(*profile, pod, snapshot);
  std::vector<std::string> wrong;
  if (expected) {
    for (std::string& text : recorded::DecisionDifferences(*expected, unstable, pod, decision, engine_->traces().last(),
                                                           snapshot, *profile, engine_->table()))
      wrong.push_back(std::move(text));
  }
  // The engine's plugins use what they have counted; those of the plain one look at all pods.
  Explain(*engine_, "table from counts: ", pod, decision.nominated, expected, unstable, wrong);
  Explain(*plain_, "table: ", pod, decision.nominated, expected, unstable, wrong);
  for (std::string& text : std::exchange(differences_, {})) wrong.push_back(std::move(text));
  const Value* linger = step.Find("linger");
  Follow(pod, decision, linger && linger->bool_value());
  return wrong;
}

void SequenceWorld::Explain(Engine& engine, const std::string& who, const Pod& pod, bool nominated,
                            const Value* expected, const std::vector<std::string>& unstable,
                            std::vector<std::string>& wrong) {
  const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
  if (!profile) profile = &engine.first_profile();
  Pod asked = pod;
  if (nominated) asked.nominated_node_name.clear();  // all nodes, though one would do
  const Snapshot snapshot = state_.snapshot();
  const Judgement judgement = engine.Judge(*profile, asked, snapshot, {});
  if (!expected) return;
  const Value got = framework::ToValue(framework::Explain(asked, *profile, engine.table(), snapshot, judgement));
  for (const std::string& text : recorded::Differences(*expected, got, unstable)) wrong.push_back(who + text);
}

void SequenceWorld::Follow(const Pod& pod, const Decision& decision, bool linger) {
  placed_ = Value::Object();
  auto after = std::make_shared<Pod>(pod);
  std::shared_ptr<const Pod>& kept = pods_[FullName(pod)];
  if (decision.kind == Judgement::Kind::kFits) {
    after->node_name = state_.snapshot().node(decision.row).name();
    after->nominated_node_name.clear();
    placed_.Set("node", Value::String(after->node_name));
    kept = after;
    (void)state_.AssumePod(std::move(after));
    return;
  }
  after->nominated_node_name = decision.post_filter.nominated_node.value_or(pod.nominated_node_name);
  if (!after->nominated_node_name.empty()) placed_.Set("nominated", Value::String(after->nominated_node_name));
  kept = after;
  (void)applier_.Add(Ptr<Pod>(std::move(after)));
  if (!decision.post_filter.plan) return;
  Value victims = Value::Array();
  for (const PreemptionCandidate& candidate : decision.post_filter.plan->candidates) {
    if (candidate.node != decision.post_filter.plan->selected) continue;
    for (const auto& victim : candidate.victims) {
      victims.Append(Value::String(FullName(*victim)));
      if (linger) {
        Pod dying = *victim;
        dying.meta.deletion_time = kEnd;
        PutPod(dying);
      } else {
        Drop(FullName(*victim));
      }
    }
  }
  if (!victims.items().empty()) placed_.Set("victims", std::move(victims));
}

}  // namespace berth::sequences
