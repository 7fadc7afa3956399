// SPDX-License-Identifier: Apache-2.0
// Events, as events.k8s.io/v1 or, where there is none, core/v1.
#include <utility>

#include "client/live_cluster_internal.h"
#include "client/request_body.h"
#include "client/resource_path.h"

namespace berth::client {
namespace {

constexpr int kMaxEventsUnderWay = 2000;  // whoever has more does not look at the answers

}  // namespace

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

}  // namespace berth::client
