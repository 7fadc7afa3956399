// SPDX-License-Identifier: Apache-2.0
// prometheus-cpp behind our own names.
#include "util/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "util/go_values.h"

namespace berth::util {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void AppendMetricText(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
}

// `bound`: of a bucket; empty: it is none.
void AppendSample(std::string& out, const std::string& family, std::string_view suffix, const ClientMetric& metric,
                  double value, std::string_view bound = {}) {
  out.append(family).append(suffix);
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view text) {
    out += std::exchange(before, ',');
    out.append(name).append("=\"");
    AppendMetricText(out, text, true);
    out += '"';
  };
  for (const ClientMetric::Label& one : metric.label) label(one.name, one.value);
  if (!bound.empty()) label("le", bound);
  if (before == ',') out += '}';
  out.append(" ").append(FormatGoDouble(value)).append("\n");
}

const char* NameOf(MetricType type) {
  return type == MetricType::Counter ? "counter" : type == MetricType::Gauge ? "gauge" : "histogram";
}

// As Prometheus' own client for Go writes it, bounds of buckets above all: they are labels, and compared as text.
std::string Write(std::vector<MetricFamily> families) {
  std::string out;
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (MetricFamily& family : families) {
    if (family.metric.empty()) continue;
    out.append("# HELP ").append(family.name).append(" ");
    AppendMetricText(out, family.help, false);
    out.append("\n# TYPE ").append(family.name).append(" ").append(NameOf(family.type)).append("\n");
    std::sort(family.metric.begin(), family.metric.end(),
              [](const ClientMetric& a, const ClientMetric& b) { return a.label < b.label; });
    for (const ClientMetric& metric : family.metric) {
      if (family.type != MetricType::Histogram) {
        const double value = family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value;
        AppendSample(out, family.name, "", metric, value);
        continue;
      }
      const ClientMetric::Histogram& histogram = metric.histogram;
      for (const ClientMetric::Bucket& bucket : histogram.bucket)
        AppendSample(out, family.name, "_bucket", metric, static_cast<double>(bucket.cumulative_count),
                     FormatGoDouble(bucket.upper_bound));
      AppendSample(out, family.name, "_sum", metric, histogram.sample_sum);
      AppendSample(out, family.name, "_count", metric, static_cast<double>(histogram.sample_count));
    }
  }
  return out;
}

}  // namespace

struct Metrics::Impl {
  explicit Impl(MetricRules wanted) : rules(std::move(wanted)) {}

  prometheus::Registry& RegistryOf(const std::string& name) {
    return rules.disabled.contains(name) ? unseen : registry;
  }
  prometheus::Labels LabelsOf(const std::string& name, const Labels& labels) const {
    prometheus::Labels map(labels.begin(), labels.end());
    const auto metric = rules.allowed.find(name);
    if (metric == rules.allowed.end()) return map;
    for (const auto& [label, values] : metric->second) {
      const auto at = map.find(label);
      if (at != map.end() && !values.contains(at->second)) at->second = "unexpected";
    }
    return map;
  }

  using Key = std::pair<std::string, prometheus::Labels>;
  static Key KeyOf(const std::string& family, const prometheus::ClientMetric& metric) {
    Key key{family, {}};
    for (const prometheus::ClientMetric::Label& label : metric.label) key.second.emplace(label.name, label.value);
    return key;
  }
  struct GaugeCell {
    explicit GaugeCell(prometheus::Gauge& of) : gauge(&of) {}
    prometheus::Gauge* const gauge;
    std::atomic<bool> set = true;  // since the last Reset
  };
  // What was observed since the library was told. It would lock and add up every bucket at each observation, a dozen of
  // which a pod makes; here one costs two additions, and the library hears of them when somebody asks.
  struct HistogramCell {
    HistogramCell(prometheus::Histogram& of, const std::vector<double>& buckets)
        : histogram(&of), bounds(buckets), counts(buckets.size() + 1) {}
    void Observe(double value) {
      // As upstream's: a bucket has what is not larger than its bound; NaN is in the last.
      const auto bucket = std::ranges::find_if(bounds, [value](double bound) { return value <= bound; });
      counts[static_cast<size_t>(bucket - bounds.begin())].fetch_add(1, std::memory_order_relaxed);
      sum.fetch_add(value, std::memory_order_relaxed);
    }
    void Tell() {
      std::vector<double> increments;
      increments.reserve(counts.size());
      for (std::atomic<uint64_t>& count : counts)
        increments.push_back(static_cast<double>(count.exchange(0, std::memory_order_relaxed)));
      histogram->ObserveMultiple(increments, sum.exchange(0, std::memory_order_relaxed));
    }
    prometheus::Histogram* const histogram;
    const std::vector<double> bounds;
    std::vector<std::atomic<uint64_t>> counts;  // one more than bounds
    std::atomic<double> sum = 0;
  };
  // Everything that is shown. Under `mutex`.
  std::vector<prometheus::MetricFamily> Collect();
  // What a series has become since the last Reset; false: nothing yet. Under `mutex`.
  bool Since(const std::string& family, prometheus::MetricType type, prometheus::ClientMetric& metric);

