// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/legacy_registry.go and factory.go of 1.18 (createFromConfig) and 1.22
// (createFromPolicy), apis/config/validation/validation.go: ValidatePolicy.
#include "legacy/policy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/value.h"
#include "config/decode.h"
#include "legacy/default_lists.h"
#include "legacy/extenders.h"
#include "legacy/spread_and_labels.h"

namespace berth::legacy {
namespace {

constexpr int64_t kMaxTotalScore = std::numeric_limits<int64_t>::max() / 10;

// The order in which predicates ran, whatever the order of the file.
constexpr std::array<std::string_view, 17> kOrder = {
    "CheckNodeUnschedulable", "GeneralPredicates",      "HostName",
    "PodFitsHostPorts",       "MatchNodeSelector",      "PodFitsResources",
    "NoDiskConflict",         "PodToleratesNodeTaints", "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",    "MaxCSIVolumeCountPred",  "MaxAzureDiskVolumeCount",
    "MaxCinderVolumeCount",   "CheckVolumeBinding",     "NoVolumeZoneConflict",
    "EvenPodsSpread",         "MatchInterPodAffinity"};

constexpr std::array<std::string_view, 12> kDefaultPredicates = {
    "NoVolumeZoneConflict",   "MaxEBSVolumeCount",     "MaxGCEPDVolumeCount",    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",  "MatchInterPodAffinity", "NoDiskConflict",         "GeneralPredicates",
    "PodToleratesNodeTaints", "CheckVolumeBinding",    "CheckNodeUnschedulable", "EvenPodsSpread"};

struct DefaultPriority {
  std::string_view name;
  int32_t weight;
};
constexpr std::array<DefaultPriority, 9> kDefaultPriorities = {{{"SelectorSpreadPriority", 1},
                                                                {"InterPodAffinityPriority", 1},
                                                                {"LeastRequestedPriority", 1},
                                                                {"BalancedResourceAllocation", 1},
                                                                {"NodePreferAvoidPodsPriority", 10000},
                                                                {"NodeAffinityPriority", 1},
                                                                {"TaintTolerationPriority", 1},
                                                                {"ImageLocalityPriority", 1},
                                                                {"EvenPodsSpreadPriority", 2}}};

// Names whose argument the releases lost, because they were registered, and that say what they mean all the same.
bool TakesLabels(std::string_view predicate) { return predicate == "CheckNodeLabelPresence"; }
bool TakesService(std::string_view predicate) { return predicate == "CheckServiceAffinity"; }

std::string_view SameName(std::string_view name) {
  if (name == "PodFitsPorts") return "PodFitsHostPorts";
  if (name == "ServiceSpreadingPriority") return "SelectorSpreadPriority";
  return name;
}

// Every key of a Policy, for those without apiVersion, whose keys were Go's.
const std::vector<std::string_view>& PolicyKeys() {
  static const std::vector<std::string_view> kKeys = {"kind",
                                                      "apiVersion",
                                                      "predicates",
                                                      "priorities",
                                                      "name",
                                                      "argument",
                                                      "serviceAffinity",
                                                      "labelsPresence",
                                                      "labels",
                                                      "presence",
                                                      "weight",
                                                      "serviceAntiAffinity",
                                                      "label",
                                                      "labelPreference",
                                                      "requestedToCapacityRatioArguments",
                                                      "shape",
                                                      "utilization",
                                                      "score",
                                                      "resources",
                                                      "extenders",
                                                      "hardPodAffinitySymmetricWeight",
                                                      "alwaysCheckAllPredicates"};
  return kKeys;
}

struct Scored {
  int64_t weight = 0;
  std::string path;
};

// What one entry of predicates or priorities says.
struct Item {
  std::string name, path;
  int64_t weight = 0;
  bool weighed = true;  // the weight could be read
  bool has_argument = false;
  int arguments = 0;
  // Of predicates.
  std::optional<std::vector<std::string>> service_labels, labels;
  bool presence = false;
  // Of priorities.
  std::optional<std::string> spread_label, preferred_label;
  bool ratio = false;
  Value shape, resources;
};

class PolicyConversion {
 public:
  PolicyConversion(Draft& draft, ProfileDraft& profile) : draft_(draft), profile_(profile) {}

