// SPDX-License-Identifier: Apache-2.0
// Steps onto the simulated cluster, and the scheduler's answer in the form of a recording.
#include "story_world.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/load.h"
#include "sim/simulation.h"

namespace berth::stories {
namespace {

constexpr int kMaxAttempts = 100;                       // in one step; more means that we run in circles
constexpr Duration kAttemptTime = Duration::Millis(1);  // as in the recordings

sim::ClusterOptions NoDelays() {
  sim::ClusterOptions options;
  options.answer_latency = options.watch_latency = options.start_time = options.stop_time = Duration{};
  options.binds_volumes = false;  // no controllers were there when stories were recorded
  return options;
}

std::string Text(const Value& object, std::string_view key) {
  const Value* value = object.Find(key);
  return value ? value->text() : "";
}

bool IsPending(queue::Place place) { return place == queue::Place::kActive || place == queue::Place::kBackoff; }

// The one object of the text.
std::optional<ClusterObject> Only(const LoadedObjects& objects) {
  std::optional<ClusterObject> only;
  objects.ForEach([&](const ClusterObject& object) { only = object; });
  return only;
}

// What a user writes over a pod does not touch where it runs and how it does.
ClusterObject Rewritten(const ClusterObject& after, const ClusterObject& current) {
  const auto* pod = std::get_if<Ptr<Pod>>(&after);
  if (!pod) return after;
  const Pod& now = *std::get<Ptr<Pod>>(current);
  auto merged = std::make_shared<Pod>(**pod);
  merged->node_name = now.node_name;
  merged->phase = now.phase;
  merged->conditions = now.conditions;
  merged->nominated_node_name = now.nominated_node_name;
  merged->start_time = now.start_time;
  return Ptr<Pod>(std::move(merged));
}

std::string Failure(const client::ApiStatus& status) {
  return status.ok() ? "" : std::to_string(status.code) + " " + status.message;
}

}  // namespace

std::unique_ptr<client::Watch> Door::StartWatch(Kind kind, const std::string& resource_version,
                                                client::WatchCallbacks callbacks) {
  if (kind == Kind::kPod) {
    callbacks.event = [this, tell = std::move(callbacks.event)](client::WatchEvent event) {
      if (event.object) {
        ObjectMeta meta = MetaOf(*event.object);
        if (const auto it = terminating_.find(meta.uid); it != terminating_.end()) {
          meta.deletion_time = it->second;
          event.object = WithMeta(*event.object, std::move(meta));
        }
      }
      tell(event);
    };
  }
  return cluster_.StartWatch(kind, resource_version, std::move(callbacks));
}

void Door::Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) {
  if (!slow_bindings_) return cluster_.Bind(pod, node, std::move(done));
  bindings_[pod.namespace_ + "/" + pod.name] = [this, pod, node, done] { cluster_.Bind(pod, node, done); };
}

client::ApiStatus Door::Terminate(const client::ObjectName& pod) {
  terminating_.emplace(pod.uid, clock_.Now());
  return cluster_.Update(Kind::kPod, pod.namespace_, pod.name, [](const ClusterObject& current) { return current; });
}

void Door::DeletePod(const client::ObjectName& pod, client::Answer done) {
  evicted_.push_back(pod.namespace_ + "/" + pod.name);
  if (!slow_evictions_) return cluster_.DeletePod(pod, std::move(done));
  inbox_.Post([done = std::move(done), status = Terminate(pod)] { done(status); });
}

std::vector<std::string> Door::TakeEvicted() {
  std::sort(evicted_.begin(), evicted_.end());
  return std::exchange(evicted_, {});
}

bool Door::AnswerBinding(const std::string& full_name) {
  const auto it = bindings_.find(full_name);
  if (it == bindings_.end()) return false;
  const std::function<void()> bind = std::move(it->second);
  bindings_.erase(it);
  bind();
  return true;
}

StoryWorld::StoryWorld()
    : clock_(sim::kSimulationStart), cluster_(agenda_, clock_, inbox_, NoDelays()), door_(cluster_, clock_, inbox_) {}

Result<std::unique_ptr<StoryWorld>> StoryWorld::Make(const config::SchedulerConfiguration& config,
                                                     const Registry& registry, bool slow_bindings,
                                                     bool slow_evictions) {
  std::unique_ptr<StoryWorld> world(new StoryWorld);
  if (slow_bindings) world->door_.SlowBindings();
  if (slow_evictions) world->door_.SlowEvictions();
  cycle::SchedulerOptions options;
  options.observer = world.get();
  options.verify = true;
  Result<std::unique_ptr<cycle::Scheduler>> scheduler =
      cycle::Scheduler::Make(config, registry, world->door_, world->inbox_, world->clock_, options);
  if (!scheduler.ok()) return scheduler.error();
  world->scheduler_ = std::move(scheduler).value();
  world->scheduler_->Start();
  world->Settle();
  return world;
}

// Lets everything happen that is due, except attempts.
void StoryWorld::Settle() {
  while (agenda_.RunOne(clock_.Now()) || scheduler_->Apply()) {
  }
}

std::string StoryWorld::Apply(const Value& step) {
  const Value* at = step.Find("at");
  if (!at) return "no time";
  clock_.MoveTo(sim::kSimulationStart + Duration::Millis(std::stoll(at->text())));
  const std::string op = Text(step, "op"), pod = Text(step, "pod");
  std::string wrong;
  if (const Value* object = step.Find("object")) {
    wrong = ChangeObject(*object, op);
  } else {
    wrong = ChangePod(pod, op, step);
  }
  Settle();
  return wrong;
}

