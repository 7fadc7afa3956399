// SPDX-License-Identifier: Apache-2.0
// Old plugin lists into v1's. Before v1beta3 the defaults stood point by point; so what a profile had at every point is
// worked out first, then what today's plugins must serve where, and last how v1 says that as a difference from its own
// defaults. v1beta3 has v1's form already: see beta3_plugins.cc.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "berth/value.h"
#include "config/decode.h"
#include "config/default_plugins.h"
#include "legacy/default_lists.h"
#include "legacy/old_names.h"
#include "legacy/old_plugins.h"
#include "legacy/spread_and_labels.h"

namespace berth::legacy {
namespace {

int32_t DefaultWeight(std::string_view name) {
  for (const config::PluginRef& ref : config::DefaultMultiPoint())
    if (ref.name == name) return std::max(ref.weight, 1);
  return 0;
}

using PointLists = std::array<std::vector<Listed>, kPointCount>;

Listed* FindIn(std::vector<Listed>& list, std::string_view name) {
  const auto at = std::ranges::find(list, name, &Listed::name);
  return at == list.end() ? nullptr : &*at;
}

class PluginConversion {
 public:
  PluginConversion(const OldPlugins& old, const ArgsList& old_args, const ProfileContext& context, Draft& draft,
                   ProfileDraft& profile)
      : old_(old), old_args_(old_args), context_(context), draft_(draft), profile_(profile) {}

  void Run() {
    RefuseWhatIsGone();
    if (draft_.version() == Version::kV1beta3) {
      RenameBeta3(old_, context_, draft_, profile_);
    } else {
      WorkOutOld();
      Translate();
      TranslateScores();
      AddYoungHalves();
      Write();
    }
    TakeArgs();
    if (context_.disable_preemption) {
      profile_.plugins.multi_point.disabled.push_back({"DefaultPreemption", 0});
      draft_.Remark(Fate::kChanged, "disablePreemption", Today("plugins.multiPoint.disabled"),
                    TextOf(RowKind::kField, "disablePreemption"));
    }
  }

 private:
  std::string Today(const std::string& field) const { return profile_.today + "." + field; }
  std::string PointPath(Point point) const { return Today(std::string("plugins.") + config::PluginsKey(point)); }
  std::vector<Listed>& Old(Point point) { return then_[static_cast<size_t>(point)]; }
  std::vector<Listed>& Wanted(Point point) { return wanted_[static_cast<size_t>(point)]; }
  bool Has(PointLists& lists, Point point, std::string_view name) {
    return FindIn(lists[static_cast<size_t>(point)], name) != nullptr;
  }
  void Want(Point point, std::string_view name, int32_t weight, const std::string& path) {
    if (FindIn(Wanted(point), name) == nullptr) Wanted(point).push_back({std::string(name), weight, path});
  }
  const Value& ArgsThen(std::string_view name) const {
    static const Value kNothing;
    const ArgsList::Entry* entry = old_args_.Find(name);
    return entry == nullptr ? kNothing : entry->args;
  }
  // A field of arguments that are not there today any more. What is wrong with those of v1beta1, which have types, has
  // been said when they were read.
  std::vector<std::string> LabelsOf(std::string_view plugin, const char* field) {
    const ArgsList::Entry* entry = old_args_.Find(plugin);
    if (entry == nullptr || entry->args.is_null()) return {};
    std::vector<FieldError> errors;
    ArgsReader in(&entry->args, entry->path + ".args", &errors);
    std::vector<std::string> labels;
    in.Strings(field, labels);
    if (draft_.version() != Version::kV1beta1) draft_.Take(std::move(errors));
    return labels;
  }

  // Enabled names that nothing today stands for. What ServiceAffinity filters by are its affinityLabels: without any it
  // let every node pass.
  void RefuseWhatIsGone() {
    const std::vector<std::string> tied = LabelsOf("ServiceAffinity", "affinityLabels");
    const auto look = [&](const OldSet& set, const std::string& today, bool scores) {
      for (const Listed& one : set.enabled) {
        const std::string path = Join(one.path, "name");
        if (IsRemoved(draft_.version(), one.name)) {
          RefuseRemoved(path, one.name, draft_);
        } else if (one.name == "NodeResourceLimits" || (one.name == "ServiceAffinity" && !scores && !tied.empty())) {
          draft_.Invalid(path, Quote(one.name), TextOf(RowKind::kPlugin, one.name));
        } else if (one.name == "ServiceAffinity" && !scores) {
          draft_.Remark(Fate::kDropped, one.path, today, "ServiceAffinity without affinityLabels rejects no node");
        }
      }
    };
    for (size_t i = 0; i < kPointCount; ++i) {
      const auto point = static_cast<Point>(i);
      look(old_.at[i], PointPath(point), point == Point::kScore);
    }
    look(old_.multi_point, Today("plugins.multiPoint"), false);
    for (const ArgsList::Entry& entry : old_args_.entries())
      if (IsRemoved(draft_.version(), entry.name)) RefuseRemoved(Join(entry.path, "name"), entry.name, draft_);
  }