  PolicyRest Run() {
    const Value& document = draft_.source().document;
    const Value* version = document.Find("apiVersion");
    const bool bare = version == nullptr || version->is_null();
    const Value policy = bare ? SpellKeys(document, PolicyKeys()) : document;
    if (bare) {
      draft_.Remark(Fate::kChanged, "", "",
                    "no apiVersion. " + TextOf(RowKind::kReading, "Policy without apiVersion or kind"));
    }
    ArgsReader in(&policy, "", &errors_);
    ReadPredicates(in);
    ReadPriorities(in);
    in.Int("hardPodAffinitySymmetricWeight", hard_weight_, {0, 100, "not in valid range [0-100]"});
    bool all = false;
    in.Bool("alwaysCheckAllPredicates", all);
    if (all) {
      draft_.Remark(Fate::kDropped, "alwaysCheckAllPredicates", Today("plugins"),
                    TextOf(RowKind::kField, "alwaysCheckAllPredicates"));
    }
    const Value* extenders = in.Raw("extenders");
    in.Raw("kind");
    in.Finish();
    draft_.Take(std::move(errors_));
    PolicyRest rest;
    rest.extenders = ConvertExtenders(extenders == nullptr ? Value() : *extenders, draft_);
    TakeHardWeight();
    ManageResources(rest.extenders);
    Write();
    return rest;
  }

 private:
  std::string Today(const std::string& field) const { return profile_.today + "." + field; }

  void Filter(std::string_view predicate) { predicates_.insert(std::string(SameName(predicate))); }

  void ReadPredicates(ArgsReader& in) {
    if (!in.Has("predicates")) {
      for (const std::string_view name : kDefaultPredicates) Filter(name);
    }
    in.Objects("predicates", [&](ArgsReader& entry) {
      Item item;
      entry.String("name", item.name);
      item.path = entry.path();
      item.has_argument = entry.Has("argument");
      entry.Object("argument", [&](ArgsReader& argument) {
        argument.Object("serviceAffinity", [&](ArgsReader& service) {
          ++item.arguments;
          service.Strings("labels", item.service_labels.emplace());
        });
        argument.Object("labelsPresence", [&](ArgsReader& presence) {
          ++item.arguments;
          presence.Strings("labels", item.labels.emplace());
          presence.Bool("presence", item.presence);
        });
      });
      TakePredicate(item);
    });
    for (const std::string& label : wishes_.absent) {
      if (std::ranges::find(wishes_.present, label) == wishes_.present.end()) continue;
      draft_.Invalid("predicates", Quote(label),
                     "detecting at least one label that exists in both the present and absent lists");
    }
  }

  void TakePredicate(const Item& item) {
    const std::string name_path = Join(item.path, "name");
    const Row* row = FindRow(RowKind::kPredicate, item.name);
    const bool custom = row == nullptr || TakesLabels(item.name) || TakesService(item.name);
    if (!custom) {
      if (item.has_argument) {
        draft_.Invalid(Join(item.path, "argument"), Quote(item.name),
                       "this predicate takes no argument; labelsPresence and serviceAffinity need a name of their own");
      }
      if (row->fate == Fate::kRefused) return UnknownPredicate(item, *row);
      if (row->fate == Fate::kDropped || row->fate == Fate::kChanged)
        draft_.Remark(row->fate, item.path, Today("plugins"), item.name + ": " + std::string(row->text));
      if (row->fate != Fate::kDropped) Filter(item.name);
      return;
    }
    if (!item.has_argument) {
      if (row != nullptr) {
        return draft_.Invalid(name_path, Quote(item.name),
                              std::string("this predicate needs its argument, ") +
                                  (TakesLabels(item.name) ? "labelsPresence" : "serviceAffinity"));
      }
      return draft_.Invalid(name_path, Quote(item.name),
                            "predicate type not found for " + Quote(item.name) + Known(RowKind::kPriority, item.name));
    }
    if (item.arguments != 1) {
      return draft_.Invalid(Join(item.path, "argument"), Quote(item.name),
                            "exactly 1 predicate argument is required, numArgs: " + std::to_string(item.arguments));
    }
    const bool none = item.service_labels ? item.service_labels->empty() : item.labels->empty();
    if (none) {
      return draft_.Remark(Fate::kDropped, item.path, Today("plugins"),
                           item.name + ": without labels it rejects no node");
    }
    if (item.service_labels) {
      return draft_.Invalid(Join(item.path, "argument.serviceAffinity"), Quote(item.name),
                            TextOf(RowKind::kPredicate, "CheckServiceAffinity"));
    }
    std::vector<std::string>& labels = item.presence ? wishes_.present : wishes_.absent;
    labels.insert(labels.end(), item.labels->begin(), item.labels->end());
    label_path_ = item.path;
    draft_.Remark(Fate::kChanged, item.path, Today("pluginConfig"),
                  item.name + ": " + TextOf(RowKind::kPredicate, "CheckNodeLabelPresence"));
  }

