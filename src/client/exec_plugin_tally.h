// SPDX-License-Identifier: Apache-2.0
// ExecPluginTally: what the exec plugins of a process have done, for whoever shows it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/clock.h"

namespace berth::client {

// Thread safety: any thread.
class ExecPluginTally {
 public:
  // Where plugins count: equal ones are shared by all clients of the process.
  static ExecPluginTally& OfProcess();

  // The program was run; `status` is client-go's call_status, "no_error".
  void Called(int code, const std::string& status);
  // A certificate has been replaced, so many seconds after it became valid.
  void Rotated(double age_seconds);
  // The plugin's certificate is valid until then; none: it has none.
  void Expires(const void* plugin, std::optional<Time> when);

  using Calls = std::map<std::pair<int, std::string>, uint64_t>;  // by exit code and call_status
  Calls calls() const;
  // Ages of replaced certificates after the first `seen` ones, which then are all; of more than a thousand at once the
  // oldest are not known any more.
  std::vector<double> RotationsSince(uint64_t& seen) const;
  // When the first of the certificates ends; none: there are none.
  std::optional<Time> FirstExpiry() const;

 private:
  mutable std::mutex mutex_;
  // Under mutex_.
  Calls calls_;
  std::deque<double> ages_;  // the last ones
  uint64_t rotations_ = 0;   // of which there were so many
  std::map<const void*, Time> expiries_;
};

}  // namespace berth::client
