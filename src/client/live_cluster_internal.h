// SPDX-License-Identifier: Apache-2.0
// What the files of LiveCluster share: live_cluster.cc has its beginning, its end and what is asked about pods and
// volumes, live_cluster_reads.cc lists and watches, live_cluster_events.cc events, live_cluster_leases.cc leases.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "client/api_requests.h"
#include "client/credentials.h"
#include "client/encodings.h"
#include "client/live_cluster.h"
#include "client/live_watch.h"
#include "client/pacer.h"
#include "client/wire.h"
#include "net/http_client.h"
#include "util/inbox.h"
#include "util/owner_link.h"
#include "util/random.h"
#include "util/seldom.h"
#include "util/uuid.h"

namespace berth::client {

// One list on its way: page by page, on the client's thread.
struct ListRun {
  Kind kind = Kind::kPod;
  std::string version;  // asked for; empty: the newest there is
  bool paged = true;
  std::string next;  // the page to ask for
  Encoding asked = Encoding::kJson;
  int empty_pages = 0;
  bool from_scratch = false;  // what was known of versions before does not count any more
  bool too_large = false;     // as a whole: nothing but pages will do
  ListAnswer answer;
  std::function<void(ListAnswer)> done;
};

// What is the same of a watch that has to be begun again.
struct WatchPlan {
  Kind kind = Kind::kPod;
  WatchStart start = WatchStart::kVersion;
  std::string path;
  Duration read_timeout;
};

// An answer that claims a success which it is not.
ApiStatus NoSuccess(const ApiReply& reply, const Error& error);

struct LiveCluster::Impl {
  Impl(const Kubeconfig& config, util::Inbox& inbox_in, const Clock& clock_in, LiveOptions options_in)
      : inbox(inbox_in),
        clock(clock_in),
        options(std::move(options_in)),
        credentials(config, options.token_look_every, [this](const std::string& sentence) { WarnSeldom(sentence); }),
        host(util::HostName()),
        encodings(options.encodings),
        pacer(options.qps, options.burst),
        event_pacer(options.qps, options.burst),
        fallback_random(static_cast<uint64_t>(clock_in.Now().ns)) {
    for (const Kind kind : {Kind::kPod, Kind::kNode}) {
      if (options.keep_sources.any(kind)) encodings.GiveUp(kind);  // their own JSON is passed on
    }
  }
  ~Impl() { door.Leave(); }  // a warning may be under way even if nobody was connected
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Runs on the scheduling thread unless the door is closed by then.
  template <class Fn>
  void Reply(Fn fn) {
    inbox.Post(door.link().Guard(std::move(fn)));
  }
  void Reply(Answer done, ApiStatus status);
  // From any thread.
  void Warn(std::string sentence) {
    if (!options.warning) return;
    Reply([this, sentence = std::move(sentence)] { options.warning(sentence); });
  }
  // As Warn, for what is found again and again.
  void WarnSeldom(const std::string& sentence) {
    if (warned.Say(sentence)) Warn(sentence);
  }
  // The server does not do protobuf, or not as we know it.
  void GiveUpProtobuf(Kind kind, const std::string& why);
  void GiveUpProtobuf(Written what, const std::string& why);
  // Whether a body of protobuf was refused as such: nothing has happened, and JSON may do.
  bool Refused(Written what, Encoding sent, const ApiReply& reply);
  // Unless the answer is the success that it claims to be, nobody knows what has happened.
  static void Believe(ApiReply& reply, const Success& wanted, Said* said = nullptr);
  // The answer is about `pod`. REQUIRES: kinds stay.
  void WritePod(ApiRequest request, std::span<const std::string_view> kinds, const ObjectName& pod, Answer done);
  void OnPodWritten(ApiReply& reply, Answer done);
  // As WritePod, for an object whose new version is wanted.
  void WriteVersioned(ApiRequest request, std::span<const std::string_view> kinds, const ObjectName& object,
                      VersionAnswer done);
  void Bind(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done);
  void GetPod(util::Deadline until, const std::string& ns, const std::string& name,
              std::function<void(const ApiStatus&, Ptr<Pod>)> done);
  struct SentBinding;
  void OnBound(SentBinding& sent, ApiReply& reply);
  struct SentEvent;
  void WriteEvent(const EventRecord& event, bool patch, Answer done);
  // Who reports it. Valid until the next call on this thread.
  std::string_view InstanceOf(const EventRecord& event) const;
  void OnEventAnswer(SentEvent& sent, ApiReply& reply);
  void OnEvent(const EventRecord& event, bool patch, ApiStatus status, Answer done);
  // The server does not know where the event was to go: is it that it has no such API?
  void AskForEvents(const EventRecord& event, ApiStatus refusal, Answer done);
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const ApiStatus&, const Lease&)> done);
  void PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done);
  // `written`: the answer has to say that `asked` holds it.
  void SendLease(ApiRequest request, const Lease& asked, bool written,
                 std::function<void(const ApiStatus&, const Lease&)> done);
  void Saw(Kind kind, const std::string& version);
  // `query`: where it starts.
  std::unique_ptr<Watch> OpenWatch(Kind kind, WatchStart start, const std::string& query, WatchCallbacks callbacks);
  std::unique_ptr<net::ResponseStream> BeginWatch(const std::shared_ptr<const WatchPlan>& plan,
                                                  const util::OwnerLink<Watch>& watcher, WatchCallbacks callbacks,
                                                  Encoding accept);
  void Ask(const std::shared_ptr<ListRun>& run);
  void OnPage(const std::shared_ptr<ListRun>& run, ApiReply reply);
  void Finish(const std::shared_ptr<ListRun>& run, ApiStatus status);
  // From the newest version on, in pages.
  static void FromTheStore(ListRun& run);

  util::Inbox& inbox;
  const Clock& clock;
  const LiveOptions options;
  std::shared_ptr<const AnnotationKeys> annotations = std::make_shared<AnnotationKeys>();
  util::Owner<Impl> door{this};  // of answers; scheduling thread
  util::Seldom warned;
  Credentials credentials;
  const std::string host;
  Encodings encodings;
  Pacer pacer, event_pacer;
  const std::shared_ptr<std::atomic<bool>> pod_writes_over = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> core_events{false};  // the server has no events.k8s.io/v1
  std::atomic<int> events_under_way{0};
  util::Random fallback_random;
  // The answer that a binding had before, where any other binding may have it: they all have the same. The thread of
  // `writes`.
  Encoding bound_in = Encoding::kJson;
  std::string bound;
  struct Newest {
    std::string text;
    uint64_t number = 0;
  };
  std::array<Newest, kKindCount> versions;   // the newest seen of each kind; scheduling thread
  std::array<bool, kKindCount> too_large{};  // kinds whose lists do not fit into one answer; scheduling thread
  util::Inbox::Guest* guest = nullptr;       // of the inbox; null: writes have a thread
  // What comes with a watch, a streamed list included, comes in pieces, between which bindings have their turn.
  ApiRequests& watches() { return options.on_inbox_thread ? *writes : *reads; }
  // Three clients, so that no binding waits until a large list is decoded as a whole, and no lease for bindings and
  // events. Last: their ends run callbacks.
  std::unique_ptr<ApiRequests> reads, writes, leases;
};

}  // namespace berth::client
