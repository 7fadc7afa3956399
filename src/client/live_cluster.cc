// SPDX-License-Identifier: Apache-2.0
#include "client/live_cluster.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "api/load_error.h"
#include "client/api_requests.h"
#include "client/credentials.h"
#include "client/live_watch.h"
#include "client/pacer.h"
#include "client/request_body.h"
#include "client/resource_path.h"
#include "client/wire.h"
#include "net/http_client.h"
#include "util/random.h"
#include "util/seldom.h"
#include "util/text.h"
#include "util/uuid.h"

namespace berth::client {
namespace {

constexpr int kMaxEventsUnderWay = 2000;       // whoever has more does not look at the answers
constexpr size_t kMaxObjects = 20'000'000;     // of one list; more is a server that does not end
constexpr int kMaxEmptyPages = 100;            // in one list
constexpr int64_t kMinWatchSeconds = 300;      // up to twice that, so that not all watches end at once
constexpr int64_t kWatchPatienceSeconds = 30;  // beyond the end that the server was asked for
constexpr size_t kLeaseConnections = 2;        // one, and another if it hangs
constexpr uint64_t kMaxObjectBytes = 8 << 20;  // of an answer about one object; no server stores so much
// Answers and news that keep coming are taken together: fewer wake-ups, which cost more than what they are for. It is
// less than a decision waits for others in a busy cluster.
constexpr Duration kGather = Duration::Millis(4);
constexpr size_t kMaxVersionShown = 64;  // bytes, in a sentence
constexpr size_t kMaxHolderShown = 256;  // bytes, in a sentence

ApiStatus NoSuccess(const ApiReply& reply, const Error& error) {
  return {0,
          "the API server answered " + std::to_string(reply.status.code) +
              ", but not with what was asked for: " + error.text(),
          ErrorKind::kOther, true};
}

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

// Of which there may be so many that a list of them is megabytes.
bool IsMany(Kind kind) { return kind == Kind::kPod || kind == Kind::kNode; }

// What is the same of a watch that has to be begun again.
struct WatchPlan {
  Kind kind = Kind::kPod;
  WatchStart start = WatchStart::kVersion;
  std::string path;
  Duration read_timeout;
};

}  // namespace

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
  void Reply(std::function<void()> fn) { inbox.Post(door.link().Guard(std::move(fn))); }
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
  void GiveUpProtobuf(Kind kind, const std::string& why) {
    if (encodings.GiveUp(kind)) SayJson(std::string(ToString(kind)) + " objects", why);
  }
  void GiveUpProtobuf(Written what, const std::string& why) {
    constexpr const char* kNames[] = {"bindings", "events", "leases"};
    if (encodings.GiveUp(what)) SayJson(kNames[static_cast<size_t>(what)], why);
  }
  void SayJson(const std::string& what, const std::string& why) {
    Warn(what + " go as JSON from now on: the API server does not do protobuf: " + why);
  }
  // Whether a body of protobuf was refused as such: nothing has happened, and JSON may do.
  bool Refused(Written what, Encoding sent, const ApiReply& reply) {
    const bool form = reply.status.code == kUnsupportedMediaType || reply.status.code == kNotAcceptable;
    if (!form || sent == Encoding::kJson) return false;
    GiveUpProtobuf(what, std::to_string(reply.status.code) + " " + reply.status.message);
    return true;
  }
  // Unless the answer is the success that it claims to be, nobody knows what has happened.
  void WritePod(ApiRequest request, Success wanted, Answer done) {
    request.timeout = options.request_timeout;
    request.withdrawn = pod_writes_over;
    writes->Send(std::move(request), &pacer,
                 [this, wanted = std::move(wanted), done = std::move(done)](ApiReply reply) {
                   OnPodWritten(std::move(reply), wanted, done);
                 });
  }
  void OnPodWritten(ApiReply reply, const Success& wanted, const Answer& done) {
    Believe(reply, wanted);
    // To the server the uid of another incarnation is a field that must not change.
    if (reply.invalid_uid) reply.status.code = 409;
    Reply([done, status = std::move(reply.status)] { done(status); });
  }
  // The same for an object whose new version is wanted.
  void WriteVersioned(ApiRequest request, Success wanted, VersionAnswer done) {
    request.method = "PATCH";
    request.content_type = "application/merge-patch+json";
    request.timeout = options.request_timeout;
    request.withdrawn = pod_writes_over;
    writes->Send(std::move(request), &pacer,
                 [this, wanted = std::move(wanted), done = std::move(done)](ApiReply reply) {
                   std::string version;
                   if (reply.status.ok())
                     if (const Error error = CheckSuccess(reply.body, reply.encoding, wanted, &version); !error.ok())
                       reply.status = NoSuccess(reply, error);
                   Reply([done, status = reply.status, version] { done(status, version); });
                 });
  }
  static void Believe(ApiReply& reply, const Success& wanted) {
    if (!reply.status.ok()) return;
    const Error error = CheckSuccess(reply.body, reply.encoding, wanted);
    if (!error.ok()) reply.status = NoSuccess(reply, error);
  }
  void Bind(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done);
  void GetPod(util::Deadline until, const std::string& ns, const std::string& name,
              std::function<void(const ApiStatus&, Ptr<Pod>)> done);
  void WriteEvent(EventRecord event, bool patch, Answer done);
  void OnEvent(const EventRecord& event, bool patch, ApiReply reply, Answer done);
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
  static void FromTheStore(ListRun& run) {
    run.version.clear();
    run.paged = true;
    run.from_scratch = true;
  }

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
  std::array<std::string, kKindCount> versions;  // the newest seen of each kind; scheduling thread
  std::array<bool, kKindCount> too_large{};      // kinds whose lists do not fit into one answer; scheduling thread
  util::Inbox::Guest* guest = nullptr;           // of the inbox; null: writes have a thread
  // What comes with a watch, a streamed list included, comes in pieces, between which bindings have their turn.
  ApiRequests& watches() { return options.on_inbox_thread ? *writes : *reads; }
  // Three clients, so that no binding waits until a large list is decoded as a whole, and no lease for bindings and
  // events. Last: their ends run callbacks.
  std::unique_ptr<ApiRequests> reads, writes, leases;
};