std::string StoryWorld::ChangePod(const std::string& full_name, const std::string& op, const Value& step) {
  if (op == "answer") return door_.AnswerBinding(full_name) ? "" : full_name + " is not being bound";
  const size_t slash = full_name.find('/');
  if (slash == std::string::npos) return "no pod \"" + full_name + "\"";
  const std::string ns = full_name.substr(0, slash), name = full_name.substr(slash + 1);
  const ClusterObject* object = cluster_.Find(Kind::kPod, ns, name);
  if (!object) return full_name + " is not there";
  if (op == "bind") {
    return Failure(cluster_.BindNow(client::NameOf(*std::get<Ptr<Pod>>(*object)), Text(step, "node")));
  }
  if (op == "terminate") return Failure(door_.Terminate(client::NameOf(*std::get<Ptr<Pod>>(*object))));
  if (op != "nominate") return "unknown op " + op;
  return Failure(cluster_.Update(Kind::kPod, ns, name, [&](const ClusterObject& current) -> ClusterObject {
    auto changed = std::make_shared<Pod>(*std::get<Ptr<Pod>>(current));
    changed->nominated_node_name = Text(step, "node");
    return Ptr<Pod>(std::move(changed));
  }));
}

std::string StoryWorld::ChangeObject(const Value& object, const std::string& op) {
  if (op == "delete") {
    const std::optional<Kind> kind = FindKind(Text(object, "kind"));
    const Value* meta = object.Find("metadata");
    if (!kind || !meta) return "an object without kind or metadata";
    std::string ns = Text(*meta, "namespace");
    if (ns.empty() && IsNamespaced(*kind)) ns = "default";
    return Failure(cluster_.Delete(*kind, ns, Text(*meta, "name")));
  }
  const LoadResult loaded = LoadObjectsFromText(object.ToJson());
  if (!loaded.ok()) return loaded.errors.front().Text();
  const std::optional<ClusterObject> read = Only(loaded.objects);
  if (!read) return "a kind that stories do not have";
  if (op == "create") {
    ObjectMeta meta = MetaOf(*read);
    meta.uid.clear();  // files are given one, but each file by itself
    meta.creation_time.reset();
    return Failure(cluster_.Create(WithMeta(*read, std::move(meta))));
  }
  if (op != "update") return "unknown op " + op;
  const ObjectMeta& meta = MetaOf(*read);
  return Failure(cluster_.Update(KindOf(*read), meta.namespace_, meta.name,
                                 [&](const ClusterObject& current) { return Rewritten(*read, current); }));
}

Value StoryWorld::Queued() const {
  Value queued = Value::Object();
  for (const queue::QueuedPodInfo* info : scheduler_->queue().Queued())
    if (info->where() != queue::Place::kUnschedulable && info->where() != queue::Place::kGated)
      queued.Set(FullName(info->pod->meta), Value::String(std::string(queue::ToString(info->where()))));
  return queued;
}

std::set<std::string> StoryWorld::Waiting() const {
  std::set<std::string> names;
  for (const queue::QueuedPodInfo* info : scheduler_->queue().Queued())
    if (IsPending(info->where())) names.insert(FullName(info->pod->meta));
  return names;
}

void StoryWorld::OnAttempt(const cycle::Attempt& attempt) {
  Value entry = Value::Object();
  entry.Set("pod", Value::String(FullName(attempt.pod->meta)));
  if (!attempt.node.empty()) entry.Set("node", Value::String(attempt.node));
  if (!attempt.message.empty()) entry.Set("message", Value::String(attempt.message));
  if (!attempt.nominated.empty()) entry.Set("nominated", Value::String(attempt.nominated));
  attempts_.Append(std::move(entry));
}

Value StoryWorld::Attempts() {
  attempts_ = Value::Array();
  door_.TakeEvicted();
  for (int i = 0; i < kMaxAttempts; ++i) {
    const std::set<std::string> waiting = Waiting();
    if (waiting.empty()) break;
    const size_t told = attempts_.items().size();
    clock_.MoveTo(clock_.Now() + kAttemptTime);
    scheduler_->RunOnce();
    if (scheduler_->attempted() && attempts_.items().size() == told) {
      // Popped and let go without a word: the one that is missing now.
      const std::set<std::string> left = Waiting();
      for (const std::string& name : waiting)
        if (!left.contains(name))
          attempts_.Append(Value::Object({{"pod", Value::String(name)}, {"skipped", Value::Bool(true)}}));
    }
    Settle();
  }

  Value result = Value::Object();
  result.Set("attempts", attempts_);
  Value evicted = Value::Array(), unschedulable = Value::Object(), gated = Value::Object(), nominated = Value::Object();
  for (const std::string& name : door_.TakeEvicted()) evicted.Append(Value::String(name));
  for (const queue::QueuedPodInfo* info : scheduler_->queue().Queued()) {
    const std::string name = FullName(info->pod->meta);
    if (info->gated()) {
      gated.Set(name, Value::String(scheduler_->queue().hints().PluginName(info->gating_plugin)));
    } else if (info->where() == queue::Place::kUnschedulable) {
      Value plugins = Value::Array();
      for (const std::string& plugin : scheduler_->queue().RejectorNames(*info)) plugins.Append(Value::String(plugin));
      unschedulable.Set(name, std::move(plugins));
    }
    const ClusterObject* stored = cluster_.Find(Kind::kPod, info->pod->namespace_(), info->pod->name());
    if (stored && !std::get<Ptr<Pod>>(*stored)->nominated_node_name.empty())
      nominated.Set(name, Value::String(std::get<Ptr<Pod>>(*stored)->nominated_node_name));
  }
  result.Set("evicted", std::move(evicted));
  result.Set("unschedulable", std::move(unschedulable));
  result.Set("gated", std::move(gated));
  result.Set("nominated", std::move(nominated));
  return result;
}

}  // namespace berth::stories
