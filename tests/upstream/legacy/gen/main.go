// SPDX-License-Identifier: Apache-2.0

// Makes up old configurations: one JSON line each, {"id", "release", "kind", "text"}, where release is the kube-scheduler
// that shall read it. A case depends on seed and number alone.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
)

type object = map[string]any
type list = []any

var predicates = []string{"CheckNodeUnschedulable", "GeneralPredicates", "HostName", "PodFitsHostPorts", "PodFitsPorts",
	"MatchNodeSelector", "PodFitsResources", "NoDiskConflict", "PodToleratesNodeTaints", "MaxEBSVolumeCount",
	"MaxGCEPDVolumeCount", "MaxCSIVolumeCountPred", "MaxAzureDiskVolumeCount", "MaxCinderVolumeCount",
	"CheckVolumeBinding", "NoVolumeZoneConflict", "EvenPodsSpread", "MatchInterPodAffinity"}

var priorities = []string{"EqualPriority", "SelectorSpreadPriority", "ServiceSpreadingPriority",
	"InterPodAffinityPriority", "BalancedResourceAllocation", "NodePreferAvoidPodsPriority", "NodeAffinityPriority",
	"TaintTolerationPriority", "ImageLocalityPriority", "EvenPodsSpreadPriority"}

var labels = []string{"zone", "rack", "disk", "example.com/gpu"}

type gen struct{ *rand.Rand }

func (g gen) chance(percent int) bool  { return g.Intn(100) < percent }
func (g gen) one(from []string) string { return from[g.Intn(len(from))] }
func (g gen) some(from []string, n int) []string {
	var out []string
	for _, i := range g.Perm(len(from))[:min(n, len(from))] {
		out = append(out, from[i])
	}
	return out
}

func (g gen) extenders(nanoseconds bool) list {
	var out list
	for i := g.Intn(3); i > 0; i-- {
		one := object{"urlPrefix": fmt.Sprintf("http://127.0.0.1:%d/x", 1000+g.Intn(9)), "filterVerb": "filter"}
		if g.chance(50) {
			one["prioritizeVerb"] = "prioritize"
			one["weight"] = g.Intn(4)
		}
		if g.chance(20) {
			one["bindVerb"] = "bind"
		}
		if g.chance(30) {
			if nanoseconds {
				one["enableHttps"] = g.chance(50)
			} else {
				one["enableHTTPS"] = g.chance(50)
			}
		}
		if g.chance(30) {
			if nanoseconds {
				one["httpTimeout"] = int64(g.Intn(5000)+1) * 1000000
			} else {
				one["httpTimeout"] = fmt.Sprintf("%dms", g.Intn(5000)+1)
			}
		}
		if g.chance(20) {
			one["managedResources"] = list{object{"name": fmt.Sprintf("example.com/r%d", g.Intn(3))}}
		}
		if g.chance(20) {
			one["nodeCacheCapable"] = true
		}
		if g.chance(20) {
			one["ignorable"] = true
		}
		out = append(out, one)
	}
	return out
}

func (g gen) shape() list {
	return list{object{"utilization": 0, "score": g.Intn(11)}, object{"utilization": 50 + g.Intn(51), "score": g.Intn(11)}}
}

func (g gen) resources() list {
	var out list
	for _, name := range g.some([]string{"cpu", "memory", "example.com/gpu"}, 1+g.Intn(3)) {
		out = append(out, object{"name": name, "weight": 1 + g.Intn(9)})
	}
	return out
}

// What needs arguments without them, in all the ways of saying nothing.
func (g gen) hollow(entry object, key string, inside ...string) {
	switch n := g.Intn(4 + 2*len(inside)); {
	case n < 2:
	case n < 3:
		entry[key] = nil
	case n < 4:
		entry[key] = object{}
	case n < 4+len(inside):
		entry[key] = object{inside[n-4]: object{}}
	default:
		entry[key] = object{inside[n-4-len(inside)]: nil}
	}
}

