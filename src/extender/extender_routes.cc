// SPDX-License-Identifier: Apache-2.0
// From path and method to a verb, and from its answer to status and body.
#include "extender/extender_routes.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <utility>

#include "berth/value.h"
#include "berth/version.h"

namespace berth::extender {
namespace {

constexpr std::string_view kOwnPaths[] = {"/version", "/healthz", "/livez", "/readyz", "/metrics"};

net::HttpResponse Text(int status, std::string text) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

net::HttpResponse WrongMethod(const std::string& method, const std::string& allowed) {
  net::HttpResponse response = Text(405, "method " + method.substr(0, 32) + " is not allowed; use " + allowed + "\n");
  response.headers.Add("Allow", allowed);
  return response;
}

}  // namespace

// The counters of one route.
class ExtenderRoutes::Counters {
 public:
  Counters(util::Metrics& metrics, const std::string& route)
      : metrics_(metrics),
        route_(route),
        seconds_(metrics.histogram("berth_extender_request_duration_seconds",
                                   "Time from a request's last byte to its answer, by route.",
                                   util::Metrics::Exponential(0.00001, 4, 11), {{"route", route}})),
        bytes_in_(metrics.histogram("berth_extender_request_size_bytes", "Sizes of requests, by route.", SizeBuckets(),
                                    {{"route", route}})),
        bytes_out_(metrics.histogram("berth_extender_response_size_bytes", "Sizes of replies, by route.", SizeBuckets(),
                                     {{"route", route}})),
        ok_(Requests(200, true)) {}
  void Count(int status, bool success, size_t bytes_in, size_t bytes_out, int64_t nanoseconds) const {
    CountStatus(status, success);
    bytes_in_.Observe(static_cast<double>(bytes_in));
    bytes_out_.Observe(static_cast<double>(bytes_out));
    seconds_.Observe(static_cast<double>(nanoseconds) / 1e9);
  }
  void CountStatus(int status, bool success) const {
    (status == 200 && success ? ok_ : Requests(status, success)).Add();
  }

 private:
  static std::vector<double> SizeBuckets() { return util::Metrics::Exponential(256, 8, 7); }
  util::Metrics::Counter Requests(int status, bool success) const {
    return metrics_.counter(
        "berth_extender_requests_total", "Requests, by route, status and whether the reply says what was asked for.",
        {{"route", route_}, {"code", std::to_string(status)}, {"result", success ? "success" : "error"}});
  }

  util::Metrics& metrics_;
  const std::string route_;
  const util::Metrics::Histogram seconds_, bytes_in_, bytes_out_;
  const util::Metrics::Counter ok_;
};

namespace {

int64_t Since(ExtenderRoutes::Steady::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(ExtenderRoutes::Steady::now() - start).count();
}

}  // namespace

// One call: its body, and what is to be done with the answer. Moved into callbacks.
struct ExtenderRoutes::Finish {
  Call call;
  std::string body;
  net::Respond respond;
  std::function<void(const Call&)> tell;
  bool keep_body = false;
  Steady::time_point start = Steady::now();