  void UnknownPredicate(const Item& item, const Row& row) {
    draft_.Invalid(Join(item.path, "name"), Quote(item.name),
                   "predicate type not found for " + Quote(item.name) + ". " + std::string(row.text));
  }

  // A name that would be right in the other list.
  static std::string Known(RowKind kind, std::string_view name) {
    if (FindRow(kind, name) == nullptr) return "";
    return kind == RowKind::kPriority ? "; it is a priority" : "; it is a predicate";
  }

  void ReadPriorities(ArgsReader& in) {
    if (!in.Has("priorities")) {
      for (const DefaultPriority& one : kDefaultPriorities) {
        if (one.name != "NodePreferAvoidPodsPriority") Score(one.name, one.weight, "");
      }
      draft_.Remark(Fate::kDropped, "", Today("plugins"),
                    "NodePreferAvoidPodsPriority was there by default. " +
                        TextOf(RowKind::kPriority, "NodePreferAvoidPodsPriority"));
    }
    in.Objects("priorities", [&](ArgsReader& entry) {
      Item item;
      entry.String("name", item.name);
      item.path = entry.path();
      const size_t before = errors_.size();
      entry.Int("weight", item.weight);
      item.weighed = errors_.size() == before;
      item.has_argument = entry.Has("argument");
      entry.Object("argument", [&](ArgsReader& argument) {
        argument.Object("serviceAntiAffinity", [&](ArgsReader& service) {
          ++item.arguments;
          service.String("label", item.spread_label.emplace());
        });
        argument.Object("labelPreference", [&](ArgsReader& preference) {
          ++item.arguments;
          preference.String("label", item.preferred_label.emplace());
          preference.Bool("presence", item.presence);
        });
        argument.Object("requestedToCapacityRatioArguments", [&](ArgsReader& ratio) {
          ++item.arguments;
          item.ratio = true;
          if (const Value* shape = ratio.Raw("shape")) item.shape = *shape;
          if (const Value* resources = ratio.Raw("resources")) item.resources = *resources;
        });
      });
      TakePriority(item);
    });
  }

  void Score(std::string_view name, int64_t weight, const std::string& path) {
    scores_[std::string(SameName(name))] = {weight, path};
  }

