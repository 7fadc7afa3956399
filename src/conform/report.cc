// SPDX-License-Identifier: Apache-2.0
#include "conform/report.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "util/text.h"

namespace berth::conform {
namespace {

std::string Millis(double number) {
  char text[48];
  std::snprintf(text, sizeof(text), number < 10 ? "%.2f" : number < 100 ? "%.1f" : "%.0f", number);
  return text;
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string RightAligned(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

const char* StateOf(const CheckResult& check) {
  return check.skipped ? "skipped" : check.failed() ? "failed" : check.warned() ? "warning" : "passed";
}

std::string Painted(const char* colour, const char* word, bool paint) {
  return paint ? std::string("\x1b[") + colour + "m" + word + "\x1b[0m" : word;
}

std::string Word(const CheckResult& check, bool paint) {
  if (check.skipped) return Painted("2", "skip", paint);
  if (check.failed()) return Painted("31;1", "FAIL", paint);
  if (check.warned()) return Painted("33;1", "WARN", paint);
  return Painted("32", "ok  ", paint);
}

std::string LatencyText(const std::vector<Latency>& latencies, size_t width) {
  std::string text = Padded("LATENCY in ms", width + 8) + "   NODES  REQUESTS     P50     P90     P99     MAX\n";
  for (const Latency& one : latencies) {
    text += "  " + Padded(one.name, width + 6) + RightAligned(std::to_string(one.nodes), 8) +
            RightAligned(std::to_string(one.requests), 10);
    for (const double number : {one.p50, one.p90, one.p99, one.max}) text += RightAligned(Millis(number), 8);
    text += "\n";
  }
  return text;
}

std::string Amount(size_t number, const char* what) { return std::to_string(number) + " " + what; }

// The name without its ending.
std::string Stem(const std::string& name) { return name.substr(0, name.rfind('.')); }

// How many checks from `first` on are skipped for one reason, of one stem.
size_t SkippedTogether(const std::vector<CheckResult>& checks, size_t first) {
  size_t end = first;
  while (end < checks.size() && checks[end].skipped && checks[end].verdict == checks[first].verdict &&
         Stem(checks[end].name) == Stem(checks[first].name)) {
    ++end;
  }
  return end - first;
}

std::string Summary(const Report& report, bool strict) {
  return (report.checked() ? "" : "nothing was checked: ") +
         Amount(report.checks.size(), report.checks.size() == 1 ? "check: " : "checks: ") +
         Amount(report.passed(), "passed, ") + Amount(report.warned(), "with warnings, ") +
         Amount(report.failed(), "failed, ") + Amount(report.skipped(), "skipped") +
         (report.ok(strict) || !report.checked() ? ""
          : report.failed() == 0                 ? " (warnings fail with --strict)"
                                                 : "");
}

std::string Details(const Finding& finding) {
  std::string text;
  if (!finding.sent.empty()) text += "sent: " + finding.sent + "\n";
  if (!finding.received.empty()) text += "received: " + finding.received + "\n";
  return text;
}

struct Counts {
  size_t tests = 0, failures = 0, skipped = 0;
  std::string Attributes() const {
    return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\"";
  }
};

std::string JunitCase(const CheckResult& check, const std::string& suite, bool strict, Counts& counts) {
  ++counts.tests;
  std::string inside;
  std::string warnings;
  const bool failed = check.failed() || (strict && check.warned());
  counts.failures += failed;
  counts.skipped += check.skipped;
  if (check.skipped) inside += "      <skipped message=\"" + util::XmlAttribute(check.verdict) + "\"/>\n";
  for (const Finding& finding : check.findings) {
    if (finding.level == Level::kError || strict) {
      inside += "      <failure message=\"" + util::XmlAttribute(finding.sentence) + "\">" +
                util::XmlText(Details(finding)) + "</failure>\n";
    } else {
      warnings += "warning: " + finding.sentence + "\n" + Details(finding);
    }
  }
  if (!warnings.empty()) inside += "      <system-out>" + util::XmlText(warnings) + "</system-out>\n";
  const std::string head =
      "    <testcase classname=\"" + util::XmlAttribute(suite) + "\" name=\"" + util::XmlAttribute(check.name) + "\"";
  return inside.empty() ? head + "/>\n" : head + ">\n" + inside + "    </testcase>\n";
}

}  // namespace

bool CheckResult::failed() const {
  return std::ranges::any_of(findings, [](const Finding& finding) { return finding.level == Level::kError; });
}

Latency MakeLatency(std::string name, size_t nodes, std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  const size_t count = milliseconds.size();
  // The smallest that so many percent do not exceed.
  const auto at = [&](size_t percent) { return milliseconds[(count * percent + 99) / 100 - 1]; };
  return {std::move(name), nodes, count, at(50), at(90), at(99), milliseconds.back()};
}

size_t Report::passed() const {
  return static_cast<size_t>(
      std::ranges::count_if(checks, [](const CheckResult& c) { return !c.skipped && c.findings.empty(); }));
}
size_t Report::warned() const {
  return static_cast<size_t>(std::ranges::count_if(checks, [](const CheckResult& c) { return c.warned(); }));
}
size_t Report::failed() const {
  return static_cast<size_t>(std::ranges::count_if(checks, [](const CheckResult& c) { return c.failed(); }));
}
size_t Report::skipped() const {
  return static_cast<size_t>(std::ranges::count_if(checks, [](const CheckResult& c) { return c.skipped; }));
}

std::string ToText(const Report& report, bool colour, bool strict) {
  size_t width = 0;
  for (const CheckResult& check : report.checks) width = std::max(width, check.name.size());
  std::string text = "extender " + report.url + "\n\n";
  for (size_t i = 0; i < report.checks.size(); ++i) {
    const CheckResult& check = report.checks[i];
    if (const size_t count = SkippedTogether(report.checks, i); count > 1) {
      text += "  " + Word(check, colour) + "  " + Padded(Stem(check.name) + ".*", width) + "  " +
              Amount(count, "checks: ") + check.verdict + "\n";
      i += count - 1;
      continue;
    }
    std::string left = "  " + Word(check, colour) + "  " + Padded(check.name, width) + "  ";
    if (check.findings.empty()) text += left + check.verdict + "\n";
    for (const Finding& finding : check.findings) {
      text += left + finding.sentence + "\n";
      left = std::string(width + 10, ' ');
      const std::string inner(12, ' ');
      if (!finding.sent.empty()) text += inner + "sent      " + finding.sent + "\n";
      if (!finding.received.empty()) text += inner + "received  " + finding.received + "\n";
    }
  }
  if (!report.latencies.empty()) text += "\n" + LatencyText(report.latencies, width);
  const bool ok = report.ok(strict);
  if (!report.hint.empty()) text += "\nhint: " + report.hint + "\n";
  return text + "\n" + Painted(ok ? "32;1" : "31;1", ok ? "PASS" : "FAIL", colour) + "  " + Summary(report, strict) +
         "\n";
}

Value ToValue(const Report& report, bool strict) {
  const auto count = [](size_t number) { return Value::Int(static_cast<int64_t>(number)); };
  Value checks = Value::Array();
  for (const CheckResult& check : report.checks) {
    Value one = Value::Object({{"name", Value::String(check.name)}, {"result", Value::String(StateOf(check))}});
    if (check.findings.empty()) one.Set("verdict", Value::String(check.verdict));
    if (!check.findings.empty()) {
      Value findings = Value::Array();
      for (const Finding& finding : check.findings) {
        Value entry = Value::Object({{"level", Value::String(finding.level == Level::kError ? "error" : "warning")},
                                     {"sentence", Value::String(finding.sentence)}});
        if (!finding.sent.empty()) entry.Set("sent", Value::String(finding.sent));
        if (!finding.received.empty()) entry.Set("received", Value::String(finding.received));
        findings.Append(std::move(entry));
      }
      one.Set("findings", std::move(findings));
    }
    checks.Append(std::move(one));
  }
  Value latencies = Value::Array();
  for (const Latency& one : report.latencies) {
    latencies.Append(Value::Object({{"name", Value::String(one.name)},
                                    {"nodes", count(one.nodes)},
                                    {"requests", count(one.requests)},
                                    {"p50", Value::Number(Millis(one.p50))},
                                    {"p90", Value::Number(Millis(one.p90))},
                                    {"p99", Value::Number(Millis(one.p99))},
                                    {"max", Value::Number(Millis(one.max))}}));
  }
  Value value = Value::Object({{"apiVersion", Value::String("berth.dev/v1alpha1")},
                               {"kind", Value::String("ConformanceReport")},
                               {"url", Value::String(report.url)},
                               {"ok", Value::Bool(report.ok(strict))},
                               {"passed", count(report.passed())},
                               {"warnings", count(report.warned())},
                               {"failed", count(report.failed())},
                               {"skipped", count(report.skipped())},
                               {"checks", std::move(checks)},
                               {"latencyMilliseconds", std::move(latencies)}});
  if (!report.hint.empty()) value.Set("hint", Value::String(report.hint));
  return value;
}

std::string ToJunit(const Report& report, bool strict) {
  Counts all;
  std::string suites;
  for (size_t begin = 0; begin < report.checks.size();) {
    const auto group = [](const CheckResult& check) { return check.name.substr(0, check.name.find('.')); };
    const std::string suite = group(report.checks[begin]);
    Counts counts;
    std::string cases;
    for (; begin < report.checks.size() && group(report.checks[begin]) == suite; ++begin) {
      cases += JunitCase(report.checks[begin], suite, strict, counts);
    }
    suites += "  <testsuite name=\"" + util::XmlAttribute(suite) + "\"" + counts.Attributes() + ">\n" + cases +
              "  </testsuite>\n";
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.skipped += counts.skipped;
  }
  if (!report.checked()) {  // programs count failures
    ++all.tests;
    ++all.failures;
    suites +=
        "  <testsuite name=\"run\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
        "    <testcase classname=\"run\" name=\"run.checks\">\n"
        "      <failure message=\"nothing was checked\"></failure>\n    </testcase>\n  </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"berth conform\"" + all.Attributes() + ">\n" +
         suites + "</testsuites>\n";
}

}  // namespace berth::conform