  void Send(net::HttpResponse response) {
    call.status = response.status;
    call.nanoseconds = Since(start);
    call.request = body;
    call.reply = response.body;
    tell(call);
    response.spare = std::move(body);
    respond(std::move(response));
  }
  void Json(std::string text) {
    net::HttpResponse response;
    response.body = std::move(text);
    Send(std::move(response));
  }
  void Refuse(int status, const std::string& sentence) {
    call.error = sentence;
    Send(Text(status, sentence + "\n"));
  }
};

void ExtenderRoutes::Filter(ExtenderService& service, Finish finish) {
  const Result<ExtenderArgs> args = DecodeExtenderArgs(finish.body, &service.cache(), service.annotations());
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  if (args->pod) finish.call.pod = FullName(*args->pod);
  const FilterResult result = service.Filter(*args, finish.call.verb == Verb::kFilterBest);
  finish.call.nodes_in = args->node_count();
  finish.call.nodes_out = result.passed.size();
  finish.call.error = result.error;
  finish.Json(finish.keep_body ? FilterResultJson(*args, result) : FilterResultJsonFrom(finish.body, *args, result));
}

void ExtenderRoutes::Prioritize(ExtenderService& service, Finish finish) {
  const Result<ExtenderArgs> args = DecodeExtenderArgs(finish.body, &service.cache(), service.annotations());
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  if (!args->pod) return finish.Refuse(400, "Pod: Required value");
  if (!args->nodes && !args->node_names) return finish.Refuse(400, "Nodes: Required value: NodeNames is null as well");
  finish.call.pod = FullName(*args->pod);
  finish.call.nodes_in = args->node_count();
  const Result<std::vector<HostPriority>> list = service.Prioritize(*args);
  if (!list.ok()) return finish.Refuse(500, list.error().text());
  finish.call.nodes_out = list->size();
  finish.Json(HostPriorityListJson(*list));
}

void ExtenderRoutes::Preempt(ExtenderService& service, Finish finish) {
  const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(finish.body, service.annotations());
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  if (!args->pod) return finish.Refuse(400, "Pod: Required value");
  finish.call.pod = FullName(*args->pod);
  finish.call.nodes_in = args->meta_victims ? args->meta_victims->size() : args->victims ? args->victims->size() : 0;
  const Result<VictimMap> kept = service.Preempt(*args);
  if (!kept.ok()) return finish.Refuse(500, kept.error().text());
  finish.call.nodes_out = kept->size();
  finish.Json(PreemptionResultJson(*kept));
}

void ExtenderRoutes::Bind(ExtenderService& service, Finish finish) {
  const Result<ExtenderBindingArgs> args = DecodeBindingArgs(finish.body);
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  finish.call.pod = args->pod_namespace + "/" + args->pod_name;
  finish.call.node = args->node;
  finish.call.nodes_in = 1;
  const Steady::time_point came = finish.start;
  service.Bind(
      *args,
      [finish = std::make_shared<Finish>(std::move(finish))](const std::string& error) {
        finish->call.nodes_out = error.empty() ? 1 : 0;
        finish->call.error = error;
        finish->Json(BindingResultJson(error));
      },
      came);
}

void ExtenderRoutes::Serve(ExtenderService& service, Finish finish) {
  switch (finish.call.verb) {
    case Verb::kFilter:
    case Verb::kFilterBest:
      return Filter(service, std::move(finish));
    case Verb::kPrioritize:
      return Prioritize(service, std::move(finish));
    case Verb::kPreempt:
      return Preempt(service, std::move(finish));
    case Verb::kBind:
      return Bind(service, std::move(finish));
  }
}

std::string_view ToString(Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return "filter";
    case Verb::kFilterBest:
      return "filter (only the best)";
    case Verb::kPrioritize:
      return "prioritize";
    case Verb::kPreempt:
      return "preempt";
    case Verb::kBind:
      return "bind";
  }
  return "";
}

namespace {

// Go sends these as they are and encodes others; paths are compared as they were sent.
bool IsPath(std::string_view text) {
  constexpr std::string_view kMarks = "-_.~!$&'()*+,;=:@[]/";
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !std::isxdigit(static_cast<unsigned char>(text[i + 1])) ||
          !std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
        return false;
      }
    } else if (static_cast<unsigned char>(text[i]) >= 0x80 ||
               (!std::isalnum(static_cast<unsigned char>(text[i])) && kMarks.find(text[i]) == std::string_view::npos)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::vector<Route>> RoutesOf(const std::string& prefix, const Verbs& verbs) {
  std::string base = prefix;
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty() && !base.starts_with('/')) base.insert(0, 1, '/');
  constexpr char kRule[] =
      ": must be a path without query, fragment or blanks, and what URLs do not have percent-encoded";
  if (!IsPath(base)) {
    return Error("prefix: Invalid value: " + Quote(prefix) + kRule);
  }
  std::vector<Route> routes;
  for (const auto& [verb, text] : {std::pair{verbs.only_best ? Verb::kFilterBest : Verb::kFilter, &verbs.filter},
                                   std::pair{Verb::kPrioritize, &verbs.prioritize},
                                   std::pair{Verb::kPreempt, &verbs.preempt}, std::pair{Verb::kBind, &verbs.bind}}) {
    if (text->empty()) continue;
    const std::string path = base + "/" + *text;
    if (!IsPath(path)) {
      return Error(std::string(ToString(verb)) + " verb: Invalid value: " + Quote(*text) + kRule);
    }
    for (const Route& other : routes) {
      if (other.path != path) continue;
      return Error(std::string(ToString(verb)) + " verb: Duplicate value: " + Quote(*text) + ": it is the path of " +
                   std::string(ToString(other.verb)));
    }
    routes.push_back({path, verb});
  }
  return routes;
}

