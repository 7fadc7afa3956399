// SPDX-License-Identifier: Apache-2.0
// Events, as events.k8s.io/v1 or, where there is none, core/v1.
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "client/kept_event.h"
#include "client/live_cluster_internal.h"
#include "client/request_body.h"
#include "client/resource_path.h"

namespace berth::client {
namespace {

constexpr std::array<std::string_view, 1> kEvent = {"Event"};
constexpr int kMaxEventsUnderWay = 2000;  // whoever has more does not look at the answers

}  // namespace

std::string_view LiveCluster::Impl::InstanceOf(const EventRecord& event) const {
  if (!options.reporting_instance.empty()) return options.reporting_instance;
  // It says the same for nearly all events, and is asked for once for each.
  thread_local std::string instance;
  return instance.assign(event.reporting_controller).append("-").append(host);
}

// An event on its way, for what is seldom done with it afterwards: it is sent again, or missed in words.
struct LiveCluster::Impl::SentEvent {
  KeptEvent event;
  bool patch, core;
  Encoding encoding;
  Answer done;
};

void LiveCluster::PostEvent(const EventRecord& event, Answer done) { impl_->WriteEvent(event, false, std::move(done)); }

void LiveCluster::PatchEvent(const EventRecord& event, Answer done) { impl_->WriteEvent(event, true, std::move(done)); }

void LiveCluster::Impl::WriteEvent(const EventRecord& event, bool patch, Answer done) {
  if (event.name.empty()) {
    EventRecord named = event;
    named.name = EventName(event);
    return WriteEvent(named, patch, std::move(done));
  }
  if (events_under_way.fetch_add(1) >= kMaxEventsUnderWay) {
    return OnEvent(event, patch, {0, "not sent: too many events wait for their turn", ErrorKind::kUnsent},
                   std::move(done));
  }
  const bool core = event.legacy || core_events;
  Encoding encoding = Encoding::kJson;
  ApiRequest request{
      .method = patch ? "PATCH" : "POST",
      .path = EventPath(core, EventNamespace(event.regarding.namespace_), patch ? std::string_view(event.name) : "")};
  request.rank = Rank::kEvent;
  request.timeout = options.request_timeout;
  request.patient = true;
  if (patch) {
    request.content_type = "application/strategic-merge-patch+json";
    request.body = core ? CoreEventSeriesBody(event) : EventSeriesBody(event);
  } else {
    if (!core) encoding = encodings.Of(Written::kEvent);
    request.body = core ? CoreEventBody(event) : EventBody(event, InstanceOf(event), encoding);
    request.content_type = ContentTypeOf(encoding);
    request.accept = encodings.AnswerTo(Written::kEvent);
  }
  std::unique_ptr<SentEvent> sent(new SentEvent{KeptEvent(event), patch, core, encoding, std::move(done)});
  writes->Send(std::move(request), &event_pacer,
               [this, sent = std::move(sent)](ApiReply&& reply) { OnEventAnswer(*sent, reply); });
}

void LiveCluster::Impl::OnEventAnswer(SentEvent& sent, ApiReply& reply) {
  if (Refused(Written::kEvent, sent.encoding, reply)) {
    --events_under_way;
    return WriteEvent(sent.event.Record(), sent.patch, std::move(sent.done));
  }
  Believe(reply, {kEvent, EventNamespace(sent.event.about_namespace()), sent.event.name()});
  if (reply.status.not_found() && !sent.patch && !sent.core)
    return AskForEvents(sent.event.Record(), std::move(reply.status), std::move(sent.done));
  if (!sent.done && !reply.status.ok())
    return OnEvent(sent.event.Record(), sent.patch, std::move(reply.status), nullptr);
  --events_under_way;
  if (sent.done) Reply(std::move(sent.done), std::move(reply.status));
}

void LiveCluster::Impl::OnEvent(const EventRecord& event, bool patch, ApiStatus status, Answer done) {
  --events_under_way;
  if (done) return Reply(std::move(done), std::move(status));
  if (status.ok()) return;
  Warn("event of " + std::string(event.kind) + " " + event.regarding.namespace_ + "/" + event.regarding.name +
       (patch ? " is not counted: " : " is lost: ") + std::to_string(status.code) + " " + status.message);
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
        OnEvent(event, false, std::move(reply.status), std::move(done));
      });
}

}  // namespace berth::client
