// SPDX-License-Identifier: Apache-2.0
// From path and method to a verb, and from its answer to status and body.
#include "extender/extender_routes.h"

#include <algorithm>
#include <chrono>
#include <utility>

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

std::string Quoted(const std::string& text) { return Value::String(text).ToJson(); }

// Sends the answer and tells of the call. Copied into callbacks.
struct Finish {
  Call call;
  net::Respond respond;
  OnCall on_call;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  void Send(net::HttpResponse response) {
    call.status = response.status;
    call.bytes_out = response.body.size();
    call.nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    if (on_call) on_call(call);
    respond(std::move(response));
  }
  void Json(std::string body) {
    net::HttpResponse response;
    response.body = std::move(body);
    Send(std::move(response));
  }
  void Refuse(int status, const std::string& sentence) {
    call.error = sentence;
    Send(Text(status, sentence + "\n"));
  }
};

void Filter(ExtenderService& service, std::string& body, Finish finish) {
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  if (args->pod) finish.call.pod = FullName(*args->pod);
  const FilterResult result = service.Filter(*args, finish.call.verb == Verb::kFilterBest);
  finish.call.nodes_in = args->node_count();
  finish.call.nodes_out = result.passed.size();
  finish.call.error = result.error;
  finish.Json(FilterResultJson(*args, result));
}

void Prioritize(ExtenderService& service, std::string& body, Finish finish) {
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
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

void Preempt(ExtenderService& service, std::string& body, Finish finish) {
  const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  if (!args->pod) return finish.Refuse(400, "Pod: Required value");
  finish.call.pod = FullName(*args->pod);
  finish.call.nodes_in = args->meta_victims ? args->meta_victims->size() : args->victims ? args->victims->size() : 0;
  const Result<VictimMap> kept = service.Preempt(*args);
  if (!kept.ok()) return finish.Refuse(500, kept.error().text());
  finish.call.nodes_out = kept->size();
  finish.Json(PreemptionResultJson(*kept));
}

void Bind(ExtenderService& service, std::string& body, Finish finish) {
  const Result<ExtenderBindingArgs> args = DecodeBindingArgs(body);
  if (!args.ok()) return finish.Refuse(400, args.error().text());
  finish.call.pod = args->pod_namespace + "/" + args->pod_name;
  finish.call.nodes_in = 1;
  service.Bind(*args, [finish = std::move(finish)](const std::string& error) mutable {
    finish.call.nodes_out = error.empty() ? 1 : 0;
    finish.call.error = error;
    finish.Json(BindingResultJson(error));
  });
}

}  // namespace

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

Result<std::vector<Route>> RoutesOf(const std::string& prefix, const Verbs& verbs) {
  std::string base = prefix;
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty() && !base.starts_with('/')) base.insert(0, 1, '/');
  std::vector<Route> routes;
  for (const auto& [verb, text] : {std::pair{verbs.only_best ? Verb::kFilterBest : Verb::kFilter, &verbs.filter},
                                   std::pair{Verb::kPrioritize, &verbs.prioritize},
                                   std::pair{Verb::kPreempt, &verbs.preempt}, std::pair{Verb::kBind, &verbs.bind}}) {
    if (text->empty()) continue;
    const std::string path = base + "/" + *text;
    if (path.find_first_of("?# \t\r\n") != std::string::npos) {
      return Error(std::string(ToString(verb)) + " verb: Invalid value: " + Quoted(*text) +
                   ": must be a path without query, fragment or blanks");
    }
    for (const Route& other : routes) {
      if (other.path != path) continue;
      return Error(std::string(ToString(verb)) + " verb: Duplicate value: " + Quoted(*text) + ": it is the path of " +
                   std::string(ToString(other.verb)));
    }
    routes.push_back({path, verb});
  }
  return routes;
}

Result<std::unique_ptr<ExtenderRoutes>> ExtenderRoutes::Make(ExtenderService& service, const std::vector<Route>& routes,
                                                             OnCall on_call) {
  std::unique_ptr<ExtenderRoutes> made(new ExtenderRoutes(service, std::move(on_call)));
  for (const Route& route : routes) {
    if (std::find(std::begin(kOwnPaths), std::end(kOwnPaths), route.path) != std::end(kOwnPaths)) {
      return Error("path " + Quoted(route.path) + " cannot be served as " + std::string(ToString(route.verb)) +
                   ": it has a meaning of its own");
    }
    if (!made->verbs_.emplace(route.path, route.verb).second) {
      return Error("path " + Quoted(route.path) + " is given twice");
    }
  }
  return made;
}

void ExtenderRoutes::Handle(net::HttpRequest request, const net::Respond& respond) const {
  if (const auto verb = verbs_.find(request.path); verb != verbs_.end()) {
    if (request.method != "POST") return respond(WrongMethod(request.method, "POST"));
    Call call;
    call.path = verb->first;
    call.verb = verb->second;
    return Serve(std::move(call), std::move(request.body), respond);
  }
  const bool health = request.path == "/healthz" || request.path == "/livez";
  const bool ready = request.path == "/readyz";
  if (!health && !ready && request.path != "/version") return respond(Text(404, "404 page not found\n"));
  if (request.method != "GET" && request.method != "HEAD") return respond(WrongMethod(request.method, "GET, HEAD"));
  if (health) return respond(Text(200, "ok"));
  if (ready) return respond(service_.ready() ? Text(200, "ok") : Text(503, "the cluster has not been read yet\n"));
  respond(Text(200, std::string(kVersion) + "\n"));
}

void ExtenderRoutes::Serve(Call call, std::string body, const net::Respond& respond) const {
  call.bytes_in = body.size();
  Finish finish{std::move(call), respond, on_call_};
  switch (finish.call.verb) {
    case Verb::kFilter:
    case Verb::kFilterBest:
      return Filter(service_, body, std::move(finish));
    case Verb::kPrioritize:
      return Prioritize(service_, body, std::move(finish));
    case Verb::kPreempt:
      return Preempt(service_, body, std::move(finish));
    case Verb::kBind:
      return Bind(service_, body, std::move(finish));
  }
}

}  // namespace berth::extender