func (g gen) policy() object {
	out := object{"kind": "Policy", "apiVersion": "v1"}
	if g.chance(80) {
		entries := list{}
		for _, name := range g.some(predicates, g.Intn(9)) {
			entries = append(entries, object{"name": name})
		}
		if g.chance(15) {
			entries = append(entries, object{"name": "labels", "argument": object{"labelsPresence": object{
				"labels": g.some(labels, 1+g.Intn(2)), "presence": g.chance(50)}}})
		}
		if g.chance(4) {
			entries = append(entries, object{"name": "service", "argument": object{"serviceAffinity": object{"labels": g.some(labels, 1)}}})
		}
		if g.chance(4) {
			entries = append(entries, object{"name": "NoSuchPredicate"})
		}
		if g.chance(3) {
			entries = append(entries, object{"name": "both", "argument": object{}})
		}
		if g.chance(6) {
			entry := object{"name": g.one([]string{"CheckNodeLabelPresence", "CheckServiceAffinity", "labels"})}
			g.hollow(entry, "argument", "labelsPresence", "serviceAffinity")
			entries = append(entries, entry)
		}
		out["predicates"] = entries
	}
	if g.chance(80) {
		entries := list{}
		add := func(name string, argument object) {
			entry := object{"name": name, "weight": 1 + g.Intn(20)}
			if g.chance(2) {
				entry["weight"] = 0
			}
			if argument != nil {
				entry["argument"] = argument
			}
			entries = append(entries, entry)
		}
		for _, name := range g.some(priorities, g.Intn(6)) {
			add(name, nil)
		}
		switch g.Intn(5) {
		case 0:
			add("LeastRequestedPriority", nil)
		case 1:
			add("MostRequestedPriority", nil)
		case 2:
			argument := object{"shape": g.shape()}
			if g.chance(60) {
				argument["resources"] = g.resources()
			}
			add("ratio", object{"requestedToCapacityRatioArguments": argument})
			if g.chance(20) {
				add("LeastRequestedPriority", nil)
			}
		}
		if g.chance(12) {
			add("labels", object{"labelPreference": object{"label": g.one(labels), "presence": g.chance(50)}})
		}
		if g.chance(8) {
			add("spread", object{"serviceAntiAffinity": object{"label": g.one(labels)}})
		}
		if g.chance(4) {
			add("NoSuchPriority", nil)
		}
		if g.chance(6) {
			add(g.one([]string{"NodeLabel", "ServiceAffinity", "RequestedToCapacityRatio", "RequestedToCapacityRatioPriority",
				"NodeLabelPriority", "ServiceAntiAffinityPriority", "labels"}), nil)
			g.hollow(entries[len(entries)-1].(object), "argument", "labelPreference", "serviceAntiAffinity",
				"requestedToCapacityRatioArguments")
		}
		out["priorities"] = entries
	}
	if extenders := g.extenders(true); len(extenders) > 0 {
		out["extenders"] = extenders
	}
	if g.chance(25) {
		out["hardPodAffinitySymmetricWeight"] = g.Intn(110)
	}
	if g.chance(15) {
		out["alwaysCheckAllPredicates"] = true
	}
	if g.chance(3) {
		out["predicats"] = list{}
	}
	return out
}

// What a version has at its points, and what may be enabled beside that.
type era struct {
	release, version   string
	filter, score      []string
	moreScore          []string
	nanoseconds, alpha bool
	custom             bool // NodeLabel and RequestedToCapacityRatio are there
}

var alphaFilter = []string{"NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity",
	"VolumeRestrictions", "TaintToleration", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits",
	"VolumeBinding", "VolumeZone", "InterPodAffinity", "PodTopologySpread"}
var alphaScore = []string{"NodeResourcesBalancedAllocation", "ImageLocality", "InterPodAffinity",
	"NodeResourcesLeastAllocated", "NodeAffinity", "NodePreferAvoidPods", "DefaultPodTopologySpread", "TaintToleration",
	"PodTopologySpread"}
