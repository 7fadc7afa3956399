// SPDX-License-Identifier: Apache-2.0
// prometheus-cpp behind our own names.
#include "util/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <utility>

namespace berth::util {

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

  const MetricRules rules;
  // A family that is registered again is the one that is there.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  prometheus::Registry unseen{prometheus::Registry::InsertBehavior::Merge};
  std::mutex mutex;  // of a scrape
  std::vector<std::function<void()>> refresh;
};

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
  return Gauge(&prometheus::BuildGauge()
                    .Name(name)
                    .Help(help)
                    .Register(impl_->RegistryOf(name))
                    .Add(impl_->LabelsOf(name, labels)));
}

Metrics::Histogram Metrics::histogram(const std::string& name, const std::string& help,
                                      const std::vector<double>& buckets, const Labels& labels) {
  return Histogram(&prometheus::BuildHistogram()
                        .Name(name)
                        .Help(help)
                        .Register(impl_->RegistryOf(name))
                        .Add(impl_->LabelsOf(name, labels), buckets));
}

void Metrics::Counter::Add(double amount) const { static_cast<prometheus::Counter*>(counter_)->Increment(amount); }
void Metrics::Gauge::Set(double value) const { static_cast<prometheus::Gauge*>(gauge_)->Set(value); }
void Metrics::Histogram::Observe(double value) const {
  static_cast<prometheus::Histogram*>(histogram_)->Observe(value);
}

void Metrics::BeforeText(std::function<void()> refresh) {
  const std::lock_guard lock(impl_->mutex);
  impl_->refresh.push_back(std::move(refresh));
}

std::string Metrics::Text() const {
  const std::lock_guard lock(impl_->mutex);
  for (const std::function<void()>& refresh : impl_->refresh) refresh();
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

std::vector<double> Metrics::Exponential(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, start *= factor) bounds.push_back(start);
  return bounds;
}

}  // namespace berth::util
