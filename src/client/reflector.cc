// SPDX-License-Identifier: Apache-2.0
// List, watch, resume, list again: how a copy of one kind of objects is kept.
#include "client/reflector.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "berth/host/annotations.h"

namespace berth::client {
namespace {

// As client-go's reflector has it: 0.8 s doubling to 30 s, each waiting between once and twice that long.
constexpr Duration kFirstBackoff = Duration::Millis(800);
constexpr Duration kLastBackoff = Duration::Seconds(30);
// A watch that lived this long was not a failure.
constexpr Duration kWatchLived = Duration::Seconds(5);
constexpr size_t kGraves = 4096;
// How long a streamed list may bring nothing new. A server that has heard of them ends one within seconds.
constexpr Duration kStreamPatience = Duration::Seconds(30);
// And how long it may take, whatever it brings: longer than a list may, and less than a watch lives.
constexpr Duration kStreamLimit = Duration::Seconds(240);
// A server that shuts down ends its watches well, whatever they have told; one that does so again and again does not
// know what it was asked for.
constexpr uint32_t kEarlyEnds = 3;
// A server that is just starting, or something in front of it, may answer 404 for a moment.
constexpr uint32_t kMissingAfter = 3;

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty()) key.append(ns).push_back('/');
  return key.append(name);
}
std::string KeyOf(const ObjectMeta& meta) { return KeyOf(meta.namespace_, meta.name); }

uint64_t VersionOf(const ClusterObject& object) { return VersionNumber(MetaOf(object).resource_version); }

bool SameVersion(const ClusterObject& a, const ClusterObject& b) {
  return MetaOf(a).resource_version == MetaOf(b).resource_version && MetaOf(a).uid == MetaOf(b).uid;
}

// Whether a server that answers so will answer the same next time, so that it need not be asked.
bool RefusesToStream(const ApiStatus& status) {
  if (status.code == 501) return true;
  return status.code >= 300 && status.code < 500 && status.code != 401 && status.code != 403 && status.code != 404 &&
         status.code != 407 && status.code != 408;
}

}  // namespace

Reflector::Reflector(Kind kind, ClusterApi& api, ObjectHandler& handler, util::TimerQueue& timers, const Clock& clock,
                     std::function<uint64_t()> random)
    : kind_(kind),
      api_(api),
      handler_(handler),
      timers_(timers),
      clock_(clock),
      random_(std::move(random)),
      backoff_(kFirstBackoff) {}

Reflector::~Reflector() {
  owner_.Leave();
  if (timer_set_) timers_.Cancel(timer_);
}

void Reflector::Start() { Relist(); }

const ClusterObject* Reflector::Find(std::string_view ns, std::string_view name) const {
  const auto it = objects_.find(KeyOf(ns, name));
  return it == objects_.end() ? nullptr : &it->second;
}

void Reflector::Relist() {
  ++lists_;
  watch_.reset();
  if (!may_stream_ || !StartStream()) List();
}

bool Reflector::StartStream() {
  watch_opened_ = false;
  streamed_ = std::make_unique<Streamed>();
  watch_ = api_.StartStreamedList(kind_, Callbacks());
  may_stream_ = watch_ != nullptr;
  if (!may_stream_) streamed_.reset();
  return may_stream_;
}

// A server that has never heard of streamed lists tells all objects as well, and new ones as they come, but not when
// that is all.
void Reflector::AwaitProgress() {
  timer_set_ = true;
  const Time end = std::min(streamed_->progress + kStreamPatience, streamed_->opened + kStreamLimit);
  timer_ = timers_.At(end, [this] {
    timer_set_ = false;
    const Time now = clock_.Now();
    if (now - streamed_->progress < kStreamPatience && now - streamed_->opened < kStreamLimit) return AwaitProgress();
    DropStream();
    StopStreaming();
    List();
  });
}

void Reflector::DropStream() {
  watch_.reset();
  streamed_.reset();
  if (timer_set_) timers_.Cancel(timer_);
  timer_set_ = false;
}

void Reflector::StopStreaming() {
  may_stream_ = false;
  if (complain_) {
    complain_("the server does not tell when it has sent all objects of kind " + std::string(ToString(kind_)) +
              "; they are listed without streaming from now on");
  }
}

