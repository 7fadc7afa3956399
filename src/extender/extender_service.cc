// SPDX-License-Identifier: Apache-2.0
// The protocol's verbs on a profile; binding is in extender_service_bind.cc.
#include "extender/extender_service.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "berth/quantity.h"
#include "framework/guard.h"
#include "framework/judge.h"
#include "util/text.h"

namespace berth::extender {
namespace {

using framework::Judge;
using framework::Judgement;
using Int128 = Quantity::Int128;

constexpr char kNoNodeData[] = "there is no node data for NodeNames: no API server is configured";
constexpr size_t kMostNamesKept = 50'000;
constexpr size_t kMostNameBytesKept = size_t{8} << 20;
// kube-scheduler makes an event of at most 1,024 bytes of them.
constexpr size_t kMaxReason = 1024;
constexpr size_t kMaxReasons = size_t{64} << 20;
constexpr char kNoPod[] = "Pod: Required value";

// Why the protocol cannot carry an extension point; empty: it can.
std::string_view WhyNot(Point point) {
  switch (point) {
    case Point::kPreFilter:
    case Point::kFilter:
    case Point::kPreScore:
    case Point::kScore:
    case Point::kBind:
      return "";
    case Point::kPostFilter:
      return "kube-scheduler chooses victims itself and asks an extender's filters about them (preempt)";
    case Point::kPreEnqueue:
    case Point::kQueueSort:
      return "an extender does not see the queue";
    case Point::kReserve:
    case Point::kPermit:
    case Point::kPreBind:
    case Point::kPostBind:
      return "an extender is not asked between its prioritize and its bind, nor behind that";
  }
  return "unknown extension point";
}

std::vector<std::string> Refusals(const config::Profile& config, const framework::Profile& profile) {
  std::vector<std::string> refusals;
  for (size_t i = 0; i < kPointCount; ++i) {
    const auto point = static_cast<Point>(i);
    const std::string_view why = WhyNot(point);
    if (why.empty()) continue;
    for (const config::PluginRef& ref : PluginsAt(profile, point)) {
      refusals.push_back("plugin \"" + ref.name + "\" cannot be served at " + std::string(ToString(point)) + ": " +
                         std::string(why));
    }
  }
  for (const auto& [point, set] : {std::pair{"PlacementGenerate", &config.plugins.placement_generate},
                                   std::pair{"PlacementScore", &config.plugins.placement_score}}) {
    for (const config::PluginRef& ref : set->enabled) {
      refusals.push_back("plugin \"" + ref.name + "\" cannot be served at " + point +
                         ": an extender is asked about one pod at a time");
    }
  }
  if (refusals.empty() && profile.plugins.empty()) {
    refusals.push_back("the profile names no plugin; none is served without being named");
  }
  return refusals;
}

int64_t Saturated(Int128 number) {
  constexpr Int128 kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(number, kMin, kMax));
}

std::string TextOf(const Verdict& verdict) {
  const std::string text = verdict.message();
  return text.empty() ? "rejected without a reason" : util::Shortened(text, kMaxReason);
}

// The row of each node of the request. kube-scheduler sends its nodes in the order that we have, too: after one most
// often comes the next.
std::vector<Row> RowsOf(const ExtenderArgs& args, const Snapshot& snapshot) {
  const std::span<const Row> order = snapshot.order();
  const std::span<const uint32_t> ranks = snapshot.ranks();
  std::vector<Row> rows(args.node_count());
  size_t next = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = args.node_name(i);
    if (next >= order.size()) next = 0;
    if (!order.empty() && snapshot.node(order[next]).name() == name) {
      rows[i] = order[next++];
      continue;
    }
    rows[i] = snapshot.FindRow(name);
    if (rows[i] != kNoRow) next = ranks[rows[i]] + 1;
  }
  return rows;
}

// The texts of a reply, each once.
class Texts {
 public:
  explicit Texts(std::vector<std::string>& texts) : texts_(texts) {}
  uint32_t Of(const Verdict& verdict) { return Of(TextOf(verdict)); }
  uint32_t Of(const std::string& text) {
    const auto [it, added] = ids_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return it->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::map<std::string, uint32_t> ids_;
};

}  // namespace

ExtenderService::ExtenderService(const Clock& clock, NodeSource* nodes, Binder* binder, ServiceOptions options,
                                 std::string name)
    : clock_(clock),
      nodes_(nodes),
      binder_(binder),
      options_(std::move(options)),
      writer_(binder),
      host_(framework::HostOptions{std::move(name), 0, {}, options_.log, nullptr}, clock, writer_, services_) {}