Result<std::unique_ptr<LiveCluster>> LiveCluster::Connect(const Kubeconfig& config, util::Inbox& inbox,
                                                          const Clock& clock, LiveOptions options) {
  auto impl = std::make_unique<Impl>(config, inbox, clock, std::move(options));
  net::ClientOptions http;
  http.url = config.server;
  http.proxy = config.proxy;
  http.tls = config.tls;
  std::vector<std::string> warnings;
  const Http2Settings http2 = impl->options.http2.value_or(Http2Settings::FromEnvironment(&warnings));
  for (const std::string& warning : warnings) impl->Warn(warning);
  http.http2 = http2.enabled;
  http.ping_after = http2.ping_after;
  http.ping_timeout = http2.ping_timeout;
  http.tls.identity = impl->credentials.identity();
  http.tls.on_warning = [impl = impl.get()](const Error& error) { impl->WarnSeldom(error.text()); };
  for (std::unique_ptr<ApiRequests>* requests : {&impl->reads, &impl->writes, &impl->leases}) {
    // Whatever somebody in between answers to a binding, it is not a list.
    http.max_response_bytes = requests == &impl->reads ? impl->options.max_page_bytes : kMaxObjectBytes;
    // Every kind may be listed at the same time.
    http.max_connections = requests == &impl->reads    ? kKindCount
                           : requests == &impl->leases ? kLeaseConnections
                                                       : net::ClientOptions().max_connections;
    http.gather = requests == &impl->leases ? Duration{} : kGather;
    http.own_thread = requests != &impl->writes || !impl->options.on_inbox_thread;
    Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Create(http);
    if (!client.ok()) return client.error().Wrap(config.source);
    if (!http.own_thread) impl->guest = &(*client)->guest();
    const bool lease = requests == &impl->leases && !impl->options.lease_user_agent.empty();
    *requests = std::make_unique<ApiRequests>(std::move(client).value(), impl->credentials,
                                              lease ? impl->options.lease_user_agent : impl->options.user_agent,
                                              ObservedServer::Of(impl->options.observer, config.server));
  }
  if (impl->guest != nullptr) inbox.set_guest(impl->guest);
  return std::unique_ptr<LiveCluster>(new LiveCluster(std::move(impl)));
}

