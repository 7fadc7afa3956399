// SPDX-License-Identifier: Apache-2.0
#include "live/decisions.h"

#include <utility>
#include <vector>

#include "berth/value.h"
#include "client/request_body.h"
#include "framework/profile.h"
#include "serving/replies.h"
#include "serving/url_text.h"
#include "util/text.h"

namespace berth::live {
namespace {

using framework::CycleTrace;
using framework::Judgement;

constexpr size_t kLongestName = 253;   // of a pod or a namespace
constexpr size_t kMostOfValue = 1024;  // of what was asked for, in an answer

Value Text(std::string_view text) { return Value::String(util::ValidUtf8(text)); }
Value Number(uint64_t number) { return Value::Int(static_cast<int64_t>(number)); }

const char* ResultOf(Judgement::Kind kind) {
  switch (kind) {
    case Judgement::Kind::kGated:
      return "gated";
    case Judgement::Kind::kNoNodes:
      return "no nodes";
    case Judgement::Kind::kRejected:
      return "unschedulable";
    case Judgement::Kind::kFits:
      return "fits";
    case Judgement::Kind::kFailed:
      return "error";
  }
  return "";
}

// Empty: no single plugin.
std::string NameOf(const CycleTrace& trace, uint16_t plugin) {
  return plugin == framework::kNoPlugin || trace.profile == nullptr ? "" : trace.profile->name(plugin);
}

Value ReasonsOf(const CycleTrace& trace, const VerdictTable& table) {
  Value reasons = Value::Array();
  for (const CycleTrace::ReasonCount& reason : trace.reasons) {
    Value line = Value::Object();
    line.Set("plugin", Text(NameOf(trace, reason.plugin)));
    Value texts = Value::Array();
    if (reason.verdict == kNotJudged) {
      line.Set("code", Text(ToString(Code::kUnschedulableAndUnresolvable)));  // left out by PreFilter
    } else {
      const Verdict& verdict = table.Get(reason.verdict);
      line.Set("code", Text(ToString(verdict.code())));
      for (const std::string& text : verdict.reasons()) texts.Append(Text(text));
    }
    line.Set("reasons", std::move(texts));
    line.Set("nodes", Number(reason.nodes));
    line.Set("example", Text(reason.example));
    reasons.Append(std::move(line));
  }
  return reasons;
}

Value BestOf(const CycleTrace& trace) {
  Value best = Value::Array();
  for (const CycleTrace::Candidate& candidate : trace.top) {
    Value scores = Value::Object();
    for (const auto& [plugin, score] : candidate.scores) scores.Set(NameOf(trace, plugin), Value::Int(score));
    Value line = Value::Object();
    line.Set("node", Text(candidate.node)).Set("total", Value::Int(candidate.total)).Set("scores", std::move(scores));
    best.Append(std::move(line));
  }
  return best;
}

Value DecisionOf(const CycleTrace& trace, const VerdictTable& table, Duration ahead) {
  Value out = Value::Object();
  out.Set("position", Number(trace.position));
  out.Set("time", Text(client::FormatMicroTime(trace.time + ahead)));
  out.Set("profile", Text(trace.profile == nullptr ? "" : trace.profile->scheduler_name));
  out.Set("result", Text(ResultOf(trace.kind)));
  out.Set("nodes", Number(trace.nodes)).Set("evaluated", Number(trace.evaluated));
  out.Set("feasible", Number(trace.feasible)).Set("ties", Number(trace.ties));
  out.Set("best", BestOf(trace));
  out.Set("rejections", ReasonsOf(trace, table));
  if (!trace.selected.empty()) {
    Value preemption = Value::Object();
    preemption.Set("selected", Text(trace.selected)).Set("victims", Number(trace.victims));
    preemption.Set("candidates", Number(trace.preemption_candidates));
    out.Set("preemption", std::move(preemption));
  }
  return out;
}

}  // namespace

Result<std::string> PodAskedFor(std::string_view query) {
  const std::vector<std::string> all = serving::Query(query).All("pod");
  if (all.empty()) return Error("the parameter pod is missing: ?pod=NAMESPACE/NAME");
  if (all.size() > 1) return Error("the parameter pod is there more than once");
  const std::string& pod = all[0];
  const size_t slash = pod.find('/');
  const bool good = slash != std::string::npos && slash > 0 && slash <= kLongestName && slash + 1 < pod.size() &&
                    pod.size() - slash - 1 <= kLongestName && pod.find('/', slash + 1) == std::string::npos;
  if (good) return pod;
  return Error("the parameter pod is not NAMESPACE/NAME: " + serving::GoQuoted(util::Shortened(pod, kMostOfValue)));
}

net::HttpResponse DecisionsReply(const framework::TraceRing& traces, const VerdictTable& table, const std::string& pod,
                                 Time now, Time date) {
  const Duration ahead = date - now;
  Value decisions = Value::Array();
  size_t found = 0;
  for (size_t age = 0; age < traces.size(); ++age) {
    const CycleTrace& trace = traces.at(age);
    if (trace.pod == pod && ++found <= kDecisionsShown) decisions.Append(DecisionOf(trace, table, ahead));
  }
  Value remembered = Value::Object();
  remembered.Set("decisions", Number(traces.size())).Set("most", Number(traces.capacity()));
  if (traces.size() > 0) {
    const CycleTrace& oldest = traces.at(traces.size() - 1);
    remembered.Set("since", Text(client::FormatMicroTime(oldest.time + ahead)));
    remembered.Set("firstPosition", Number(oldest.position));
    remembered.Set("lastPosition", Number(traces.last().position));
  }
  Value document = Value::Object();
  document.Set("apiVersion", Text("berth.dev/v1alpha1")).Set("kind", Text("Decisions")).Set("pod", Text(pod));
  document.Set("remembered", std::move(remembered));
  document.Set("found", Number(found)).Set("decisions", std::move(decisions));
  net::HttpResponse response;
  response.status = found == 0 ? 404 : 200;
  response.body = document.ToJson(2) + "\n";
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace berth::live