ExtenderRoutes::ExtenderRoutes(ExtenderService& service, RouteOptions options)
    : service_(service), options_(std::move(options)) {}
ExtenderRoutes::~ExtenderRoutes() { Close(); }

void ExtenderRoutes::Close() { owner_.Leave(); }

Result<std::unique_ptr<ExtenderRoutes>> ExtenderRoutes::Make(ExtenderService& service, const std::vector<Route>& routes,
                                                             RouteOptions options) {
  std::unique_ptr<ExtenderRoutes> made(new ExtenderRoutes(service, std::move(options)));
  const auto counters = [&](const std::string& route) {
    util::Metrics* metrics = made->options_.metrics;
    return metrics != nullptr ? std::make_unique<Counters>(*metrics, route) : nullptr;
  };
  made->other_ = counters("other");
  for (const Route& route : routes) {
    if (std::find(std::begin(kOwnPaths), std::end(kOwnPaths), route.path) != std::end(kOwnPaths)) {
      return Error("path " + Quote(route.path) + " cannot be served as " + std::string(ToString(route.verb)) +
                   ": it has a meaning of its own");
    }
    if (!made->served_.emplace(route.path, Served{route.verb, counters(route.path)}).second) {
      return Error("path " + Quote(route.path) + " is given twice");
    }
  }
  return made;
}

bool ExtenderRoutes::IsCall(const net::HttpRequest& request) const {
  return request.method == "POST" && served_.find(request.path) != served_.end();
}

void ExtenderRoutes::Handle(net::HttpRequest request, net::Respond respond, Steady::time_point came) const {
  if (!IsCall(request)) {
    const auto found = served_.find(request.path);
    const Counters* counters = found == served_.end() ? other_.get() : found->second.counters.get();
    net::HttpResponse response = found == served_.end() ? Own(request) : WrongMethod(request.method, "POST");
    if (counters != nullptr) {
      counters->Count(response.status, response.status == 200, request.body.size(), response.body.size(), Since(came));
    }
    if ((response.status == 404 || response.status == 405) && options_.on_stray) {
      options_.on_stray(response.status, request.method, request.path);
    }
    return respond(std::move(response));
  }
  Serve(service_, Begin(std::move(request), std::move(respond), came));
}

void ExtenderRoutes::Refuse(net::HttpRequest request, net::Respond respond, int status,
                            const std::string& sentence) const {
  Begin(std::move(request), std::move(respond), Steady::now()).Refuse(status, sentence);
}

ExtenderRoutes::Finish ExtenderRoutes::Begin(net::HttpRequest request, net::Respond respond,
                                             Steady::time_point came) const {
  const auto found = served_.find(request.path);
  const Counters* counters = found->second.counters.get();
  Call call;
  call.path = found->first;
  call.verb = found->second.verb;
  const auto tell = [counters, link = owner_.link()](const Call& done) {
    link.Call([&](const ExtenderRoutes& routes) {
      if (counters != nullptr) {
        counters->Count(done.status, !done.failed(), done.bytes_in, done.reply.size(), done.nanoseconds);
      }
      if (routes.options_.on_call) routes.options_.on_call(done);
    });
  };
  call.bytes_in = request.body.size();
  return Finish{std::move(call), std::move(request.body), std::move(respond), tell, options_.keep_requests, came};
}

void ExtenderRoutes::CountRefusal(int status) const {
  if (other_) other_->CountStatus(status, false);
}

net::HttpResponse ExtenderRoutes::Own(const net::HttpRequest& request) const {
  const std::string& path = request.path;
  const bool known = std::find(std::begin(kOwnPaths), std::end(kOwnPaths), path) != std::end(kOwnPaths);
  if (!known || (path == "/metrics" && options_.metrics == nullptr)) return Text(404, "404 page not found\n");
  if (request.method != "GET" && request.method != "HEAD") return WrongMethod(request.method, "GET, HEAD");
  if (path == "/metrics") {
    net::HttpResponse response = Text(200, options_.metrics->Text());
    response.content_type = util::Metrics::kContentType;
    return response;
  }
  if (path == "/readyz" && !service_.ready()) return Text(503, "the cluster has not been read yet\n");
  if (path == "/version") return Text(200, std::string(kVersion) + "\n");
  return Text(200, "ok");
}

}  // namespace berth::extender
