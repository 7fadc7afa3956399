// SPDX-License-Identifier: Apache-2.0
#include "client/request_protobuf.h"

#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "client/request_body.h"

namespace berth::client {
namespace {

using protozero::pbf_writer;

// Field numbers of k8s.io/apimachinery and k8s.io/api v0.36.4.
namespace unknown {  // runtime.Unknown and its TypeMeta
enum : uint32_t { kTypeMeta = 1, kRaw = 2 };
enum : uint32_t { kApiVersion = 1, kKind = 2 };
}  // namespace unknown
namespace meta {  // ObjectMeta
enum : uint32_t { kName = 1, kNamespace = 3, kUid = 5, kResourceVersion = 6 };
}
namespace timestamp {
enum : uint32_t { kSeconds = 1, kNanos = 2 };
}
namespace reference {  // ObjectReference
enum : uint32_t { kKind = 1, kNamespace = 2, kName = 3, kUid = 4, kApiVersion = 5, kResourceVersion = 6 };
}
namespace binding {
enum : uint32_t { kMetadata = 1, kTarget = 2 };
}
namespace event {  // of events.k8s.io/v1, and its series
enum : uint32_t {
  kMetadata = 1,
  kEventTime = 2,
  kSeries = 3,
  kReportingController = 4,
  kReportingInstance = 5,
  kAction = 6,
  kReason = 7,
  kRegarding = 8,
  kNote = 10,
  kType = 11
};
enum : uint32_t { kCount = 1, kLastObservedTime = 2 };
}  // namespace event
namespace lease {  // and its spec
enum : uint32_t { kMetadata = 1, kSpec = 2 };
enum : uint32_t { kHolder = 1, kDuration = 2, kAcquireTime = 3, kRenewTime = 4, kTransitions = 5 };
}  // namespace lease

constexpr std::string_view kEnvelopeMagic("k8s\0", 4);

void Text(pbf_writer& to, uint32_t number, std::string_view text) {
  std::string changed;
  const std::string_view good = Utf8Of(text, changed);
  to.add_bytes(number, good.data(), good.size());
}
// Nothing for an empty one.
void TextIf(pbf_writer& to, uint32_t number, std::string_view text) {
  if (!text.empty()) Text(to, number, text);
}

// A MicroTime.
void Moment(pbf_writer& to, uint32_t number, Time time) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = time.ns / kSecond, nanos = time.ns % kSecond;
  if (nanos < 0) {
    --seconds;
    nanos += kSecond;
  }
  pbf_writer moment(to, number);
  moment.add_int64(timestamp::kSeconds, seconds);
  moment.add_int32(timestamp::kNanos, static_cast<int32_t>(nanos - nanos % 1000));
}

// The envelope around what `fill` writes of an object.
template <class Fill>
std::string Envelope(std::string_view api_version, std::string_view kind, size_t size, Fill&& fill) {
  std::string body;
  body.reserve(size + 64);
  body = kEnvelopeMagic;
  pbf_writer envelope(body);
  {
    pbf_writer type(envelope, unknown::kTypeMeta);
    Text(type, unknown::kApiVersion, api_version);
    Text(type, unknown::kKind, kind);
  }
  {
    pbf_writer object(envelope, unknown::kRaw);
    fill(object);
  }
  return body;
}

}  // namespace

std::string ProtobufBinding(const ObjectName& pod, const std::string& node) {
  const size_t size = pod.name.size() + pod.namespace_.size() + pod.uid.size() + node.size();
  return Envelope("v1", "Binding", size, [&](pbf_writer& object) {
    {
      pbf_writer metadata(object, binding::kMetadata);
      Text(metadata, meta::kName, pod.name);
      Text(metadata, meta::kNamespace, pod.namespace_);
      TextIf(metadata, meta::kUid, pod.uid);
    }
    pbf_writer target(object, binding::kTarget);
    Text(target, reference::kKind, "Node");
    Text(target, reference::kName, node);
  });
}

std::string ProtobufEvent(const EventRecord& record, const std::string& reporting_instance) {
  const size_t size = record.note.size() + reporting_instance.size() + 512;
  return Envelope("events.k8s.io/v1", "Event", size, [&](pbf_writer& object) {
    {
      pbf_writer metadata(object, event::kMetadata);
      Text(metadata, meta::kName, record.name.empty() ? EventName(record) : record.name);
      Text(metadata, meta::kNamespace, EventNamespace(record));
    }
    Moment(object, event::kEventTime, record.time);
    if (record.series) {
      pbf_writer series(object, event::kSeries);
      series.add_int32(event::kCount, record.series->count);
      Moment(series, event::kLastObservedTime, record.series->last);
    }
    Text(object, event::kReportingController, record.reporting_controller);
    Text(object, event::kReportingInstance, reporting_instance);
    Text(object, event::kAction, record.action);
    Text(object, event::kReason, record.reason);
    {
      pbf_writer regarding(object, event::kRegarding);
      Text(regarding, reference::kKind, record.kind);
      TextIf(regarding, reference::kNamespace, record.regarding.namespace_);
      Text(regarding, reference::kName, record.regarding.name);
      TextIf(regarding, reference::kUid, record.regarding.uid);
      Text(regarding, reference::kApiVersion, record.api_version);
      TextIf(regarding, reference::kResourceVersion, record.resource_version);
    }
    Text(object, event::kNote, record.note);
    Text(object, event::kType, record.type);
  });
}

std::string ProtobufLease(const Lease& record) {
  const size_t size = record.other_metadata.size() + record.other_spec.size() + 256;
  std::string body = Envelope("coordination.k8s.io/v1", "Lease", size, [&](pbf_writer& object) {
    // What others wrote is fields already: it only has to stand among ours.
    std::string metadata_bytes, spec_bytes;
    pbf_writer metadata(metadata_bytes), spec(spec_bytes);
    Text(metadata, meta::kName, record.name);
    Text(metadata, meta::kNamespace, record.namespace_);
    TextIf(metadata, meta::kUid, record.uid);
    TextIf(metadata, meta::kResourceVersion, record.resource_version);
    metadata_bytes += record.other_metadata;
    Text(spec, lease::kHolder, record.holder);
    spec.add_int32(lease::kDuration, static_cast<int32_t>(record.duration.ns / 1'000'000'000));
    Moment(spec, lease::kAcquireTime, record.acquired);
    Moment(spec, lease::kRenewTime, record.renewed);
    spec.add_int32(lease::kTransitions, record.transitions);
    spec_bytes += record.other_spec;
    object.add_message(lease::kMetadata, metadata_bytes);
    object.add_message(lease::kSpec, spec_bytes);
  });
  return body;
}

}  // namespace berth::client