var beta1Score = []string{"NodeResourcesBalancedAllocation", "ImageLocality", "InterPodAffinity",
	"NodeResourcesLeastAllocated", "NodeAffinity", "NodePreferAvoidPods", "PodTopologySpread", "TaintToleration"}
var beta2Score = []string{"NodeResourcesBalancedAllocation", "ImageLocality", "InterPodAffinity", "NodeResourcesFit",
	"NodeAffinity", "PodTopologySpread", "TaintToleration"}

var eras = []era{
	{"v1.18.20", "v1alpha1", alphaFilter, alphaScore, []string{"NodeResourcesMostAllocated"}, true, true, true},
	{"v1.18.20", "v1alpha2", alphaFilter, alphaScore, []string{"NodeResourcesMostAllocated"}, true, true, true},
	{"v1.22.17", "v1beta1", alphaFilter, beta1Score, []string{"NodeResourcesMostAllocated", "SelectorSpread"}, false, false, true},
	{"v1.22.17", "v1beta2", alphaFilter, beta2Score, []string{"SelectorSpread"}, false, false, false},
	{"v1.27.16", "v1beta2", alphaFilter, beta2Score, []string{"SelectorSpread"}, false, false, false},
	{"v1.28.15", "v1beta3", alphaFilter, beta2Score, nil, false, false, false},
}

func names(from []string) list {
	var out list
	for _, name := range from {
		out = append(out, object{"name": name})
	}
	return out
}

func (g gen) set(defaults, more []string, weights bool) object {
	out := object{}
	var enabled list
	var again []string
	if g.chance(30) {
		out["disabled"] = list{object{"name": "*"}}
		again = g.some(defaults, g.Intn(6))
	} else if off := g.some(defaults, g.Intn(4)); len(off) > 0 {
		out["disabled"] = names(off)
		if weights {
			again = off[:g.Intn(len(off)+1)]
		}
	}
	for _, name := range append(append([]string{}, again...), g.some(more, g.Intn(2))...) {
		entry := object{"name": name}
		if weights && g.chance(80) {
			entry["weight"] = g.Intn(12)
		}
		enabled = append(enabled, entry)
	}
	if weights && len(again) == 0 && g.chance(10) {
		enabled = append(enabled, object{"name": g.one(defaults), "weight": 5}) // listed again
	}
	if len(enabled) > 0 {
		out["enabled"] = enabled
	}
	return out
}

// What a set turns off, but for everything.
func off(set object) list {
	var out list
	disabled, _ := set["disabled"].(list)
	for _, one := range disabled {
		if name := one.(object)["name"]; name != "NodeResourcesLeastAllocated" {
			out = append(out, one)
		}
	}
	return out
}

// What a set turns on, but for these.
func without(set object, names ...string) list {
	var out list
	enabled, _ := set["enabled"].(list)
	for _, one := range enabled {
		keep := true
		for _, name := range names {
			keep = keep && one.(object)["name"] != name
		}
		if keep {
			out = append(out, one)
		}
	}
	return out
}