  void TakePriority(Item item) {
    const std::string name_path = Join(item.path, "name");
    if (!item.weighed) {
      item.weight = 1;
    } else if (item.weight <= 0 || item.weight >= kMaxTotalScore) {
      draft_.Invalid(Join(item.path, "weight"), std::to_string(item.weight),
                     "priority " + item.name + " should have a positive weight applied to it or it has overflown");
    } else if (item.weight > std::numeric_limits<int32_t>::max()) {
      draft_.Invalid(Join(item.path, "weight"), std::to_string(item.weight), "must fit in 32 bits");
    }
    item.weight = std::clamp<int64_t>(item.weight, 0, std::numeric_limits<int32_t>::max());
    const Row* row = FindRow(RowKind::kPriority, item.name);
    const bool custom = row == nullptr || item.name == "RequestedToCapacityRatioPriority" ||
                        item.name == "NodeLabelPriority" || item.name == "ServiceAntiAffinityPriority";
    if (!custom) {
      if (item.has_argument) {
        draft_.Invalid(Join(item.path, "argument"), Quote(item.name),
                       "this priority takes no argument; labelPreference, serviceAntiAffinity and "
                       "requestedToCapacityRatioArguments need a name of their own");
      }
      if (row->fate == Fate::kRefused) {
        return draft_.Invalid(name_path, Quote(item.name),
                              "priority type not found for " + Quote(item.name) + ". " + std::string(row->text));
      }
      const bool plain = item.name == "LeastRequestedPriority";  // the strategy that there is without words
      if (row->fate != Fate::kSame && !plain) {
        draft_.Remark(row->fate, item.path, Today("plugins"), item.name + ": " + std::string(row->text));
      }
      if (row->fate != Fate::kDropped) Score(item.name, item.weight, item.path);
      return;
    }
    if (!item.has_argument) {
      return draft_.Invalid(name_path, Quote(item.name),
                            "priority type not found for " + Quote(item.name) +
                                (row != nullptr || item.name == "NodeLabel" || item.name == "ServiceAffinity" ||
                                         item.name == "RequestedToCapacityRatio"
                                     ? " without its argument"
                                     : Known(RowKind::kPredicate, item.name)));
    }
    if (item.arguments != 1) {
      return draft_.Invalid(Join(item.path, "argument"), Quote(item.name),
                            "exactly 1 priority argument is required, numArgs: " + std::to_string(item.arguments));
    }
    const char* label = item.preferred_label ? "labelPreference.label" : "serviceAntiAffinity.label";
    if (item.ratio) {
      TakeRatio(item);
    } else if ((item.preferred_label ? *item.preferred_label : *item.spread_label).empty()) {
      draft_.Refuse(Join(item.path, "argument.") + label, "Required value: the label that " + item.name + " looks at");
    } else if (item.preferred_label) {
      TakePreference(item);
    } else {
      TakeSpreading(item);
    }
  }

  void TakeRatio(const Item& item) {
    if (ratio_) {
      return draft_.Invalid(Join(item.path, "argument"), Quote(item.name),
                            "priority " + Quote(item.name) +
                                " redeclares custom priority "
                                "\"RequestedToCapacityRatio\", from: " +
                                Quote(ratio_->name));
    }
    ratio_ = item;
    draft_.Remark(Fate::kChanged, item.path, Today("pluginConfig"),
                  item.name + ": " + TextOf(RowKind::kPriority, "RequestedToCapacityRatioPriority"));
  }

  void TakePreference(const Item& item) {
    if (preference_ && preference_->weight != item.weight) {
      draft_.Invalid(
          Join(item.path, "weight"), std::to_string(item.weight),
          "LabelPreference  priority " + Quote(item.name) + " has a different weight with " + Quote(preference_->name));
    }
    if (!preference_) preference_ = item;
    (item.presence ? wishes_.preferred : wishes_.not_preferred).push_back(*item.preferred_label);
    const std::vector<std::string>& other = item.presence ? wishes_.not_preferred : wishes_.preferred;
    if (std::ranges::find(other, *item.preferred_label) != other.end()) {
      draft_.Invalid(Join(item.path, "argument.labelPreference.label"), Quote(*item.preferred_label),
                     "detecting at least one label that exists in both the present and absent lists");
    }
    draft_.Remark(Fate::kChanged, item.path, Today("pluginConfig"),
                  item.name + ": " + TextOf(RowKind::kPriority, "NodeLabelPriority"));
  }

  void TakeSpreading(const Item& item) {
    if (spreading_ && spreading_->weight != item.weight) {
      draft_.Invalid(Join(item.path, "weight"), std::to_string(item.weight),
                     "ServiceAntiAffinity  priority " + Quote(item.name) + " has a different weight with " +
                         Quote(spreading_->name));
    }
    if (!spreading_) spreading_ = item;
    spread_labels_.push_back(*item.spread_label);
    draft_.Remark(Fate::kChanged, item.path, Today("pluginConfig"),
                  item.name + ": " + TextOf(RowKind::kPriority, "ServiceAntiAffinityPriority"));
  }

  void TakeHardWeight() {
    if (hard_weight_ == 0) return;
    const std::string path = "hardPodAffinitySymmetricWeight";
    if (!scores_.contains("InterPodAffinityPriority")) {
      return draft_.Remark(Fate::kDropped, path, Today("plugins"),
                           "without InterPodAffinityPriority it had no effect, and has none");
    }
    profile_.args.Of("InterPodAffinity", path).args =
        Value::Object({{"hardPodAffinityWeight", Value::Int(hard_weight_)}});
    draft_.Remark(Fate::kChanged, path, Today("pluginConfig"), "an argument of InterPodAffinity today");
  }

