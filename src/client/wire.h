// SPDX-License-Identifier: Apache-2.0
// What an API server says, read: pages of lists, events of watches, statuses, leases.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/annotations.h"
#include "berth/error.h"
#include "client/cluster_api.h"
#include "client/encodings.h"

namespace berth {
struct PodParts;
}

namespace berth::client {

// Whose own JSON is kept with them (SourceOf), for somebody who has to pass whole objects on. These kinds have to be
// read as JSON.
struct SourceKinds {
  bool pending_pods = false, placed_pods = false, nodes = false;
  bool any(Kind kind) const { return kind == Kind::kPod ? pending_pods || placed_pods : kind == Kind::kNode && nodes; }
};

// How many of the objects ignored in one page, or at the beginning of a watch, are named.
inline constexpr size_t kMaxWarnings = 5;

struct ListPage {
  std::vector<ClusterObject> objects;
  std::string resource_version;
  std::string next;                   // the token of the page behind it; empty: the last one
  std::vector<std::string> warnings;  // objects that were ignored, the first few by name
};
// Texts are read in place; they may grow by what the reader wants behind their end.
//
// An Error: it is not a list of that kind. Of pods and nodes the annotations of the given keys are kept.
Result<ListPage> ReadListPage(std::string& body, Encoding encoding, Kind kind, const AnnotationKeys& keep = {},
                              const SourceKinds& sources = {});

struct WatchLine {
  // One of the two.
  std::optional<WatchEvent> event;
  ApiStatus failure;               // code is not 200: an ERROR event
  bool version_too_large = false;  // the ERROR event's reason: the server has not come so far yet

  std::string warning;  // an object that could not be read; empty: none
};
// A line of JSON. An Error: it is no event of a watch.
Result<WatchLine> ReadWatchLine(std::string& line, Kind kind, const AnnotationKeys& keep = {},
                                const SourceKinds& sources = {});
// The same in protobuf: what a frame holds, without its length.
// `parts` of pods that were read before; may be null.
Result<WatchLine> ReadWatchFrame(std::string_view frame, Kind kind, const AnnotationKeys& keep = {},
                                 PodParts* parts = nullptr);

Result<Ptr<Pod>> ReadPod(std::string& body, Encoding encoding, const AnnotationKeys& keep = {});
Result<Lease> ReadLease(std::string& body, Encoding encoding);

// What the body of a 2xx has to be. Proxies, gateways and servers that are half there answer 200 as well.
struct Success {
  std::span<const std::string_view> kinds;  // any of these; of a Status, one that says Success
  std::string_view namespace_, name;        // of an object
  std::string_view uid = {};                // of a pod; empty: any
};
// What an answer said about itself.
struct Said {
  bool status = false;  // it is a Status, which names no object: the same bytes say the same to another request
  std::string version;  // of the object
};
// An Error says what it is instead. `said`, unless null, is filled in when there is none.
Error CheckSuccess(std::string& body, Encoding encoding, const Success& wanted, Said* said = nullptr);

// What an answer that is not 2xx says for itself: the message of a Status, or the beginning of whatever it is.
struct Refusal {
  std::string message;
  bool version_too_large = false;  // the server has not come so far yet
  bool invalid_uid = false;        // metadata.uid is among what is invalid
};
Refusal ReadRefusal(std::string& body, Encoding encoding);

}  // namespace berth::client
