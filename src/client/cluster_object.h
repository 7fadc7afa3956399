// SPDX-License-Identifier: Apache-2.0
// The words of berth/host/cluster_object.h, where code says them with client:: in front.
#pragma once

#include "berth/host/cluster_object.h"

namespace berth::client {

using berth::ClusterObject;
using berth::FindKind;
using berth::IsNamespaced;
using berth::Kind;
using berth::KindOf;
using berth::kKindCount;
using berth::MetaOf;
using berth::Ptr;
using berth::ToString;
using berth::VersionNumber;
using berth::WithMeta;

}  // namespace berth::client
