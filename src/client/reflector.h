// SPDX-License-Identifier: Apache-2.0
// Reflector: keeps a copy of all objects of one kind by list and watch, and tells what changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/annotations.h"
#include "client/cluster_api.h"
#include "util/owner_link.h"
#include "util/secret_hash.h"
#include "util/timer_queue.h"

namespace berth::client {

// Told of every transition of an object exactly once, in order. An object that was replaced by another one of its name
// (another uid) is reported as deleted and added.
class ObjectHandler {
 public:
  virtual ~ObjectHandler() = default;
  virtual void OnAdd(const ClusterObject& after) = 0;
  virtual void OnUpdate(const ClusterObject& before, const ClusterObject& after) = 0;
  // `before` is the last state seen, or the newer one that came with the deletion.
  virtual void OnDelete(const ClusterObject& before) = 0;
};

// Lists, then watches from there. A watch that is cut is resumed where it ended; a version that is too old, or an
// answer that makes no sense, leads to a new list, whose differences are told as if they had been watched. Failures are
// retried after 0.8 s, doubling to 30 s, each with jitter.
//
// Where the door streams lists, a list is the beginning of a watch, which goes on when all that was there has come;
// only then is it told, as a whole. A server that refuses, or does not tell the end within 30 s of the last new object
// or within four minutes, is listed in the ordinary way: for good, unless it may only be that we are not let in (401,
// 403, 407), that the kind is not there yet (404), or that the server fails (5xx). One that begins and breaks off is
// asked once more before that, one that ends the stream well but too early twice.
// A server that does not answer at all, or asks for patience (429), would not list either: it is asked again later.
//
// Peers lie: an event that is older than what is known (duplicate, out of order) is passed over, and so is one that
// would bring back an object that was deleted later, or that was gone when the list was made. A name is one object at a
// time: a deletion of a newer version than the object known by that name tells that this one is gone too, whatever the
// uid it speaks of.
//
// A watch that brings what cannot be read is resumed once. When the same place is unreadable again, there is a new
// list, after a pause, and a complaint: resuming there forever would let the copy grow old.
//
// A group that the server does not have (404 several times, and not one of the core group's kinds) has no objects:
// there is a complaint, and it is asked for again. Once there were objects, no 404 makes them go.
//
// A watch that was never opened, or ends soon and brought nothing, counts as a failure, however long that took; one
// that lived, or brought something, makes up for all failures before it.
//
// REQUIRES: everything given to it outlives it.
// Thread safety: scheduling thread.
class Reflector {
 public:
  Reflector(Kind kind, ClusterApi& api, ObjectHandler& handler, util::TimerQueue& timers, const Clock& clock,
            std::function<uint64_t()> random);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Of pods and nodes, only annotations of these keys are shown to the handler, whatever the door brings. REQUIRES: not
  // started yet.
  void ShowAnnotations(const AnnotationKeys& keys) { annotations_ = keys; }
  // Told, in a sentence, of what people should know: every list and watch that fails, and what is odd about what came.
  // REQUIRES: not started yet.
  void Complain(std::function<void(const std::string&)> complain) { complain_ = std::move(complain); }
  // Call once.
  void Start();
  // The first list is in.
  bool synced() const { return synced_; }
  // Why the last list or watch failed; empty since one has succeeded.
  const std::string& problem() const { return problem_; }
  // A watch is open: no list, no retry is under way.
  bool watching() const { return watch_ != nullptr && !streamed_; }
  // A list has been asked for, and is not in yet. Not while one that failed is about to be asked for again: there is
  // nothing to hear then, and where the server lacks the kind, or does not let us in, that may never end.
  bool listing() const { return lists_ > 0 && (streamed_ != nullptr || (watch_ == nullptr && !timer_set_)); }
  Kind kind() const { return kind_; }
  // What we know; null when absent. Valid until the next change.
  const ClusterObject* Find(std::string_view ns, std::string_view name) const;
  size_t size() const { return objects_.size(); }
  // In the order of their keys, namespace/name.
  template <class Fn>
  void ForEach(Fn&& fn) const {
    std::vector<const Objects::value_type*> sorted;
    sorted.reserve(objects_.size());
    for (const auto& entry : objects_) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* entry : sorted) fn(entry->second);
  }
  // Some of the objects, for those who cannot look at all of them at once: about `most` from place `from` on, where 0
  // is the beginning. Returns where to go on; 0: that was the end. An object that is there from the first to the last
  // of such calls is seen once, as long as `layout` is the same; otherwise begin anew.
  template <class Fn>
  size_t ForSome(size_t from, size_t most, Fn&& fn) const {
    const size_t buckets = objects_.bucket_count();
    // Where most objects have gone there are many places for few.
    const size_t end = std::min(buckets, from + 8 * most);
    size_t bucket = from;
    for (size_t seen = 0; bucket < end && seen < most; ++bucket)
      for (auto it = objects_.begin(bucket); it != objects_.end(bucket); ++it, ++seen) fn(it->second);
    return bucket < buckets ? bucket : 0;
  }
  size_t layout() const { return objects_.bucket_count(); }
  // When the server last said anything: a list, an event, a bookmark. No value before the first list.
  std::optional<Time> heard() const { return heard_; }
  // How often there was a reason to list, and to watch. A streamed list is a list, and not a watch.
  uint64_t lists() const { return lists_; }
  uint64_t watches() const { return watches_; }

