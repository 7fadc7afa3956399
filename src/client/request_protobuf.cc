// SPDX-License-Identifier: Apache-2.0
#include "client/request_protobuf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/json_scan.h"
#include "client/request_body.h"

namespace berth::client {
namespace {

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

// Messages are written in one piece: what fills them runs twice, for a Size and for a Writer, which asks the same of
// every message within for its length. Field numbers are below 16, so that a tag is one byte.
enum WireType : uint32_t { kVarint = 0, kBytes = 2 };

size_t VarintSize(uint64_t value) { return value < 0x80 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7; }

class Size {
 public:
  void Text(uint32_t, std::string_view text) { Add(text.size()); }
  void Number(uint32_t, uint64_t value) { size_ += 1 + VarintSize(value); }
  template <class Fill>
  void Message(uint32_t, const Fill& fill) {
    Add(Of(fill));
  }
  void Raw(std::string_view fields) { size_ += fields.size(); }

  template <class Fill>
  static size_t Of(const Fill& fill) {
    Size size;
    fill(size);
    return size.size_;
  }

 private:
  void Add(size_t length) { size_ += 1 + VarintSize(length) + length; }
  size_t size_ = 0;
};

// REQUIRES: `at` has room for what a Size has counted.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}
  void Text(uint32_t number, std::string_view text) {
    Head(number, kBytes, text.size());
    Raw(text);
  }
  void Number(uint32_t number, uint64_t value) { Head(number, kVarint, value); }
  template <class Fill>
  void Message(uint32_t number, const Fill& fill) {
    Head(number, kBytes, Size::Of(fill));
    fill(*this);
  }
  // Bytes that are fields already, or come before all of them.
  void Raw(std::string_view bytes) { at_ += bytes.copy(at_, bytes.size()); }

 private:
  void Head(uint32_t number, WireType type, uint64_t value) {
    assert(number < 16);
    *at_++ = static_cast<char>(number << 3 | type);
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  char* at_;
};

// Nothing for an empty one.
template <class Sink>
void TextIf(Sink& to, uint32_t number, std::string_view text) {
  if (!text.empty()) to.Text(number, text);
}

// A MicroTime.
template <class Sink>
void Moment(Sink& to, uint32_t number, Time time) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = time.ns / kSecond, nanos = time.ns % kSecond;
  if (nanos < 0) {
    --seconds;
    nanos += kSecond;
  }
  to.Message(number, [&](auto& moment) {
    moment.Number(timestamp::kSeconds, static_cast<uint64_t>(seconds));
    moment.Number(timestamp::kNanos, static_cast<uint64_t>(nanos - nanos % 1000));
  });
}

// As protobuf has an int32.
uint64_t Int32(int32_t value) { return static_cast<uint64_t>(int64_t{value}); }

// The envelope around what `fill` writes of an object.
template <class Fill>
std::string Envelope(std::string_view api_version, std::string_view kind, const Fill& fill) {
  const auto envelope = [&](auto& to) {
    to.Raw(kEnvelopeMagic);
    to.Message(unknown::kTypeMeta, [&](auto& type) {
      type.Text(unknown::kApiVersion, api_version);
      type.Text(unknown::kKind, kind);
    });
    to.Message(unknown::kRaw, fill);
  };
  std::string body(Size::Of(envelope), '\0');
  Writer writer(body.data());
  envelope(writer);
  return body;
}

// Texts as they may be written (Utf8Of). Those that have to be changed are few, and `changed` holds them.
class GoodTexts {
 public:
  template <size_t kCount>
  explicit GoodTexts(std::array<std::string_view, kCount>& texts) {
    if (std::ranges::all_of(texts, IsAscii)) return;
    changed_.reserve(kCount);
    for (std::string_view& text : texts) text = Utf8Of(text, changed_.emplace_back());
  }

 private:
  std::vector<std::string> changed_;
};

}  // namespace