func (g gen) plugins(e era) object {
	out := object{}
	if g.chance(50) {
		out["filter"] = g.set(e.filter, []string{"CinderLimits"}, false)
	}
	if g.chance(70) {
		out["score"] = g.set(e.score, e.moreScore, true)
	}
	preScore := "preScore"
	if e.version == "v1alpha1" {
		preScore = "postFilter"
	}
	if g.chance(15) {
		out[preScore] = object{"disabled": list{object{"name": "*"}}}
	}
	if g.chance(10) {
		out["preFilter"] = object{"disabled": names(g.some([]string{"NodePorts", "InterPodAffinity"}, 1))}
	}
	if set, there := out["score"].(object); there && e.custom && g.chance(25) {
		// Instead of the one that is there by default.
		set["disabled"] = append(list{object{"name": "NodeResourcesLeastAllocated"}}, off(set)...)
		set["enabled"] = append(without(set, "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated"),
			object{"name": "RequestedToCapacityRatio", "weight": 1 + g.Intn(5)})
	}
	if set, there := out["score"].(object); there && e.custom && g.chance(15) {
		set["enabled"] = append(without(set), object{"name": "NodeLabel", "weight": 1 + g.Intn(5)})
	}
	if set, there := out["score"].(object); there && e.custom && g.chance(10) {
		set["enabled"] = append(without(set), object{"name": "ServiceAffinity", "weight": 1 + g.Intn(5)})
	}
	if set, there := out["filter"].(object); there && e.custom && g.chance(25) {
		set["enabled"] = append(without(set), object{"name": "NodeLabel"})
	}
	if set, there := out["filter"].(object); there && e.custom && g.chance(4) {
		set["enabled"] = append(without(set), object{"name": "ServiceAffinity"})
	}
	if e.release == "v1.27.16" && g.chance(30) {
		multi := object{}
		if g.chance(60) {
			multi["disabled"] = list{object{"name": g.one([]string{"*", "ImageLocality", "DefaultPreemption"})}}
		}
		if g.chance(60) {
			multi["enabled"] = list{object{"name": g.one(append([]string{"CinderLimits", "SelectorSpread"}, e.score...)), "weight": 7}}
		}
		out["multiPoint"] = multi
	}
	if g.chance(8) {
		out["reserve"] = object{"disabled": names([]string{g.one([]string{"VolumeBinding", "*"})})}
	}
	if !e.alpha && g.chance(8) {
		out["postFilter"] = object{"disabled": names([]string{g.one([]string{"DefaultPreemption", "*"})})}
	}
	if g.chance(4) {
		out["bind"] = object{"disabled": names([]string{g.one([]string{"DefaultBinder", "*"})})}
	}
	if g.chance(2) {
		out["queueSort"] = object{"disabled": names([]string{"*"})}
	}
	if e.version == "v1beta3" && g.chance(40) {
		multi := object{}
		if g.chance(60) {
			multi["disabled"] = names(g.some(append([]string{"DefaultPreemption"}, e.score...), 2))
		}
		if g.chance(60) {
			multi["enabled"] = list{object{"name": g.one(e.score), "weight": 7}}
		}
		out["multiPoint"] = multi
	}
	if g.chance(3) {
		out["sort"] = object{}
	}
	return out
}

func (g gen) pluginConfig(e era) list {
	var out list
	add := func(name string, args object) {
		if !e.alpha && g.chance(30) {
			args["apiVersion"] = "kubescheduler.config.k8s.io/" + e.version
			args["kind"] = name + "Args"
		}
		out = append(out, object{"name": name, "args": args})
	}
	if g.chance(20) {
		add("InterPodAffinity", object{"hardPodAffinityWeight": g.Intn(101)})
	}
	if g.chance(20) {
		add("NodeResourcesFit", object{"ignoredResources": list{"example.com/foo"}})
	}
	if g.chance(20) {
		args := object{"defaultConstraints": list{object{"maxSkew": 1 + g.Intn(3), "topologyKey": g.one(labels[:3]),
			"whenUnsatisfiable": "ScheduleAnyway"}}}
		if !e.alpha && g.chance(70) {
			args["defaultingType"] = "List"
		}
		add("PodTopologySpread", args)
	}
	if !e.alpha && g.chance(20) {
		add("VolumeBinding", object{"bindTimeoutSeconds": 100 + g.Intn(900)})
	}
	if e.version == "v1beta1" && g.chance(20) {
		add("NodeResourcesLeastAllocated", object{"resources": g.resources()})
	}
	if e.custom {
		// All three need arguments to be of use; the ratio cannot be made without.
		args := object{}
		if g.chance(90) {
			args["shape"] = g.shape()
		}
		if g.chance(60) {
			args["resources"] = g.resources()
		}
		if g.chance(90) {
			add("RequestedToCapacityRatio", args)
		}
		args = object{}
		for key, value := range map[string]string{"presentLabels": "zone", "absentLabels": "rack",
			"presentLabelsPreference": "disk", "absentLabelsPreference": "old"} {
			args[key] = list{value}
		}
		switch g.Intn(8) {
		case 0: // nothing at all
		case 1:
			out = append(out, object{"name": "NodeLabel"})
		case 2:
			add("NodeLabel", object{})
		case 3:
			delete(args, "presentLabels")
			delete(args, "absentLabels")
			add("NodeLabel", args)
		case 4:
			delete(args, "presentLabelsPreference")
			delete(args, "absentLabelsPreference")
			add("NodeLabel", args)
		case 5:
			args["presentLabels"], args["presentLabelsPreference"] = list{}, nil
			add("NodeLabel", args)
		default:
			add("NodeLabel", args)
		}
		switch g.Intn(4) {
		case 0:
			out = append(out, object{"name": "ServiceAffinity", "args": nil})
		case 1:
			add("ServiceAffinity", object{"affinityLabels": list{}})
		case 2:
			add("ServiceAffinity", object{"antiAffinityLabelsPreference": g.some(labels, 1)})
		}
	}
	if !e.alpha && g.chance(10) {
		add("NodeAffinity", object{"addedAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
			"nodeSelectorTerms": list{object{"matchExpressions": list{object{"key": g.one(labels), "operator": "Exists"}}}}}}})
	}
	return out
}