Result<std::unique_ptr<ExtenderService>> ExtenderService::Make(const config::Profile& profile, const Registry& registry,
                                                               const Clock& clock, NodeSource* nodes, Binder* binder,
                                                               ServiceOptions options) {
  std::unique_ptr<ExtenderService> service(
      new ExtenderService(clock, nodes, binder, std::move(options), profile.scheduler_name));
  Result<std::unique_ptr<const framework::Profile>> built =
      framework::BuildProfile(profile, registry, service->host_, 0, framework::ProfileUse::kPart);
  if (!built.ok()) return built.error().Wrap("profile " + profile.scheduler_name);
  service->profile_ = std::move(built).value();
  std::string text;
  for (const std::string& refusal : Refusals(profile, *service->profile_)) text += (text.empty() ? "" : "; ") + refusal;
  if (!text.empty()) return Error("profile " + profile.scheduler_name + ": " + text);
  service->cache_ = std::make_unique<NodeCache>(service->ReadsImages());
  const bool in_order = service->SeesOrder();
  service->sent_ = std::make_unique<RequestCluster>(in_order);
  service->named_ = std::make_unique<RequestCluster>(in_order);
  if (util::Metrics* metrics = service->options_.metrics) {
    service->timer_ = std::make_unique<PluginTimer>(*service->profile_, *metrics);
    service->profile_->observers->Add(*service->timer_);
  }
  return service;
}

bool ExtenderService::ReadsImages() const {
  constexpr Epochs kImages = epoch::kImageSpread | epoch::kSets | epoch::kOtherRows | epoch::kUnrememberable;
  const auto reads = [&](const auto& entries, RowFields row) {
    return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
      return (entry.depends.row & row) != 0 || (entry.depends.epochs & kImages) != 0;
    });
  };
  return reads(profile_->pre_filter, 0) || reads(profile_->filter, row_field::kImages) ||
         reads(profile_->pre_score, 0) || reads(profile_->score, row_field::kImages);
}

bool ExtenderService::SeesOrder() const {
  constexpr Epochs kBeyondTheRow = epoch::kNodeSet | epoch::kOtherRows | epoch::kUnrememberable;
  const auto sees = [&](const auto& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const auto& entry) { return (entry.depends.epochs & kBeyondTheRow) != 0; });
  };
  return sees(profile_->filter) || sees(profile_->score);
}

Error ExtenderService::WithCluster(const ExtenderArgs& args, bool filter, bool score, const Ask& ask) {
  const Reach reach = ReachOf(filter, score);
  const bool ask_source = args.nodes ? reach == Reach::kCluster && nodes_ != nullptr : reach != Reach::kNames;
  if (ask_source) {
    Error lost = Error::Ok();
    const auto judge = [&](const Snapshot& snapshot) {
      if (indexes_ && !indexes_->failure().ok()) {
        lost = indexes_->failure();
        return;
      }
      if (lost = CheckWork(args.pod_items, snapshot); !lost.ok()) return;
      const std::vector<Row> rows = RowsOf(args, snapshot);
      const std::lock_guard lock(judging_);
      ask(snapshot, rows);
    };
    if (nodes_ == nullptr) return Error(kNoNodeData);
    const auto either = [&](const Error& read) -> Error { return read.ok() ? lost : read; };
    if (!args.nodes) return either(nodes_->Read(judge));
    std::vector<std::shared_ptr<const Node>> nodes;
    nodes.reserve(args.nodes->size());
    ResourceCount resources;
    for (const RequestNode& node : *args.nodes) {
      nodes.push_back(node.node);
      resources.Add(*node.node);
    }
    if (Error error = resources.Check(nodes.size()); !error.ok()) return error;
    return either(nodes_->ReadWith(nodes, args.nodes_cached, judge));
  }
  const std::lock_guard lock(judging_);
  RequestCluster& cluster = args.nodes ? *sent_ : *named_;
  const Result<std::span<const Row>> rows =
      args.nodes
          ? cluster.Set(args.nodes->size(),
                        [&](size_t i) -> const std::shared_ptr<const Node>& { return (*args.nodes)[i].node; })
          : cluster.SetNames(args.node_count(), [&](size_t i) -> const std::string& { return args.node_name(i); });
  if (!rows.ok()) return rows.error();
  ask(cluster.snapshot(), *rows);
  // Kept only where that is cheap: a client may send nodes that need many times the memory of their text.
  if (args.nodes ? !args.nodes_cached
                 : args.node_count() > kMostNamesKept || cluster.name_bytes() > kMostNameBytesKept) {
    cluster.Clear();
  }
  return Error::Ok();
}

