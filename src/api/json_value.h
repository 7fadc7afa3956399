// SPDX-License-Identifier: Apache-2.0
// JSON text into a Value. Numbers keep the text they were written with; a key that appears twice in one object is an
// error that names its path.
#pragma once

#include <string>
#include <vector>

#include "berth/args.h"
#include "berth/value.h"

namespace berth {

// The value; errors are added to `errors`. What could not be read is null, of a repeated key the first value counts.
Value ParseJson(const std::string& json, std::vector<FieldError>& errors);

}  // namespace berth
