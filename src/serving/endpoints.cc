// SPDX-License-Identifier: Apache-2.0
#include "serving/endpoints.h"

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "serving/gzip.h"
#include "serving/media_type.h"
#include "serving/replies.h"

namespace berth::serving {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
constexpr char kReset[] = "metrics reset\n";
constexpr char kBusy[] = "too many scrapes wait for their answers";
// Which flags can be changed.
constexpr char kFlagsPage[] =
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
    "<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n";

// text/plain without more, and a line break behind it.
net::HttpResponse FlagReply(int status, std::string_view text) {
  net::HttpResponse response = TextError(status, text);
  response.content_type = "text/plain";
  return response;
}

net::HttpResponse Scraped(Time process_start, std::string text, bool gzip) {
  net::HttpResponse response;
  response.content_type = kMetricsType;
  response.headers.Add("Process-Start-Time-Unix", std::to_string(process_start.ns / 1'000'000'000));
  if (gzip) {
    std::string small = Gzip(text);
    if (!small.empty()) {
      text = std::move(small);
      response.headers.Add("Content-Encoding", "gzip");
    }
  }
  response.body = std::move(text);
  return response;
}

}  // namespace

Endpoints::Endpoints(EndpointSources sources, const Clock& wall_clock, std::function<uint64_t()> random)
    : sources_(std::move(sources)), record_(sources_.process_start) {
  health_.reserve(3);
  health_.emplace_back("healthz", sources_.healthz, record_, sources_.on_unhealthy);
  health_.emplace_back("livez", sources_.livez, record_, sources_.on_unhealthy);
  health_.emplace_back("readyz", sources_.readyz, record_, sources_.on_unhealthy, sources_.readyz_notes);
  for (const HealthEndpoint& health : health_) {
    for (std::string& path : health.Paths()) paths_.push_back(std::move(path));
  }
  if (sources_.configz) paths_.emplace_back("/configz");
  if (sources_.metrics) paths_.emplace_back("/metrics");
  if (sources_.resource_metrics) paths_.emplace_back("/metrics/resources");
  paths_.emplace_back("/metrics/slis");
  if (sources_.flagz) {
    paths_.emplace_back("/flagz");
    flagz_ = std::make_unique<Flagz>(sources_.component, sources_.flagz, random);
  }
  if (sources_.statusz) {
    StatuszFacts facts;
    facts.component = sources_.component;
    facts.process_start = sources_.process_start;
    facts.runtime_version = sources_.runtime_version;
    facts.binary_version = sources_.binary_version;
    facts.emulation_version = sources_.emulation_version;
    facts.paths = paths_;  // without itself, as upstream has it
    statusz_ = std::make_unique<Statusz>(std::move(facts), wall_clock, std::move(random));
  }
}

Endpoints::~Endpoints() { thread_->Stop(); }  // who gives a text later may keep the thread, but not us

void Endpoints::Handle(net::HttpRequest request, net::Respond respond) {
  if (const auto extra = sources_.extra.find(request.path); extra != sources_.extra.end())
    return extra->second(std::move(request), std::move(respond));
  if (request.path == "/metrics" && sources_.metrics) return Metrics(request, respond);
  if (request.path == "/metrics/resources" && sources_.resource_metrics)
    return ResourceMetrics(request, std::move(respond));
  std::optional<net::HttpResponse> response = AtOnce(request);
  respond(response ? std::move(*response) : NotFound());
}

std::optional<net::HttpResponse> Endpoints::AtOnce(const net::HttpRequest& request) {
  const std::string& path = request.path;
  for (const HealthEndpoint& health : health_) {
    if (auto response = health.Handle(path, request.query)) return response;
  }
  if (path == "/metrics/slis") return Slis(request);
  if (path == "/configz" && sources_.configz) {
    net::HttpResponse response;
    response.body = "{\"componentconfig\":" + sources_.configz() + "}";
    response.headers.Add("X-Content-Type-Options", "nosniff");
    return response;
  }
  if (path == "/flagz" && flagz_) return flagz_->Handle(request);
  if (path == "/statusz" && statusz_) return statusz_->Handle(request);
  if (!sources_.set_verbosity) return std::nullopt;
  if (path == "/debug/flags/v") return SetVerbosity(request);
  if (path == "/debug/flags" || path.starts_with("/debug/flags/")) {
    net::HttpResponse response = PlainText(200, kFlagsPage);
    response.content_type = "text/html; charset=utf-8";
    return response;
  }
  return std::nullopt;
}

net::HttpResponse Endpoints::SetVerbosity(const net::HttpRequest& request) const {
  if (request.method != "PUT") return FlagReply(406, "unsupported http method");
  const std::string& body = request.body;
  uint32_t level = 0;
  const char* end = body.data() + body.size();
  const auto [stop, error] = std::from_chars(body.data(), end, level);
  if (error == std::errc::result_out_of_range && stop == end)
    return FlagReply(400, "strconv.ParseUint: parsing " + GoQuoted(body) + ": value out of range");
  if (error != std::errc() || stop != end)
    return FlagReply(400, "strconv.ParseUint: parsing " + GoQuoted(body) + ": invalid syntax");
  if (level > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return FlagReply(400, "failed set klog.logging.verbosity " + body + ": strconv.ParseInt: parsing " +
                              GoQuoted(body) + ": value out of range");
  }
  const Error set = sources_.set_verbosity(static_cast<int32_t>(level));
  if (!set.ok()) return FlagReply(400, "failed set klog.logging.verbosity " + body + ": " + set.text());
  return FlagReply(200, "successfully set klog.logging.verbosity to " + body);
}

net::HttpResponse Endpoints::Slis(const net::HttpRequest& request) {
  if (request.method == "DELETE") {
    record_.Reset();
    return PlainText(200, kReset);
  }
  return Scraped(sources_.process_start, record_.Text(), TakesGzip(request));
}

void Endpoints::Metrics(const net::HttpRequest& request, const net::Respond& respond) {
  const bool reset = request.method == "DELETE", gzip = TakesGzip(request);
  const bool posted = thread_->Post([this, reset, gzip, respond] {
    if (reset) {
      if (sources_.reset_metrics) sources_.reset_metrics();
      return respond(PlainText(200, kReset));
    }
    respond(Scraped(sources_.process_start, sources_.metrics(), gzip));
  });
  if (!posted) respond(TextError(503, kBusy));
}

void Endpoints::ResourceMetrics(const net::HttpRequest& request, net::Respond respond) {
  const bool gzip = TakesGzip(request);
  sources_.resource_metrics([thread = std::weak_ptr(thread_), start = sources_.process_start, gzip,
                             respond = std::move(respond)](EndpointSources::MakeText make) {
    if (!make) {
      net::HttpResponse empty;
      empty.content_type = "";
      return respond(std::move(empty));
    }
    // Whoever has collected it has other things to do than to write it down and to compress it.
    const std::shared_ptr<AnswerThread> alive = thread.lock();
    const bool posted =
        alive && alive->Post([start, gzip, respond, make = std::move(make)] { respond(Scraped(start, make(), gzip)); });
    if (!posted) respond(TextError(503, kBusy));
  });
}

}  // namespace berth::serving
