// SPDX-License-Identifier: Apache-2.0
// What we say to an API server, written as JSON; bindings, events and leases as protobuf, too (request_protobuf.cc).
#pragma once

#include <string>
#include <string_view>

#include "client/cluster_api.h"
#include "client/encodings.h"

namespace berth::client {

std::string BindingBody(const ObjectName& pod, const std::string& node, Encoding encoding = Encoding::kJson);
// A strategic merge patch; `now` is when the condition changed, if it is a transition.
std::string PodStatusPatchBody(const PodStatusPatch& patch, Time now);
// Merge patches with the version as a lock: what we know of these objects is less than what they are.
std::string VolumePatchBody(const VolumeClaimPatch& patch);
std::string ClaimPatchBody(const ClaimNodePatch& patch);
std::string DeleteBody(const ObjectName& pod);
std::string EventBody(const EventRecord& event, std::string_view reporting_instance,
                      Encoding encoding = Encoding::kJson);
// A strategic merge patch. REQUIRES: it has a series.
std::string EventSeriesBody(const EventRecord& event);
// The same as core/v1 events, for servers without events.k8s.io/v1 and for events about leases.
std::string CoreEventBody(const EventRecord& event);
std::string CoreEventSeriesBody(const EventRecord& event);
// REQUIRES: what the lease keeps of others is in that encoding.
std::string LeaseBody(const Lease& lease, Encoding encoding = Encoding::kJson);

// Where an event lives, and under which name: that of what it is about and its time, or a new UUID where that is no
// name for an object.
std::string_view EventNamespace(std::string_view about);  // the namespace of what it is about; empty: it has none
std::string EventName(const EventRecord& event);

// A text that is not UTF-8 loses what is not ASCII: better a changed event than none. `changed` holds it then.
std::string_view Utf8Of(std::string_view text, std::string& changed);

// As metav1.Time and metav1.MicroTime are written: 2006-01-02T15:04:05Z, 2006-01-02T15:04:05.000000Z.
std::string FormatTime(Time time);
std::string FormatMicroTime(Time time);

}  // namespace berth::client