  // Which plugins the old release would have had at every point.
  void WorkOutOld() {
    for (size_t i = 0; i < kPointCount; ++i) {
      const auto point = static_cast<Point>(i);
      const OldSet& custom = old_.at[i];
      CheckTwice(custom, draft_);
      std::vector<Listed>& list = then_[i];
      std::set<std::string> used;
      if (context_.defaults) {
        for (const config::PluginRef& ref : DefaultsAt(draft_.version(), point)) {
          Listed one{ref.name, ref.weight, ""};
          if (context_.most_allocated && one.name == "NodeResourcesLeastAllocated")
            one.name = "NodeResourcesMostAllocated";
          if (custom.Disables(one.name)) continue;
          const auto again = std::ranges::find(custom.enabled, one.name, &Listed::name);
          if (again != custom.enabled.end()) {
            if (draft_.version() != Version::kV1beta2) {
              draft_.Remark(Fate::kChanged, again->path, PointPath(point),
                            Quote(one.name) +
                                " was there by default: " + TextOf(RowKind::kPlugin, "a default plugin listed again"));
            }
            one = *again;
            used.insert(one.name);
          }
          list.push_back(std::move(one));
        }
      }
      for (const Listed& one : custom.enabled)
        if (!used.contains(one.name) && FindIn(list, one.name) == nullptr) list.push_back(one);
      if (point == Point::kScore)
        for (Listed& one : list) one.weight = one.weight == 0 ? 1 : one.weight;
    }
    WorkOutMultiPoint();
  }

  // v1beta2's, which came on top of its defaults.
  void WorkOutMultiPoint() {
    const OldSet& multi = old_.multi_point;
    CheckTwice(multi, draft_);
    if (!multi.path.empty()) {
      draft_.Remark(Fate::kChanged, multi.path, Today("plugins.multiPoint"),
                    TextOf(RowKind::kField, "plugins.multiPoint"));
    }
    for (const Listed& one : multi.enabled) {
      const PointSet points = PointsThen(draft_.version(), one.name);
      if (points == 0) {
        profile_.plugins.multi_point.enabled.push_back({one.name, one.weight});
        continue;
      }
      for (size_t i = 0; i < kPointCount; ++i) {
        const auto point = static_cast<Point>(i);
        if ((points & Bit(point)) == 0 || old_.at[i].Disables(one.name) || Has(then_, point, one.name)) continue;
        Listed added = one;
        if (point == Point::kScore && added.weight == 0) added.weight = 1;
        then_[i].push_back(added);
      }
    }
  }

  // Everything but what is scored in another way today.
  void Translate() {
    std::set<std::string> limits;
    for (size_t i = 0; i < kPointCount; ++i) {
      const auto point = static_cast<Point>(i);
      for (const Listed& one : then_[i]) {
        if (IsCloudLimit(one.name)) {
          Want(point, "NodeVolumeLimits", 0, one.path);
          if (!one.path.empty()) RemarkOn(one, point);
        } else if (one.name == "NodePreferAvoidPods") {
          if (point == Point::kScore) {
            draft_.Remark(
                Fate::kDropped, one.path.empty() ? profile_.path : one.path, PointPath(point),
                one.name + (one.path.empty() ? " was there by default. " : ": ") + TextOf(RowKind::kPlugin, one.name));
          }
        } else if (one.name == "NodeLabel" && point == Point::kFilter) {
          filter_labels_ = one;
        } else if (IsSelectorSpread(one.name) && point == Point::kPreScore) {
          Want(point, "PodTopologySpread", 0, one.path);
        } else if (!(point == Point::kScore && IsScoredOtherwise(one.name)) && one.name != "ServiceAffinity") {
          Want(point, one.name, one.weight, one.path);
        }
      }
    }
    RemarkOnLimits();
    if (filter_labels_) TakeFilterLabels();
  }

