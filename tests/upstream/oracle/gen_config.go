// SPDX-License-Identifier: Apache-2.0

// Made-up scheduler configurations: plugin arguments, weights, order, points switched off, several profiles.
package main

const configVersion = "kubescheduler.config.k8s.io/v1"

var scorers = []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
	"DynamicResources", "NodeResourcesBalancedAllocation", "ImageLocality"}

func newConfig(profiles ...M) M {
	return M{"apiVersion": configVersion, "kind": "KubeSchedulerConfiguration", "profiles": list(profiles...)}
}

// pluginArgs is one pluginConfig entry; kinds of arguments are named after their plugin.
func pluginArgs(plugin string, args M) M {
	args["apiVersion"], args["kind"] = configVersion, plugin+"Args"
	return M{"name": plugin, "args": args}
}

func profileWith(entries ...M) M {
	p := M{"schedulerName": "default-scheduler"}
	if len(entries) > 0 {
		p["pluginConfig"] = list(entries...)
	}
	return p
}

// weightedResources is a list of resources as the scoring strategies take it.
func weightedResources(r rnd) []any {
	var out []any
	for _, name := range atLeastOne(r, 0.5, "cpu", "memory", "ephemeral-storage", "example.com/gpu", "vendor.io/fpga", "hugepages-2Mi", "pods") {
		entry := M{"name": name}
		if r.chance(0.85) {
			entry["weight"] = pick(r, 1, 2, 3, 5, 100)
		}
		out = append(out, entry)
	}
	return out
}

// shape is a list of points with growing utilization.
func shape(r rnd) []any {
	if r.chance(0.3) {
		return list(M{"utilization": 0, "score": pick(r, 0, 10)}, M{"utilization": 100, "score": pick(r, 10, 0, 5)})
	}
	var out []any
	at := r.IntN(20)
	for at <= 100 {
		out = append(out, M{"utilization": at, "score": r.between(0, 10)})
		at += r.between(7, 50)
	}
	return out
}

func fitArgs(r rnd) M {
	args := M{}
	if r.chance(0.35) {
		args["ignoredResources"] = list(atLeastOne(r, 0.4, extended...)...)
	}
	if r.chance(0.25) {
		args["ignoredResourceGroups"] = list(pick(r, "vendor.io", "example.com"))
	}
	switch r.IntN(4) {
	case 0:
		args["scoringStrategy"] = M{"type": "MostAllocated", "resources": weightedResources(r)}
	case 1:
		args["scoringStrategy"] = M{"type": "LeastAllocated", "resources": weightedResources(r)}
	case 2:
		strategy := M{"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": M{"shape": shape(r)}}
		if r.chance(0.8) {
			strategy["resources"] = weightedResources(r)
		}
		args["scoringStrategy"] = strategy
	}
	return pluginArgs("NodeResourcesFit", args)
}

func balancedArgs(r rnd) M {
	var resources []any
	for _, name := range atLeastOne(r, 0.5, "cpu", "memory", "ephemeral-storage", "example.com/gpu") {
		resources = append(resources, M{"name": name, "weight": 1})
	}
	return pluginArgs("NodeResourcesBalancedAllocation", M{"resources": resources})
}

func resourceConfig(r rnd) M {
	var entries []M
	if r.chance(0.85) {
		entries = append(entries, fitArgs(r))
	}
	if r.chance(0.4) {
		entries = append(entries, balancedArgs(r))
	}
	return newConfig(profileWith(entries...))
}

func interPodArgs(r rnd) M {
	args := M{}
	if r.chance(0.8) {
		args["hardPodAffinityWeight"] = pick(r, 0, 1, 5, 100)
	}
	if r.chance(0.4) {
		args["ignorePreferredTermsOfExistingPods"] = r.chance(0.7)
	}
	return pluginArgs("InterPodAffinity", args)
}

func spreadArgs(r rnd) M {
	if r.chance(0.3) {
		return pluginArgs("PodTopologySpread", M{"defaultingType": pick(r, "System", "List")})
	}
	var constraints []any
	for _, key := range atLeastOne(r, 0.6, zoneKey, hostKey, "rack") {
		constraints = append(constraints, M{"maxSkew": r.between(1, 3), "topologyKey": key,
			"whenUnsatisfiable": pick(r, "DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway")})
	}
	return pluginArgs("PodTopologySpread", M{"defaultingType": "List", "defaultConstraints": constraints})
}