  // Resources that the scheduler is to leave to an extender need an entry of NodeResourcesFit's, whether it runs or
  // not.
  void ManageResources(const Value& extenders) {
    for (const Value& extender : extenders.items()) {
      const Value* resources = extender.Find("managedResources");
      if (resources == nullptr) continue;
      for (const Value& resource : resources->items()) {
        const Value* ignored = resource.Find("ignoredByScheduler");
        if (ignored != nullptr && ignored->bool_value()) profile_.args.Of("NodeResourcesFit", "extenders");
      }
    }
  }

  // One plugin of today, and which of its halves the Policy has asked for.
  struct Half {
    bool judges = false, scores = false;
    int64_t weight = 0;
  };

  Half& Plugin(const std::string& name) {
    if (!halves_.contains(name)) order_.push_back(name);
    return halves_[name];
  }

  void ScoreBy(const std::string& plugin, int64_t weight) {
    Half& half = Plugin(plugin);
    half.scores = true;
    half.weight = weight;
  }

  void Write() {
    predicates_.insert("CheckNodeUnschedulable");
    predicates_.insert("PodToleratesNodeTaints");
    for (const std::string_view predicate : kOrder) {
      if (!predicates_.contains(std::string(predicate))) continue;
      for (const std::string& plugin : TodaysPlugins(*FindRow(RowKind::kPredicate, predicate)))
        Plugin(plugin).judges = true;
    }
    if (!wishes_.present.empty() || !wishes_.absent.empty()) {
      Plugin("NodeAffinity").judges = true;
      ArgsList::Entry& entry = profile_.args.Of("NodeAffinity", label_path_);
      entry.args = RequireLabels(entry.args, wishes_);
    }
    WriteResourceScores();
    for (const auto& [priority, scored] : scores_) {
      if (priority == "LeastRequestedPriority" || priority == "MostRequestedPriority" ||
          priority == "SelectorSpreadPriority" || priority == "EvenPodsSpreadPriority")
        continue;
      for (const std::string& plugin : TodaysPlugins(*FindRow(RowKind::kPriority, priority)))
        ScoreBy(plugin, scored.weight);
    }
    WriteSpread();
    WritePreferences();
    WriteLists();
  }

  void WriteResourceScores() {
    struct Strategy {
      std::string_view priority, type;
    };
    std::vector<std::pair<std::string, std::string>> found;  // names and paths
    std::string type;
    int64_t weight = 0;
    for (const Strategy& one :
         {Strategy{"LeastRequestedPriority", "LeastAllocated"}, Strategy{"MostRequestedPriority", "MostAllocated"}}) {
      const auto at = scores_.find(std::string(one.priority));
      if (at == scores_.end()) continue;
      found.emplace_back(one.priority, at->second.path);
      type = one.type;
      weight = at->second.weight;
    }
    if (ratio_) {
      found.emplace_back(ratio_->name, ratio_->path);
      type = "RequestedToCapacityRatio";
      weight = ratio_->weight;
    }
    if (found.empty()) return;
    if (found.size() > 1) {
      std::string names;
      for (const auto& [name, path] : found) names += (names.empty() ? "" : " and ") + name;
      return draft_.Invalid(Join(found.back().second, "name"), Quote(found.back().first),
                            names +
                                " score together, which a profile cannot do any more: NodeResourcesFit has one "
                                "scoringStrategy; leave all but one out");
    }
    ScoreBy("NodeResourcesFit", weight);
    if (type == "LeastAllocated") return;
    ArgsList::Entry& entry = profile_.args.Of("NodeResourcesFit", found[0].second);
    const bool ratio = type == "RequestedToCapacityRatio";
    const Value shape = ratio ? (ratio_->shape.is_null() ? Value::Array() : ratio_->shape) : Value();
    const bool listed = ratio && !ratio_->resources.items().empty();
    entry.args = ScoreResources(entry.args, type, listed ? ratio_->resources : Value(), shape);
    if (ratio) {
      const std::string at = Today("pluginConfig[" + std::to_string(profile_.args.entries().size() - 1) + "].args.");
      const std::string from = found[0].second + ".argument.requestedToCapacityRatioArguments.";
      draft_.ComesFrom(at + "scoringStrategy.requestedToCapacityRatio.shape", from + "shape");
      draft_.ComesFrom(at + "scoringStrategy.resources", from + "resources");
    }
  }