  static bool IsScoredOtherwise(std::string_view name) {
    return !StrategyOf(name).empty() || IsSelectorSpread(name) || name == "NodeLabel" || name == "ServiceAffinity";
  }

  void RemarkOn(const Listed& one, Point point) {
    draft_.Remark(Fate::kChanged, one.path, PointPath(point), one.name + ": " + TextOf(RowKind::kPlugin, one.name));
  }

  // NodeVolumeLimits counts for all: leaving out one of the old ones leaves nothing out.
  void RemarkOnLimits() {
    const OldSet& set = old_[Point::kFilter];
    if (!Has(wanted_, Point::kFilter, "NodeVolumeLimits")) return;
    for (const Listed& one : set.disabled)
      if (IsCloudLimit(one.name) || one.name == "NodeVolumeLimits") KeepLimit(one, PointPath(Point::kFilter), draft_);
  }

  void TakeFilterLabels() {
    LabelWishes wishes;
    wishes.present = LabelsOf("NodeLabel", "presentLabels");
    wishes.absent = LabelsOf("NodeLabel", "absentLabels");
    const std::string path = filter_labels_->path;
    if (wishes.present.empty() && wishes.absent.empty()) {
      draft_.Remark(Fate::kDropped, path, PointPath(Point::kFilter), "NodeLabel without labels rejects no node");
      return;
    }
    CheckConflict(wishes.present, wishes.absent, "absentLabels");
    if (!Has(wanted_, Point::kFilter, "NodeAffinity")) Want(Point::kFilter, "NodeAffinity", 0, path);
    if (!Has(wanted_, Point::kPreFilter, "NodeAffinity")) Want(Point::kPreFilter, "NodeAffinity", 0, path);
    ArgsList::Entry& entry = TodaysArgs("NodeAffinity", path);
    entry.args = RequireLabels(entry.args, wishes);
    draft_.Remark(Fate::kChanged, path, Today("pluginConfig"), "NodeLabel: " + TextOf(RowKind::kPlugin, "NodeLabel"));
  }

  void CheckConflict(const std::vector<std::string>& present, const std::vector<std::string>& absent,
                     const char* field) {
    for (size_t i = 0; i < absent.size(); ++i) {
      if (std::ranges::find(present, absent[i]) == present.end()) continue;
      draft_.Invalid(old_args_.Find("NodeLabel")->path + ".args." + field + "[" + std::to_string(i) + "]",
                     Quote(absent[i]), "detecting at least one label that exists in both the present and absent lists");
    }
  }

  // The entry in v1's pluginConfig, begun with what the file has for the plugin.
  ArgsList::Entry& TodaysArgs(std::string_view name, const std::string& path) {
    const bool there = profile_.args.Find(name) != nullptr;
    ArgsList::Entry& entry = profile_.args.Of(name, path);
    if (const ArgsList::Entry* then = old_args_.Find(name); !there && then != nullptr) {
      entry.path = then->path;
      if (then->args.kind() == Value::Kind::kObject) entry.args = then->args;
    }
    return entry;
  }

  void TranslateScores() {
    TakeStrategies();
    TakeSpread();
    if (const Listed* labels = FindIn(Old(Point::kScore), "NodeLabel")) TakeScoreLabels(*labels);
  }

  void TakeStrategies() {
    std::vector<Listed> found;
    for (const Listed& one : Old(Point::kScore))
      if (!StrategyOf(one.name).empty()) found.push_back(one);
    const Listed* fit = FindIn(Old(Point::kScore), "NodeResourcesFit");
    if (found.empty()) return;
    const auto path_of = [&](const Listed& one) {
      return one.path.empty() ? Join(profile_.path, "plugins.score") : Join(one.path, "name");
    };
    if (fit != nullptr) {
      draft_.Invalid(path_of(*fit), Quote(fit->name),
                     "was conflict with [" + Quote(found[0].name) + "] in version " +
                         Quote(ToString(draft_.version())) +
                         ": disable that one, it is the strategy of this one today");
      return;
    }
    if (found.size() > 1) {
      std::string names;
      for (const Listed& one : found) names += (names.empty() ? "" : " and ") + one.name;
      const Listed& last = found.back();
      draft_.Invalid(path_of(last), Quote(last.name),
                     names +
                         " score together, which a profile cannot do any more: NodeResourcesFit has one "
                         "scoringStrategy; disable all but one");
      return;
    }
    TakeStrategy(found[0]);
  }

