// SPDX-License-Identifier: Apache-2.0
// Random lives of a few pods, in virtual time, against a plain model of the rules: a table of pods that is searched
// from end to end for every question, with a copy of every event for every pod in flight.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "queue/event_derivation.h"
#include "queue/queue_test_util.h"

namespace berth::queue {
namespace {

using PodPtr = std::shared_ptr<const Pod>;

// Evenly from [min, max): inRange alone favours small numbers in early cases, and with them the first operations.
int Pick(int min, int max) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(min, max)); }

// What Fit's hint says; the same function for queue and model.
QueueingHint FitHint(const Pod& pod, const EventObjects& objects) {
  if (objects.node_after != nullptr && objects.node_after->unschedulable) return QueueingHint::kSkip;
  if (objects.pod_before != nullptr && objects.pod_before->priority < pod.priority) return QueueingHint::kSkip;
  return QueueingHint::kQueue;
}

// The registrations of QueueFixture, with the automatic ones for taints.
struct Row {
  const char *profile, *plugin;
  ClusterEvent event;
  bool hint;
};
const Row kRows[] = {
    {"default-scheduler", "Fit", kNodeAdd, true},
    {"default-scheduler", "Fit", {EventResource::kPod, action::kDelete}, true},
    {"default-scheduler", "Fit", kNodeTaint, false},
    {"default-scheduler", "Spread", kNodeLabel, false},
    {"default-scheduler", "Tolerations", {EventResource::kPod, action::kUpdatePodToleration}, false},
    {"default-scheduler", "Tolerations", kNodeTaint, false},
    {"default-scheduler", "Gates", {EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated}, false},
    {"default-scheduler", "Wait", kNodeAdd, false},
    {"default-scheduler", "Wait", kNodeTaint, false},
    {"other", "Fit", kNodeDelete, false},
};

struct ModelPod {
  PodPtr pod, newer;
  Time timestamp;
  int sequence = 0, attempts = 0, rejections = 0, errors = 0;
  std::set<std::string> unschedulable, pending;
  std::string gate;
  Place place = Place::kNone;
  Time flushed = kLongAgo;
  bool recording = false, deleted = false;
  std::vector<RecordedEvent> events;

  bool waiting() const { return place == Place::kUnschedulable || place == Place::kGated; }
  std::set<std::string> rejectors() const {
    std::set<std::string> all = unschedulable;
    all.insert(pending.begin(), pending.end());
    return all;
  }
};

class Model {
 public:
  explicit Model(const ManualClock& clock) : clock_(clock), next_flush_(clock.Now() + Duration::Seconds(30)) {}

  std::map<std::string, ModelPod> pods;    // queued, by name
  std::map<std::string, ModelPod> flying;  // in flight, by uid
  bool closed = false;

