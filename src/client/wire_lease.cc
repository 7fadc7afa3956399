// SPDX-License-Identifier: Apache-2.0
// Leases, with all that others have written into them.
#include "client/wire_walk.h"

namespace berth::client {
using namespace wire;
namespace {

// Fields of a Lease, of its metadata and its spec (coordination/v1, meta/v1).
constexpr uint32_t kLeaseMetadata = 1, kLeaseSpec = 2;
constexpr uint32_t kMetaName = 1, kMetaNamespace = 3, kMetaUid = 5, kMetaVersion = 6, kMetaManagedFields = 17;
constexpr uint32_t kSpecHolder = 1, kSpecDuration = 2, kSpecAcquired = 3, kSpecRenewed = 4, kSpecTransitions = 5;

ProtoValue ValueOf(const ProtoFields& at) {
  ProtoValue value;
  value.bytes = at.bytes();
  value.varint = at.varint();
  value.wire = at.wire();
  value.micros = true;
  return value;
}

void ReadLeaseMetadata(Context& context, std::string_view bytes, Lease& lease) {
  ProtoFields fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case kMetaName:
        Read(context, ValueOf(fields), lease.name);
        break;
      case kMetaNamespace:
        Read(context, ValueOf(fields), lease.namespace_);
        break;
      case kMetaUid:
        Read(context, ValueOf(fields), lease.uid);
        break;
      case kMetaVersion:
        Read(context, ValueOf(fields), lease.resource_version);
        break;
      case kMetaManagedFields:  // the server keeps these by itself
        break;
      default:
        lease.other_metadata += fields.field();
    }
  }
  if (fields.broken()) BrokenMessage(context);
}

void ReadLeaseSpec(Context& context, std::string_view bytes, Lease& lease) {
  ProtoFields fields(bytes);
  while (fields.Next()) {
    std::optional<Time> time;
    int32_t seconds = 0;
    switch (fields.number()) {
      case kSpecHolder:
        Read(context, ValueOf(fields), lease.holder);
        break;
      case kSpecDuration:
        if (Read(context, ValueOf(fields), seconds)) lease.duration = Duration::Seconds(seconds);
        break;
      case kSpecAcquired:
        if (Read(context, ValueOf(fields), time)) lease.acquired = *time;
        break;
      case kSpecRenewed:
        if (Read(context, ValueOf(fields), time)) lease.renewed = *time;
        break;
      case kSpecTransitions:
        Read(context, ValueOf(fields), lease.transitions);
        break;
      default:
        lease.other_spec += fields.field();
    }
  }
  if (fields.broken()) BrokenMessage(context);
}

Error ReadProtobufLease(std::string_view body, Lease& lease) {
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  lease.protobuf = true;
  const std::optional<ProtoEnvelope> envelope = OpenEnvelope(context, body);
  if (!envelope || !IsKind(context, envelope->kind, "Lease")) return FirstError(errors);
  ProtoFields fields(envelope->raw);
  while (fields.Next() && errors.empty()) {
    if (fields.number() != kLeaseMetadata && fields.number() != kLeaseSpec) continue;
    At at(context, fields.number() == kLeaseMetadata ? "metadata" : "spec");
    if (fields.wire() != ProtoWire::kBytes) {
      WrongType(context, "a message", ValueOf(fields));
    } else if (fields.number() == kLeaseMetadata) {
      ReadLeaseMetadata(context, fields.bytes(), lease);
    } else {
      ReadLeaseSpec(context, fields.bytes(), lease);
    }
  }
  if (fields.broken()) BrokenMessage(context);
  return FirstError(errors);
}

// Adds the member to others, as the server wrote it.
void Keep(Context& context, std::string_view key, JsonValue value, std::string& members) {
  std::string_view text;
  if (auto error = simdjson::to_json_string(value).get(text)) return context.Broken(error);
  if (!members.empty()) members += ',';
  AppendJsonString(key, members);
  members += ':';
  members += text;
}

Error ReadJsonLease(std::string& body, Lease& lease) {
  return WalkJson(body, [&](Context& context, JsonValue root, std::string_view) {
    if (!HasKind(context, root, "", "Lease")) return;
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (key == "metadata") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue text) {
          if (part == "name") {
            Read(context, text, lease.name);
          } else if (part == "namespace") {
            Read(context, text, lease.namespace_);
          } else if (part == "resourceVersion") {
            Read(context, text, lease.resource_version);
          } else if (part == "uid") {
            Read(context, text, lease.uid);
          } else if (part != "managedFields") {  // the server keeps these by itself
            Keep(context, part, text, lease.other_metadata);
          }
        });
      } else if (key == "spec") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue member) {
          std::optional<Time> time;
          if (part == "holderIdentity") {
            Read(context, member, lease.holder);
          } else if (part == "leaseDurationSeconds") {
            int32_t seconds = 0;
            if (Read(context, member, seconds)) lease.duration = Duration::Seconds(seconds);
          } else if (part == "acquireTime") {
            if (Read(context, member, time)) lease.acquired = *time;
          } else if (part == "renewTime") {
            if (Read(context, member, time)) lease.renewed = *time;
          } else if (part == "leaseTransitions") {
            Read(context, member, lease.transitions);
          } else {
            Keep(context, part, member, lease.other_spec);
          }
        });
      }
    });
  });
}

}  // namespace

Result<Lease> ReadLease(std::string& body, Encoding encoding) {
  Lease lease;
  Error error = encoding == Encoding::kJson ? ReadJsonLease(body, lease) : ReadProtobufLease(body, lease);
  if (!error.ok()) return error;
  return lease;
}

}  // namespace berth::client
