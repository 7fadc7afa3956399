// SPDX-License-Identifier: Apache-2.0
// Difference: what a remembered decision and a full judgement of the same pod disagree about.
#pragma once

#include <string>

#include "framework/decision.h"
#include "framework/trace.h"

namespace berth::framework {

// Empty when they agree in kind, node, message, rejectors, preemption and record. Each side has its own profile and
// table of verdicts; texts are compared.
std::string Difference(const Decision& decision, const CycleTrace& trace, Judgement& judgement,
                       const Profile& judged_profile, const VerdictTable& judged_table, const Snapshot& snapshot,
                       const Profile& profile, const VerdictTable& table);

}  // namespace berth::framework
