// SPDX-License-Identifier: Apache-2.0

// Family interpod: affinity between pods, over namespaces, with keys that pods and nodes may lack.
package main

import "fmt"

var (
	namespaces = []string{"default", "prod", "dev", "team-x"}
	podLabels  = map[string][]string{"app": {"web", "db", "cache"}, "tier": {"front", "back"}, "version": {"v1", "v2"}, "pod-template-hash": {"h1", "h2"}}
	podKeys    = []string{"app", "tier", "version", "pod-template-hash"}
)

// addNamespaces makes the Namespace objects; one may be missing although pods live in it.
func (c *cluster) addNamespaces() {
	for _, name := range namespaces {
		if c.r.chance(0.08) {
			continue
		}
		ns := M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": name}}
		labels := M{}
		if c.r.chance(0.6) {
			labels["env"] = pick(c.r, "prod", "dev")
		}
		if c.r.chance(0.3) {
			labels["team"] = "x"
		}
		setLabels(ns, labels)
		c.others = append(c.others, ns)
	}
}

func randomLabels(r rnd) M {
	labels := M{}
	for _, key := range podKeys {
		if r.chance(0.65) {
			labels[key] = pick(r, podLabels[key]...)
		}
	}
	return labels
}

func selectorExpression(r rnd) M {
	key := pick(r, podKeys...)
	e := M{"key": key, "operator": pick(r, "In", "In", "NotIn", "Exists", "DoesNotExist")}
	if e["operator"] == "In" || e["operator"] == "NotIn" {
		e["values"] = list(atLeastOne(r, 0.5, podLabels[key]...)...)
	}
	return e
}

// labelSelector is nil now and then, and {} now and then: nothing and everything.
func labelSelector(r rnd) any {
	switch p := r.Float64(); {
	case p < 0.05:
		return nil
	case p < 0.12:
		return M{}
	case p < 0.6:
		key := pick(r, podKeys...)
		s := M{"matchLabels": M{key: pick(r, podLabels[key]...)}}
		if r.chance(0.2) {
			s["matchExpressions"] = list(selectorExpression(r))
		}
		return s
	default:
		s := M{}
		for range r.between(1, 2) {
			add(s, "matchExpressions", selectorExpression(r))
		}
		return s
	}
}

func topologyKey(r rnd) string {
	return pick(r, zoneKey, zoneKey, hostKey, hostKey, "rack", "absent")
}

func affinityTerm(r rnd) M {
	term := M{"topologyKey": topologyKey(r)}
	if s := labelSelector(r); s != nil {
		term["labelSelector"] = s
		if r.chance(0.15) {
			term[pick(r, "matchLabelKeys", "matchLabelKeys", "mismatchLabelKeys")] = list(pick(r, "pod-template-hash", "version", "unknown"))
		}
	}
	if r.chance(0.25) {
		term["namespaces"] = list(atLeastOne(r, 0.4, namespaces...)...)
	}
	if r.chance(0.25) {
		term["namespaceSelector"] = pick(r, M{}, M{"matchLabels": M{"env": "prod"}}, M{"matchLabels": M{"kubernetes.io/metadata.name": "prod"}},
			M{"matchExpressions": list(M{"key": "team", "operator": "Exists"})},
			M{"matchExpressions": list(M{"key": "env", "operator": "NotIn", "values": list("prod")})})
	}
	return term
}

// podAffinity adds terms of each of the four kinds with the given likelihoods.
func podAffinity(r rnd, pod M, required, anti, preferred float64) {
	for _, kind := range []struct {
		name     string
		required float64
	}{{"podAffinity", required}, {"podAntiAffinity", anti}} {
		if r.chance(kind.required) {
			for range pick(r, 1, 1, 1, 2) {
				add(sub(pod, "spec", "affinity", kind.name), "requiredDuringSchedulingIgnoredDuringExecution", affinityTerm(r))
			}
		}
		if r.chance(preferred) {
			for range pick(r, 1, 1, 2, 3) {
				add(sub(pod, "spec", "affinity", kind.name), "preferredDuringSchedulingIgnoredDuringExecution",
					M{"weight": pick(r, 1, 5, 10, 100), "podAffinityTerm": affinityTerm(r)})
			}
		}
	}
}

// selfTerm is a term that matches the pod that bears it, mostly.
func selfTerm(r rnd, pod M) M {
	term := M{"topologyKey": topologyKey(r), "labelSelector": M{}}
	labels, _ := sub(pod, "metadata")["labels"].(M)
	if labels["app"] != nil {
		term["labelSelector"] = M{"matchLabels": M{"app": labels["app"]}}
	}
	return term
}

func buildInterPod(r rnd, want outcome) *cluster {
	c := newCluster(r)
	c.addNamespaces()
	c.plainNodes(c.size())
	with := pick(r, 0, 0.3, 0.8)
	for range r.IntN(3*len(c.nodes)) + 1 {
		pod := c.addBound(pick(r, namespaces...))
		setLabels(pod, randomLabels(r))
		request(pod, M{"cpu": pick(r, "50m", "100m", "300m")})
		if r.chance(with) {
			podAffinity(r, pod, 0.4, 0.25, 0.4)
		}
		if r.chance(0.08) {
			terminate(pod)
		}
		if want == wantCandidates || r.chance(0.2) {
			sub(pod, "spec")["priority"] = pick(r, -7, -1, 0, 0, 3)
		}
		if r.chance(0.02) {
			sub(pod, "spec")["nodeName"] = "node-gone"
		}
	}
	asked := c.ask(pick(r, namespaces...), "web")
	setLabels(asked, randomLabels(r))
	request(asked, M{"cpu": "100m"})
	switch want {
	case wantScores:
		podAffinity(r, asked, 0.3, 0.3, 0.7)
	case wantCandidates:
		podAffinity(r, asked, 0.1, 0.95, 0.2)
		sub(asked, "spec")["priority"] = pick(r, 10, 1000)
	default:
		podAffinity(r, asked, 0.75, 0.6, 0.3)
	}
	if r.chance(0.25) {
		add(sub(asked, "spec", "affinity", pick(r, "podAffinity", "podAffinity", "podAntiAffinity")),
			"requiredDuringSchedulingIgnoredDuringExecution", selfTerm(r, asked))
	}
	for i := range r.IntN(3) { // pods that wait for room, with a node in mind
		if r.chance(0.4) {
			c.nominate(fmt.Sprintf("nominated-%d", i), pick(r, -1, 0, 0, 10, 2000))
		}
	}
	if r.chance(0.35) {
		profile := profileWith(interPodArgs(r))
		if r.chance(0.2) {
			profile["plugins"] = scorePlugins(r)
		}
		c.config = newConfig(profile)
	}
	return c
}

// nominate adds a pending pod that holds a nomination.
func (c *cluster) nominate(name string, priority int) M {
	r := c.r
	pod := c.newPod(pick(r, namespaces...), name)
	setLabels(pod, randomLabels(r))
	request(pod, M{"cpu": pick(r, "100m", "1", "2"), "memory": pick(r, "64Mi", "1Gi")})
	sub(pod, "spec")["priority"] = priority
	sub(pod, "status")["nominatedNodeName"] = nodeName(pick(r, c.nodes...))
	if r.chance(0.15) {
		add(sub(pod, "spec"), "schedulingGates", M{"name": "example.com/wait"})
	}
	if r.chance(0.1) {
		sub(pod, "spec")["schedulerName"] = "somebody-else"
	}
	if r.chance(0.2) {
		podAffinity(r, pod, 0, 0.8, 0)
	}
	c.pods = append(c.pods, pod)
	return pod
}