 private:
  using Objects = std::unordered_map<std::string, ClusterObject, SecretStringHash, std::equal_to<>>;
  // A streamed list as far as it has come.
  struct Streamed {
    struct Entry {
      std::optional<ClusterObject> object;  // none: deleted
      uint64_t version = 0;
    };
    std::vector<Entry> entries;  // in the order in which they came
    std::unordered_map<std::string, size_t, SecretStringHash, std::equal_to<>> by_key;
    Time opened;
    Time progress;  // when something new last came
  };
  void Relist();
  bool StartStream();
  void OnStreamed(const WatchEvent& event);
  void OnStreamClosed(const ApiStatus& status);
  void EndStream(const std::string& version);
  void AwaitProgress();
  void DropStream();
  // The server does not know them: the kind is listed from now on.
  void StopStreaming();
  void List();
  void OnListed(const ListAnswer& answer);
  bool MakesSense(const ListAnswer& answer) const;
  void Take(const ListAnswer& answer);
  void StartWatch();
  WatchCallbacks Callbacks();
  void OnEvent(const WatchEvent& event);
  void OnClosed(const ApiStatus& status);
  void Retry(void (Reflector::*what)());
  void Failed(const char* what, const ApiStatus& status);
  bool IsMissingGroup(const ApiStatus& status) const;
  bool MakesSense(const ClusterObject& object) const;
  ClusterObject Shown(const ClusterObject& object) const;
  void Put(const ClusterObject& object);
  void Replace(ClusterObject& known, const ClusterObject& object);
  void Remove(const ClusterObject& last, uint64_t version);
  void Bury(const std::string& key, uint64_t version);

  const Kind kind_;
  ClusterApi& api_;
  ObjectHandler& handler_;
  util::TimerQueue& timers_;
  const Clock& clock_;
  const std::function<uint64_t()> random_;
  AnnotationKeys annotations_;
  std::function<void(const std::string&)> complain_;

  Objects objects_;  // by namespace/name
  // Deletions since the last list that a late event must not undo, the newest few thousand; versions are not 0.
  std::unordered_map<std::string, uint64_t, SecretStringHash, std::equal_to<>> graves_;
  std::deque<std::pair<std::string, uint64_t>> grave_order_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Streamed> streamed_;  // not null: watch_ is a streamed list that is not complete
  bool may_stream_ = true;              // nobody has said that lists are not streamed
  uint32_t broken_streams_ = 0;         // in a row
  uint32_t early_ends_ = 0;             // streams that ended well before all had come, since one that did not
  std::string resource_version_;        // the newest one heard of
  uint64_t listed_version_ = 0;         // everything up to here is known from the list
  util::TimerQueue::Id timer_{};
  bool timer_set_ = false;
  bool synced_ = false;
  uint32_t not_found_ = 0;  // answers of 404 in a row, to the first list
  bool missing_ = false;    // the server does not have this group, so that there are no objects
  std::string problem_;
  std::optional<Time> heard_;
  bool watch_opened_ = false;  // the server has agreed to the present watch
  bool watch_useful_ = false;  // the present watch has brought something
  uint32_t gone_in_row_ = 0;   // answers of 410 without a useful watch between them
  uint32_t unreadable_ = 0;    // watches that could not be read right after resource_version_
  Duration backoff_;           // of the next retry
  Time watch_started_;
  uint64_t lists_ = 0, watches_ = 0;
  util::Owner<Reflector> owner_{this};  // of answers, which may come when this is gone
};

}  // namespace berth::client
