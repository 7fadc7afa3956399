// SPDX-License-Identifier: Apache-2.0
// Every field of a pod is in one of two lists: compared, or free. Structs inside are compared whole.
#include "framework/same_template.h"

#include <cstddef>
#include <tuple>

namespace berth::framework {
namespace {

// Those that are cheap to compare and often differ come first; equal lists are mostly one and the same.
constexpr std::tuple kMetaCompared{&ObjectMeta::labels, &ObjectMeta::annotations, &ObjectMeta::namespace_,
                                   &ObjectMeta::owners};
constexpr std::tuple kMetaFree{&ObjectMeta::name,       &ObjectMeta::uid,           &ObjectMeta::resource_version,
                               &ObjectMeta::generation, &ObjectMeta::creation_time, &ObjectMeta::deletion_time};

constexpr std::tuple kCompared{
    &Pod::priority,          &Pod::containers,       &Pod::init_containers,    &Pod::tolerations,
    &Pod::node_selector,     &Pod::affinity,         &Pod::topology_spread,    &Pod::volumes,
    &Pod::resource_claims,   &Pod::scheduler_name,   &Pod::node_name,          &Pod::priority_class_name,
    &Pod::preemption_policy, &Pod::overhead,         &Pod::pod_requests,       &Pod::scheduling_gates,
    &Pod::host_network,      &Pod::host_users,       &Pod::container_statuses, &Pod::init_container_statuses,
    &Pod::status_requests,   &Pod::status_allocated, &Pod::pod_limits};
constexpr std::tuple kFree{&Pod::phase, &Pod::nominated_node_name, &Pod::start_time, &Pod::conditions,
                           &Pod::resources};  // derived from what is compared

// These do not compile when a field comes or goes: put it into a list above, then count again here.
[[maybe_unused]] void CountFields(const ObjectMeta& meta, const Pod& pod) {
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = meta;
  static_assert(std::tuple_size_v<decltype(kMetaCompared)> + std::tuple_size_v<decltype(kMetaFree)> == 10);
  [[maybe_unused]] const auto& [p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19,
                                p20, p21, p22, p23, p24, p25, p26, p27, p28, p29] = pod;
  constexpr size_t kMeta = 1;  // has lists of its own
  static_assert(kMeta + std::tuple_size_v<decltype(kCompared)> + std::tuple_size_v<decltype(kFree)> == 29);
}

template <class T, class Fields>
bool Equal(const T& a, const T& b, const Fields& fields) {
  return std::apply([&](auto... field) { return ((a.*field == b.*field) && ...); }, fields);
}

}  // namespace

bool SameTemplate(const Pod& a, const Pod& b) { return Equal(a.meta, b.meta, kMetaCompared) && Equal(a, b, kCompared); }

}  // namespace berth::framework