LiveCluster::LiveCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LiveCluster::~LiveCluster() {
  impl_->door.Leave();
  if (impl_->guest != nullptr && impl_->inbox.guest() == impl_->guest) impl_->inbox.set_guest(nullptr);
  impl_->pacer.Stop();
  impl_->event_pacer.Stop();
}

void LiveCluster::Impl::Saw(Kind kind, const std::string& version) {
  std::string& newest = versions[static_cast<size_t>(kind)];
  if (VersionNumber(version) > VersionNumber(newest)) newest = version;
}

void LiveCluster::List(Kind kind, std::function<void(ListAnswer)> done) {
  auto run = std::make_shared<ListRun>();
  const std::string& newest = impl_->versions[static_cast<size_t>(kind)];
  run->kind = kind;
  run->version = newest.empty() ? "0" : newest;
  // Pages of a list of a given version would be of exactly that version, which the server may have forgotten.
  run->paged = newest.empty();
  run->too_large = impl_->too_large[static_cast<size_t>(kind)];
  if (run->too_large) Impl::FromTheStore(*run);
  run->done = std::move(done);
  impl_->Ask(run);
}

void LiveCluster::Impl::Ask(const std::shared_ptr<ListRun>& run) {
  ApiRequest request;
  request.path = std::string(CollectionPath(run->kind)) + "?" + std::string(Selection(run->kind));
  if (run->paged) request.path += "limit=" + std::to_string(options.page_size) + "&";
  request.path += run->next.empty() ? "resourceVersion=" + UrlEncode(run->version) : "continue=" + UrlEncode(run->next);
  request.timeout = options.list_timeout;
  request.large = true;
  request.accept = run->asked = encodings.Of(run->kind);
  reads->Send(std::move(request), &pacer, [this, run](ApiReply reply) { OnPage(run, std::move(reply)); });
}

void LiveCluster::Impl::OnPage(const std::shared_ptr<ListRun>& run, ApiReply reply) {
  if (!reply.status.ok()) {
    if (reply.status.kind == ErrorKind::kTooLarge && !run->too_large && run->next.empty()) {
      run->too_large = true;
      FromTheStore(*run);
      return Ask(run);
    }
    if (reply.status.gone() && !run->next.empty() && run->paged && !run->too_large) {
      // The pages were read too slowly. All at once, then.
      run->next.clear();
      run->paged = false;
      run->answer.objects.clear();
      return Ask(run);
    }
    const bool named = !run->version.empty() && run->version != "0";
    if (named && (reply.status.gone() || reply.version_too_large)) {
      // The server has lost what we saw: what it says now counts.
      FromTheStore(*run);
      return Ask(run);
    }
    if (reply.status.code == kNotAcceptable && run->asked == Encoding::kProtobuf) {
      GiveUpProtobuf(run->kind, "406 " + reply.status.message);
      return Ask(run);
    }
    return Finish(run, std::move(reply.status));
  }
  Result<ListPage> read = ReadListPage(reply.body, reply.encoding, run->kind, *annotations, options.keep_sources);
  reply.body = {};
  const std::string what = "list of " + std::string(ToString(run->kind));
  if (!read.ok()) {
    if (reply.encoding != Encoding::kProtobuf || run->asked != Encoding::kProtobuf)
      return Finish(run, {0, "no " + what + ": " + read.error().text()});
    GiveUpProtobuf(run->kind, "no " + what + ": " + read.error().text());
    return Ask(run);  // the same page
  }
  ListPage page = std::move(read).value();
  for (std::string& warning : page.warnings) Warn(what + ": ignored: " + warning);
  ListAnswer& answer = run->answer;
  if (run->next.empty()) {
    // Where would a watch begin? Whoever asked would list again and again, and nobody would know why.
    if (VersionNumber(page.resource_version) == 0) {
      return Finish(run, {0, "no " + what + ": metadata.resourceVersion: \"" +
                                 util::Shortened(page.resource_version, kMaxVersionShown) + "\" is no version"});
    }
    answer.resource_version = page.resource_version;
  }
  if (page.objects.empty()) ++run->empty_pages;
  if (answer.objects.empty()) {
    answer.objects = std::move(page.objects);
  } else {
    answer.objects.insert(answer.objects.end(), std::make_move_iterator(page.objects.begin()),
                          std::make_move_iterator(page.objects.end()));
  }
  if (page.next.empty()) return Finish(run, {});
  if (page.next == run->next || run->empty_pages > kMaxEmptyPages || answer.objects.size() > kMaxObjects)
    return Finish(run, {0, "the server's pages do not end"});
  run->next = std::move(page.next);
  Ask(run);
}

