// SPDX-License-Identifier: Apache-2.0
// /statusz and /flagz: what runs here, and how it was started.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "net/http.h"

namespace berth::serving {

struct StatuszFacts {
  std::string component = "kube-scheduler";
  Time process_start;
  // What is in the place of Go's version; binary version without a "v".
  std::string runtime_version, binary_version, emulation_version;
  std::vector<std::string> paths;  // of endpoints; the first part of each is shown
};

// Text for people, with a delimiter that is drawn each time so that nobody parses it; JSON or YAML for those who ask
// for the kind Statusz of config.k8s.io.
//
// Thread safety: all methods.
class Statusz {
 public:
  // REQUIRES: `wall_clock` outlives it. `random` draws the delimiter.
  Statusz(StatuszFacts facts, const Clock& wall_clock, std::function<uint64_t()> random);
  net::HttpResponse Handle(const net::HttpRequest& request) const;

 private:
  const StatuszFacts facts_;
  const Clock& clock_;
  const std::function<uint64_t()> random_;
  std::vector<std::string> paths_;
};

// The same for flags. The text is made once.
//
// Thread safety: all methods.
class Flagz {
 public:
  using Flags = std::map<std::string, std::string>;
  // `flags` is called on a thread of the server.
  Flagz(std::string component, std::function<Flags()> flags, std::function<uint64_t()> random);
  net::HttpResponse Handle(const net::HttpRequest& request) const;

 private:
  const std::string component_;
  const std::function<Flags()> flags_;
  const std::function<uint64_t()> random_;
  mutable std::mutex mutex_;
  mutable std::string text_;  // under mutex_
};

}  // namespace berth::serving
