// SPDX-License-Identifier: Apache-2.0
#include "client/request_body.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "api/json_scan.h"
#include "api/validate_names.h"
#include "client/request_protobuf.h"
#include "util/uuid.h"

namespace berth::client {
namespace {

// An object that is being written.
class Json {
 public:
  Json& Open(std::string_view key) {
    Key(key);
    text_ += '{';
    return *this;
  }
  Json& Close() {
    text_ += '}';
    return *this;
  }
  Json& Text(std::string_view key, std::string_view value) {
    Key(key);
    std::string changed;
    AppendJsonString(Utf8Of(value, changed), text_);
    return *this;
  }
  // Nothing for an empty one.
  Json& TextIf(std::string_view key, std::string_view value) { return value.empty() ? *this : Text(key, value); }
  // Numbers, null and what is JSON already.
  Json& Raw(std::string_view key, std::string_view json) {
    Key(key);
    text_ += json;
    return *this;
  }
  // Members of an object, written already; may be none.
  Json& Members(std::string_view members) {
    if (members.empty()) return *this;
    if (text_.back() != '{') text_ += ',';
    text_ += members;
    return *this;
  }
  std::string Finish() { return text_ + "}"; }

 private:
  void Key(std::string_view key) {
    if (text_.back() != '{') text_ += ',';
    text_ += '"';
    text_ += key;
    text_ += "\":";
  }
  std::string text_ = "{";
};

// Seconds and the nanoseconds behind them, as civil time; years that do not have four digits become the nearest that
// do.
std::string Format(Time time, bool micros) {
  using namespace std::chrono;
  const sys_time<nanoseconds> point{nanoseconds(time.ns)};
  const auto day = floor<days>(point);
  const year_month_day date(day);
  const hh_mm_ss<nanoseconds> clock(point - day);
  char text[64];
  int length = std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                             static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                             static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                             static_cast<int>(clock.seconds().count()));
  std::string result(text, static_cast<size_t>(length));
  if (micros) {
    length = std::snprintf(text, sizeof(text), ".%06d", static_cast<int>(clock.subseconds().count() / 1000));
    result.append(text, static_cast<size_t>(length));
  }
  return result + "Z";
}

}  // namespace

std::string_view Utf8Of(std::string_view text, std::string& changed) {
  if (CheckUtf8(text).ok()) return text;
  changed = text;
  for (char& c : changed) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return changed;
}

std::string FormatTime(Time time) { return Format(time, false); }
std::string FormatMicroTime(Time time) { return Format(time, true); }

std::string BindingBody(const ObjectName& pod, const std::string& node, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) return ProtobufBinding(pod, node);
  Json json;
  json.Text("kind", "Binding").Text("apiVersion", "v1");
  json.Open("metadata").Text("name", pod.name).Text("namespace", pod.namespace_).TextIf("uid", pod.uid).Close();
  json.Open("target").Text("kind", "Node").Text("name", node).Close();
  return json.Finish();
}

std::string PodStatusPatchBody(const PodStatusPatch& patch, Time now) {
  Json json;
  json.Open("metadata").TextIf("uid", patch.pod.uid).Close();
  json.Open("status");
  if (patch.condition) {
    Json condition;
    condition.Text("type", patch.condition->type).Text("status", patch.condition->status);
    condition.Text("reason", patch.condition->reason).Text("message", patch.condition->message);
    condition.Raw("lastProbeTime", "null");
    if (patch.transition) condition.Text("lastTransitionTime", FormatTime(now));
    if (patch.generation > 0) condition.Raw("observedGeneration", std::to_string(patch.generation));
    json.Raw("conditions", "[" + condition.Finish() + "]");
  }
  if (patch.nominated_node_name) {
    if (patch.nominated_node_name->empty()) {
      json.Raw("nominatedNodeName", "null");
    } else {
      json.Text("nominatedNodeName", *patch.nominated_node_name);
    }
  }
  json.Close();
  return json.Finish();
}

std::string VolumePatchBody(const VolumeClaimPatch& patch) {
  Json json;
  json.Open("metadata").Text("resourceVersion", patch.resource_version);
  if (patch.bound_by_controller) json.Open("annotations").Text("pv.kubernetes.io/bound-by-controller", "yes").Close();
  json.Close();
  json.Open("spec").Open("claimRef").Text("kind", "PersistentVolumeClaim").Text("apiVersion", "v1");
  json.Text("namespace", patch.claim.namespace_).Text("name", patch.claim.name).Text("uid", patch.claim.uid);
  json.TextIf("resourceVersion", patch.claim_version).Close().Close();
  return json.Finish();
}