func (g gen) profile(e era) object {
	out := object{}
	if g.chance(85) {
		out["plugins"] = g.plugins(e)
	}
	if args := g.pluginConfig(e); len(args) > 0 {
		out["pluginConfig"] = args
	}
	return out
}

func (g gen) config(e era) object {
	out := object{"apiVersion": "kubescheduler.config.k8s.io/" + e.version, "kind": "KubeSchedulerConfiguration"}
	profile := g.profile(e)
	if g.chance(40) {
		profile["schedulerName"] = "my-scheduler"
	}
	if e.version == "v1alpha1" {
		for key, value := range profile {
			out[key] = value
		}
		if g.chance(10) {
			out["algorithmSource"] = object{"provider": g.one([]string{"DefaultProvider", "ClusterAutoscalerProvider", "Other"})}
		}
		if g.chance(15) {
			out["leaderElection"] = object{"lockObjectName": "a", "resourceName": g.one([]string{"a", "b"})}
		}
		if g.chance(10) {
			out["someday"] = true
		}
	} else {
		if g.chance(85) {
			profiles := list{profile}
			if g.chance(15) {
				profile["schedulerName"] = g.one([]string{"a", "b", "c", "d", "other-scheduler"})
				other := g.profile(e)
				other["schedulerName"] = "other-scheduler"
				profiles = append(profiles, other)
			}
			out["profiles"] = profiles
		}
		if extenders := g.extenders(e.nanoseconds); len(extenders) > 0 {
			out["extenders"] = extenders
		}
	}
	if g.chance(15) {
		out["percentageOfNodesToScore"] = g.Intn(120)
	}
	if g.chance(10) {
		out["podMaxBackoffSeconds"] = g.Intn(20)
	}
	if e.alpha && g.chance(10) {
		out["disablePreemption"] = g.chance(50)
	}
	if !e.alpha && g.chance(5) {
		out["disablePreemption"] = true
	}
	return out
}

func main() {
	seed := flag.Int64("seed", 1, "")
	first := flag.Int("first", 0, "")
	count := flag.Int("count", 600, "")
	flag.Parse()
	encoder := json.NewEncoder(os.Stdout)
	for i := *first; i < *first+*count; i++ {
		g := gen{rand.New(rand.NewSource(*seed*1000003 + int64(i)))}
		release, kind, family := "", "config", ""
		var made object
		switch n := i % 10; {
		case n < 2:
			release, kind, family, made = "v1.18.20", "policy", "policy", g.policy()
		case n < 4:
			release, kind, family, made = "v1.22.17", "policy", "policy", g.policy()
		default:
			e := eras[n-4]
			release, family, made = e.release, e.version, g.config(e)
		}
		text, _ := json.Marshal(made)
		_ = encoder.Encode(map[string]string{"id": fmt.Sprintf("%s-%d", family, i), "release": release, "kind": kind,
			"text": string(text)})
	}
}
