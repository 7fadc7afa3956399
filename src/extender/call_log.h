// SPDX-License-Identifier: Apache-2.0
// CallLog: a line for each call of an extender, and its bodies for who wants to see everything.
#pragma once

#include "extender/extender_routes.h"
#include "util/log.h"

namespace berth::extender {

// INFO: route, pod, nodes in and out, milliseconds; a call that failed is a warning with the reason. DEBUG: also
// request and reply (LoggedBody). Thread safety: any thread.
void LogCall(const Call& call, util::Log& log);

}  // namespace berth::extender