void LiveCluster::Impl::Finish(const std::shared_ptr<ListRun>& run, ApiStatus status) {
  run->answer.status = std::move(status);
  if (!run->answer.status.ok()) run->answer.objects.clear();
  Reply([this, run] {
    if (run->too_large) too_large[static_cast<size_t>(run->kind)] = true;
    if (run->answer.status.ok()) {
      if (run->from_scratch) versions[static_cast<size_t>(run->kind)].clear();
      Saw(run->kind, run->answer.resource_version);
    }
    run->done(std::move(run->answer));
  });
}

namespace {

class WatchHandle final : public Watch {
 public:
  util::OwnerLink<Watch> link() const { return owner_.link(); }
  void Hold(std::unique_ptr<net::ResponseStream> stream) { stream_ = std::move(stream); }

 private:
  std::unique_ptr<net::ResponseStream> stream_;
  util::Owner<Watch> owner_{this};
};

}  // namespace

void LiveCluster::KeepAnnotations(const AnnotationKeys& keys) {
  impl_->annotations = std::make_shared<AnnotationKeys>(keys);
}

std::unique_ptr<Watch> LiveCluster::StartWatch(Kind kind, const std::string& resource_version,
                                               WatchCallbacks callbacks) {
  return impl_->OpenWatch(kind, WatchStart::kVersion,
                          "watch=true&allowWatchBookmarks=true&resourceVersion=" + UrlEncode(resource_version),
                          std::move(callbacks));
}

std::unique_ptr<Watch> LiveCluster::StartStreamedList(Kind kind, WatchCallbacks callbacks) {
  Impl* impl = impl_.get();
  if (!impl->options.streamed_lists) return nullptr;
  const std::string& newest = impl->versions[static_cast<size_t>(kind)];
  std::string query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  if (!newest.empty()) query += "&resourceVersion=" + UrlEncode(newest);
  auto complete = std::make_shared<bool>(false);
  callbacks.event = [impl, kind, complete, tell = std::move(callbacks.event)](const WatchEvent& event) {
    if (event.initial_end && !*complete) {
      *complete = true;
      // What the server says now counts: it may have been restored from a backup.
      impl->versions[static_cast<size_t>(kind)].clear();
      impl->Saw(kind, event.resource_version);
    }
    tell(event);
  };
  callbacks.closed = [impl, kind, complete, tell = std::move(callbacks.closed)](const ApiStatus& status) {
    // The server has lost what we saw, or forgotten it.
    if (status.gone() && !*complete) impl->versions[static_cast<size_t>(kind)].clear();
    tell(status);
  };
  return impl->OpenWatch(kind, WatchStart::kEverything, query, std::move(callbacks));
}

