// SPDX-License-Identifier: Apache-2.0
// Which certificate the port shows: the given one, one that was kept, or one that is made.
#pragma once

#include <string>

#include "berth/clock.h"
#include "berth/error.h"
#include "serving/serving_options.h"

namespace berth::serving {

struct ServingCertificate {
  std::string certificate_file, key_file;  // read again as they change
  std::string certificate_data, key_data;  // in memory alone; go before files
  std::string said;                        // what to tell of it; empty: nothing
};

// Files that are named; else those in cert_dir, COMPONENT.crt and COMPONENT.key, which are made if neither is there,
// the key for its owner alone; else in memory. Errors name the file and the reason.
Result<ServingCertificate> ChooseCertificate(const ServingOptions& options, Time now);

}  // namespace berth::serving
