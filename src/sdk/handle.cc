// SPDX-License-Identifier: Apache-2.0
// What a host that does not write says.
#include "berth/handle.h"

#include <utility>

namespace berth {
inline namespace v1 {

void Writer::GiveVolume(const VolumeClaimPatch& patch, Written done) {
  const Written refuse = std::move(done);
  refuse(Error("this host does not write volumes: " + patch.volume));
}

void Writer::SelectNode(const ClaimNodePatch& patch, Written done) {
  const Written refuse = std::move(done);
  refuse(Error("this host does not write claims: " + patch.namespace_ + "/" + patch.name));
}

}  // namespace v1
}  // namespace berth
