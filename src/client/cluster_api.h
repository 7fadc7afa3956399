// SPDX-License-Identifier: Apache-2.0
// ClusterApi: the one door to a cluster. A live API server stands behind it, or a simulated one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/host/cluster_object.h"
#include "util/deadline.h"

namespace berth::client {

// How a request ended: an HTTP status, or 0 when no answer came (connection lost, time over).
struct ApiStatus {
  int code = 200;
  std::string message;
  ErrorKind kind = ErrorKind::kOther;  // of code 0: why there is no answer
  bool unreadable = false;             // of code 0: there is one, which makes no sense. Asking again may bring the same

  bool ok() const { return code >= 200 && code < 300; }
  bool not_found() const { return code == 404; }
  bool conflict() const { return code == 409; }
  bool gone() const { return code == 410; }  // a resource version that is too old
  // The request never left: its time was over before.
  bool unsent() const { return code == 0 && kind == ErrorKind::kUnsent; }
  // Nobody knows whether the write took effect: whoever must know has to read the object.
  bool uncertain() const { return !unsent() && (code == 0 || code >= 500); }
};
// What went wrong, for people; never empty.
inline std::string TextOf(const ApiStatus& status) {
  if (!status.message.empty()) return status.message;
  return status.code == 0 ? "no answer from the API server" : "the API server answered " + std::to_string(status.code);
}
using Answer = std::function<void(const ApiStatus&)>;
// With the version of the object that was written, if it was.
using VersionAnswer = std::function<void(const ApiStatus&, const std::string& resource_version)>;

struct ListAnswer {
  ApiStatus status;
  std::vector<ClusterObject> objects;
  std::string resource_version;  // of the list as a whole: where to watch from
};

struct WatchEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kBookmark;
  std::optional<ClusterObject> object;  // none for a bookmark; for a deletion its last state
  std::string resource_version;         // of the event: what to resume from
  bool initial_end = false;             // a bookmark: of a streamed list, all that was there has been told
};
struct WatchCallbacks {
  std::function<void(const WatchEvent&)> event;
  // The watch is over; called at most once, and nothing after it. ok(): cut without a reason; gone(): list again.
  std::function<void(const ApiStatus&)> closed;
  // The server has agreed to be watched; before everything else, and not at all if it never did. May be null.
  std::function<void()> opened = nullptr;
};

// Destroying it ends the watch: no callback runs after that. May be done within one of its own callbacks.
class Watch {
 public:
  virtual ~Watch() = default;
};

// A pod by name; with `uid` the request is for that incarnation only (409 for another one).
struct ObjectName {
  std::string namespace_, name, uid;
};
inline ObjectName NameOf(const Pod& pod) { return {pod.namespace_(), pod.name(), pod.uid()}; }

// What to change in a pod's status; the rest stays.
struct PodStatusPatch {
  ObjectName pod;
  std::optional<PodCondition> condition;           // replaces the one of its type
  std::optional<std::string> nominated_node_name;  // empty: removed
  // Of the condition: its status is another one than before. If not, the time of its last transition stays.
  bool transition = true;
  int64_t generation = 0;  // of the pod that the condition was found for; 0: unknown
};

// How often an event happened, and when last.
struct EventSeries {
  int32_t count = 2;
  Time last;
};

// A Kubernetes event (events.k8s.io/v1), texts as kube-scheduler writes them.
struct EventRecord {
  ObjectName regarding;
  // Of the program's own words: REQUIRES that they outlive it.
  std::string_view type;    // Normal or Warning
  std::string_view reason;  // e.g. FailedScheduling
  std::string_view action;  // e.g. Scheduling
  std::string note;         // at most 1024 bytes
  // namespace/name of another pod, may be empty. For who looks on at this end: upstream's events do not say it.
  std::string related;
  std::string reporting_controller;
  Time time;
  std::string resource_version = {};                 // of what it is about, as it was known
  const char* kind = "Pod";                          // of what it is about
  const char* api_version = "v1";                    // of that kind
  std::string name = {};                             // of the event itself; empty: EventName
  std::optional<EventSeries> series = std::nullopt;  // it has happened several times
  bool legacy = false;  // written as a core/v1 event, as kube-scheduler does with those about its lease
};