  // The only scorer of resources.
  void TakeStrategy(const Listed& one) {
    Want(Point::kScore, "NodeResourcesFit", one.weight, one.path);
    const bool ratio = one.name == "RequestedToCapacityRatio";
    const Value& then = ArgsThen(one.name);
    const ArgsList::Entry* entry = old_args_.Find(one.name);
    const std::string path = entry != nullptr ? entry->path : one.path;
    const Value* resources = then.Find("resources");
    const Value* shape = then.Find("shape");
    if (ratio && entry == nullptr) {
      return draft_.Invalid(Join(one.path, "name"), Quote(one.name),
                            "needs arguments in pluginConfig: a shape of at least one point");
    }
    const Value* own = ArgsThen("NodeResourcesFit").Find("scoringStrategy");
    if (own != nullptr) {
      draft_.Remark(Fate::kDropped, old_args_.Find("NodeResourcesFit")->path + ".args.scoringStrategy",
                    Today("pluginConfig"), "NodeResourcesFit did not score: " + one.name + " did");
    }
    // What v1 does by itself needs no words.
    const bool plain = one.name == "NodeResourcesLeastAllocated" && resources == nullptr && own == nullptr;
    if (!plain) {
      ArgsList::Entry& today = TodaysArgs("NodeResourcesFit", path);
      today.args = ScoreResources(today.args, StrategyOf(one.name), resources != nullptr ? *resources : Value(),
                                  ratio ? (shape != nullptr ? *shape : Value::Array()) : Value());
      if (entry != nullptr) {
        const std::string at = Today("pluginConfig[" + std::to_string(&today - profile_.args.entries().data()) +
                                     "].args.scoringStrategy.");
        draft_.ComesFrom(at + "requestedToCapacityRatio.shape", path + ".args.shape");
        draft_.ComesFrom(at + "resources", path + ".args.resources");
      }
    }
    if (!one.path.empty() || entry != nullptr || context_.most_allocated) {
      draft_.Remark(Fate::kChanged, path.empty() ? "algorithmSource.provider" : path,
                    plain ? Today("plugins") : Today("pluginConfig"),
                    one.name + ": " + TextOf(RowKind::kPlugin, one.name));
    }
  }

  void TakeSpread() {
    const bool alpha = IsAlpha1(draft_.version()) || draft_.version() == Version::kV1alpha2;
    const Listed* own = FindIn(Old(Point::kScore), "PodTopologySpread");
    const Listed* selector = FindIn(Old(Point::kScore), "SelectorSpread");
    if (selector == nullptr) selector = FindIn(Old(Point::kScore), "DefaultPodTopologySpread");
    const Listed* service = FindIn(Old(Point::kScore), "ServiceAffinity");
    const Value& then = ArgsThen("PodTopologySpread");
    const Value* constraints = then.Find("defaultConstraints");
    const Value* type = then.Find("defaultingType");
    const bool listed = constraints != nullptr && !constraints->items().empty();
    const std::string args_path =
        old_args_.Find("PodTopologySpread") != nullptr ? old_args_.Find("PodTopologySpread")->path : profile_.path;

    if (selector != nullptr) {
      Want(Point::kScore, "PodTopologySpread", own != nullptr ? own->weight : selector->weight, selector->path);
      if (!selector->path.empty() || (own != nullptr && own->weight != selector->weight) || own == nullptr) {
        std::string text = selector->name + ": " + TextOf(RowKind::kPlugin, selector->name);
        if (own != nullptr && own->weight != selector->weight)
          text += " One plugin has one weight: that of PodTopologySpread.";
        if (own == nullptr) text += " It also scores by the pods' own constraints.";
        draft_.Remark(Fate::kChanged, selector->path.empty() ? profile_.path : selector->path, Today("plugins.score"),
                      text);
      }
      if (listed) {
        draft_.Remark(Fate::kChanged, Join(args_path, "args.defaultConstraints"), Today("pluginConfig"),
                      "pods are spread by these constraints alone: " + selector->name + " is not there beside them");
      }
    }
    if (listed && (type == nullptr || type->text().empty())) {
      // v1beta2 and later refuse constraints without a type; so does v1.
      if (draft_.version() != Version::kV1beta2) {
        ArgsList::Entry& entry = TodaysArgs("PodTopologySpread", args_path);
        entry.args = With(entry.args, "defaultingType", Value::String("List"));
        draft_.Remark(Fate::kChanged, Join(args_path, "args.defaultConstraints"), Today("pluginConfig"),
                      TextOf(RowKind::kArgument, "PodTopologySpread.defaultingType"));
      }
    } else if (alpha && !listed && selector == nullptr && own != nullptr) {
      // Nobody spread pods without constraints.
      ArgsList::Entry& entry = TodaysArgs("PodTopologySpread", args_path);
      entry.args = With(entry.args, "defaultingType", Value::String("List"));
    }
    if (service != nullptr) TakeServiceSpread(*service, selector != nullptr || (!alpha && own != nullptr && !listed));
  }

