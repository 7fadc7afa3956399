// SPDX-License-Identifier: Apache-2.0
// The log of `berth scheduler`, out of its flags.
#pragma once

#include "berth/error.h"
#include "cli/scheduler_flags.h"
#include "config/feature_gates.h"
#include "util/log.h"

namespace berth::cli {

// What is wrong with the flags, all of it, in kube-scheduler's words; in ours for what the gate LoggingAlphaOptions
// allows and Berth does not have.
Error CheckLogs(const LogsFlags& flags, const config::FeatureGates& gates);
// REQUIRES: nothing is wrong with them.
util::LogOptions LogOptionsOf(const LogsFlags& flags);

}  // namespace berth::cli
