// SPDX-License-Identifier: Apache-2.0
// ExtenderRoutes: HTTP requests to an ExtenderService. Knows messages, not sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "extender/extender_service.h"
#include "net/http.h"

namespace berth::extender {

enum class Verb : uint8_t { kFilter, kFilterBest, kPrioritize, kPreempt, kBind };
std::string_view ToString(Verb verb);  // "filter", "filter (only the best)", …

struct Route {
  std::string path;  // begins with a slash
  Verb verb;
  bool operator==(const Route&) const = default;
};

// The verbs of an extender in kube-scheduler's configuration; an empty one is not served.
struct Verbs {
  std::string filter, prioritize, preempt, bind;
  bool only_best = false;
};

// The paths that kube-scheduler builds of urlPrefix and verbs. The Error names a verb that is not a path, and two that
// are one path.
Result<std::vector<Route>> RoutesOf(const std::string& prefix, const Verbs& verbs);

// What one call was, for logs and metrics.
struct Call {
  std::string path;
  Verb verb;
  int status = 200;
  std::string pod;                     // namespace/name; empty when it could not be read
  size_t nodes_in = 0, nodes_out = 0;  // asked about, and passed, scored or kept
  size_t bytes_in = 0, bytes_out = 0;
  std::string error;  // the protocol's Error or the reply's sentence; empty: none
  int64_t nanoseconds = 0;
};
using OnCall = std::function<void(const Call&)>;

// POST on the routes; GET /version, /healthz, /livez, /readyz. Another path is 404, another method 405. A body that is
// not what the verb takes is 400 with a sentence; so is a request without pod or nodes where the reply has no Error.
// What else fails goes to the reply's Error; prioritize and preempt, which have none, answer 500 with the sentence.
//
// Thread safety: Handle from any thread.
class ExtenderRoutes {
 public:
  // The Error names a path that is given twice or is taken. REQUIRES: the service outlives the routes.
  static Result<std::unique_ptr<ExtenderRoutes>> Make(ExtenderService& service, const std::vector<Route>& routes,
                                                      OnCall on_call = nullptr);

  // REQUIRES: the routes live until `respond` was called.
  void Handle(net::HttpRequest request, const net::Respond& respond) const;

 private:
  ExtenderRoutes(ExtenderService& service, OnCall on_call) : service_(service), on_call_(std::move(on_call)) {}
  void Serve(Call call, std::string body, const net::Respond& respond) const;

  ExtenderService& service_;
  OnCall on_call_;
  std::map<std::string, Verb, std::less<>> verbs_;
};

}  // namespace berth::extender