  void TakeServiceSpread(const Listed& service, bool system) {
    const std::vector<std::string> labels = LabelsOf("ServiceAffinity", "antiAffinityLabelsPreference");
    if (labels.empty()) {
      draft_.Remark(Fate::kDropped, service.path, PointPath(Point::kScore),
                    "ServiceAffinity without antiAffinityLabelsPreference gives every node the same");
      return;
    }
    Want(Point::kScore, "PodTopologySpread", service.weight, service.path);
    Want(Point::kPreScore, "PodTopologySpread", 0, service.path);
    ArgsList::Entry& entry = TodaysArgs("PodTopologySpread", old_args_.Find("ServiceAffinity")->path);
    entry.args = SpreadOver(entry.args, labels, system);
    draft_.Remark(Fate::kChanged, service.path, Today("pluginConfig"),
                  "ServiceAffinity: " + TextOf(RowKind::kPriority, "ServiceAntiAffinityPriority"));
  }

  void TakeScoreLabels(const Listed& labels) {
    LabelWishes wishes;
    wishes.preferred = LabelsOf("NodeLabel", "presentLabelsPreference");
    wishes.not_preferred = LabelsOf("NodeLabel", "absentLabelsPreference");
    if (wishes.preferred.empty() && wishes.not_preferred.empty()) {
      draft_.Remark(Fate::kDropped, labels.path, PointPath(Point::kScore),
                    "NodeLabel without preferences gives every node the same");
      return;
    }
    CheckConflict(wishes.preferred, wishes.not_preferred, "absentLabelsPreference");
    Listed* own = FindIn(Wanted(Point::kScore), "NodeAffinity");
    const int32_t own_weight = own != nullptr ? own->weight : 0;
    const int64_t together = int64_t{own_weight} + labels.weight;
    if (labels.weight <= 0 || together <= 0) {
      draft_.Invalid(Join(labels.path, "weight"), std::to_string(labels.weight), "must be positive");
      return;
    }
    ArgsList::Entry& entry = TodaysArgs("NodeAffinity", labels.path);
    entry.args = PreferLabels(entry.args, wishes, labels.weight, own_weight);
    const auto weight = static_cast<int32_t>(std::min<int64_t>(together, std::numeric_limits<int32_t>::max()));
    if (own != nullptr) {
      own->weight = weight;
    } else {
      Want(Point::kScore, "NodeAffinity", weight, labels.path);
      Want(Point::kPreScore, "NodeAffinity", 0, labels.path);
    }
    draft_.Remark(Fate::kChanged, labels.path, Today("pluginConfig"),
                  "NodeLabel: " + TextOf(RowKind::kPriority, "NodeLabelPriority"));
  }

  // Whether the old release could have had today's plugin there, under whatever name.
  bool HadAt(std::string_view name, Point point) const {
    if ((PointsThen(draft_.version(), name) & Bit(point)) != 0) return true;
    return name == "NodeResourcesFit" && point == Point::kScore;
  }
  // Where a younger half of a plugin takes its cue from: filter from preFilter on, score for preScore.
  std::optional<Point> CueOf(std::string_view name, Point point) const {
    if (HadAt(name, point)) return std::nullopt;
    if ((point == Point::kPreFilter || point == Point::kReserve || point == Point::kPreBind) &&
        HadAt(name, Point::kFilter))
      return Point::kFilter;
    if (point == Point::kPreScore && HadAt(name, Point::kScore)) return Point::kScore;
    return std::nullopt;
  }

  void AddYoungHalves() {
    for (const config::PluginRef& ref : config::DefaultMultiPoint()) {
      for (size_t i = 0; i < kPointCount; ++i) {
        const auto point = static_cast<Point>(i);
        if ((TodaysPoints(ref.name) & Bit(point)) == 0) continue;
        const std::optional<Point> cue = CueOf(ref.name, point);
        if (cue && Has(wanted_, *cue, ref.name)) Want(point, ref.name, 0, "");
      }
    }
  }

