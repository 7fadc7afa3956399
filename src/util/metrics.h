// SPDX-License-Identifier: Apache-2.0
// Metrics: counters, gauges and histograms for Prometheus. The library behind is seen in metrics.cc alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace berth::util {

// What an operator wants to be left out.
struct MetricRules {
  std::set<std::string> disabled;  // names of metrics that are counted and not shown
  // By metric and label, the values that are shown; others become "unexpected".
  std::map<std::string, std::map<std::string, std::set<std::string>>> allowed;
};

// Thread safety: all methods, of counters, gauges and histograms too.
class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // Handles are cheap to copy and valid as long as the Metrics. Looking one up costs; keep it where it is used often.
  class Counter {
   public:
    void Add(double amount = 1) const;

   private:
    friend class Metrics;
    explicit Counter(void* counter) : counter_(counter) {}
    void* counter_;
  };
  class Gauge {
   public:
    void Set(double value) const;

   private:
    friend class Metrics;
    explicit Gauge(void* gauge) : gauge_(gauge) {}
    void* gauge_;
  };
  class Histogram {
   public:
    void Observe(double value) const;

   private:
    friend class Metrics;
    explicit Histogram(void* histogram) : histogram_(histogram) {}
    void* histogram_;
  };

  explicit Metrics(MetricRules rules = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The one of this name and these labels, made when it is first asked for. REQUIRES: a name is always used with the
  // same kind, help, label names and buckets; names are valid for Prometheus.
  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram histogram(const std::string& name, const std::string& help, const std::vector<double>& buckets,
                      const Labels& labels = {});

  // Called before every Text, one scrape at a time: for what is looked up when somebody asks. REQUIRES: what it uses
  // outlives the last Text.
  void BeforeText(std::function<void()> refresh);
  // Everything with labels starts anew, and is not shown until something is counted or set; without labels it stays.
  void Reset();
  // Everything, as a scrape gets it, and the content type of that.
  std::string Text() const;
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `count` bounds, the first `start`, each `factor` times the one before.
  static std::vector<double> Exponential(double start, double factor, int count);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::util