  void Add(const PodPtr& pod) {
    if (auto it = flying.find(pod->uid()); it != flying.end()) {
      it->second.newer = pod;
      it->second.deleted = false;
      return;
    }
    if (auto it = pods.find(pod->name()); it != pods.end()) {
      if (!it->second.waiting() && it->second.pod->uid() == pod->uid() && !GateOf(*pod).empty()) return;
    }
    ModelPod fresh;
    fresh.pod = pod;
    Stamp(fresh);
    pods[pod->name()] = fresh;
    ToActive(pods[pod->name()]);
  }
  void Update(const PodPtr& before, const PodPtr& after) {
    const auto events = PodSchedulingPropertiesChange(*after, *before);
    if (auto it = flying.find(after->uid()); it != flying.end()) {
      if (it->second.recording)
        for (const auto& event : events) Record(event, {before, after, nullptr, nullptr});
      it->second.newer = after;
      it->second.deleted = false;
      return;
    }
    auto it = pods.find(after->name());
    if (it == pods.end() || it->second.pod->uid() != after->uid()) return Add(after);
    it->second.pod = after;
    if (!it->second.waiting()) return;
    for (const auto& event : events) {
      Requeue(it->second, Judge(it->second, event, {before.get(), after.get(), nullptr, nullptr}));
      if (!it->second.waiting()) break;
    }
  }
  void Delete(const Pod& pod) {
    if (auto it = flying.find(pod.uid()); it != flying.end()) {
      it->second.deleted = true;
      it->second.newer = nullptr;
    } else if (auto at = pods.find(pod.name()); at != pods.end() && at->second.pod->uid() == pod.uid()) {
      pods.erase(at);
    }
  }
  void MoveAll(const ClusterEvent& event, const SharedObjects& objects, int32_t max_priority) {
    if (!IsWildCard(event) && !AnybodyAskedFor(event)) return;
    for (auto& [name, pod] : pods)
      if (pod.waiting() && pod.pod->priority <= max_priority) MoveOne(pod, event, objects);
    Record(event, objects);
  }
  void Activate(const PodPtr& pod) {
    auto it = pods.find(pod->name());
    if (it != pods.end() && it->second.place != Place::kActive) {
      if (it->second.waiting()) return ToActive(it->second);
      it->second.place = Place::kActive;
      return;
    }
    if (auto at = flying.find(pod->uid()); at != flying.end() && at->second.recording)
      Record(kWildCardEvent, {nullptr, pod, nullptr, nullptr});
  }
  // The uid of the popped pod, or "".
  std::string Pop() {
    const ModelPod* best = nullptr;
    for (Place place : {Place::kActive, Place::kBackoff}) {
      for (const auto& [name, pod] : pods)
        if (pod.place == place && (best == nullptr || Before(pod, *best))) best = &pod;
      if (best != nullptr) break;
    }
    if (best == nullptr) return "";
    ModelPod pod = *best;
    pods.erase(pod.pod->name());
    pod.place = Place::kInFlight;
    ++pod.attempts;
    pod.recording = true;
    pod.deleted = false;
    const std::string uid = pod.pod->uid();
    flying[uid] = pod;
    return uid;
  }
  void StopRecording(const std::string& uid) {
    flying[uid].recording = false;
    flying[uid].events.clear();
  }
  void Return(const std::string& uid, const Rejectors& rejectors) {
    ModelPod pod = flying[uid];
    flying.erase(uid);
    if (pod.deleted || pods.count(pod.pod->name())) return;
    if (pod.newer) pod.pod = pod.newer;
    pod.newer = nullptr;
    pod.unschedulable = {rejectors.unschedulable.begin(), rejectors.unschedulable.end()};
    pod.pending = {rejectors.pending.begin(), rejectors.pending.end()};
    const bool error = pod.rejectors().empty();
    pod.errors = error ? pod.errors + 1 : 0;
    if (!error) ++pod.rejections;
    Stamp(pod);
    pod.flushed = kLongAgo;
    int best = error || !pod.recording ? 1 : 0;
    for (const RecordedEvent& e : pod.events)
      if (best != 2 && pod.recording) best = std::max(best, Judge(pod, e.event, e.objects.view()));
    pod.events.clear();
    pod.recording = false;
    pod.place = Place::kUnschedulable;
    ModelPod& back = pods[pod.pod->name()] = pod;
    Requeue(back, best);
  }
  void Tick() {
    const Time now = clock_.Now();
    for (auto& [name, pod] : pods)
      if ((pod.place == Place::kBackoff || pod.place == Place::kErrorBackoff) && !BackingOff(pod))
        pod.place = Place::kActive;
    if (now < next_flush_) return;
    while (next_flush_ <= now) next_flush_ = next_flush_ + Duration::Seconds(30);
    bool any = false;
    for (auto& [name, pod] : pods) {
      if (!pod.waiting() || now - std::max(pod.timestamp, pod.flushed) <= Duration::Seconds(300)) continue;
      any = true;
      pod.flushed = now;
      MoveOne(pod, kWildCardEvent, {});
    }
    if (any) Record(kWildCardEvent, {});
  }
  Time NextWake() const {
    Time wake = kNever;
    for (const auto& [name, pod] : pods) {
      if (pod.waiting()) wake = std::min(wake, next_flush_);
      if (pod.place == Place::kBackoff || pod.place == Place::kErrorBackoff)
        wake = std::min(wake, Expiry(pod) + Duration::Seconds(1));
    }
    return wake;
  }