std::unique_ptr<Watch> LiveCluster::Impl::OpenWatch(Kind kind, WatchStart start, const std::string& query,
                                                    WatchCallbacks callbacks) {
  const uint64_t random = options.random ? options.random() : fallback_random.Next();
  const int64_t seconds = kMinWatchSeconds + static_cast<int64_t>(random % static_cast<uint64_t>(kMinWatchSeconds));
  auto plan = std::make_shared<WatchPlan>();
  plan->kind = kind;
  plan->start = start;
  plan->path = std::string(CollectionPath(kind)) + "?" + std::string(Selection(kind)) + query +
               "&timeoutSeconds=" + std::to_string(seconds);
  plan->read_timeout = Duration::Seconds(seconds + kWatchPatienceSeconds);

  const util::OwnerLink<Impl> link = door.link();
  callbacks.event = link.Guard([this, kind, event = std::move(callbacks.event)](const WatchEvent& news) {
    Saw(kind, news.resource_version);
    event(news);
  });
  callbacks.closed = link.Guard(std::move(callbacks.closed));
  if (callbacks.opened) callbacks.opened = link.Guard(std::move(callbacks.opened));
  auto handle = std::make_unique<WatchHandle>();
  const Encoding accept = encodings.Of(kind);
  WatchCallbacks first = callbacks;
  if (accept == Encoding::kProtobuf) {
    // Nobody is called once the handle is gone.
    first.closed = link.Guard([this, plan, watch = handle.get(), callbacks](const ApiStatus& status) {
      if (status.code != kNotAcceptable) return callbacks.closed(status);
      watch->Hold(BeginWatch(plan, watch->link(), callbacks, Encoding::kJson));
    });
  }
  handle->Hold(BeginWatch(plan, handle->link(), std::move(first), accept));
  return handle;
}

std::unique_ptr<net::ResponseStream> LiveCluster::Impl::BeginWatch(const std::shared_ptr<const WatchPlan>& plan,
                                                                   const util::OwnerLink<Watch>& watcher,
                                                                   WatchCallbacks callbacks, Encoding accept) {
  net::ClientRequest request;
  request.path = plan->path;
  request.timeout = options.request_timeout;
  request.read_timeout = plan->read_timeout;
  request.large = IsMany(plan->kind);
  auto shown = std::make_shared<std::string>();
  auto watch = std::make_shared<LiveWatch>(
      plan->kind, plan->start, annotations, inbox, watcher, std::move(callbacks),
      LiveWatchLimits{options.max_line_bytes, options.max_unread_bytes, kMaxObjects},
      [this](std::string sentence) { Warn(std::move(sentence)); }, [this, shown] { return credentials.Renew(*shown); },
      [this, kind = plan->kind, accept](const std::string& why) {
        if (accept == Encoding::kProtobuf) GiveUpProtobuf(kind, why);
      },
      options.keep_sources);
  return watches().Stream(
      std::move(request), accept, shown,
      [watch](int status, const net::Headers& headers) {
        const std::string* type = headers.Find("Content-Type");
        watch->OnHead(status, EncodingOf(type != nullptr ? *type : ""));
      },
      [watch](std::string_view piece) { watch->OnPiece(piece); }, [watch](const Error& error) { watch->OnEnd(error); });
}

void LiveCluster::GetPod(const std::string& ns, const std::string& name,
                         std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
  GetPodBy(util::kNoDeadline, ns, name, std::move(done));
}

void LiveCluster::GetPodBy(util::Deadline until, const std::string& ns, const std::string& name,
                           std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
  impl_->GetPod(until, ns, name, std::move(done));
}

