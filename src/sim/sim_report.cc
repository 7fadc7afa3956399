// SPDX-License-Identifier: Apache-2.0
// Results as JSON and as JUnit's XML.
#include "sim/sim_report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "sim/compare.h"
#include "util/text.h"

namespace berth::sim {
namespace {

Value Count(uint64_t n) { return Value::Int(static_cast<int64_t>(n)); }

Value SummaryValue(const RunSummary& summary) {
  Value zones = Value::Object();
  for (const auto& [zone, pods] : summary.zones) zones.Set(zone, Count(pods));
  Value out = Value::Object();
  out.Set("nodes", Count(summary.nodes));
  out.Set("pods", Count(summary.placed + summary.pending));
  out.Set("placed", Count(summary.placed));
  out.Set("pending", Count(summary.pending));
  out.Set("finished", Count(summary.finished));
  out.Set("attempts", Count(summary.attempts));
  out.Set("preemptions", Count(summary.evictions));
  out.Set("virtualSeconds", Value::Number(Thousandths(summary.time.ns / 1'000'000)));
  out.Set("utilisation", Value::Object({{"cpu", Value::Number(Thousandths(summary.cpu))},
                                        {"memory", Value::Number(Thousandths(summary.memory))}}));
  out.Set("zones", std::move(zones));
  out.Set("zoneSpread", Count(summary.zone_spread()));
  return out;
}

std::string ExpectationText(const ExpectationResult& expectation) {
  return expectation.met ? expectation.actual
                         : "expected " + expectation.expected + ", but it is " + expectation.actual;
}

void SetResult(const RunResult& result, Value& out) {
  Value placements = Value::Array(), pending = Value::Array();
  for (const PodLine& line : result.placements)
    placements.Append(Value::Object({{"pod", Value::String(line.pod)},
                                     {"node", Value::String(line.node)},
                                     {"total", line.total ? Value::Int(*line.total) : Value()}}));
  for (const PodLine& line : result.pending)
    pending.Append(Value::Object({{"pod", Value::String(line.pod)}, {"message", Value::String(line.text)}}));
  out.Set("placements", std::move(placements));
  out.Set("pending", std::move(pending));
  out.Set("summary", SummaryValue(result.summary));
  if (!result.expectations.empty()) {
    Value expectations = Value::Array();
    for (const ExpectationResult& expectation : result.expectations)
      expectations.Append(Value::Object({{"at", Value::String(expectation.at)},
                                         {"pod", Value::String(expectation.pod)},
                                         {"met", Value::Bool(expectation.met)},
                                         {"text", Value::String(ExpectationText(expectation))}}));
    out.Set("expectations", std::move(expectations));
  }
  if (!result.notes.empty()) {
    Value notes = Value::Array();
    for (const std::string& note : result.notes) notes.Append(Value::String(note));
    out.Set("notes", std::move(notes));
  }
  if (result.verification) {
    Value texts = Value::Array();
    for (const std::string& text : result.verification->texts) texts.Append(Value::String(util::ValidUtf8(text)));
    out.Set("verification", Value::Object({{"decisions", Count(result.verification->decisions)},
                                           {"findings", Count(result.verification->findings)},
                                           {"texts", std::move(texts)}}));
  }
  if (result.explanation) {
    out.Set("explanation", framework::ToValue(*result.explanation));
  } else if (!result.explanation_text.empty()) {
    out.Set("explanation", Value::Object({{"message", Value::String(result.explanation_text)}}));
  }
}

void SetReport(const ScenarioReport& report, Value& out) {
  if (!report.name.empty()) out.Set("name", Value::String(util::ValidUtf8(report.name)));
  if (report.runs.size() == 1) return SetResult(report.runs[0].result, out);
  Value configs = Value::Array(), against = Value::Array();
  for (const ConfigRun& run : report.runs) {
    Value config = Value::Object({{"config", Value::String(util::ValidUtf8(run.config))}});
    SetResult(run.result, config);
    configs.Append(std::move(config));
    if (&run == &report.runs[0]) continue;
    Value difference = Value::Object({{"config", Value::String(util::ValidUtf8(run.config))}});
    const Value compared = ToValue(Compare(report.runs[0].result, run.result));
    for (const auto& [key, value] : compared.members()) difference.Set(key, value);
    against.Append(std::move(difference));
  }
  out.Set("configs", std::move(configs));
  out.Set("comparison", Value::Object({{"base", Value::String(util::ValidUtf8(report.runs[0].config))},
                                       {"against", std::move(against)}}));
}

// A testcase of JUnit's; without `failure` it passed.
std::string Testcase(const std::string& suite, const std::string& name, const std::optional<std::string>& failure) {
  const std::string open =
      "    <testcase classname=\"" + util::XmlAttribute(suite) + "\" name=\"" + util::XmlAttribute(name) + "\"";
  if (!failure) return open + "/>\n";
  return open + ">\n      <failure message=\"" + util::XmlAttribute(*failure) + "\"/>\n    </testcase>\n";
}

struct Counts {
  size_t tests = 0, failures = 0;
  void Add(const RunResult& result) {
    tests += result.expectations.size();
    for (const ExpectationResult& expectation : result.expectations) failures += !expectation.met;
    if (!result.verification) return;
    ++tests;
    failures += result.verification->findings > 0;
  }
  std::string Attributes() const {
    return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) + "\" errors=\"0\"";
  }
};

}  // namespace