 private:
  std::string GateOf(const Pod& pod) const {
    return !pod.scheduling_gates.empty() ? "Gates" : closed ? "Tolerations" : "";
  }
  void Stamp(ModelPod& pod) {
    pod.timestamp = clock_.Now();
    pod.sequence = ++sequence_;
  }
  // By the table: 1, 2, 4, 8, 10, 10, ... seconds.
  static Time Expiry(const ModelPod& pod) {
    const int count = pod.errors > 0 ? pod.errors : pod.rejections;
    if (count == 0) return kLongAgo;
    const int64_t seconds[] = {1, 2, 4, 8, 10};
    const Time end = pod.timestamp + Duration::Seconds(seconds[std::min(count, 5) - 1]);
    return {end.ns / 1'000'000'000 * 1'000'000'000};
  }
  bool BackingOff(const ModelPod& pod) const {
    return Expiry(pod).ns >= clock_.Now().ns / 1'000'000'000 * 1'000'000'000;
  }
  static bool Before(const ModelPod& a, const ModelPod& b) {
    const auto key = [](const ModelPod& p) {
      const Time expiry = p.place == Place::kBackoff ? Expiry(p) : Time{};
      return std::make_tuple(expiry, -p.pod->priority, p.timestamp, p.sequence);
    };
    return key(a) < key(b);
  }
  static bool AnybodyAskedFor(const ClusterEvent& event, const std::string& plugin = "") {
    return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
      return Matches(row.event, event) && (plugin.empty() || plugin == row.plugin);
    });
  }
  // 0 skip, 1 after backoff, 2 immediately.
  int Judge(const ModelPod& pod, const ClusterEvent& event, const EventObjects& objects) const {
    if (pod.rejectors().empty()) return 1;
    if (IsWildCard(event)) return objects.pod_after == nullptr || objects.pod_after->uid() == pod.pod->uid();
    int best = 0;
    for (const Row& row : kRows) {
      if (row.profile != pod.pod->scheduler_name || !Matches(row.event, event)) continue;
      if (row.hint && FitHint(*pod.pod, objects) == QueueingHint::kSkip) continue;
      if (pod.pending.count(row.plugin)) best = 2;
      if (pod.unschedulable.count(row.plugin)) best = std::max(best, 1);
    }
    return best;
  }
  bool PassesGate(ModelPod& pod) {
    pod.gate = GateOf(*pod.pod);
    if (pod.gate.empty()) return true;
    pod.unschedulable.insert(pod.gate);
    pod.place = Place::kGated;
    return false;
  }
  void ToActive(ModelPod& pod) {
    if (PassesGate(pod)) pod.place = Place::kActive;
  }
  void Requeue(ModelPod& pod, int strategy) {
    if (strategy == 0) return;
    if (strategy == 2 || !BackingOff(pod)) return ToActive(pod);
    if (PassesGate(pod)) pod.place = pod.rejectors().empty() ? Place::kErrorBackoff : Place::kBackoff;
  }
  void MoveOne(ModelPod& pod, const ClusterEvent& event, const SharedObjects& objects) {
    if (!pod.gate.empty() && !IsWildCard(event) && !AnybodyAskedFor(event, pod.gate)) return;
    Requeue(pod, Judge(pod, event, objects.view()));
  }
  void Record(const ClusterEvent& event, const SharedObjects& objects) {
    for (auto& [uid, pod] : flying)
      if (pod.recording) pod.events.push_back({event, objects});
  }

  const ManualClock& clock_;
  int sequence_ = 0;
  Time next_flush_;
};

PodPtr RandomPod(int name, int generation) {
  MakePod pod("p" + std::to_string(name));
  pod.Uid("u" + std::to_string(name) + "-" + std::to_string(generation)).Priority(Pick(0, 3));
  if (Pick(0, 5) == 0) pod.Gate("g");
  if (Pick(0, 2) == 0) pod.Tolerate({});
  if (Pick(0, 2) == 0) pod.Label("a", "b");
  if (name % 3 == 2) pod.With([](Pod& p) { p.scheduler_name = "other"; });
  return Share(pod);
}

Rejectors RandomRejectors() {
  Rejectors rejectors;
  for (const char* plugin : {"Fit", "Spread", "Tolerations", "Unknown"})
    if (Pick(0, 3) == 0) rejectors.unschedulable.push_back(plugin);
  if (Pick(0, 4) == 0) rejectors.pending.push_back("Wait");
  if (Pick(0, 8) == 0) rejectors.pending.push_back("Fit");
  return rejectors;
}

void Compare(const QueueFixture& real, const Model& model) {
  RC_ASSERT(real.queue->CheckInvariants() == "");
  RC_ASSERT(real.queue->counts().in_flight == model.flying.size());
  RC_ASSERT(real.queue->Queued().size() == model.pods.size());
  for (const auto& [name, pod] : model.pods) {
    const QueuedPodInfo* info = real.queue->Find("default/" + name);
    RC_ASSERT(info != nullptr);
    RC_ASSERT(std::string(ToString(info->where())) == std::string(ToString(pod.place)));
    RC_ASSERT(info->pod == pod.pod);
    RC_ASSERT(info->attempts == pod.attempts);
    RC_ASSERT(info->unschedulable_count == pod.rejections);
    RC_ASSERT(info->consecutive_errors_count == pod.errors);
    RC_ASSERT(info->timestamp.ns == pod.timestamp.ns);
    const auto names = real.queue->RejectorNames(*info);
    RC_ASSERT(std::set<std::string>(names.begin(), names.end()) == pod.rejectors());
  }
  RC_ASSERT(real.queue->NextWake().ns == model.NextWake().ns);
}

