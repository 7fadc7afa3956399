// SPDX-License-Identifier: Apache-2.0
// ExtenderRoutes: HTTP requests to an ExtenderService. Knows messages, not sockets.
#pragma once

#include <chrono>
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
#include "util/metrics.h"
#include "util/owner_link.h"

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

// The paths that kube-scheduler builds of urlPrefix and verbs. The Error names a prefix or verb that is not a path, and
// two verbs that are one path.
Result<std::vector<Route>> RoutesOf(const std::string& prefix, const Verbs& verbs);

// What one call was, for logs and metrics.
struct Call {
  std::string path;
  Verb verb;
  int status = 200;
  std::string pod;                     // namespace/name; empty when it could not be read
  std::string node;                    // bind alone: where to
  size_t nodes_in = 0, nodes_out = 0;  // asked about, and passed, scored or kept
  std::string error;                   // the protocol's Error or the reply's sentence; empty: none
  int64_t nanoseconds = 0;
  size_t bytes_in = 0;
  std::string_view request, reply;  // the bodies; valid while OnCall runs. See RouteOptions::keep_requests.

  // The asker did not get what it asked for, though the status may be 200.
  bool failed() const { return status != 200 || !error.empty(); }
};
using OnCall = std::function<void(const Call&)>;
// A request that no verb took: 404 or 405.
using OnStray = std::function<void(int status, const std::string& method, const std::string& path)>;

struct RouteOptions {
  OnCall on_call = nullptr;          // told of each call before it is answered, on any thread
  OnStray on_stray = nullptr;        // the same of those that are no calls
  bool keep_requests = false;        // for on_call; without it a request's memory may have become its reply's
  util::Metrics* metrics = nullptr;  // counts requests and is shown at /metrics; null: neither
};

// POST on the routes; GET /version, /healthz, /livez, /readyz, /metrics. Another path is 404, another method 405. A
// body that is not what the verb takes is 400 with a sentence; so is a request without pod or nodes where the reply has
// no Error. What else fails goes to the reply's Error; prioritize and preempt, which have none, answer 500 with the
// sentence.
//
// Thread safety: Handle from any thread.
class ExtenderRoutes {
 public:
  // The Error names a path that is given twice or is taken. REQUIRES: service and metrics outlive the routes.
  static Result<std::unique_ptr<ExtenderRoutes>> Make(ExtenderService& service, const std::vector<Route>& routes,
                                                      RouteOptions options = {});
  ~ExtenderRoutes();

  using Steady = std::chrono::steady_clock;

  // Whether it is a call, that is, whether plugins are asked; everything else is answered at once.
  bool IsCall(const net::HttpRequest& request) const;
  // A binding may be answered when the routes are gone: nobody is told of it then. `came`: when the request was there.
  void Handle(net::HttpRequest request, net::Respond respond, Steady::time_point came = Steady::now()) const;
  // Answers a call without asking anybody.
  void Refuse(net::HttpRequest request, net::Respond respond, int status, const std::string& sentence) const;
  // The server answered a request with this status by itself.
  void CountRefusal(int status) const;
  // Nobody is told of a call any more, nor counts it.
  void Close();

 private:
  class Counters;
  struct Served {
    Verb verb;
    std::unique_ptr<Counters> counters;  // null without metrics
  };
  ExtenderRoutes(ExtenderService& service, RouteOptions options);
  struct Finish;
  net::HttpResponse Own(const net::HttpRequest& request) const;
  // REQUIRES: a call.
  Finish Begin(net::HttpRequest request, net::Respond respond, Steady::time_point came) const;
  static void Serve(ExtenderService& service, Finish finish);
  static void Filter(ExtenderService& service, Finish finish);
  static void Prioritize(ExtenderService& service, Finish finish);
  static void Preempt(ExtenderService& service, Finish finish);
  static void Bind(ExtenderService& service, Finish finish);

  ExtenderService& service_;
  const RouteOptions options_;
  std::map<std::string, Served, std::less<>> served_;
  std::unique_ptr<Counters> other_;
  // Answers of bindings come on any thread at any time; what is told of them needs the routes.
  util::Owner<const ExtenderRoutes> owner_{this};
};

}  // namespace berth::extender
