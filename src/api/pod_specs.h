// SPDX-License-Identifier: Apache-2.0
// PodSpecs: what the specs of pods say, by their bytes, so that a spec that comes again is not read again.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/pod.h"
#include "util/secret_hash.h"

namespace berth {

class ProtoMessage;

// The API server sends a pod's whole spec with every change of its status, and once more when it is bound: all of it is
// as before, but for the node's name. And pods of one template often have the same spec to begin with.
//
// The bytes are known by a hash with the process's secret, so nobody can make two specs that are taken for each other.
// Thread safety: none.
class PodSpecs {
 public:
  // At most so many are kept; of those, whichever nobody has asked for lately go first.
  explicit PodSpecs(size_t most = 4096) : most_(most) {}

  // A pod is going to be read: nothing was found yet.
  void Begin() { found_ = false, missed_.reset(); }
  bool found() const { return found_; }
  // The pod that was kept with the same spec, without metadata, node and status; null: there is none. Of `spec`, a
  // PodSpec, the fields that are read count, but for the node's name. Valid until the next Keep.
  const Pod* Find(std::string_view spec, const ProtoMessage& message);
  // Keeps the spec of `pod`, which is what the last Find has not found, unless more went into it than these bytes.
  void Keep(const Pod& pod);
  // What the last Find was about is not to be kept.
  void Drop() { missed_.reset(); }
  size_t size() const { return known_.size(); }

 private:
  struct Entry {
    Pod pod;
    bool used = false;  // since it was last passed over
  };
  struct ByHash {
    size_t operator()(const Hash128& key) const { return static_cast<size_t>(key.low); }
  };
  void MakeRoom();

  const size_t most_;
  std::string read_;               // the bytes that count, of the last Find
  std::optional<Hash128> missed_;  // by the last Find
  bool found_ = false;             // by the last Find
  std::unordered_map<Hash128, std::unique_ptr<Entry>, ByHash> known_;
  std::vector<Hash128> round_;  // all of them, in the order in which they are looked at for room
  size_t next_ = 0;
};

// `pod.resources` is that of its spec alone: its status says nothing about resources.
bool HasPlainResources(const Pod& pod);

}  // namespace berth
