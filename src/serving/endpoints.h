// SPDX-License-Identifier: Apache-2.0
// Endpoints: what a scheduler answers on its port, once it is known who asks and that he may.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/http.h"
#include "serving/answer_thread.h"
#include "serving/health.h"
#include "serving/zpages.h"

namespace berth::serving {

// What the process has to say. All of it is called on threads of the server and must be safe there; nothing but
// `metrics` may take long, and what throws is answered with 500. A function that is null is an endpoint that is not
// there.
struct EndpointSources {
  std::string component = "kube-scheduler";
  Time process_start;
  // Without any: ping.
  std::vector<HealthCheck> healthz = {}, livez = {}, readyz = {};
  std::function<void(const std::string& checks, const std::string& reasons)> on_unhealthy = nullptr;
  // Lines, each with its end, that /readyz?verbose has besides the checks.
  std::function<std::string()> readyz_notes = nullptr;

  // The text of a scrape, and forgetting what has labels. On a thread of its own.
  std::function<std::string()> metrics = nullptr;
  std::function<void()> reset_metrics = nullptr;
  // /metrics/resources, in the same form: gives, later, from any thread, once, what makes the text, which is called on
  // that thread of its own; null: we do not lead.
  using MakeText = std::function<std::string()>;
  using GiveText = std::function<void(MakeText)>;
  std::function<void(GiveText)> resource_metrics = nullptr;

  // The configuration as JSON, without what is around it.
  std::function<std::string()> configz = nullptr;
  std::function<Flagz::Flags()> flagz = nullptr;
  bool statusz = true;
  std::string runtime_version = "none (C++)";  // where kube-scheduler has that of Go
  std::string binary_version, emulation_version;
  // PUT /debug/flags/v. The Error is shown.
  std::function<Error(int32_t)> set_verbosity = nullptr;

  // Further paths, e.g. /debug/decisions; the handler's request has its path decoded.
  std::map<std::string, net::Handler, std::less<>> extra = {};
};

// Thread safety: Handle from any thread.
class Endpoints {
 public:
  // REQUIRES: `wall_clock` outlives it.
  Endpoints(EndpointSources sources, const Clock& wall_clock, std::function<uint64_t()> random);
  ~Endpoints();

  // REQUIRES: the path is decoded. What is asked later than its end is answered with 500.
  void Handle(net::HttpRequest request, net::Respond respond);
  // All paths that are listed, as /statusz counts them.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::optional<net::HttpResponse> AtOnce(const net::HttpRequest& request);
  net::HttpResponse SetVerbosity(const net::HttpRequest& request) const;
  void Metrics(const net::HttpRequest& request, const net::Respond& respond);
  void ResourceMetrics(const net::HttpRequest& request, net::Respond respond);
  net::HttpResponse Slis(const net::HttpRequest& request);

  const EndpointSources sources_;
  HealthRecord record_;
  std::vector<HealthEndpoint> health_;
  std::vector<std::string> paths_;
  std::unique_ptr<Flagz> flagz_;
  std::unique_ptr<Statusz> statusz_;
  // What gives a text later may do so when we are gone.
  std::shared_ptr<AnswerThread> thread_ = std::make_shared<AnswerThread>();
};

}  // namespace berth::serving
