// SPDX-License-Identifier: Apache-2.0
// What is written most, as protobuf: request_body.h's bodies in the other encoding.
#pragma once

#include <string>
#include <string_view>

#include "client/cluster_api.h"

namespace berth::client {

std::string ProtobufBinding(const ObjectName& pod, const std::string& node);
// events.k8s.io/v1.
std::string ProtobufEvent(const EventRecord& event, std::string_view reporting_instance);
std::string ProtobufLease(const Lease& lease);

}  // namespace berth::client
