// SPDX-License-Identifier: Apache-2.0
// The completed default configuration, read off a running kube-scheduler v1.36.4 (/configz).
#pragma once

namespace berth::testing {

inline constexpr char kDefaultConfiguration[] = R"json({
 "kind": "KubeSchedulerConfiguration",
 "apiVersion": "kubescheduler.config.k8s.io/v1",
 "parallelism": 16,
 "leaderElection": {
  "leaderElect": true,
  "leaseDuration": "15s",
  "renewDeadline": "10s",
  "retryPeriod": "2s",
  "resourceLock": "leases",
  "resourceName": "kube-scheduler",
  "resourceNamespace": "kube-system"
 },
 "clientConnection": {
  "kubeconfig": "",
  "acceptContentTypes": "",
  "contentType": "application/vnd.kubernetes.protobuf",
  "qps": 50,
  "burst": 100
 },
 "enableProfiling": true,
 "enableContentionProfiling": true,
 "percentageOfNodesToScore": 0,
 "podInitialBackoffSeconds": 1,
 "podMaxBackoffSeconds": 10,
 "profiles": [
  {
   "schedulerName": "default-scheduler",
   "plugins": {
    "preEnqueue": {},
    "queueSort": {},
    "preFilter": {},
    "filter": {},
    "postFilter": {},
    "preScore": {},
    "score": {},
    "reserve": {},
    "permit": {},
    "preBind": {},
    "bind": {},
    "postBind": {},
    "multiPoint": {
     "enabled": [
      {"name": "SchedulingGates", "weight": 0},
      {"name": "PrioritySort", "weight": 0},
      {"name": "NodeUnschedulable", "weight": 0},
      {"name": "NodeName", "weight": 0},
      {"name": "TaintToleration", "weight": 3},
      {"name": "NodeAffinity", "weight": 2},
      {"name": "NodePorts", "weight": 0},
      {"name": "NodeResourcesFit", "weight": 1},
      {"name": "VolumeRestrictions", "weight": 0},
      {"name": "NodeVolumeLimits", "weight": 0},
      {"name": "VolumeBinding", "weight": 0},
      {"name": "VolumeZone", "weight": 0},
      {"name": "PodTopologySpread", "weight": 2},
      {"name": "InterPodAffinity", "weight": 2},
      {"name": "DynamicResources", "weight": 2},
      {"name": "DefaultPreemption", "weight": 0},
      {"name": "NodeResourcesBalancedAllocation", "weight": 1},
      {"name": "ImageLocality", "weight": 1},
      {"name": "DefaultBinder", "weight": 0},
      {"name": "NodeDeclaredFeatures", "weight": 0}
     ]
    },
    "placementGenerate": {},
    "placementScore": {}
   },
   "pluginConfig": [
    {
     "name": "DefaultPreemption",
     "args": {
      "kind": "DefaultPreemptionArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "minCandidateNodesPercentage": 10,
      "minCandidateNodesAbsolute": 100
     }
    },
    {
     "name": "DynamicResources",
     "args": {
      "kind": "DynamicResourcesArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "filterTimeout": "10s",
      "bindingTimeout": "10m0s"
     }
    },
    {
     "name": "InterPodAffinity",
     "args": {
      "kind": "InterPodAffinityArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "hardPodAffinityWeight": 1,
      "ignorePreferredTermsOfExistingPods": false
     }
    },
    {
     "name": "NodeAffinity",
     "args": {
      "kind": "NodeAffinityArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1"
     }
    },
    {
     "name": "NodeResourcesBalancedAllocation",
     "args": {
      "kind": "NodeResourcesBalancedAllocationArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "resources": [
       {"name": "cpu", "weight": 1},
       {"name": "memory", "weight": 1}
      ]
     }
    },
    {
     "name": "NodeResourcesFit",
     "args": {
      "kind": "NodeResourcesFitArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "scoringStrategy": {
       "type": "LeastAllocated",
       "resources": [
        {"name": "cpu", "weight": 1},
        {"name": "memory", "weight": 1}
       ]
      }
     }
    },
    {
     "name": "PodTopologySpread",
     "args": {
      "kind": "PodTopologySpreadArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "defaultingType": "System"
     }
    },
    {
     "name": "VolumeBinding",
     "args": {
      "kind": "VolumeBindingArgs",
      "apiVersion": "kubescheduler.config.k8s.io/v1",
      "bindTimeoutSeconds": 600
     }
    }
   ]
  }
 ]
})json";

}  // namespace berth::testing