func addedAffinityArgs(r rnd) M {
	affinity := M{}
	if r.chance(0.6) {
		affinity["requiredDuringSchedulingIgnoredDuringExecution"] = nodeSelector(r)
	}
	if r.chance(0.6) {
		affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferredNodeTerms(r)
	}
	return pluginArgs("NodeAffinity", M{"addedAffinity": affinity})
}

func preemptionArgs(r rnd) M {
	return pluginArgs("DefaultPreemption", M{"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": pick(r, 0, 1, 100)})
}

func named(names ...string) []any {
	var out []any
	for _, name := range names {
		out = append(out, M{"name": name})
	}
	return out
}

// scorePlugins changes which plugins score, their weights and their order.
func scorePlugins(r rnd) M {
	plugins := M{}
	switch r.IntN(5) {
	case 0: // other weights for some
		score := sub(plugins, "score")
		for _, name := range atLeastOne(r, 0.4, scorers...) {
			add(score, "disabled", M{"name": name})
			add(score, "enabled", M{"name": name, "weight": pick(r, 1, 2, 5, 10, 100, 1000)})
		}
	case 1: // a chosen few
		score := sub(plugins, "score")
		score["disabled"] = named("*")
		chosen := atLeastOne(r, 0.4, scorers...)
		r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		for _, name := range chosen {
			add(score, "enabled", M{"name": name, "weight": r.between(1, 7)})
		}
	case 2: // some switched off everywhere
		sub(plugins, "multiPoint")["disabled"] = named(atLeastOne(r, 0.3, "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity",
			"ImageLocality", "NodeResourcesBalancedAllocation", "DefaultPreemption", "NodeUnschedulable")...)
	case 3: // a weight given at multiPoint
		multi := sub(plugins, "multiPoint")
		for _, name := range atLeastOne(r, 0.3, "TaintToleration", "NodeAffinity", "InterPodAffinity", "ImageLocality") {
			add(multi, "disabled", M{"name": name})
			add(multi, "enabled", M{"name": name, "weight": r.between(1, 9)})
		}
	default: // nobody scores
		sub(plugins, "score")["disabled"] = named("*")
		if r.chance(0.7) {
			sub(plugins, "score")["enabled"] = list(M{"name": pick(r, scorers...)})
		}
	}
	return plugins
}

// filterPlugins changes filtering and what follows when nothing fits.
func filterPlugins(r rnd, plugins M) {
	if r.chance(0.4) {
		sub(plugins, "filter")["disabled"] = named(atLeastOne(r, 0.3, "TaintToleration", "NodeUnschedulable", "NodePorts", "PodTopologySpread", "NodeResourcesFit")...)
	}
	if r.chance(0.25) { // the same plugins, asked in another order
		order := some(r, 0.7, "NodeResourcesFit", "TaintToleration", "NodeAffinity", "NodePorts", "NodeUnschedulable", "InterPodAffinity")
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if len(order) > 0 && sub(plugins, "filter")["disabled"] == nil {
			sub(plugins, "filter")["enabled"] = named(order...)
		}
	}
	if r.chance(0.3) {
		sub(plugins, "postFilter")["disabled"] = named(pick(r, "*", "DefaultPreemption", "DynamicResources"))
	}
	if r.chance(0.15) {
		sub(plugins, "preScore")["disabled"] = named(pick(r, "NodeResourcesFit", "NodeResourcesBalancedAllocation", "TaintToleration", "NodeAffinity"))
	}
	for _, point := range []string{"filter", "score"} {
		if m, ok := plugins[point].(M); ok && len(m) == 0 {
			delete(plugins, point)
		}
	}
}

// anyConfig is a configuration that touches everything a profile may hold.
func anyConfig(r rnd) M {
	var entries []M
	for _, make := range []func(rnd) M{fitArgs, balancedArgs, interPodArgs, spreadArgs, addedAffinityArgs, preemptionArgs} {
		if r.chance(0.3) {
			entries = append(entries, make(r))
		}
	}
	profile := profileWith(entries...)
	plugins := M{}
	if r.chance(0.75) {
		plugins = scorePlugins(r)
	}
	if r.chance(0.4) {
		filterPlugins(r, plugins)
	}
	if len(plugins) > 0 {
		profile["plugins"] = plugins
	}
	if r.chance(0.1) {
		profile["percentageOfNodesToScore"] = 100
	}
	config := newConfig(profile)
	if r.chance(0.25) {
		other := profileWith(fitArgs(r))
		other["schedulerName"] = "batch"
		add(config, "profiles", other)
	}
	return config
}