void LiveCluster::Impl::GetPod(util::Deadline until, const std::string& ns, const std::string& name,
                               std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
  ApiRequest request;
  request.path = PodPath(ns, name);
  request.timeout = options.request_timeout;
  request.send_by = request.answer_by = until;
  const Encoding asked = request.accept = encodings.Of(Kind::kPod);
  writes->Send(std::move(request), &pacer,
               [this, until, ns, name, asked, done = std::move(done)](ApiReply reply) mutable {
                 Ptr<Pod> pod;
                 if (reply.status.code == kNotAcceptable && asked == Encoding::kProtobuf) {
                   GiveUpProtobuf(Kind::kPod, "406 " + reply.status.message);
                   return GetPod(until, ns, name, std::move(done));
                 }
                 if (reply.status.ok()) {
                   Result<Ptr<Pod>> read = ReadPod(reply.body, reply.encoding, *annotations);
                   if (!read.ok()) {
                     reply.status = NoSuccess(reply, read.error());
                   } else if ((*read)->namespace_() != ns || (*read)->name() != name) {
                     reply.status = NoSuccess(reply, Error("it is pod " + Quoted(FullName(**read))));
                   } else {
                     pod = std::move(read).value();
                   }
                 }
                 Reply([done, status = std::move(reply.status), pod = std::move(pod)] { done(status, pod); });
               });
}

void LiveCluster::Bind(const ObjectName& pod, const std::string& node, Answer done) {
  BindBy(util::kNoDeadline, pod, node, std::move(done));
}

void LiveCluster::BindBy(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done) {
  impl_->Bind(until, pod, node, std::move(done));
}

void LiveCluster::Impl::Bind(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done) {
  ApiRequest request;
  request.send_by = until;
  request.method = "POST";
  request.path = PodPath(pod.namespace_, pod.name) + "/binding";
  const Encoding encoding = encodings.Of(Written::kBinding);
  request.body = BindingBody(pod, node, encoding);
  request.content_type = ContentTypeOf(encoding);
  request.accept = encodings.AnswerTo(Written::kBinding);
  request.timeout = options.request_timeout;
  request.withdrawn = pod_writes_over;
  writes->Send(std::move(request), &pacer, [this, until, pod, node, encoding, done = std::move(done)](ApiReply reply) {
    if (Refused(Written::kBinding, encoding, reply)) return Bind(until, pod, node, done);
    OnPodWritten(std::move(reply), {{"Status", "Binding", "Pod"}, pod.namespace_, pod.name, pod.uid}, done);
  });
}

void LiveCluster::PatchPodStatus(const PodStatusPatch& patch, Answer done) {
  ApiRequest request;
  request.method = "PATCH";
  request.path = PodPath(patch.pod.namespace_, patch.pod.name) + "/status";
  request.content_type = "application/strategic-merge-patch+json";
  request.body = PodStatusPatchBody(patch, impl_->clock.Now());
  // A victim's is not for people: the preemptor waits for it.
  const bool victim = patch.condition && patch.condition->type == "DisruptionTarget";
  request.rank = victim ? Rank::kBinding : Rank::kStatus;
  impl_->WritePod(std::move(request), {{"Pod"}, patch.pod.namespace_, patch.pod.name, patch.pod.uid}, std::move(done));
}

void LiveCluster::DeletePod(const ObjectName& pod, Answer done) {
  ApiRequest request;
  request.method = "DELETE";
  request.path = PodPath(pod.namespace_, pod.name);
  request.body = DeleteBody(pod);
  // The pod while it is terminating; a Status when it is gone at once.
  impl_->WritePod(std::move(request), {{"Pod", "Status"}, pod.namespace_, pod.name, pod.uid}, std::move(done));
}

void LiveCluster::PatchVolume(const VolumeClaimPatch& patch, VersionAnswer done) {
  ApiRequest request;
  request.path = VolumePath(patch.volume);
  request.body = VolumePatchBody(patch);
  impl_->WriteVersioned(std::move(request), {{"PersistentVolume"}, "", patch.volume}, std::move(done));
}

void LiveCluster::PatchClaim(const ClaimNodePatch& patch, VersionAnswer done) {
  ApiRequest request;
  request.path = ClaimPath(patch.namespace_, patch.name);
  request.body = ClaimPatchBody(patch);
  impl_->WriteVersioned(std::move(request), {{"PersistentVolumeClaim"}, patch.namespace_, patch.name}, std::move(done));
}