FilterResult ExtenderService::Filter(const ExtenderArgs& args, bool only_best) {
  if (!args.pod) return FilterResult::Fail(kNoPod);
  if (!args.nodes && !args.node_names) return FilterResult::Fail("Nodes: Required value: NodeNames is null as well");
  FilterResult result;
  const Error error =
      WithCluster(args, /*filter=*/true, /*score=*/only_best, [&](const Snapshot& snapshot, std::span<const Row> rows) {
        result = FilterRows(args, snapshot, rows, only_best);
      });
  return error.ok() ? result : FilterResult::Fail(error.text());
}

FilterResult ExtenderService::FilterRows(const ExtenderArgs& args, const Snapshot& snapshot, std::span<const Row> rows,
                                         bool only_best) const {
  VerdictTable table;  // of this request: its texts are the client's to choose
  std::vector<uint8_t> only(snapshot.rows());
  for (const Row row : rows) {
    if (row != kNoRow) only[row] = 1;
  }
  const framework::JudgeOptions options{.post_filter = false, .only = only, .score = false};
  const Judgement judgement = Judge(*profile_, table, clock_).Run(*args.pod, snapshot, options);
  if (judgement.kind == Judgement::Kind::kFailed) return FilterResult::Fail(judgement.message);
  if (judgement.outright) return FilterResult::Fail(TextOf(judgement.outright->verdict));

  FilterResult result;
  Texts texts(result.texts);
  std::map<VerdictId, uint32_t> text_of;
  std::vector<uint8_t> told(only.size());
  std::set<std::string_view> unknown;
  for (size_t place = 0; place < rows.size(); ++place) {
    const Row row = rows[place];
    if (row == kNoRow) {
      const std::string& name = args.node_name(place);
      if (unknown.insert(name).second) result.failed.push_back({place, texts.Of("node not found"), false});
      continue;
    }
    const VerdictId id = judgement.verdicts[row];
    if (id == kFitsId) {
      result.passed.push_back(place);
    } else if (!std::exchange(told[row], 1)) {
      const Verdict& verdict = id == kNotJudged ? judgement.absent : table.Get(id);
      const auto [text, added] = text_of.try_emplace(id, 0);
      if (added) text->second = texts.Of(verdict);
      result.failed.push_back({place, text->second, verdict.code() == Code::kUnschedulableAndUnresolvable});
    }
  }
  if (result.passed.empty()) {
    if (std::string text = RejectionOn(*args.pod, snapshot, rows); !text.empty()) {
      return FilterResult::Fail(std::move(text));
    }
  }
  size_t bytes = 0;
  for (const FilterResult::Failed& failed : result.failed) {
    bytes += args.node_name(failed.place).size() + result.texts[failed.text].size();
  }
  if (bytes > kMaxReasons) {
    return FilterResult::Fail("the reasons of " + std::to_string(result.failed.size()) + " nodes have " +
                              std::to_string(bytes) + " bytes; an answer may have " + std::to_string(kMaxReasons));
  }
  if (!only_best || result.passed.size() < 2) return result;

  std::vector<Row> fitting;
  for (const size_t place : result.passed) fitting.push_back(rows[place]);
  const Result<std::vector<int64_t>> totals = Totals(*args.pod, snapshot, fitting, 0);
  if (!totals.ok()) return FilterResult::Fail(totals.error().text());
  const auto best = static_cast<size_t>(std::max_element(totals->begin(), totals->end()) - totals->begin());
  // Taking pods off the others would not make them better.
  const uint32_t text = texts.Of("another node was preferred");
  told[fitting[best]] = 1;
  for (size_t i = 0; i < fitting.size(); ++i) {
    if (!std::exchange(told[fitting[i]], 1)) result.failed.push_back({result.passed[i], text, true});
  }
  std::swap(result.passed[0], result.passed[best]);
  result.passed.resize(1);
  return result;
}