// What is known by then is not touched: objects that are gone would be found out at the end only.
void Reflector::OnStreamed(const WatchEvent& event) {
  const bool bookmark = event.type == WatchEvent::Type::kBookmark;
  if (!bookmark && (!event.object || !MakesSense(*event.object)))
    return OnStreamClosed({0, "an event makes no sense", ErrorKind::kOther, true});
  if (heard_) heard_ = clock_.Now();
  if (event.initial_end) return EndStream(event.resource_version);
  if (bookmark) return;
  uint64_t version = VersionOf(*event.object);
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (deleted) version = std::max(version, VersionNumber(event.resource_version));
  const auto [at, added] = streamed_->by_key.try_emplace(KeyOf(MetaOf(*event.object)), streamed_->entries.size());
  if (added) {
    streamed_->entries.emplace_back();
    streamed_->progress = clock_.Now();
  }
  Streamed::Entry& entry = streamed_->entries[at->second];
  // What comes late, or twice, is ignored. Versions that are not numbers cannot be compared: the event is believed.
  if (version != 0 && version < entry.version) return;
  if (version == entry.version && version != 0 && !deleted) return;
  entry.version = version;
  entry.object = deleted ? std::nullopt : event.object;
}

// All has come: it replaces what was known, and the stream goes on as the watch.
void Reflector::EndStream(const std::string& version) {
  ListAnswer answer;
  answer.resource_version = version;
  answer.objects.reserve(streamed_->entries.size());
  for (Streamed::Entry& entry : streamed_->entries) {
    if (entry.object) answer.objects.push_back(*std::move(entry.object));
  }
  if (!MakesSense(answer)) return OnStreamClosed({0, "the answer makes no sense", ErrorKind::kOther, true});
  streamed_.reset();
  if (timer_set_) timers_.Cancel(timer_);
  timer_set_ = false;
  broken_streams_ = 0;
  early_ends_ = 0;
  watch_started_ = clock_.Now();
  watch_useful_ = false;
  Take(answer);
}

// Before all has come.
void Reflector::OnStreamClosed(const ApiStatus& status) {
  DropStream();
  if (status.gone()) {
    // Once from the last version, once from any.
    if (gone_in_row_++ <= 1) return Relist();
    Failed("list", status);
    return Retry(&Reflector::Relist);
  }
  // Something in between may keep a stream to itself until it ends, but not a list: waiting in vain is breaking off.
  const bool silent = status.code == 0 && !watch_opened_ && !status.unreadable && status.kind != ErrorKind::kTimedOut;
  const bool broken = status.code == 0 && !silent && ++broken_streams_ == 1;
  if (silent || broken || status.code == 429) {
    Failed("list", status);
    return Retry(&Reflector::Relist);
  }
  if (status.ok() && ++early_ends_ < kEarlyEnds) {
    Failed("list", {0, "the stream has ended before all objects had come"});
    return Retry(&Reflector::Relist);
  }
  broken_streams_ = 0;
  if (status.ok()) StopStreaming();
  if (!watch_opened_ && RefusesToStream(status)) may_stream_ = false;
  List();
}

void Reflector::List() {
  api_.List(kind_, owner_.link().Guard([this](const ListAnswer& answer) { OnListed(answer); }));
}

bool Reflector::MakesSense(const ListAnswer& answer) const {
  return VersionNumber(answer.resource_version) != 0 &&
         std::all_of(answer.objects.begin(), answer.objects.end(),
                     [this](const ClusterObject& object) { return MakesSense(object); });
}

void Reflector::OnListed(const ListAnswer& answer) {
  if (IsMissingGroup(answer.status)) {
    const bool known = missing_;
    missing_ = ++not_found_ >= kMissingAfter;
    if (!known) Failed("list", answer.status);
    if (missing_) synced_ = true;
    return Retry(&Reflector::Relist);
  }
  not_found_ = 0;
  if (!answer.status.ok() || !MakesSense(answer)) {
    Failed("list", answer.status.ok() ? ApiStatus{0, "the answer makes no sense"} : answer.status);
    return Retry(&Reflector::Relist);
  }
  Take(answer);
  StartWatch();
}

