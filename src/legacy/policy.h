// SPDX-License-Identifier: Apache-2.0
// A Policy: predicates and priorities into the plugins of a profile, extenders into v1's.
#pragma once

#include "berth/value.h"
#include "legacy/draft.h"

namespace berth::legacy {

// What a Policy says beside the plugins of a profile.
struct PolicyRest {
  Value extenders;  // v1's list; null: none
};

// Fills the profile's plugins and arguments. REQUIRES: the draft's source is the Policy.
PolicyRest ConvertPolicy(Draft& draft, ProfileDraft& profile);

}  // namespace berth::legacy