struct Lease {
  std::string namespace_, name, resource_version;  // empty version: to be created
  std::string holder;
  Duration duration;
  Time acquired, renewed;
  int32_t transitions = 0;
  // What else a server has written there (labels, annotations): it is given back. Members of a JSON object, or, of a
  // lease that was read so, protobuf's fields.
  std::string other_metadata = {}, other_spec = {};
  bool protobuf = false;
  std::string uid = {};
};

// Everything is asynchronous: calls return at once, and every callback runs on the scheduling thread, through its
// inbox, never within the call. Each `done` is called exactly once, unless the door is closed (destroyed) before.
//
// Pods that have succeeded or failed are not part of the cluster as seen through the door: they are not listed, and a
// watch reports the change as a deletion.
//
// Thread safety: scheduling thread.
class ClusterApi {
 public:
  virtual ~ClusterApi() = default;

  // From now on only annotations of these keys are wanted, of pods and nodes; a door that reads objects need not keep
  // others. REQUIRES: nothing has been asked yet.
  virtual void KeepAnnotations(const AnnotationKeys&) {}

  virtual void List(Kind kind, std::function<void(ListAnswer)> done) = 0;
  // Everything after `resource_version`.
  virtual std::unique_ptr<Watch> StartWatch(Kind kind, const std::string& resource_version,
                                            WatchCallbacks callbacks) = 0;
  // A list as a watch that begins with everything there is: kAdded for each object (and what changes meanwhile, as it
  // comes), then a bookmark with initial_end and the version of it all, then what any watch brings. Nothing of it is
  // older than what was seen before of that kind. closed before initial_end: gone() if the server does not have so new
  // or so old a version, and the next list, streamed or not, asks for whatever it has. Null: this door does not stream.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): whoever streams keeps them
  virtual std::unique_ptr<Watch> StartStreamedList(Kind, WatchCallbacks) { return nullptr; }
  // The pod as it is now; null unless ok(). Finished pods are found as well.
  virtual void GetPod(const std::string& ns, const std::string& name,
                      std::function<void(const ApiStatus&, Ptr<Pod>)> done) = 0;

  virtual void Bind(const ObjectName& pod, const std::string& node, Answer done) = 0;

  // The same for callers that do not wait forever: what cannot be sent before the deadline, because others go first or
  // the server puts it off, is not sent at all (unsent). A pod is not waited for any longer either; the answer to a
  // binding is. A door where nothing waits has nothing to do for it.
  virtual void GetPodBy(util::Deadline, const std::string& ns, const std::string& name,
                        std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
    GetPod(ns, name, std::move(done));
  }
  virtual void BindBy(util::Deadline, const ObjectName& pod, const std::string& node, Answer done) {
    Bind(pod, node, std::move(done));
  }

  virtual void PatchPodStatus(const PodStatusPatch& patch, Answer done) = 0;
  // Graceful: the pod is terminating first.
  virtual void DeletePod(const ObjectName& pod, Answer done) = 0;
  // 409 when the object has another version. A patch that changes nothing is answered with the version that is there.
  // Doors to a cluster without volumes refuse both, and may do so within the call.
  virtual void PatchVolume(const VolumeClaimPatch& patch, VersionAnswer done) {
    const VersionAnswer refuse = std::move(done);
    refuse({404, "persistentvolumes \"" + patch.volume + "\" not found"}, "");
  }
  virtual void PatchClaim(const ClaimNodePatch& patch, VersionAnswer done) {
    const VersionAnswer refuse = std::move(done);
    refuse({404, "persistentvolumeclaims \"" + patch.name + "\" not found"}, "");
  }
  // From now on nothing more is written to pods, volumes and claims: bindings, patches and deletions that have not been
  // sent yet are not sent (unsent), nor are later ones. What was sent is answered. A door where nothing waits has
  // nothing to do for it.
  virtual void EndPodWrites() {}

  // Answers may be null: nobody wants to know what became of the event.
  virtual void PostEvent(const EventRecord& event, Answer done) = 0;
  // Of an event that was posted: its series.
  virtual void PatchEvent(const EventRecord& event, Answer done) = 0;

  virtual void GetLease(const std::string& ns, const std::string& name,
                        std::function<void(const ApiStatus&, const Lease&)> done) = 0;
  // Creates or replaces; 409 when somebody else was first. The answer has the new version.
  virtual void PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) = 0;
};

}  // namespace berth::client