Result<std::vector<int64_t>> ExtenderService::Totals(const Pod& pod, const Snapshot& snapshot,
                                                     std::span<const Row> rows, int64_t absent) const {
  std::vector<uint8_t> there(snapshot.rows());
  for (const Row row : rows) {
    if (row != kNoRow) there[row] = 1;
  }
  std::vector<Row> asked;  // each once, in ascending order
  asked.reserve(rows.size());
  for (Row row = 0; row < there.size(); ++row) {
    if (there[row]) asked.push_back(row);
  }
  VerdictTable table;
  const Judgement judgement = Judge(*profile_, table, clock_).Score(pod, snapshot, asked);
  if (judgement.kind == Judgement::Kind::kFailed) return Error(judgement.message);

  std::vector<int64_t> by_row(snapshot.rows());
  for (size_t i = 0; i < asked.size(); ++i) {
    Int128 total = 0;
    for (const framework::PluginScores& scores : judgement.scores) {
      total += static_cast<Int128>(options_.raw_scores ? scores.raw[i] : scores.normalized[i]) * scores.weight;
    }
    by_row[asked[i]] = Saturated(total);
  }
  std::vector<int64_t> totals;
  totals.reserve(rows.size());
  for (const Row row : rows) totals.push_back(row == kNoRow ? absent : by_row[row]);
  return totals;
}

Result<std::vector<HostPriority>> ExtenderService::Prioritize(const ExtenderArgs& args) {
  if (!args.pod) return Error(kNoPod);
  if (!args.nodes && !args.node_names) return Error("Nodes: Required value: NodeNames is null as well");
  Int128 weights = 0;
  for (const framework::ScoreEntry& entry : profile_->score) weights += entry.weight;
  std::vector<HostPriority> list;
  Error failed = Error::Ok();
  const Error error =
      WithCluster(args, /*filter=*/false, /*score=*/true, [&](const Snapshot& snapshot, std::span<const Row> rows) {
        const Result<std::vector<int64_t>> totals = Totals(*args.pod, snapshot, rows, 0);
        if (!totals.ok()) {
          failed = totals.error();
          return;
        }
        list.reserve(rows.size());
        for (size_t i = 0; i < rows.size(); ++i) {
          int64_t score = (*totals)[i];
          // Totals are not negative here: half a point is rounded up.
          if (!options_.raw_scores && weights > 0) {
            score = static_cast<int64_t>((static_cast<Int128>(score) * 10 * 2 + 100 * weights) / (2 * 100 * weights));
          }
          list.push_back({args.node_name(i), score});
        }
      });
  if (!error.ok()) return error;
  if (!failed.ok()) return failed;
  return list;
}

Result<VictimMap> ExtenderService::Preempt(const ExtenderPreemptionArgs& args) {
  if (!args.pod) return Error(kNoPod);
  const std::optional<VictimMap>& candidates = args.meta_victims ? args.meta_victims : args.victims;
  VictimMap kept;
  if (!candidates || candidates->empty()) return kept;
  ExtenderArgs names;
  names.pod_items = args.pod_items;
  names.node_names.emplace();
  for (const auto& [node, victims] : *candidates) names.node_names->push_back(node);
  Error failed = Error::Ok();
  const auto judge = [&](const Snapshot& snapshot, std::span<const Row> rows) {
    VerdictTable table;
    framework::CycleRun run(*profile_, table, *args.pod, snapshot, clock_.Now());
    const framework::PreFilterRuling pre = run.RunPreFilter();
    const Code code = pre.ruling.verdict.code();
    if (code == Code::kError) {
      failed = Error(pre.ruling.verdict.message());
      return;
    }
    if (code == Code::kUnschedulableAndUnresolvable) return;
    size_t place = 0;
    for (const auto& [node, victims] : *candidates) {
      const Row row = rows[place++];
      if (row == kNoRow) continue;
      if (pre.node_names && !std::binary_search(pre.node_names->begin(), pre.node_names->end(), node)) continue;
      const std::unique_ptr<WhatIf> what_if = run.Imagine(row);
      // A victim that we do not see there is gone already.
      std::set<std::string_view> uids;
      if (victims.uids) uids.insert(victims.uids->begin(), victims.uids->end());
      const std::span<const PodRecord* const> there = snapshot.pods(row);
      for (const PodRecord* record : std::vector<const PodRecord*>(there.begin(), there.end())) {
        if (!uids.contains(record->pod->uid())) continue;
        if (failed = what_if->RemovePod(*record); !failed.ok()) return;
      }
      const Verdict verdict = what_if->Judge();
      if (verdict.code() == Code::kError) {
        failed = Error(verdict.message());
        return;
      }
      if (verdict.fits()) kept.emplace(node, victims);
    }
  };
  const Error error =
      WithCluster(names, /*filter=*/true, /*score=*/false, [&](const Snapshot& snapshot, std::span<const Row> rows) {
        const Error thrown = framework::GuardError([&] {
          judge(snapshot, rows);
          return Error::Ok();
        });
        if (!thrown.ok()) failed = thrown;
      });
  if (!error.ok()) return error;
  if (!failed.ok()) return failed;
  return kept;
}

}  // namespace berth::extender