  void WriteSpread() {
    const auto selector = scores_.find("SelectorSpreadPriority"), even = scores_.find("EvenPodsSpreadPriority");
    const bool system = selector != scores_.end(), own = even != scores_.end();
    if (own || system) ScoreBy("PodTopologySpread", own ? even->second.weight : selector->second.weight);
    if (own && system && even->second.weight != selector->second.weight && !selector->second.path.empty()) {
      draft_.Remark(Fate::kChanged, selector->second.path, Today("plugins"),
                    "SelectorSpreadPriority and EvenPodsSpreadPriority are one plugin, with the weight of the latter");
    }
    if (own && !system && !spreading_) {
      profile_.args.Of("PodTopologySpread", even->second.path).args =
          Value::Object({{"defaultingType", Value::String("List")}});
    }
    if (!spreading_) return;
    if (!own && !system) ScoreBy("PodTopologySpread", spreading_->weight * static_cast<int64_t>(spread_labels_.size()));
    ArgsList::Entry& entry = profile_.args.Of("PodTopologySpread", spreading_->path);
    entry.args = SpreadOver(entry.args, spread_labels_, system);
  }

  void WritePreferences() {
    if (!preference_) return;
    const auto count = static_cast<int64_t>(wishes_.preferred.size() + wishes_.not_preferred.size());
    const int64_t label_weight = preference_->weight * count;
    const auto own = scores_.find("NodeAffinityPriority");
    const int64_t own_weight = own == scores_.end() ? 0 : own->second.weight;
    if (label_weight <= 0) return;  // has been refused
    ArgsList::Entry& entry = profile_.args.Of("NodeAffinity", preference_->path);
    entry.args = PreferLabels(entry.args, wishes_, label_weight, own_weight);
    ScoreBy("NodeAffinity", label_weight + own_weight);
  }

  void WriteLists() {
    config::Plugins& plugins = profile_.plugins;
    const auto name = [](std::string_view text) { return config::PluginRef{std::string(text), 0}; };
    plugins.multi_point.disabled.push_back(name("*"));
    std::vector<config::PluginRef>& enabled = plugins.multi_point.enabled;
    enabled.push_back(name("SchedulingGates"));
    enabled.push_back(name("PrioritySort"));
    for (const std::string& plugin : order_) {
      const Half& half = halves_[plugin];
      const int64_t weight = std::min<int64_t>(half.weight, std::numeric_limits<int32_t>::max());
      enabled.push_back({plugin, half.scores ? static_cast<int32_t>(weight) : 0});
      const auto leave_out = [&](bool keep, Point before, Point point) {
        if (keep) return;
        for (const Point one : {before, point})
          if ((TodaysPoints(plugin) & Bit(one)) != 0) plugins[one].disabled.push_back(name(plugin));
      };
      leave_out(half.judges, Point::kPreFilter, Point::kFilter);
      leave_out(half.scores, Point::kPreScore, Point::kScore);
    }
    enabled.push_back(name("DefaultPreemption"));
    enabled.push_back(name("DefaultBinder"));
    draft_.Remark(Fate::kChanged, "", Today("plugins"),
                  "a Policy names all plugins. Those that are younger are off, DynamicResources and "
                  "NodeDeclaredFeatures, but for SchedulingGates, without which gated pods would be bound");
  }

  Draft& draft_;
  ProfileDraft& profile_;
  std::vector<FieldError> errors_;
  std::set<std::string> predicates_;
  std::map<std::string, Scored> scores_;  // by priority
  LabelWishes wishes_;
  std::string label_path_;
  std::optional<Item> ratio_, preference_, spreading_;
  std::vector<std::string> spread_labels_;
  int64_t hard_weight_ = 0;
  std::vector<std::string> order_;
  std::map<std::string, Half> halves_;
};

}  // namespace

PolicyRest ConvertPolicy(Draft& draft, ProfileDraft& profile) { return PolicyConversion(draft, profile).Run(); }

}  // namespace berth::legacy
