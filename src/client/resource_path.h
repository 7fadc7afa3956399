// SPDX-License-Identifier: Apache-2.0
// Where an API server keeps what: paths and queries, encoded.
#pragma once

#include <string>
#include <string_view>

#include "berth/host/cluster_object.h"

namespace berth::client {

// As a part of a path, or a value in a query.
std::string UrlEncode(std::string_view text);

// All objects of a kind: /api/v1/pods.
std::string_view CollectionPath(Kind kind);
// Those of one namespace, where new ones are posted; of cluster-scoped kinds all of them, whatever the namespace.
std::string CollectionPath(Kind kind, std::string_view ns);
// One object of any kind.
std::string ObjectPath(Kind kind, std::string_view ns, std::string_view name);
// The part of a list's or watch's query that says which of them: "fieldSelector=…&", or nothing.
std::string_view Selection(Kind kind);
// /api/v1/namespaces/NS/pods/NAME, and what of it is meant ("/binding").
std::string PodPath(std::string_view ns, std::string_view name, std::string_view behind = "");
std::string ClaimPath(std::string_view ns, std::string_view name);
// Of core/v1 or events.k8s.io/v1; without a name, where new ones are posted.
std::string EventPath(bool core, std::string_view ns, std::string_view name = "");
std::string VolumePath(std::string_view name);

}  // namespace berth::client
