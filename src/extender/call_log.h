// SPDX-License-Identifier: Apache-2.0
// CallLog: a line for each call of an extender, and its bodies for those who want to see everything.
#pragma once

#include <string>

#include "extender/extender_routes.h"
#include "util/log.h"

namespace berth::extender {

// INFO: route, pod, nodes in and out, milliseconds; a call that failed is a warning with the reason. DEBUG (-v=4): also
// request and reply (LoggedBody). Thread safety: any thread.
// Names and reasons of any length are cut.
void LogCall(const Call& call, util::Log& log);
// A warning: a request that no verb took, most often because of a wrong urlPrefix or verb in kube-scheduler's
// configuration. Thread safety: any thread.
void LogStray(int status, const std::string& method, const std::string& path, util::Log& log);

}  // namespace berth::extender
