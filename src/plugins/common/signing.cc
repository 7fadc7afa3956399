// SPDX-License-Identifier: Apache-2.0
// Signature parts; see signing.h. Lists are preceded by their length, so that no two different pods read alike.
#include "plugins/common/signing.h"

namespace berth::plugins {

void SignTolerations(const std::vector<Toleration>& tolerations, Signature& out) {
  out.Add(static_cast<int64_t>(tolerations.size()));
  for (const Toleration& t : tolerations) {
    out.Add(t.key);
    out.Add(static_cast<int64_t>(t.op));
    out.Add(t.value);
    out.Add(static_cast<int64_t>(t.effect));
  }
}

void SignResources(const Resources& resources, Signature& out) {
  out.Add(resources.milli_cpu);
  out.Add(resources.memory);
  out.Add(resources.ephemeral_storage);
  out.Add(static_cast<int64_t>(resources.scalars.size()));
  for (const auto& [id, amount] : resources.scalars) {
    out.Add(static_cast<int64_t>(Index(id)));
    out.Add(amount);
  }
}

void SignRequirements(const std::vector<Requirement>& requirements, Signature& out) {
  out.Add(static_cast<int64_t>(requirements.size()));
  for (const Requirement& r : requirements) {
    out.Add(r.key);
    out.Add(static_cast<int64_t>(r.op));
    out.Add(static_cast<int64_t>(r.values.size()));
    for (const std::string& value : r.values) out.Add(value);
  }
}

void SignTerm(const NodeSelectorTerm& term, Signature& out) {
  SignRequirements(term.match_expressions, out);
  SignRequirements(term.match_fields, out);
  out.Add(term.invalid);
}

}  // namespace berth::plugins
