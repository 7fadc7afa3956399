// SPDX-License-Identifier: Apache-2.0
// LiveWatch: one watch of an API server: lines or frames out of pieces, events out of those, letters out of events.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_parts.h"
#include "berth/annotations.h"
#include "client/cluster_api.h"
#include "client/encodings.h"
#include "client/wire.h"
#include "net/http_client.h"
#include "util/inbox.h"
#include "util/owner_link.h"

namespace berth::client {

struct LiveWatchLimits {
  // Of one event: a line of JSON, a frame of protobuf.
  size_t max_line_bytes = size_t{16} << 20;
  uint64_t max_unread_bytes = uint64_t{256} << 20;
  uint64_t max_initial_events = 20'000'000;  // more is a server that does not end
};

enum class WatchStart : uint8_t {
  kVersion,     // with what comes after a version
  kEverything,  // with all objects: a streamed list
};

// Shared by the connection, which fills it, and the letters, which empty it on the scheduling thread.
class LiveWatch : public std::enable_shared_from_this<LiveWatch> {
 public:
  // `watcher`: who watches; nothing is called once it has gone. `warn` is called on the connection's thread.
  // `unauthorized` says whether a new token is there by now. `not_protobuf` is told, on the connection's thread, that
  // what came as protobuf is none, or that the server has no such form.
  //
  // What a streamed list begins with is not held against max_unread_bytes: whoever asked keeps all of it anyway.
  LiveWatch(Kind kind, WatchStart start, std::shared_ptr<const AnnotationKeys> keep, util::Inbox& inbox,
            util::OwnerLink<Watch> watcher, WatchCallbacks callbacks, LiveWatchLimits limits,
            std::function<void(std::string)> warn, std::function<bool()> unauthorized,
            std::function<void(const std::string& why)> not_protobuf, const SourceKinds& sources = {})
      : kind_(kind),
        streamed_list_(start == WatchStart::kEverything),
        keep_(std::move(keep)),
        sources_(sources),
        inbox_(inbox),
        watcher_(std::move(watcher)),
        callbacks_(std::move(callbacks)),
        limits_(limits),
        warn_(std::move(warn)),
        unauthorized_(std::move(unauthorized)),
        not_protobuf_(std::move(not_protobuf)),
        initial_(streamed_list_) {}

  // The connection's thread.
  void OnHead(int status, Encoding encoding);
  void OnPiece(std::string_view piece);
  void OnEnd(const Error& error);

 private:
  struct Batch {
    std::vector<WatchEvent> events;
    uint64_t bytes = 0;
    std::unique_ptr<ApiStatus> closed;  // after the events
  };
  // Takes one event off `piece`, with what has come of it before. False: it is not complete, and all of it is taken.
  bool TakeLine(Batch& batch, std::string_view& piece);
  bool TakeFrame(Batch& batch, std::string_view& piece);
  void ReadLine(Batch& batch, std::string_view line);
  void TakeEvent(Batch& batch, Result<WatchLine>&& line, size_t size);
  void PassOver(const std::string& warning);
  void EndInitial();
  void Close(Batch& batch, ApiStatus status);
  void CloseUnreadable(Batch& batch, std::string why);
  void Post(Batch batch);

  const Kind kind_;
  const bool streamed_list_;
  const std::shared_ptr<const AnnotationKeys> keep_;
  PodParts parts_;  // the connection's thread's
  const SourceKinds sources_;
  util::Inbox& inbox_;
  const util::OwnerLink<Watch> watcher_;  // scheduling thread
  const WatchCallbacks callbacks_;
  const LiveWatchLimits limits_;
  const std::function<void(std::string)> warn_;
  const std::function<bool()> unauthorized_;
  const std::function<void(const std::string&)> not_protobuf_;

  // The connection's thread.
  int status_ = 0;
  Encoding encoding_ = Encoding::kJson;
  std::string rest_;  // a line or frame without its end yet, or the body of a refusal
  std::string line_;  // the one that is being read; keeps its memory
  bool closed_ = false;
  bool initial_;  // the end of the initial events has not come yet
  uint64_t initial_events_ = 0;
  size_t passed_over_ = 0;  // of the initial events
  std::atomic<uint64_t> unread_{0};
};

}  // namespace berth::client