RC_GTEST_PROP(SchedulingQueuePropertyTest, DoesWhatThePlainModelDoes, ()) {
  constexpr int kNames = 7;
  QueueFixture real;
  real.fit_hint = FitHint;
  Model model(real.clock);
  std::map<std::string, PodTicket> tickets;  // by uid
  std::map<int, PodPtr> latest;              // what the API server has
  std::map<int, int> generations;
  const std::vector<ClusterEvent> kEvents{kNodeAdd,
                                          kNodeLabel,
                                          kNodeTaint,
                                          kNodeDelete,
                                          kPodDelete,
                                          kWildCardEvent,
                                          {EventResource::kNode, action::kUpdateNodeCondition}};
  const auto some_ticket = [&] { return std::next(tickets.begin(), Pick(0, static_cast<int>(tickets.size()))); };

  for (int step = 0, steps = Pick(1, 150); step < steps; ++step) {
    const int name = Pick(0, kNames);
    PodPtr& known = latest[name];
    switch (Pick(0, 15)) {
      case 0:
      case 1:  // created, or seen again
        if (!known) known = RandomPod(name, ++generations[name]);
        real.queue->Add(known);
        model.Add(known);
        break;
      case 2: {  // changed
        if (!known) break;
        const PodPtr after = RandomPod(name, generations[name]);
        real.queue->Update(known, after);
        model.Update(known, after);
        known = after;
        break;
      }
      case 3:  // deleted
        if (!known) break;
        real.queue->Delete(*known);
        model.Delete(*known);
        known = nullptr;
        break;
      case 4:
      case 5:
      case 6: {
        auto ticket = real.queue->Pop();
        const std::string uid = model.Pop();
        RC_ASSERT((ticket ? ticket->pod()->uid() : "") == uid);
        if (ticket) tickets.emplace(uid, std::move(*ticket));
        break;
      }
      case 7:
      case 8: {  // rejected or failed
        if (tickets.empty()) break;
        const auto it = some_ticket();
        const Rejectors rejectors = RandomRejectors();
        it->second.Return(rejectors);
        model.Return(it->first, rejectors);
        tickets.erase(it);
        break;
      }
      case 9: {  // the ticket was dropped
        if (tickets.empty()) break;
        const auto it = some_ticket();
        const std::string uid = it->first;
        tickets.erase(it);
        model.Return(uid, {});
        break;
      }
      case 10: {  // placed, which ends the pod's life here; or nearly
        if (tickets.empty()) break;
        const auto it = some_ticket();
        if (Pick(0, 2) == 0) {
          it->second.StopRecording();
          model.StopRecording(it->first);
          break;
        }
        it->second.Done();
        model.flying.erase(it->first);
        for (auto& [n, pod] : latest)
          if (pod && pod->uid() == it->first) pod = nullptr;
        tickets.erase(it);
        break;
      }
      case 11:
      case 12: {
        const ClusterEvent event = *rc::gen::elementOf(kEvents);
        SharedObjects objects;
        if (event == kNodeAdd) {
          MakeNode node("n");
          if (Pick(0, 2) == 0) node.Unschedulable();
          objects.node_after = std::make_shared<const Node>(node.Build());
        }
        if (event == kPodDelete) objects.pod_before = Share(MakePod("gone").Priority(Pick(0, 3)));
        const int32_t limit = Pick(0, 4);
        real.queue->MoveAll(event, objects, [&](const Pod& pod) { return pod.priority <= limit; });
        model.MoveAll(event, objects, limit);
        break;
      }
      case 13:
        if (Pick(0, 2) == 0) {
          real.closed = model.closed = !model.closed;
        } else if (known) {
          real.queue->Activate(known);
          model.Activate(known);
        }
        break;
      default: {
        const int64_t pause = *rc::gen::elementOf(std::vector<int64_t>{100, 900, 1000, 2500, 30'000, 300'000});
        real.clock.Advance(Duration::Millis(pause));
        real.queue->Tick();
        model.Tick();
        break;
      }
    }
    Compare(real, model);
  }

  // No pod is forgotten: with the gates open and all attempts failing, whatever exists is popped within six minutes.
  tickets.clear();
  real.closed = false;
  std::set<std::string> alive, popped;
  for (const QueuedPodInfo* info : real.queue->Queued())
    if (info->pod->scheduling_gates.empty()) alive.insert(info->pod->name());
  for (const auto& [n, pod] : latest)
    if (pod) RC_ASSERT(real.queue->PlaceOf(*pod) != Place::kNone);
  for (int i = 0; i < 14; ++i) {
    real.clock.Advance(Duration::Seconds(30));
    real.queue->Tick();
    while (auto ticket = real.queue->Pop()) {
      popped.insert(ticket->pod()->name());
      ticket->Done();
    }
  }
  RC_ASSERT(std::includes(popped.begin(), popped.end(), alive.begin(), alive.end()));
  RC_ASSERT(real.queue->CheckInvariants() == "");
}

}  // namespace
}  // namespace berth::queue