// Everything there is; told as what has changed since.
void Reflector::Take(const ListAnswer& answer) {
  heard_ = clock_.Now();
  not_found_ = 0;
  missing_ = false;
  problem_.clear();

  if (!objects_.empty()) {
    std::unordered_set<std::string, SecretStringHash, std::equal_to<>> listed;
    listed.reserve(answer.objects.size());
    for (const ClusterObject& object : answer.objects) listed.insert(KeyOf(MetaOf(object)));
    std::vector<std::string> missing;
    for (const auto& [key, object] : objects_) {
      if (!listed.contains(key)) missing.push_back(key);
    }
    std::sort(missing.begin(), missing.end());  // the order of telling must not hang on a hash table
    for (const std::string& key : missing) Remove(ClusterObject(objects_.find(key)->second), 0);
  }
  for (const ClusterObject& listed : answer.objects) {
    const ClusterObject object = Shown(listed);
    const auto [it, added] = objects_.try_emplace(KeyOf(MetaOf(object)), object);
    if (added) {
      handler_.OnAdd(object);
    } else if (!SameVersion(it->second, object)) {
      Replace(it->second, object);
    }
  }
  graves_.clear();
  grave_order_.clear();
  listed_version_ = VersionNumber(answer.resource_version);
  resource_version_ = answer.resource_version;
  unreadable_ = 0;
  synced_ = true;
}

void Reflector::StartWatch() {
  ++watches_;
  watch_started_ = clock_.Now();
  watch_opened_ = false;
  watch_useful_ = false;
  watch_ = api_.StartWatch(kind_, resource_version_, Callbacks());
}

WatchCallbacks Reflector::Callbacks() {
  const util::OwnerLink<Reflector> link = owner_.link();
  return {
      .event = link.Guard([this](const WatchEvent& event) { streamed_ ? OnStreamed(event) : OnEvent(event); }),
      .closed = link.Guard([this](const ApiStatus& status) { streamed_ ? OnStreamClosed(status) : OnClosed(status); }),
      .opened = link.Guard([this] {
        watch_opened_ = true;
        if (!streamed_) return problem_.clear();
        streamed_->opened = streamed_->progress = clock_.Now();
        AwaitProgress();
      })};
}

void Reflector::OnEvent(const WatchEvent& event) {
  const bool bookmark = event.type == WatchEvent::Type::kBookmark;
  if (!bookmark && (!event.object || !MakesSense(*event.object))) {
    Failed("watch", {0, "an event makes no sense"});
    return Retry(&Reflector::Relist);
  }
  heard_ = clock_.Now();

  uint64_t version = VersionNumber(event.resource_version);
  const std::string* text = &event.resource_version;
  if (version == 0 && !bookmark) {
    text = &MetaOf(*event.object).resource_version;
    version = VersionNumber(*text);
  }
  if (version > VersionNumber(resource_version_)) {
    resource_version_ = *text;
    watch_useful_ = true;
    unreadable_ = 0;
  }
  if (bookmark || (version != 0 && version <= listed_version_)) return;
  if (event.type == WatchEvent::Type::kDeleted) {
    Remove(Shown(*event.object), version);
  } else {
    Put(Shown(*event.object));
  }
}

void Reflector::OnClosed(const ApiStatus& status) {
  watch_.reset();
  // Waiting in vain to be let in is not living: those who wait so together must not come back together.
  const bool lived = watch_opened_ && (clock_.Now() - watch_started_) >= kWatchLived;
  const bool useful = watch_useful_ || lived;
  if (useful) {
    backoff_ = kFirstBackoff;
    gone_in_row_ = 0;
  }
  if (status.gone()) {
    // The first time it is just news; a server that says it again and again needs rest.
    if (gone_in_row_++ == 0) return Relist();
    return Retry(&Reflector::Relist);
  }
  if (status.unreadable && ++unreadable_ > 1) {
    if (complain_) {
      complain_("watch of " + std::string(ToString(kind_)) + ": what follows resource version " + resource_version_ +
                " cannot be read: " + TextOf(status) + "; all objects are listed anew");
    }
    return Retry(&Reflector::Relist);
  }
  if (!status.ok()) Failed("watch", status);
  const bool resumable = status.ok() || status.uncertain() || status.code == 429;
  if (!resumable) return Retry(&Reflector::Relist);
  if (useful) return StartWatch();
  Retry(&Reflector::StartWatch);
}

