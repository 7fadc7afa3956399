// SPDX-License-Identifier: Apache-2.0
// Recorded: tests/observed/legacy/defaults.txt. Today's points: the default configuration of kube-scheduler v1.36.4.
#include "legacy/default_lists.h"

#include <array>
#include <cassert>
#include <map>
#include <string>

namespace berth::legacy {
namespace {

using Lists = std::array<std::vector<config::PluginRef>, kPointCount>;

std::vector<config::PluginRef> Names(std::initializer_list<const char*> names) {
  std::vector<config::PluginRef> refs;
  for (const char* name : names) refs.push_back({name, 0});
  return refs;
}

std::vector<config::PluginRef>& At(Lists& lists, Point point) { return lists[static_cast<size_t>(point)]; }

Lists MakeAlpha() {
  Lists lists;
  At(lists, Point::kQueueSort) = Names({"PrioritySort"});
  At(lists, Point::kPreFilter) = Names({"NodeResourcesFit", "NodePorts", "InterPodAffinity", "PodTopologySpread"});
  At(lists, Point::kFilter) =
      Names({"NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions",
             "TaintToleration", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding",
             "VolumeZone", "InterPodAffinity", "PodTopologySpread"});
  At(lists, Point::kPreScore) =
      Names({"InterPodAffinity", "DefaultPodTopologySpread", "TaintToleration", "PodTopologySpread"});
  At(lists, Point::kScore) = {
      {"NodeResourcesBalancedAllocation", 1}, {"ImageLocality", 1},   {"InterPodAffinity", 1},
      {"NodeResourcesLeastAllocated", 1},     {"NodeAffinity", 1},    {"NodePreferAvoidPods", 10000},
      {"DefaultPodTopologySpread", 1},        {"TaintToleration", 1}, {"PodTopologySpread", 1}};
  At(lists, Point::kBind) = Names({"DefaultBinder"});
  return lists;
}

Lists MakeBeta1() {
  Lists lists;
  At(lists, Point::kQueueSort) = Names({"PrioritySort"});
  At(lists, Point::kPreFilter) = Names({"NodeResourcesFit", "NodePorts", "VolumeRestrictions", "PodTopologySpread",
                                        "InterPodAffinity", "VolumeBinding", "NodeAffinity"});
  At(lists, Point::kFilter) =
      Names({"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
             "VolumeRestrictions", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding",
             "VolumeZone", "PodTopologySpread", "InterPodAffinity"});
  At(lists, Point::kPostFilter) = Names({"DefaultPreemption"});
  At(lists, Point::kPreScore) = Names({"InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"});
  At(lists, Point::kScore) = {{"NodeResourcesBalancedAllocation", 1},
                              {"ImageLocality", 1},
                              {"InterPodAffinity", 1},
                              {"NodeResourcesLeastAllocated", 1},
                              {"NodeAffinity", 1},
                              {"NodePreferAvoidPods", 10000},
                              {"PodTopologySpread", 2},
                              {"TaintToleration", 1}};
  At(lists, Point::kReserve) = Names({"VolumeBinding"});
  At(lists, Point::kPreBind) = Names({"VolumeBinding"});
  At(lists, Point::kBind) = Names({"DefaultBinder"});
  return lists;
}

Lists MakeBeta2() {
  Lists lists = MakeBeta1();
  At(lists, Point::kPreEnqueue) = Names({"SchedulingGates"});
  At(lists, Point::kPreFilter) = Names({"NodeResourcesFit", "NodePorts", "VolumeRestrictions", "PodTopologySpread",
                                        "InterPodAffinity", "VolumeBinding", "VolumeZone", "NodeAffinity"});
  At(lists, Point::kPreScore) = Names({"InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity",
                                       "NodeResourcesFit", "NodeResourcesBalancedAllocation"});
  At(lists, Point::kScore) = {{"NodeResourcesBalancedAllocation", 1},
                              {"ImageLocality", 1},
                              {"InterPodAffinity", 1},
                              {"NodeResourcesFit", 1},
                              {"NodeAffinity", 1},
                              {"PodTopologySpread", 2},
                              {"TaintToleration", 1}};
  return lists;
}

const Lists& ListsOf(Version version) {
  static const Lists alpha = MakeAlpha(), beta1 = MakeBeta1(), beta2 = MakeBeta2();
  assert(version != Version::kPolicy && IsOld(version));
  return version == Version::kV1beta2 ? beta2 : version == Version::kV1beta1 ? beta1 : alpha;
}

constexpr PointSet kJudges = Bit(Point::kPreFilter) | Bit(Point::kFilter);
constexpr PointSet kScores = Bit(Point::kPreScore) | Bit(Point::kScore);

}  // namespace

const std::vector<config::PluginRef>& DefaultsAt(Version version, Point point) {
  return ListsOf(version)[static_cast<size_t>(point)];
}

PointSet TodaysPoints(std::string_view plugin) {
  static const std::map<std::string, PointSet, std::less<>> points = {
      {"SchedulingGates", Bit(Point::kPreEnqueue)},
      {"PrioritySort", Bit(Point::kQueueSort)},
      {"NodeUnschedulable", Bit(Point::kFilter)},
      {"NodeName", Bit(Point::kFilter)},
      {"TaintToleration", Bit(Point::kFilter) | kScores},
      {"NodeAffinity", kJudges | kScores},
      {"NodePorts", kJudges},
      {"NodeResourcesFit", kJudges | kScores},
      {"VolumeRestrictions", kJudges},
      {"NodeVolumeLimits", kJudges},
      {"VolumeBinding", kJudges | kScores | Bit(Point::kReserve) | Bit(Point::kPreBind)},
      {"VolumeZone", kJudges},
      {"PodTopologySpread", kJudges | kScores},
      {"InterPodAffinity", kJudges | kScores},
      {"DynamicResources", Bit(Point::kPreEnqueue) | kJudges | Bit(Point::kPostFilter) | Bit(Point::kScore) |
                               Bit(Point::kReserve) | Bit(Point::kPreBind)},
      {"DefaultPreemption", Bit(Point::kPreEnqueue) | Bit(Point::kPostFilter)},
      {"NodeResourcesBalancedAllocation", kScores},
      {"ImageLocality", Bit(Point::kScore)},
      {"DefaultBinder", Bit(Point::kBind)},
      {"NodeDeclaredFeatures", kJudges},
  };
  const auto at = points.find(plugin);
  return at == points.end() ? 0 : at->second;
}

PointSet PointsThen(Version version, std::string_view plugin) {
  PointSet points = 0;
  for (size_t i = 0; i < kPointCount; ++i) {
    for (const config::PluginRef& ref : ListsOf(version)[i])
      if (ref.name == plugin) points |= Bit(static_cast<Point>(i));
  }
  if (points != 0) return points;
  // In-tree, but not on by default.
  if (plugin == "CinderLimits") return Bit(Point::kFilter);
  if (plugin == "SelectorSpread" && !IsAlpha1(version) && version != Version::kV1alpha2) return kScores;
  if (version == Version::kV1beta2) return 0;
  if (plugin == "NodeResourcesMostAllocated" || plugin == "RequestedToCapacityRatio") return Bit(Point::kScore);
  if (plugin == "NodeLabel") return Bit(Point::kFilter) | Bit(Point::kScore);
  if (plugin == "ServiceAffinity") return kJudges | Bit(Point::kScore);
  return 0;
}

}  // namespace berth::legacy