  void Write() {
    for (size_t i = 0; i < kPointCount; ++i) {
      const auto point = static_cast<Point>(i);
      const OldSet& custom = old_.at[i];
      config::PluginSet& set = profile_.plugins.at[i];
      const bool everything = custom.Disables("*");
      if (everything || !context_.defaults) {
        if (everything && context_.defaults) set.disabled.push_back({"*", 0});
        for (const Listed& one : wanted_[i]) set.enabled.push_back({one.name, point == Point::kScore ? one.weight : 0});
      } else {
        WriteDifference(point, custom, set);
      }
      if (!custom.path.empty()) draft_.ComesFrom(PointPath(point), custom.path);
      for (size_t at = 0; at < set.enabled.size(); ++at) {
        const Listed* one = FindIn(wanted_[i], set.enabled[at].name);
        if (one != nullptr && !one->path.empty())
          draft_.ComesFrom(PointPath(point) + ".enabled[" + std::to_string(at) + "]", one->path);
      }
    }
    if (!context_.defaults) return;
    std::string text;
    for (const config::PluginRef& ref : profile_.plugins.multi_point.enabled) {
      const Listed* one = FindIn(Wanted(Point::kScore), ref.name);
      if (one == nullptr || !one->path.empty()) continue;
      text += (text.empty() ? "" : ", ") + ref.name + " " + std::to_string(DefaultWeight(ref.name));
    }
    if (!text.empty()) {
      draft_.Remark(
          Fate::kChanged, profile_.path, Today("plugins.multiPoint"),
          "the default weights that " + std::string(ToString(draft_.version())) + " had. Those of v1 are " + text);
    }
  }

  void WriteDifference(Point point, const OldSet& custom, config::PluginSet& set) {
    std::set<std::string> base;
    std::vector<Listed>& wanted = Wanted(point);
    for (const config::PluginRef& ref : config::DefaultMultiPoint()) {
      if ((TodaysPoints(ref.name) & Bit(point)) == 0) continue;
      base.insert(ref.name);
      const bool ours = HadAt(ref.name, point) || CueOf(ref.name, point).has_value();
      const Listed* one = FindIn(wanted, ref.name);
      if (ours && one == nullptr) set.disabled.push_back({ref.name, 0});
      if (one == nullptr || point != Point::kScore || one->weight == std::max(ref.weight, 1)) continue;
      profile_.plugins.multi_point.enabled.push_back({ref.name, one->weight});
      if (!one->path.empty()) {
        draft_.ComesFrom(Today("plugins.multiPoint.enabled[") +
                             std::to_string(profile_.plugins.multi_point.enabled.size() - 1) + "]",
                         one->path);
      }
    }
    for (const Listed& one : wanted)
      if (!base.contains(one.name)) set.enabled.push_back({one.name, point == Point::kScore ? one.weight : 0});
    // Younger plugins, and those of others, which may be turned off as they were.
    for (const Listed& one : custom.disabled) {
      const bool known = PointsThen(draft_.version(), one.name) != 0 || WasRemoved(one.name);
      const bool there =
          std::ranges::any_of(set.disabled, [&](const config::PluginRef& ref) { return ref.name == one.name; });
      if (!known && !there) set.disabled.push_back({one.name, 0});
    }
  }

  // Arguments of plugins that are still there; those that became others have been taken.
  void TakeArgs() {
    for (const ArgsList::Entry& entry : old_args_.entries()) {
      if (WasRemoved(entry.name) || entry.name == "NodeResourceLimits" || IsSelectorSpread(entry.name) ||
          IsCloudLimit(entry.name)) {
        if (FindIn(Old(Point::kScore), entry.name) == nullptr && FindIn(Old(Point::kFilter), entry.name) == nullptr) {
          draft_.Remark(Fate::kDropped, entry.path, Today("pluginConfig"),
                        "arguments of " + entry.name + ", which is not enabled");
        }
        continue;
      }
      if (profile_.args.Find(entry.name) == nullptr) profile_.args.Add(entry);
    }
  }

  const OldPlugins& old_;
  const ArgsList& old_args_;
  const ProfileContext& context_;
  Draft& draft_;
  ProfileDraft& profile_;
  PointLists then_, wanted_;
  std::optional<Listed> filter_labels_;
};

}  // namespace

void ConvertPlugins(const OldPlugins& old, const ArgsList& old_args, const ProfileContext& context, Draft& draft,
                    ProfileDraft& profile) {
  PluginConversion(old, old_args, context, draft, profile).Run();
}

}  // namespace berth::legacy
