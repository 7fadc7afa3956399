// SPDX-License-Identifier: Apache-2.0
// The rows. Upstream: pkg/scheduler/apis/config, pkg/scheduler/framework/plugins/legacy_registry.go and
// cmd/kube-scheduler/app/options of the releases 1.10 to 1.28.
#include <array>

#include "legacy/table.h"

namespace berth::legacy {
namespace {

using enum RowKind;
using enum Fate;

constexpr auto kRows = std::to_array<Row>({
    // How files are read.
    {kReading, "unknown keys", "componentconfig/v1alpha1, v1alpha1", kDropped, "",
     "Releases that read this version ignored keys that they did not know; so does Berth, and names each."},
    {kReading, "fields of younger versions", "componentconfig/v1alpha1, v1alpha1", kRefused, "",
     "profiles, extenders, parallelism, delayCacheUntilActive and a Policy's fields: the releases ignored them, here "
     "the "
     "file is taken for half converted."},
    {kReading, "unknown keys in an extender", "Policy, v1alpha2", kDropped, "",
     "These versions ignored keys of an extender that they did not know; so does Berth, and names each."},
    {kReading, "unknown keys elsewhere", "Policy, v1alpha2 and later", kRefused, "", "Strict then and now."},
    {kReading, "keys in another case", "Policy, v1alpha2", kSame, "the key as it is spelled",
     "Only inside extenders, and in a Policy without apiVersion, where keys were Go's names (Predicates, Name)."},
    {kReading, "a key twice", "all", kRefused, "", "Lenient releases took one of the two."},
    {kReading, "Policy without apiVersion or kind", "Policy", kSame, "",
     "The releases refused it or, until 1.16, took it for an empty one; Berth reads it."},
    {kReading, "several documents", "all", kRefused, "", "The releases read the first one only."},
    {kReading, "null instead of a list", "Policy", kSame, "",
     "null or nothing means the default set, an empty list means none. The default set is that of 1.19 to 1.22; in "
     "1.18 "
     "EvenPodsSpreadPriority weighed 1, not 2, and before it was not among them."},

    // Predicates, in the order in which they ran.
    {kPredicate, "CheckNodeUnschedulable", "until 1.22", kSame, "NodeUnschedulable", "Always on, named or not."},
    {kPredicate, "GeneralPredicates", "until 1.22", kSame, "NodeResourcesFit NodeName NodePorts NodeAffinity", ""},
    {kPredicate, "HostName", "until 1.22", kSame, "NodeName", ""},
    {kPredicate, "PodFitsHostPorts", "until 1.22", kSame, "NodePorts", ""},
    {kPredicate, "PodFitsPorts", "until 1.22", kSame, "NodePorts", "The old name of PodFitsHostPorts."},
    {kPredicate, "MatchNodeSelector", "until 1.22", kSame, "NodeAffinity", ""},
    {kPredicate, "PodFitsResources", "until 1.22", kSame, "NodeResourcesFit", ""},
    {kPredicate, "NoDiskConflict", "until 1.22", kSame, "VolumeRestrictions",
     "Today it knows ReadWriteOncePod claims, too."},
    {kPredicate, "PodToleratesNodeTaints", "until 1.22", kSame, "TaintToleration", "Always on, named or not."},
    {kPredicate, "CheckNodeLabelPresence", "until 1.22", kChanged, "NodeAffinity",
     "With labelsPresence, under any name. Today the labels are asked for by NodeAffinity's addedAffinity; that plugin "
     "also obeys the pods' own nodeSelector and node affinity, which the predicate MatchNodeSelector did."},
    {kPredicate, "CheckServiceAffinity", "until 1.22", kRefused, "",
     "With serviceAffinity, under any name. Nothing today ties a service's pods to the node labels of the first of "
     "them; the nearest thing is podAffinity in the pods, with that label as topologyKey."},
    {kPredicate, "MaxEBSVolumeCount", "until 1.22", kChanged, "NodeVolumeLimits",
     "These volumes are counted as CSI volumes, and the limit comes from CSINode, not from KUBE_MAX_PD_VOLS."},
    {kPredicate, "MaxGCEPDVolumeCount", "until 1.22", kChanged, "NodeVolumeLimits",
     "These volumes are counted as CSI volumes, and the limit comes from CSINode, not from KUBE_MAX_PD_VOLS."},
    {kPredicate, "MaxCSIVolumeCountPred", "until 1.22", kSame, "NodeVolumeLimits", ""},
    {kPredicate, "MaxAzureDiskVolumeCount", "until 1.22", kChanged, "NodeVolumeLimits",
     "These volumes are counted as CSI volumes, and the limit comes from CSINode, not from KUBE_MAX_PD_VOLS."},
    {kPredicate, "MaxCinderVolumeCount", "until 1.22", kChanged, "NodeVolumeLimits",
     "These volumes are counted as CSI volumes, and the limit comes from CSINode, not from KUBE_MAX_PD_VOLS."},
    {kPredicate, "CheckVolumeBinding", "until 1.22", kSame, "VolumeBinding", ""},
    {kPredicate, "NoVolumeZoneConflict", "until 1.22", kSame, "VolumeZone", ""},
    {kPredicate, "EvenPodsSpread", "1.16 - 1.22", kSame, "PodTopologySpread", ""},
    {kPredicate, "MatchInterPodAffinity", "until 1.22", kSame, "InterPodAffinity", ""},
    {kPredicate, "CheckNodeCondition", "until 1.16", kDropped, "",
     "Such nodes have taints today, which TaintToleration looks at; it is always on."},
    {kPredicate, "CheckNodeMemoryPressure", "until 1.16", kDropped, "",
     "Such nodes have taints today, which TaintToleration looks at; it is always on."},
    {kPredicate, "CheckNodeDiskPressure", "until 1.16", kDropped, "",
     "Such nodes have taints today, which TaintToleration looks at; it is always on."},
    {kPredicate, "CheckNodePIDPressure", "until 1.16", kDropped, "",
     "Such nodes have taints today, which TaintToleration looks at; it is always on."},
    {kPredicate, "PodToleratesNodeNoExecuteTaints", "never", kRefused, "",
     "A constant of the source, which no release registered; PodToleratesNodeTaints is what there was."},

    // Priorities.
    {kPriority, "LeastRequestedPriority", "until 1.22", kChanged, "NodeResourcesFit",
     "Today a scoringStrategy of NodeResourcesFit, LeastAllocated. A profile has one strategy."},
    {kPriority, "MostRequestedPriority", "until 1.22", kChanged, "NodeResourcesFit",
     "Today a scoringStrategy of NodeResourcesFit, MostAllocated. A profile has one strategy."},
    {kPriority, "RequestedToCapacityRatioPriority", "until 1.22", kChanged, "NodeResourcesFit",
     "With requestedToCapacityRatioArguments, under any name. Today a scoringStrategy of NodeResourcesFit. Without "
     "resources it counts cpu and memory, as until 1.18; 1.22 then gave every node 0. A weight of a resource is 100 at "
     "most."},
    {kPriority, "BalancedResourceAllocation", "until 1.22", kChanged, "NodeResourcesBalancedAllocation",
     "The formula has changed twice: in 1.22, and since then it compares a node with and without the pod."},
    {kPriority, "SelectorSpreadPriority", "until 1.22", kChanged, "PodTopologySpread",
     "Since 1.20 it is PodTopologySpread with its default constraints (defaultingType System), for pods that have none "
     "of their own. It was two thirds zone and one third node; today constraints on both are added up."},
    {kPriority, "ServiceSpreadingPriority", "until 1.22", kChanged, "PodTopologySpread",
     "Since 1.20 it is PodTopologySpread with its default constraints (defaultingType System), for pods that have none "
     "of their own. Until 1.17 only services counted, not replica sets."},
    {kPriority, "EvenPodsSpreadPriority", "1.16 - 1.22", kSame, "PodTopologySpread",
     "Without SelectorSpreadPriority beside it: defaultingType List without constraints."},
    {kPriority, "InterPodAffinityPriority", "until 1.22", kSame, "InterPodAffinity", ""},
    {kPriority, "NodeAffinityPriority", "until 1.22", kSame, "NodeAffinity", ""},
    {kPriority, "TaintTolerationPriority", "until 1.22", kSame, "TaintToleration", ""},
    {kPriority, "ImageLocalityPriority", "until 1.22", kSame, "ImageLocality", ""},
    {kPriority, "NodePreferAvoidPodsPriority", "until 1.22", kDropped, "",
     "It obeyed the node annotation scheduler.alpha.kubernetes.io/preferAvoidPods, which is gone since 1.23; a taint "
     "with effect PreferNoSchedule keeps pods away today."},
    {kPriority, "NodeLabelPriority", "until 1.22", kChanged, "NodeAffinity",
     "With labelPreference, under any name. Today terms of NodeAffinity's addedAffinity that are preferred: nearly the "
     "same, but they are added to what the pod itself prefers, and the best node gets 100."},
    {kPriority, "ServiceAntiAffinityPriority", "until 1.22", kChanged, "PodTopologySpread",
     "With serviceAntiAffinity, under any name. Today a default constraint of PodTopologySpread (defaultingType List, "
     "ScheduleAnyway) on that label: nearly the same, for pods that have no constraints of their own."},
    {kPriority, "EqualPriority", "until 1.22", kDropped, "", "It gave every node the same and never decided anything."},
    {kPriority, "ResourceLimitsPriority", "until 1.18", kRefused, "",
     "An alpha feature that was given up; nothing today scores by limits. Requests are what NodeResourcesFit looks "
     "at."},

    // Plugins that have another name, another weight, or are not there any more.
    {kPlugin, "NodeResourcesLeastAllocated", "v1alpha1 - v1beta1", kChanged, "NodeResourcesFit",
     "Today NodeResourcesFit scores, with a scoringStrategy of that type. A profile has one strategy."},
    {kPlugin, "NodeResourcesMostAllocated", "v1alpha1 - v1beta1", kChanged, "NodeResourcesFit",
     "Today NodeResourcesFit scores, with a scoringStrategy of that type. A profile has one strategy."},
    {kPlugin, "RequestedToCapacityRatio", "v1alpha1 - v1beta1", kChanged, "NodeResourcesFit",
     "Today NodeResourcesFit scores, with a scoringStrategy of that type. A profile has one strategy."},
    {kPlugin, "NodeResourcesBalancedAllocation", "all", kChanged, "NodeResourcesBalancedAllocation",
     "The formula has changed twice: in 1.22, and since then it compares a node with and without the pod."},
    {kPlugin, "DefaultPodTopologySpread", "v1alpha1, v1alpha2", kChanged, "PodTopologySpread",
     "Today PodTopologySpread spreads pods without constraints of their own (defaultingType System)."},
    {kPlugin, "SelectorSpread", "v1beta1 - v1beta3", kChanged, "PodTopologySpread",
     "Today PodTopologySpread spreads pods without constraints of their own (defaultingType System)."},
    {kPlugin, "PodTopologySpread", "all", kSame, "PodTopologySpread",
     "Its default weight was 1 in v1alpha1 and v1alpha2 and is 2 since; the conversion writes the old one."},
    {kPlugin, "TaintToleration", "all", kSame, "TaintToleration",
     "Its default weight was 1 until v1beta2 and is 3 since; the conversion writes the old one."},
    {kPlugin, "NodeAffinity", "all", kSame, "NodeAffinity",
     "Its default weight was 1 until v1beta2 and is 2 since; the conversion writes the old one."},
    {kPlugin, "InterPodAffinity", "all", kSame, "InterPodAffinity",
     "Its default weight was 1 until v1beta2 and is 2 since; the conversion writes the old one."},
    {kPlugin, "EBSLimits", "all", kChanged, "NodeVolumeLimits",
     "NodeVolumeLimits counts these volumes as CSI volumes; the limit comes from CSINode."},
    {kPlugin, "GCEPDLimits", "all", kChanged, "NodeVolumeLimits",
     "NodeVolumeLimits counts these volumes as CSI volumes; the limit comes from CSINode."},
    {kPlugin, "AzureDiskLimits", "all", kChanged, "NodeVolumeLimits",
     "NodeVolumeLimits counts these volumes as CSI volumes; the limit comes from CSINode."},
    {kPlugin, "CinderLimits", "all", kChanged, "NodeVolumeLimits",
     "NodeVolumeLimits counts these volumes as CSI volumes; the limit comes from CSINode."},
    {kPlugin, "NodeLabel", "v1alpha1 - v1beta1", kChanged, "NodeAffinity",
     "Today the labels are asked for by NodeAffinity's addedAffinity, which also obeys the pods' own node affinity."},
    {kPlugin, "ServiceAffinity", "v1alpha1 - v1beta1", kRefused, "",
     "Nothing today ties a service's pods to the node labels of the first of them; the nearest thing is podAffinity in "
     "the pods, with that label as topologyKey. At score it becomes a default constraint of PodTopologySpread; without "
     "affinityLabels it rejected no node and is dropped."},
    {kPlugin, "NodePreferAvoidPods", "v1alpha1 - v1beta1", kDropped, "",
     "It obeyed the node annotation scheduler.alpha.kubernetes.io/preferAvoidPods, which is gone since 1.23; a taint "
     "with effect PreferNoSchedule keeps pods away today."},
    {kPlugin, "NodeResourceLimits", "v1alpha1, v1alpha2", kRefused, "",
     "An alpha feature that was given up; nothing today scores by limits. Requests are what NodeResourcesFit looks "
     "at."},
    {kPlugin, "DefaultPreemption", "v1beta1 and later", kSame, "DefaultPreemption",
     "Before v1beta1 preemption was built in; see disablePreemption."},
    {kPlugin, "a default plugin listed again", "v1alpha1 - v1beta1", kChanged, "",
     "kube-scheduler refused to start then (already registered); today it takes the weight that is given."},
    {kPlugin, "SchedulingGates, DynamicResources, NodeDeclaredFeatures", "later", kChanged, "",
     "Younger than these versions. A configuration that extends the default plugins gets them; one that replaces them, "
     "as a Policy does, gets SchedulingGates alone, because without it gated pods would be bound."},

    // Arguments.
    {kArgument, "InterPodAffinity.hardPodAffinityWeight", "v1alpha1 and later", kSame, "the same", ""},
    {kArgument, "InterPodAffinity.ignorePreferredTermsOfExistingPods", "v1beta2, v1beta3", kSame, "the same", ""},
    {kArgument, "NodeResourcesFit.ignoredResources", "v1alpha1 and later", kSame, "the same", ""},
    {kArgument, "NodeResourcesFit.ignoredResourceGroups", "v1beta1 and later", kSame, "the same", ""},
    {kArgument, "NodeResourcesFit.scoringStrategy", "v1beta1 (1.22) and later", kSame, "the same", ""},
    {kArgument, "NodeResourcesLeastAllocated.resources", "v1beta1", kChanged,
     "NodeResourcesFit.scoringStrategy.resources", ""},
    {kArgument, "NodeResourcesMostAllocated.resources", "v1beta1", kChanged,
     "NodeResourcesFit.scoringStrategy.resources", ""},
    {kArgument, "RequestedToCapacityRatio.shape", "v1alpha1 - v1beta1", kChanged,
     "NodeResourcesFit.scoringStrategy.requestedToCapacityRatio.shape", ""},
    {kArgument, "RequestedToCapacityRatio.resources", "v1alpha1 - v1beta1", kChanged,
     "NodeResourcesFit.scoringStrategy.resources", "Without any: cpu and memory."},
    {kArgument, "NodeResourcesBalancedAllocation.resources", "v1beta1 (1.22) and later", kSame, "the same", ""},
    {kArgument, "NodeLabel.presentLabels, absentLabels", "v1alpha1 - v1beta1", kChanged, "NodeAffinity.addedAffinity",
     "Required: Exists, DoesNotExist."},
    {kArgument, "NodeLabel.presentLabelsPreference, absentLabelsPreference", "v1alpha1 - v1beta1", kChanged,
     "NodeAffinity.addedAffinity", "Preferred: Exists, DoesNotExist."},
    {kArgument, "ServiceAffinity.affinityLabels", "v1alpha1 - v1beta1", kRefused, "", "See the plugin."},
    {kArgument, "ServiceAffinity.antiAffinityLabelsPreference", "v1alpha1 - v1beta1", kChanged,
     "PodTopologySpread.defaultConstraints", "ScheduleAnyway, with defaultingType List."},
    {kArgument, "PodTopologySpread.defaultConstraints", "v1alpha1 and later", kSame, "the same", ""},
    {kArgument, "PodTopologySpread.defaultingType", "v1beta1 (1.20) and later", kChanged, "the same",
     "Until v1beta1 constraints without a type meant List; since v1beta2 they need it, so it is written."},
    {kArgument, "VolumeBinding.bindTimeoutSeconds", "v1beta1 and later", kSame, "the same", ""},
    {kArgument, "VolumeBinding.shape", "v1beta1 (1.22) and later", kSame, "the same", ""},
    {kArgument, "DefaultPreemption.minCandidateNodesPercentage, minCandidateNodesAbsolute", "v1beta1 and later", kSame,
     "the same", ""},
    {kArgument, "NodeAffinity.addedAffinity", "v1beta1 (1.20) and later", kSame, "the same", ""},
    {kArgument, "arguments that the plugin did not read", "v1alpha1, v1alpha2", kDropped, "",
     "Arguments of in-tree plugins were read leniently; what was not read is left out."},
    {kArgument, "arguments of other plugins", "all", kSame, "the same", "Taken over as they are."},

    // Fields of Policy.
    {kField, "hardPodAffinitySymmetricWeight", "Policy, componentconfig/v1alpha1, v1alpha1", kChanged,
     "InterPodAffinity.hardPodAffinityWeight",
     "In a Policy it counts only with InterPodAffinityPriority in force, and 0 means the default, 1."},
    {kField, "alwaysCheckAllPredicates", "Policy", kDropped, "",
     "No v1 field: a node that one plugin rejects is not shown to the next. Who fits is the same; fewer reasons are "
     "told, and preemption sees other candidates."},
    {kField, "predicates[].argument, priorities[].argument", "Policy", kChanged, "",
     "See CheckNodeLabelPresence, CheckServiceAffinity, NodeLabelPriority, ServiceAntiAffinityPriority and "
     "RequestedToCapacityRatioPriority. Under any other registered name the releases lost it; here that is an error. "
     "So "
     "is a name that needs an argument and has none, which 1.18 took for nothing and 1.22 refused, and a "
     "labelPreference or serviceAntiAffinity without a label."},
    {kField, "priorities[].weight", "Policy", kSame, "weight",
     "At least 1. The releases cut what is larger than 32 bits; here that is an error."},

    // Fields of extenders.
    {kField, "extenders[].enableHttps", "Policy, v1alpha2", kChanged, "extenders[].enableHTTPS",
     "Both spellings are read in every old version."},
    {kField, "extenders[].httpTimeout", "Policy, v1alpha2", kChanged, "extenders[].httpTimeout",
     "It was a number of nanoseconds and is a duration such as 5s. Both are read in every old version."},
    {kField, "other fields of extenders", "all", kSame, "the same",
     "urlPrefix, filterVerb, prioritizeVerb, preemptVerb, bindVerb, weight, nodeCacheCapable, managedResources, "
     "ignorable, tlsConfig."},

    // Fields of KubeSchedulerConfiguration.
    {kField, "schedulerName", "componentconfig/v1alpha1, v1alpha1", kChanged, "profiles[0].schedulerName", ""},
    {kField, "algorithmSource.provider", "componentconfig/v1alpha1, v1alpha1", kChanged, "",
     "DefaultProvider is what there is without it. ClusterAutoscalerProvider is a scoringStrategy of type "
     "MostAllocated. "
     "Others are refused."},
    {kField, "algorithmSource.policy", "componentconfig/v1alpha1, v1alpha1", kChanged, "profiles[0].plugins",
     "The Policy of a file or a ConfigMap. With algorithmSource.provider beside it, where the releases took the "
     "provider, it is refused; so it is beside plugins, pluginConfig or hardPodAffinitySymmetricWeight, as then."},
    {kField, "leaderElection.lockObjectName, lockObjectNamespace", "componentconfig/v1alpha1, v1alpha1", kChanged,
     "leaderElection.resourceName, resourceNamespace", "Both given must be equal."},
    {kField, "leaderElection.resourceLock", "all", kChanged, "leaderElection.resourceLock: leases",
     "Only leases are left. The default was endpoints until 1.16 and endpointsleases until 1.19. A scheduler that "
     "holds "
     "endpointsleases or configmapsleases holds the Lease, too; one that holds endpoints or configmaps does not "
     "exclude "
     "this one: let the two not run at the same time."},
    {kField, "healthzBindAddress, metricsBindAddress", "componentconfig/v1alpha1 - v1beta2", kDropped, "",
     "Plain HTTP (port 10251) is gone. /healthz and /metrics are served with HTTPS at --secure-port, 10259."},
    {kField, "disablePreemption", "componentconfig/v1alpha1, v1alpha1, v1alpha2", kChanged,
     "plugins.multiPoint.disabled", "true turns the plugin DefaultPreemption off."},
    {kField, "bindTimeoutSeconds", "v1alpha1, v1alpha2", kChanged, "VolumeBinding.bindTimeoutSeconds", ""},
    {kField, "failureDomains", "componentconfig/v1alpha1, v1alpha1 (until 1.14)", kDropped, "", "It had no effect."},
    {kField, "plugins", "v1alpha1", kChanged, "profiles[0].plugins", ""},
    {kField, "pluginConfig", "v1alpha1", kChanged, "profiles[0].pluginConfig", ""},
    {kField, "plugins.postFilter", "v1alpha1", kChanged, "plugins.preScore",
     "That point was told of the nodes that fit; today it is called preScore, and postFilter is another one."},
    {kField, "plugins.unreserve", "v1alpha1, v1alpha2", kChanged, "plugins.reserve", "One interface since 1.19."},
    {kField, "plugins.normalizeScore", "v1alpha1 (1.15)", kDropped, "", "Part of score since 1.16."},
    {kField, "plugins.multiPoint", "v1beta2", kChanged, "plugins",
     "The default plugins of v1beta2 are listed point by point, so its multiPoint.disabled turned nothing off and its "
     "multiPoint.enabled only added. In v1 the defaults themselves are in multiPoint."},
    {kField, "parallelism", "v1beta1 and later", kSame, "the same", ""},
    {kField, "percentageOfNodesToScore", "all", kSame, "the same", ""},
    {kField, "podInitialBackoffSeconds, podMaxBackoffSeconds", "all", kSame, "the same", ""},
    {kField, "clientConnection", "all", kSame, "the same", ""},
    {kField, "enableProfiling, enableContentionProfiling", "all", kSame, "the same", ""},
    {kField, "leaderElection, other fields", "all", kSame, "the same", ""},
    {kField, "profiles, schedulerName, plugins, pluginConfig", "v1alpha2 and later", kSame, "the same", ""},

    // Flags.
    {kFlag, "--policy-config-file", "1.22", kChanged, "--config",
     "A Policy from a file, unless --policy-configmap is given."},
    {kFlag, "--policy-configmap", "1.22", kChanged, "--config",
     "A Policy from the key policy.cfg of a ConfigMap; needs the right to get it. Goes before --policy-config-file."},
    {kFlag, "--policy-configmap-namespace", "1.22", kChanged, "--config", "kube-system unless it is given."},
    {kFlag, "--use-legacy-policy-config", "1.22", kChanged, "--config",
     "--policy-config-file goes before --policy-configmap, and is required."},
    {kFlag, "--algorithm-provider", "1.21", kChanged, "--config",
     "DefaultProvider, or ClusterAutoscalerProvider: a scoringStrategy of type MostAllocated."},
    {kFlag, "--scheduler-name", "1.21", kChanged, "profiles[0].schedulerName", "The name of the only profile."},
    {kFlag, "--hard-pod-affinity-symmetric-weight", "1.21", kChanged, "InterPodAffinity.hardPodAffinityWeight",
     "0 to 100."},
    {kFlag, "--lock-object-name", "1.27", kChanged, "--leader-elect-resource-name", "Another name of it."},
    {kFlag, "--lock-object-namespace", "1.27", kChanged, "--leader-elect-resource-namespace", "Another name of it."},
    {kFlag, "--failure-domains", "1.14", kDropped, "", "It had no effect."},
    {kFlag, "--port", "1.23", kDropped, "--secure-port",
     "Plain HTTP is gone: 0 is fine, anything else is warned about. --secure-port serves the same with HTTPS."},
    {kFlag, "--address", "1.23", kDropped, "--bind-address",
     "Plain HTTP is gone. --bind-address is where HTTPS is served."},
});

}  // namespace

std::span<const Row> Rows() { return kRows; }

}  // namespace berth::legacy
