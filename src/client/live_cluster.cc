// SPDX-License-Identifier: Apache-2.0
#include "client/live_cluster.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "api/load_error.h"
#include "client/live_cluster_internal.h"
#include "client/request_body.h"
#include "client/resource_path.h"

namespace berth::client {
namespace {

constexpr size_t kLeaseConnections = 2;        // one, and another if it hangs
constexpr uint64_t kMaxObjectBytes = 8 << 20;  // of an answer about one object; no server stores so much
// Answers and news that keep coming are taken together, and a binding's answer with the news of it: fewer wake-ups,
// which cost more than what they are for. It is less than a decision waits for others in a busy cluster.
constexpr Duration kGather = Duration::Millis(4);
constexpr size_t kMaxKnownAnswer = 512;  // bytes; the API server's has about 60
// What an answer may be. To a deletion the pod while it is terminating, and a Status when it is gone at once.
constexpr std::array<std::string_view, 3> kBound = {"Status", "Binding", "Pod"};
constexpr std::array<std::string_view, 2> kDeleted = {"Pod", "Status"};
constexpr std::array<std::string_view, 1> kPod = {"Pod"}, kVolume = {"PersistentVolume"},
                                          kClaim = {"PersistentVolumeClaim"};

std::string NowJson(const std::string& what, const std::string& why) {
  return what + " go as JSON from now on: the API server does not do protobuf: " + why;
}

}  // namespace

ApiStatus NoSuccess(const ApiReply& reply, const Error& error) {
  return {0,
          "the API server answered " + std::to_string(reply.status.code) +
              ", but not with what was asked for: " + error.text(),
          ErrorKind::kOther, true};
}

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
                                                       : impl->options.write_connections;
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

void LiveCluster::KeepAnnotations(const AnnotationKeys& keys) {
  impl_->annotations = std::make_shared<AnnotationKeys>(keys);
}

void LiveCluster::Impl::GiveUpProtobuf(Kind kind, const std::string& why) {
  if (encodings.GiveUp(kind)) Warn(NowJson(std::string(ToString(kind)) + " objects", why));
}

void LiveCluster::Impl::GiveUpProtobuf(Written what, const std::string& why) {
  constexpr const char* kNames[] = {"bindings", "events", "leases"};
  if (encodings.GiveUp(what)) Warn(NowJson(kNames[static_cast<size_t>(what)], why));
}

bool LiveCluster::Impl::Refused(Written what, Encoding sent, const ApiReply& reply) {
  const bool form = reply.status.code == kUnsupportedMediaType || reply.status.code == kNotAcceptable;
  if (!form || sent == Encoding::kJson) return false;
  GiveUpProtobuf(what, std::to_string(reply.status.code) + " " + reply.status.message);
  return true;
}

void LiveCluster::Impl::Believe(ApiReply& reply, const Success& wanted, Said* said) {
  if (!reply.status.ok()) return;
  const Error error = CheckSuccess(reply.body, reply.encoding, wanted, said);
  if (!error.ok()) reply.status = NoSuccess(reply, error);
}

void LiveCluster::Impl::WritePod(ApiRequest request, std::span<const std::string_view> kinds, const ObjectName& pod,
                                 Answer done) {
  request.timeout = options.request_timeout;
  request.withdrawn = pod_writes_over;
  writes->Send(std::move(request), &pacer, [this, kinds, pod, done = std::move(done)](ApiReply&& reply) mutable {
    Believe(reply, {kinds, pod.namespace_, pod.name, pod.uid});
    OnPodWritten(reply, std::move(done));
  });
}

void LiveCluster::Impl::OnPodWritten(ApiReply& reply, Answer done) {
  // To the server the uid of another incarnation is a field that must not change.
  if (reply.invalid_uid) reply.status.code = 409;
  Reply(std::move(done), std::move(reply.status));
}

void LiveCluster::Impl::Reply(Answer done, ApiStatus status) {
  // Nearly all say nothing but a code, and that fits into the letter.
  if (status.code != 0 && status.message.empty())
    return Reply([done = std::move(done), code = status.code] { done({.code = code, .message = {}}); });
  Reply([done = std::move(done), status = std::move(status)] { done(status); });
}

void LiveCluster::Impl::WriteVersioned(ApiRequest request, std::span<const std::string_view> kinds,
                                       const ObjectName& object, VersionAnswer done) {
  request.method = "PATCH";
  request.content_type = "application/merge-patch+json";
  request.timeout = options.request_timeout;
  request.withdrawn = pod_writes_over;
  writes->Send(std::move(request), &pacer, [this, kinds, object, done = std::move(done)](ApiReply reply) {
    Said said;
    Believe(reply, {kinds, object.namespace_, object.name}, &said);
    Reply([done, status = reply.status, version = said.version] { done(status, version); });
  });
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

// A binding on its way: what is needed to send it again, and to tell its answer from another's.
struct LiveCluster::Impl::SentBinding {
  SentBinding(util::Deadline until_in, const ObjectName& pod_in, const std::string& node_in, Encoding encoding_in,
              Answer&& done_in)
      : until(until_in), pod(pod_in), node(node_in), encoding(encoding_in), done(std::move(done_in)) {}
  util::Deadline until;
  ObjectName pod;
  std::string node;
  Encoding encoding;
  Answer done;
};

void LiveCluster::Impl::Bind(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done) {
  const Encoding encoding = encodings.Of(Written::kBinding);
  ApiRequest request{.method = "POST",
                     .path = PodPath(pod.namespace_, pod.name, "/binding"),
                     .body = BindingBody(pod, node, encoding)};
  request.send_by = until;
  request.content_type = ContentTypeOf(encoding);
  request.accept = encodings.AnswerTo(Written::kBinding);
  request.timeout = options.request_timeout;
  request.withdrawn = pod_writes_over;
  request.patient = true;
  auto sent = std::make_unique<SentBinding>(until, pod, node, encoding, std::move(done));
  writes->Send(std::move(request), &pacer, [this, sent = std::move(sent)](ApiReply&& reply) { OnBound(*sent, reply); });
}

void LiveCluster::Impl::OnBound(SentBinding& sent, ApiReply& reply) {
  if (Refused(Written::kBinding, sent.encoding, reply))
    return Bind(sent.until, sent.pod, sent.node, std::move(sent.done));
  const bool known = reply.status.ok() && !bound.empty() && reply.body == bound && reply.encoding == bound_in;
  if (!known) {
    Said said;
    Believe(reply, {kBound, sent.pod.namespace_, sent.pod.name, sent.pod.uid}, &said);
    if (said.status && reply.body.size() <= kMaxKnownAnswer) {
      bound_in = reply.encoding;
      bound = reply.body;
    }
  }
  OnPodWritten(reply, std::move(sent.done));
}

void LiveCluster::PatchPodStatus(const PodStatusPatch& patch, Answer done) {
  ApiRequest request;
  request.method = "PATCH";
  request.path = PodPath(patch.pod.namespace_, patch.pod.name, "/status");
  request.content_type = "application/strategic-merge-patch+json";
  request.body = PodStatusPatchBody(patch, impl_->clock.Now());
  // A victim's is not for people: the preemptor waits for it.
  const bool victim = patch.condition && patch.condition->type == "DisruptionTarget";
  request.rank = victim ? Rank::kBinding : Rank::kStatus;
  impl_->WritePod(std::move(request), kPod, patch.pod, std::move(done));
}

void LiveCluster::DeletePod(const ObjectName& pod, Answer done) {
  ApiRequest request;
  request.method = "DELETE";
  request.path = PodPath(pod.namespace_, pod.name);
  request.body = DeleteBody(pod);
  impl_->WritePod(std::move(request), kDeleted, pod, std::move(done));
}

void LiveCluster::PatchVolume(const VolumeClaimPatch& patch, VersionAnswer done) {
  ApiRequest request;
  request.path = VolumePath(patch.volume);
  request.body = VolumePatchBody(patch);
  impl_->WriteVersioned(std::move(request), kVolume, {"", patch.volume, ""}, std::move(done));
}

void LiveCluster::PatchClaim(const ClaimNodePatch& patch, VersionAnswer done) {
  ApiRequest request;
  request.path = ClaimPath(patch.namespace_, patch.name);
  request.body = ClaimPatchBody(patch);
  impl_->WriteVersioned(std::move(request), kClaim, {patch.namespace_, patch.name, ""}, std::move(done));
}

void LiveCluster::EndPodWrites() { *impl_->pod_writes_over = true; }

}  // namespace berth::client