  const MetricRules rules;
  // A family that is registered again is the one that is there.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  prometheus::Registry unseen{prometheus::Registry::InsertBehavior::Merge};
  std::mutex mutex;  // of a scrape
  std::vector<std::function<void()>> refresh;
  std::map<Key, prometheus::ClientMetric> before;  // at the last Reset: what counts, and has labels
  bool was_reset = false;
  std::mutex cells_mutex;
  std::map<Key, std::unique_ptr<GaugeCell>> gauges;
  std::unordered_map<prometheus::Histogram*, std::unique_ptr<HistogramCell>> histograms;
};

std::vector<prometheus::MetricFamily> Metrics::Impl::Collect() {
  {
    const std::lock_guard lock(cells_mutex);
    for (const auto& [histogram, cell] : histograms) cell->Tell();
  }
  return registry.Collect();
}

bool Metrics::Impl::Since(const std::string& family, prometheus::MetricType type, prometheus::ClientMetric& metric) {
  if (metric.label.empty()) return true;
  const Key key = KeyOf(family, metric);
  if (type == prometheus::MetricType::Gauge) {
    const std::lock_guard lock(cells_mutex);
    const auto cell = gauges.find(key);
    return cell == gauges.end() || cell->second->set;
  }
  const auto then = before.find(key);
  if (then == before.end()) return true;
  const prometheus::ClientMetric& old = then->second;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value -= old.counter.value;
    return metric.counter.value > 0;
  }
  metric.histogram.sample_count -= old.histogram.sample_count;
  metric.histogram.sample_sum -= old.histogram.sample_sum;
  for (size_t i = 0; i < metric.histogram.bucket.size(); ++i)
    metric.histogram.bucket[i].cumulative_count -= old.histogram.bucket[i].cumulative_count;
  return metric.histogram.sample_count > 0;
}

Metrics::Metrics(MetricRules rules) : impl_(std::make_unique<Impl>(std::move(rules))) {}
Metrics::~Metrics() = default;

Metrics::Counter Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return Counter(&prometheus::BuildCounter()
                      .Name(name)
                      .Help(help)
                      .Register(impl_->RegistryOf(name))
                      .Add(impl_->LabelsOf(name, labels)));
}

Metrics::Gauge Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  const prometheus::Labels known = impl_->LabelsOf(name, labels);
  prometheus::Gauge& gauge =
      prometheus::BuildGauge().Name(name).Help(help).Register(impl_->RegistryOf(name)).Add(known);
  const std::lock_guard lock(impl_->cells_mutex);
  std::unique_ptr<Impl::GaugeCell>& cell = impl_->gauges[{name, known}];
  if (!cell) cell = std::make_unique<Impl::GaugeCell>(gauge);
  return Gauge(cell.get());
}

Metrics::Histogram Metrics::histogram(const std::string& name, const std::string& help,
                                      const std::vector<double>& buckets, const Labels& labels) {
  prometheus::Histogram& histogram = prometheus::BuildHistogram()
                                         .Name(name)
                                         .Help(help)
                                         .Register(impl_->RegistryOf(name))
                                         .Add(impl_->LabelsOf(name, labels), buckets);
  const std::lock_guard lock(impl_->cells_mutex);
  std::unique_ptr<Impl::HistogramCell>& cell = impl_->histograms[&histogram];
  if (!cell) cell = std::make_unique<Impl::HistogramCell>(histogram, buckets);
  return Histogram(cell.get());
}

void Metrics::Counter::Add(double amount) const { static_cast<prometheus::Counter*>(counter_)->Increment(amount); }
void Metrics::Gauge::Set(double value) const {
  auto* const cell = static_cast<Impl::GaugeCell*>(gauge_);
  cell->gauge->Set(value);
  if (!cell->set.load(std::memory_order_relaxed)) cell->set = true;
}
void Metrics::Histogram::Observe(double value) const { static_cast<Impl::HistogramCell*>(histogram_)->Observe(value); }

void Metrics::BeforeText(std::function<void()> refresh) {
  const std::lock_guard lock(impl_->mutex);
  impl_->refresh.push_back(std::move(refresh));
}

std::string Metrics::Text() const {
  const std::lock_guard lock(impl_->mutex);
  for (const std::function<void()>& refresh : impl_->refresh) refresh();
  std::vector<prometheus::MetricFamily> families = impl_->Collect();
  if (impl_->was_reset) {
    for (prometheus::MetricFamily& family : families)
      std::erase_if(family.metric,
                    [&](prometheus::ClientMetric& metric) { return !impl_->Since(family.name, family.type, metric); });
  }
  return Write(std::move(families));
}

void Metrics::Reset() {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& refresh : impl_->refresh) refresh();  // what has not been asked for since is over, too
  impl_->was_reset = true;
  {
    const std::lock_guard gauges(impl_->cells_mutex);
    for (const auto& [key, cell] : impl_->gauges) cell->set = false;
  }
  impl_->before.clear();
  for (const prometheus::MetricFamily& family : impl_->Collect())
    for (const prometheus::ClientMetric& metric : family.metric)
      if (!metric.label.empty()) impl_->before.emplace(Impl::KeyOf(family.name, metric), metric);
}

std::vector<double> Metrics::Exponential(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, start *= factor) bounds.push_back(start);
  return bounds;
}

}  // namespace berth::util