std::string Thousandths(int64_t n) {
  const uint64_t size = n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  char text[32];
  std::snprintf(text, sizeof text, "%s%llu.%03llu", n < 0 ? "-" : "", static_cast<unsigned long long>(size / 1000),
                static_cast<unsigned long long>(size % 1000));
  return text;
}

std::string VerificationText(const Verification& verification) {
  const std::string made = std::to_string(verification.decisions) + " decisions made twice, ";
  if (verification.findings == 0) return made + "no difference and no undeclared read";
  std::string text = made + std::to_string(verification.findings) +
                     " findings (decisions that differ from a full judgement, reads that a plugin does not declare)";
  for (const std::string& finding : verification.texts) text += "\n" + finding;
  return text;
}

Value ToValue(const std::vector<ScenarioReport>& reports) {
  Value out =
      Value::Object({{"apiVersion", Value::String("berth.dev/v1alpha1")}, {"kind", Value::String("SimulationResult")}});
  if (reports.size() == 1) {
    SetReport(reports[0], out);
    return out;
  }
  Value scenarios = Value::Array();
  for (const ScenarioReport& report : reports) {
    Value scenario = Value::Object();
    SetReport(report, scenario);
    scenarios.Append(std::move(scenario));
  }
  out.Set("scenarios", std::move(scenarios));
  return out;
}

std::string ToJunit(const std::vector<ScenarioReport>& reports) {
  Counts all;
  std::string suites;
  for (const ScenarioReport& report : reports) {
    for (const ConfigRun& run : report.runs) {
      Counts counts;
      counts.Add(run.result);
      all.Add(run.result);
      std::string name = report.name.empty() ? "simulation" : report.name;
      if (report.runs.size() > 1) name += " (" + run.config + ")";
      suites += "  <testsuite name=\"" + util::XmlAttribute(name) + "\"" + counts.Attributes() + ">\n";
      for (const ExpectationResult& expectation : run.result.expectations) {
        std::optional<std::string> failure;
        if (!expectation.met) failure = ExpectationText(expectation);
        suites += Testcase(name, expectation.pod + " at " + expectation.at + ": " + expectation.expected, failure);
      }
      if (const std::optional<Verification>& verification = run.result.verification) {
        std::optional<std::string> failure;
        if (verification->findings > 0) failure = VerificationText(*verification);
        suites += Testcase(name, "verification", failure);
      }
      suites += "  </testsuite>\n";
    }
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"berth sim\"" + all.Attributes() + ">\n" +
         suites + "</testsuites>\n";
}

}  // namespace berth::sim
