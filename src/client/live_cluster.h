// SPDX-License-Identifier: Apache-2.0
// LiveCluster: a real API server behind the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/clock.h"
#include "berth/error.h"
#include "client/cluster_api.h"
#include "client/encodings.h"
#include "client/http2_settings.h"
#include "client/kubeconfig.h"
#include "client/request_observer.h"
#include "client/wire.h"
#include "util/inbox.h"

namespace berth::client {

struct LiveOptions {
  // Of requests other than watches and leases; events have as much again for themselves. qps of zero and less: no
  // limit.
  double qps = 50;
  int burst = 100;
  int page_size = 500;  // objects per answer of a list, where the server does pages
  // Lists come as events of a watch, one object at a time, where the server can do that (gate WatchListClient).
  bool streamed_lists = true;
  // Bindings, events and other writes that may be under way at the same time over HTTP/1.1, on a connection each: as
  // many as a scheduler has bindings, so that none waits for another's answer. Over HTTP/2 they share one, unless the
  // server allows fewer streams on it than that.
  size_t write_connections = 64;
  // Watches, bindings and events have no thread but the inbox's, whose guest they are.
  bool on_inbox_thread = false;
  EncodingOptions encodings;
  std::optional<Http2Settings> http2;  // not there: as the environment has them
  std::string user_agent = "berth";
  std::string lease_user_agent;    // of requests about leases; empty: the same
  std::string reporting_instance;  // of events; empty: the controller's name and the host's
  Duration request_timeout = Duration::Seconds(30);
  Duration list_timeout = Duration::Seconds(120);     // of one page
  Duration lease_timeout = Duration::Seconds(5);      // shorter than whoever renews one has time for
  Duration token_look_every = Duration::Seconds(10);  // how often, at most, a token file is read again
  uint64_t max_page_bytes = uint64_t{1} << 30;        // of one answer of a list; a larger one is asked for in pages
  size_t max_line_bytes = size_t{16} << 20;           // of one event of a watch
  uint64_t max_unread_bytes = uint64_t{256} << 20;    // of events of a watch that nobody has taken; then it is cut
  SourceKinds keep_sources;                           // of which objects the JSON is kept
  std::function<uint64_t()> random;                   // null: a generator of its own. Called when a watch starts
  RequestObserver* observer = nullptr;                // of all requests; may be null, else it outlives the cluster
  // What no answer tells: objects that were ignored, events that are lost, files with certificates or a token that
  // cannot be used any more. Called through the inbox; may be null.
  std::function<void(const std::string& sentence)> warning;
};

// Writes share a connection, and so do watches, if the server has HTTP/2; pods and nodes, of which there may be many
// megabytes, are listed and watched over HTTP/1.1, on connections of their own. With HTTP/1.1 alone each watch has a
// connection, and there are kept ones for the rest. What arrives is decoded on threads of the client, or, but for lists
// in pages and leases, on the inbox's (on_inbox_thread); answers travel through the inbox in either case.
//
// A streamed list (StartStreamedList) is decoded object by object and held nowhere as a whole. Others begin with what
// the server has at hand (resourceVersion 0), which most servers send whole, whatever the size of pages. Later lists of
// either kind are never older than what was seen before of that kind, unless the server says that it has no such
// version any more. A kind whose list does not fit into max_page_bytes is listed from the store (no resourceVersion)
// from then on, which every server does in pages. Objects that cannot be read are ignored with a warning; an event
// with one counts as a bookmark, or as a deletion if it is one.
//
// Requests that have to wait, for the rate or a connection, go in this order: what a pod waits for (lists, reads,
// bindings, evictions), then statuses, then events. Their timeouts count from when they are sent.
//
// Events are core/v1 ones from when the server says that it has no events.k8s.io/v1, and not for any other reason.
//
// A request that the server puts off (429, or 5xx with Retry-After) is repeated when it says; a token that is refused
// is read again first.
//
// REQUIRES: inbox and clock outlive it.
// Thread safety: the inbox's thread.
class LiveCluster final : public ClusterApi {
 public:
  // Errors name the kubeconfig and what is wrong with it. Nothing is asked of the server yet.
  static Result<std::unique_ptr<LiveCluster>> Connect(const Kubeconfig& config, util::Inbox& inbox, const Clock& clock,
                                                      LiveOptions options = {});
  ~LiveCluster() override;

  // Without it pods and nodes have no annotations.
  void KeepAnnotations(const AnnotationKeys& keys) override;
  void List(Kind kind, std::function<void(ListAnswer)> done) override;
  std::unique_ptr<Watch> StartWatch(Kind kind, const std::string& resource_version, WatchCallbacks callbacks) override;
  std::unique_ptr<Watch> StartStreamedList(Kind kind, WatchCallbacks callbacks) override;
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const ApiStatus&, Ptr<Pod>)> done) override;
  void Bind(const ObjectName& pod, const std::string& node, Answer done) override;
  void GetPodBy(util::Deadline until, const std::string& ns, const std::string& name,
                std::function<void(const ApiStatus&, Ptr<Pod>)> done) override;
  void BindBy(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done) override;
  void PatchPodStatus(const PodStatusPatch& patch, Answer done) override;
  void DeletePod(const ObjectName& pod, Answer done) override;
  void PatchVolume(const VolumeClaimPatch& patch, VersionAnswer done) override;
  void PatchClaim(const ClaimNodePatch& patch, VersionAnswer done) override;
  void EndPodWrites() override;
  void PostEvent(const EventRecord& event, Answer done) override;
  void PatchEvent(const EventRecord& event, Answer done) override;
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const ApiStatus&, const Lease&)> done) override;
  void PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) override;

 private:
  struct Impl;
  explicit LiveCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::client