void LiveCluster::EndPodWrites() { *impl_->pod_writes_over = true; }

void LiveCluster::PostEvent(const EventRecord& event, Answer done) { impl_->WriteEvent(event, false, std::move(done)); }

void LiveCluster::PatchEvent(const EventRecord& event, Answer done) { impl_->WriteEvent(event, true, std::move(done)); }

void LiveCluster::Impl::WriteEvent(EventRecord event, bool patch, Answer done) {
  if (event.name.empty()) event.name = EventName(event);
  if (events_under_way.fetch_add(1) >= kMaxEventsUnderWay) {
    ApiReply reply;
    reply.status = {0, "not sent: too many events wait for their turn", ErrorKind::kUnsent};
    return OnEvent(event, patch, std::move(reply), std::move(done));
  }
  const bool core = event.legacy || core_events;
  Encoding encoding = Encoding::kJson;
  ApiRequest request;
  request.rank = Rank::kEvent;
  request.timeout = options.request_timeout;
  request.path = (core ? "/api/v1/namespaces/" : "/apis/events.k8s.io/v1/namespaces/") +
                 UrlEncode(EventNamespace(event)) + "/events";
  if (patch) {
    request.method = "PATCH";
    request.path += "/" + UrlEncode(event.name);
    request.content_type = "application/strategic-merge-patch+json";
    request.body = core ? CoreEventSeriesBody(event) : EventSeriesBody(event);
  } else {
    std::string instance = options.reporting_instance;
    if (instance.empty()) instance = event.reporting_controller + "-" + host;
    request.method = "POST";
    if (!core) encoding = encodings.Of(Written::kEvent);
    request.body = core ? CoreEventBody(event) : EventBody(event, instance, encoding);
    request.content_type = ContentTypeOf(encoding);
    request.accept = encodings.AnswerTo(Written::kEvent);
  }
  writes->Send(std::move(request), &event_pacer,
               [this, event = std::move(event), patch, core, encoding, done = std::move(done)](ApiReply reply) {
                 if (Refused(Written::kEvent, encoding, reply)) {
                   --events_under_way;
                   return WriteEvent(event, patch, done);
                 }
                 Believe(reply, {{"Event"}, EventNamespace(event), event.name});
                 if (reply.status.not_found() && !patch && !core) return AskForEvents(event, reply.status, done);
                 OnEvent(event, patch, std::move(reply), done);
               });
}

void LiveCluster::Impl::OnEvent(const EventRecord& event, bool patch, ApiReply reply, Answer done) {
  --events_under_way;
  if (done) return Reply([done = std::move(done), status = std::move(reply.status)] { done(status); });
  if (reply.status.ok()) return;
  Warn("event of " + std::string(event.kind) + " " + event.regarding.namespace_ + "/" + event.regarding.name +
       (patch ? " is not counted: " : " is lost: ") + std::to_string(reply.status.code) + " " + reply.status.message);
}

// A namespace that is gone is not found either, and a server that is not up yet may say anything: only the API's own
// absence decides, and it decides for good.
void LiveCluster::Impl::AskForEvents(const EventRecord& event, ApiStatus refusal, Answer done) {
  ApiRequest request;
  request.rank = Rank::kEvent;
  request.timeout = options.request_timeout;
  request.path = "/apis/events.k8s.io/v1";
  writes->Send(
      std::move(request), &event_pacer,
      [this, event, refusal = std::move(refusal), done = std::move(done)](ApiReply reply) mutable {
        if (reply.status.not_found()) {
          if (!core_events.exchange(true))
            Warn("the API server has no events.k8s.io/v1: events are written as core/v1");
          --events_under_way;
          return WriteEvent(event, false, std::move(done));
        }
        if (reply.status.ok()) {
          reply.status = std::move(refusal);
        } else {
          reply.status = {0, "whether the API server has events.k8s.io/v1 is not known: " + TextOf(reply.status)};
        }
        OnEvent(event, false, std::move(reply), std::move(done));
      });
}

