// SPDX-License-Identifier: Apache-2.0
// PodSpecs: what the specs of pods say, by their bytes, so that a spec that comes again is not read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "berth/pod.h"

namespace berth {

class ProtoMessage;

// The API server sends a pod's whole spec with every change of its status, and once more when it is bound: all of it is
// as before, but for the node's name. And pods of one template often have the same spec to begin with.
//
// Thread safety: none.
class PodSpecs {
 public:
  // What is read is larger than its bytes, and it is kept when its pods are gone: of huge specs nothing is kept.
  static constexpr size_t kMaxSpecBytes = size_t{16} << 10;

  // Keeps at most `most` specs and `most_bytes` of their bytes. Those that were not found lately go first.
  explicit PodSpecs(size_t most = 4096, size_t most_bytes = size_t{4} << 20) : most_(most), most_bytes_(most_bytes) {}

  // A pod is going to be read: nothing was found yet.
  void Begin() { found_ = false, missed_.reset(); }
  bool found() const { return found_; }
  // The pod that was kept with the same spec, without metadata, node and status; null: there is none. Of `spec`, a
  // PodSpec, the fields that are read count, but for the node's name. Valid until the next Keep.
  const Pod* Find(std::string_view spec, const ProtoMessage& message);
  // Keeps the spec of `pod`, which is what the last Find has not found, unless more went into it than these bytes.
  void Keep(const Pod& pod);
  // What the last Find was about is not to be kept.
  void Drop() { Begin(); }
  size_t size() const { return known_.size(); }

 private:
  struct Entry {
    Pod pod;
    std::string bytes;  // that count, of its spec
    bool used = false;  // since the last look for room
  };
  void MakeRoom(size_t bytes);

  const size_t most_, most_bytes_;
  std::string read_;                                            // the bytes that count, of the last Find
  std::optional<uint64_t> missed_;                              // the hash of those, if they were not found
  bool found_ = false;                                          // by the last Find
  std::unordered_map<uint64_t, std::unique_ptr<Entry>> known_;  // by the hash of their bytes
  std::deque<uint64_t> round_;  // all of them, in the order in which they are looked at for room
  size_t bytes_ = 0;            // of all of them
};

// `pod.resources` is that of its spec alone: its status says nothing about resources.
bool HasPlainResources(const Pod& pod);

}  // namespace berth