std::string ProtobufBinding(const ObjectName& pod, const std::string& node) {
  std::array<std::string_view, 4> texts = {pod.name, pod.namespace_, pod.uid, node};
  const GoodTexts good(texts);
  const std::string_view name = texts[0], ns = texts[1], uid = texts[2], target_name = texts[3];
  return Envelope("v1", "Binding", [&](auto& object) {
    object.Message(binding::kMetadata, [&](auto& metadata) {
      metadata.Text(meta::kName, name);
      metadata.Text(meta::kNamespace, ns);
      TextIf(metadata, meta::kUid, uid);
    });
    object.Message(binding::kTarget, [&](auto& target) {
      target.Text(reference::kKind, "Node");
      target.Text(reference::kName, target_name);
    });
  });
}

std::string ProtobufEvent(const EventRecord& record, std::string_view reporting_instance) {
  const std::string made_name = record.name.empty() ? EventName(record) : "";
  std::array<std::string_view, 14> texts = {record.name.empty() ? made_name : record.name,
                                            EventNamespace(record.regarding.namespace_),
                                            record.reporting_controller,
                                            reporting_instance,
                                            record.action,
                                            record.reason,
                                            record.note,
                                            record.type,
                                            record.kind,
                                            record.api_version,
                                            record.resource_version,
                                            record.regarding.namespace_,
                                            record.regarding.name,
                                            record.regarding.uid};
  const GoodTexts good(texts);
  const std::string_view name = texts[0], ns = texts[1], controller = texts[2], instance = texts[3], action = texts[4],
                         reason = texts[5], note = texts[6], type = texts[7], kind = texts[8], api_version = texts[9],
                         version = texts[10], about_ns = texts[11], about = texts[12], uid = texts[13];
  return Envelope("events.k8s.io/v1", "Event", [&](auto& object) {
    object.Message(event::kMetadata, [&](auto& metadata) {
      metadata.Text(meta::kName, name);
      metadata.Text(meta::kNamespace, ns);
    });
    Moment(object, event::kEventTime, record.time);
    if (record.series) {
      object.Message(event::kSeries, [&](auto& series) {
        series.Number(event::kCount, Int32(record.series->count));
        Moment(series, event::kLastObservedTime, record.series->last);
      });
    }
    object.Text(event::kReportingController, controller);
    object.Text(event::kReportingInstance, instance);
    object.Text(event::kAction, action);
    object.Text(event::kReason, reason);
    object.Message(event::kRegarding, [&](auto& regarding) {
      regarding.Text(reference::kKind, kind);
      TextIf(regarding, reference::kNamespace, about_ns);
      regarding.Text(reference::kName, about);
      TextIf(regarding, reference::kUid, uid);
      regarding.Text(reference::kApiVersion, api_version);
      TextIf(regarding, reference::kResourceVersion, version);
    });
    object.Text(event::kNote, note);
    object.Text(event::kType, type);
  });
}

std::string ProtobufLease(const Lease& record) {
  std::array<std::string_view, 5> texts = {record.name, record.namespace_, record.uid, record.resource_version,
                                           record.holder};
  const GoodTexts good(texts);
  const std::string_view name = texts[0], ns = texts[1], uid = texts[2], version = texts[3], holder = texts[4];
  return Envelope("coordination.k8s.io/v1", "Lease", [&](auto& object) {
    // What others wrote is fields already: it only has to stand among ours.
    object.Message(lease::kMetadata, [&](auto& metadata) {
      metadata.Text(meta::kName, name);
      metadata.Text(meta::kNamespace, ns);
      TextIf(metadata, meta::kUid, uid);
      TextIf(metadata, meta::kResourceVersion, version);
      metadata.Raw(record.other_metadata);
    });
    object.Message(lease::kSpec, [&](auto& spec) {
      spec.Text(lease::kHolder, holder);
      spec.Number(lease::kDuration, Int32(static_cast<int32_t>(record.duration.ns / 1'000'000'000)));
      Moment(spec, lease::kAcquireTime, record.acquired);
      Moment(spec, lease::kRenewTime, record.renewed);
      spec.Number(lease::kTransitions, Int32(record.transitions));
      spec.Raw(record.other_spec);
    });
  });
}

}  // namespace berth::client