// Nobody's rate, and nobody's slow request, keeps a leader from staying one.
void LiveCluster::Impl::SendLease(ApiRequest request, const Lease& asked, bool written,
                                  std::function<void(const ApiStatus&, const Lease&)> done) {
  request.timeout = options.lease_timeout;
  // Whatever it waits for, credentials included.
  request.send_by = request.answer_by = util::After(options.lease_timeout);
  // What is asked for counts as well as what is sent.
  const Encoding spoken = std::max(EncodingOf(request.content_type), request.accept);
  leases->Send(std::move(request), nullptr, [this, asked, written, spoken, done = std::move(done)](ApiReply reply) {
    if (Refused(Written::kLease, spoken, reply))
      return written ? PutLease(asked, done) : GetLease(asked.namespace_, asked.name, done);
    Lease lease = asked;
    Believe(reply, {{"Lease"}, asked.namespace_, asked.name});
    if (reply.status.ok()) {
      Result<Lease> read = ReadLease(reply.body, reply.encoding);
      if (!read.ok()) {
        reply.status = NoSuccess(reply, read.error().Wrap("lease"));
      } else if (read->resource_version.empty()) {
        reply.status = NoSuccess(reply, Error("lease: metadata.resourceVersion: Required value"));
      } else if (written && read->holder != asked.holder) {
        reply.status = NoSuccess(
            reply, Error("lease: spec.holderIdentity: " + Quoted(util::Shortened(read->holder, kMaxHolderShown)) +
                         ": must be what was written"));
      } else {
        lease = std::move(read).value();
      }
    }
    Reply([done, status = std::move(reply.status), lease = std::move(lease)] { done(status, lease); });
  });
}

namespace {

std::string LeasesPath(const std::string& ns) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + UrlEncode(ns) + "/leases";
}

// The server gives up when we do.
std::string TimeoutQuery(Duration timeout) {
  const int64_t millis = timeout.ns / 1'000'000;
  return "?timeout=" + (millis % 1000 == 0 ? std::to_string(millis / 1000) + "s" : std::to_string(millis) + "ms");
}

}  // namespace

void LiveCluster::GetLease(const std::string& ns, const std::string& name,
                           std::function<void(const ApiStatus&, const Lease&)> done) {
  impl_->GetLease(ns, name, std::move(done));
}

void LiveCluster::PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) {
  impl_->PutLease(lease, std::move(done));
}

void LiveCluster::Impl::GetLease(const std::string& ns, const std::string& name,
                                 std::function<void(const ApiStatus&, const Lease&)> done) {
  ApiRequest request;
  request.path = LeasesPath(ns) + "/" + UrlEncode(name) + TimeoutQuery(options.lease_timeout);
  request.accept = encodings.AnswerTo(Written::kLease);
  Lease asked;
  asked.namespace_ = ns;
  asked.name = name;
  SendLease(std::move(request), asked, false, std::move(done));
}

void LiveCluster::Impl::PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) {
  const bool create = lease.resource_version.empty();
  ApiRequest request;
  request.method = create ? "POST" : "PUT";
  request.path =
      LeasesPath(lease.namespace_) + (create ? "" : "/" + UrlEncode(lease.name)) + TimeoutQuery(options.lease_timeout);
  Encoding encoding = encodings.Of(Written::kLease);
  // What is given back can be in no form but the one it came in.
  if (!lease.other_metadata.empty() || !lease.other_spec.empty()) {
    if (lease.protobuf && encoding == Encoding::kJson) {
      return Reply([done = std::move(done), lease] { done({409, "the lease has to be read again, as JSON"}, lease); });
    }
    if (!lease.protobuf) encoding = Encoding::kJson;
  }
  request.body = LeaseBody(lease, encoding);
  request.content_type = ContentTypeOf(encoding);
  request.accept = encodings.AnswerTo(Written::kLease);
  SendLease(std::move(request), lease, true, std::move(done));
}

}  // namespace berth::client