std::string ClaimPatchBody(const ClaimNodePatch& patch) {
  Json json;
  json.Open("metadata").Text("resourceVersion", patch.resource_version);
  json.Open("annotations").Text("volume.kubernetes.io/selected-node", patch.node).Close().Close();
  return json.Finish();
}

std::string DeleteBody(const ObjectName& pod) {
  Json json;
  json.Text("kind", "DeleteOptions").Text("apiVersion", "v1");
  if (!pod.uid.empty()) json.Open("preconditions").Text("uid", pod.uid).Close();
  return json.Finish();
}

std::string_view EventNamespace(std::string_view about) { return about.empty() ? "default" : about; }

std::string EventName(const EventRecord& event) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<uint64_t>(event.time.ns), 16).ptr;
  std::string name;
  name.reserve(event.regarding.name.size() + 1 + digits.size());
  name.append(event.regarding.name).append(1, '.').append(digits.begin(), end);
  return CheckDnsSubdomain(name).empty() ? name : util::NewUuid();
}

namespace {

// metadata of an event.
void AddEventMetadata(const EventRecord& event, Json& json) {
  json.Open("metadata").Text("name", event.name.empty() ? EventName(event) : event.name);
  json.Text("namespace", EventNamespace(event.regarding.namespace_)).Close();
}

// What an event is about.
void AddReference(std::string_view key, const EventRecord& event, Json& json) {
  json.Open(key).Text("kind", event.kind).Text("apiVersion", event.api_version);
  json.TextIf("namespace", event.regarding.namespace_).Text("name", event.regarding.name);
  json.TextIf("uid", event.regarding.uid).TextIf("resourceVersion", event.resource_version).Close();
}

void AddSeries(const EventSeries& series, Json& json) {
  json.Open("series").Raw("count", std::to_string(series.count));
  json.Text("lastObservedTime", FormatMicroTime(series.last)).Close();
}

}  // namespace

std::string EventBody(const EventRecord& event, std::string_view reporting_instance, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) return ProtobufEvent(event, reporting_instance);
  Json json;
  json.Text("kind", "Event").Text("apiVersion", "events.k8s.io/v1");
  AddEventMetadata(event, json);
  json.Text("eventTime", FormatMicroTime(event.time));
  if (event.series) AddSeries(*event.series, json);
  json.Text("reportingController", event.reporting_controller).Text("reportingInstance", reporting_instance);
  json.Text("action", event.action).Text("reason", event.reason);
  AddReference("regarding", event, json);
  json.Text("note", event.note).Text("type", event.type);
  return json.Finish();
}

std::string EventSeriesBody(const EventRecord& event) {
  Json json;
  AddSeries(*event.series, json);
  return json.Finish();
}

std::string CoreEventBody(const EventRecord& event) {
  const EventSeries times = event.series.value_or(EventSeries{1, event.time});
  Json json;
  json.Text("kind", "Event").Text("apiVersion", "v1");
  AddEventMetadata(event, json);
  AddReference("involvedObject", event, json);
  json.Text("reason", event.reason).Text("message", event.note);
  json.Open("source").Text("component", event.reporting_controller).Close();
  json.Text("firstTimestamp", FormatTime(event.time)).Text("lastTimestamp", FormatTime(times.last));
  json.Raw("count", std::to_string(times.count)).Text("type", event.type).Raw("eventTime", "null");
  json.Text("reportingComponent", event.reporting_controller).Text("reportingInstance", "");
  return json.Finish();
}

std::string CoreEventSeriesBody(const EventRecord& event) {
  Json json;
  json.Raw("count", std::to_string(event.series->count)).Text("lastTimestamp", FormatTime(event.series->last));
  json.Text("message", event.note);
  return json.Finish();
}

std::string LeaseBody(const Lease& lease, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) return ProtobufLease(lease);
  Json json;
  json.Text("kind", "Lease").Text("apiVersion", "coordination.k8s.io/v1");
  json.Open("metadata").Text("name", lease.name).Text("namespace", lease.namespace_);
  json.TextIf("resourceVersion", lease.resource_version).TextIf("uid", lease.uid).Members(lease.other_metadata).Close();
  json.Open("spec").Text("holderIdentity", lease.holder);
  json.Raw("leaseDurationSeconds", std::to_string(lease.duration.ns / 1'000'000'000));
  json.Text("acquireTime", FormatMicroTime(lease.acquired)).Text("renewTime", FormatMicroTime(lease.renewed));
  json.Raw("leaseTransitions", std::to_string(lease.transitions)).Members(lease.other_spec).Close();
  return json.Finish();
}

}  // namespace berth::client