void Reflector::Failed(const char* what, const ApiStatus& status) {
  problem_ = std::string("cannot ") + what + " objects of kind " + std::string(ToString(kind_)) +
             (missing_ ? ", so there are none; will ask again: " : ", will try again: ") +
             (status.code == 0 ? "" : std::to_string(status.code) + " ") +
             (status.message.empty() ? "no answer" : status.message);
  if (complain_) complain_(problem_);
}

bool Reflector::IsMissingGroup(const ApiStatus& status) const {
  return status.not_found() && !InfoOf(kind_).group.empty() && (missing_ || !synced_);
}

void Reflector::Retry(void (Reflector::*what)()) {
  watch_.reset();
  const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
  const Duration delay{backoff_.ns + static_cast<int64_t>(static_cast<double>(backoff_.ns) * share)};
  backoff_ = std::min(Duration{backoff_.ns * 2}, kLastBackoff);
  timer_set_ = true;
  timer_ = timers_.At(clock_.Now() + delay, [this, what] {
    timer_set_ = false;
    (this->*what)();
  });
}

bool Reflector::MakesSense(const ClusterObject& object) const {
  return KindOf(object) == kind_ && std::visit([](const auto& ptr) { return ptr != nullptr; }, object) &&
         !MetaOf(object).name.empty();
}

ClusterObject Reflector::Shown(const ClusterObject& object) const {
  if (const auto* pod = std::get_if<Ptr<Pod>>(&object)) return berth::Shown(*pod, annotations_);
  if (const auto* node = std::get_if<Ptr<Node>>(&object)) return berth::Shown(*node, annotations_);
  return object;
}

// An event added or changed the object.
void Reflector::Put(const ClusterObject& object) {
  std::string key = KeyOf(MetaOf(object));
  const uint64_t version = VersionOf(object);
  const auto known = objects_.find(key);
  if (known != objects_.end()) {
    // Versions that are no numbers cannot be compared: the event is believed.
    const bool old = version != 0 ? version <= VersionOf(known->second) : SameVersion(known->second, object);
    if (!old) Replace(known->second, object);
    return;
  }
  const auto grave = graves_.find(key);
  if (grave != graves_.end() && version != 0 && version <= grave->second) return;
  objects_.emplace(std::move(key), object);
  handler_.OnAdd(object);
}

void Reflector::Replace(ClusterObject& known, const ClusterObject& object) {
  const ClusterObject before = std::exchange(known, object);
  if (MetaOf(before).uid == MetaOf(object).uid) return handler_.OnUpdate(before, object);
  handler_.OnDelete(before);
  handler_.OnAdd(object);
}

// The object is gone as of `version`; 0: unknown when, but it is gone.
void Reflector::Remove(const ClusterObject& last, uint64_t version) {
  const std::string key = KeyOf(MetaOf(last));
  if (version != 0) Bury(key, version);
  const auto known = objects_.find(key);
  if (known == objects_.end()) return;
  const uint64_t known_version = VersionOf(known->second);
  const bool same_uid = MetaOf(known->second).uid == MetaOf(last).uid;
  if (version != 0 ? version < known_version : !same_uid) return;
  const ClusterObject before = std::move(known->second);
  objects_.erase(known);
  handler_.OnDelete(same_uid && VersionOf(last) > known_version ? last : before);
}

void Reflector::Bury(const std::string& key, uint64_t version) {
  uint64_t& grave = graves_[key];
  if (version <= grave) return;
  grave = version;
  grave_order_.emplace_back(key, version);
  if (grave_order_.size() <= kGraves) return;
  const auto& [oldest, oldest_version] = grave_order_.front();
  const auto it = graves_.find(oldest);
  if (it != graves_.end() && it->second == oldest_version) graves_.erase(it);
  grave_order_.pop_front();
}

}  // namespace berth::client
