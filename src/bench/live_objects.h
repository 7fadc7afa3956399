// SPDX-License-Identifier: Apache-2.0
// LiveObjects: the objects that a run has made on an API server: made, changed, deleted, and none of anybody else.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/live_loop.h"
#include "bench/live_requests.h"
#include "berth/error.h"
#include "berth/host/kinds.h"
#include "berth/value.h"

namespace berth::bench {

// Which object.
struct ObjectKey {
  Kind kind = Kind::kPod;
  std::string ns, name;  // no namespace: cluster-scoped
  auto operator<=>(const ObjectKey&) const = default;
  std::string Text() const;  // Pod ns/name
  std::string Path() const;  // on an API server
};
// Of an object as it is to be posted.
ObjectKey KeyOf(Kind kind, const Value& body);

// How a write ended.
struct Written {
  Error error = Error::Ok();  // names the object
  bool exists = false;        // creating failed because this run has such an object already
  Value object;               // as the server answered
};

enum class Finalizers { kRespect, kStrip };

// Every object is marked with the run's own annotation before it is posted, and noted before the server can have it, so
// that one whose answer was lost is found and known to be ours. What exists without that mark is somebody else's: an
// error, and never touched. Deletions name the uid, so that they cannot hit a successor of the same name either.
//
// What is uncertain or refused for a moment (no answer, 5xx, 429, a namespace whose service account is not there yet)
// is asked again, for up to half a minute.
//
// Every `done` is called once, through the loop, unless this ends before.
// Thread safety: the loop's thread.
class LiveObjects {
 public:
  using Done = std::function<void(const Written&)>;
  static constexpr const char* kMark = "bench.berth/run";  // the annotation

  // REQUIRES: both outlive it. `mark` is unique to the run.
  LiveObjects(LiveRequests& requests, LiveLoop& loop, std::string mark)
      : requests_(requests), loop_(loop), mark_(std::move(mark)) {}

  // REQUIRES: not full(), for those that make many.
  void Create(Kind kind, const Value& body, Done done);
  // A merge patch of the object or of a subresource (empty: the object). REQUIRES: Has, as for what follows.
  void Patch(const ObjectKey& key, const std::string& subresource, const Value& patch, Done done);
  // The whole object anew, as it is to be posted.
  void Replace(const ObjectKey& key, const std::string& subresource, const Value& body, Done done);
  void Read(const ObjectKey& key, Done done);
  // At once: without a grace period. It is forgotten when it is gone, which an object with finalizers is not unless
  // they are stripped, nor a namespace. One that is gone already is not an error.
  void Remove(const ObjectKey& key, Finalizers finalizers, Done done);

  // It was made, and not deleted by us. Somebody else may have.
  bool Has(const ObjectKey& key) const { return made_.contains(key); }
  size_t Count(Kind kind) const;
  std::vector<ObjectKey> All() const;
  size_t under_way() const { return under_way_; }
  bool full() const { return under_way_ >= kRequestsUnderWay; }

  // From now on nothing is asked again but deletions: whoever waits for the rest wants to end.
  void StopTrying() { stopped_ = true; }

  // Whether it is gone, of one that goes by itself after its deletion; it is forgotten then. `object` is it, if not.
  void LookWhetherGone(const ObjectKey& key, std::function<void(bool gone, const Value& object)> done);
  // Lets a namespace go that nobody cleans up. REQUIRES: it is being deleted, and what was made in it is gone.
  void ReleaseNamespace(const ObjectKey& key, Done done);

 private:
  struct Made {
    std::string uid;    // empty: none was answered yet
    bool sure = false;  // false: there may be one with another uid, or none
  };
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  CallPtr Begin(const ObjectKey& key, Done done);
  void Finish(const CallPtr& call, const Written& written);
  void Fail(const CallPtr& call, const client::ApiStatus& status);
  // Whether it was put off: `again` is called later.
  bool TryAgain(const CallPtr& call, const client::ApiStatus& status, std::function<void()> again);
  void Post(const CallPtr& call);
  void LookUp(const CallPtr& call);
  void Change(const CallPtr& call);
  void Took(const CallPtr& call, const Value& object);
  void Delete(const CallPtr& call);
  void DeleteUnsure(const CallPtr& call);
  void Strip(const CallPtr& call);
  void Gone(const CallPtr& call);
  bool IsOurs(const Value& object) const;
  Value Marked(const Value& object) const;

  LiveRequests& requests_;
  LiveLoop& loop_;
  const std::string mark_;
  std::map<ObjectKey, Made> made_;
  size_t under_way_ = 0;
  bool stopped_ = false;
};

}  // namespace berth::bench
