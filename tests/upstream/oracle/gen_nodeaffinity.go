// SPDX-License-Identifier: Apache-2.0

// Family nodeaffinity: selectors with every operator, fields, empty terms, added affinity.
package main

var (
	nodeKeys   = []string{"disk", "gen", "rank", zoneKey, "rack", "absent"}
	nodeValues = map[string][]string{
		"disk": {"ssd", "hdd", ""}, "gen": {"1", "2", "10", "3", "007"}, "rank": {"5", "x5", "5.5", "9223372036854775807", "99999999999999999999"},
		zoneKey: zones, "rack": {"r1", "r2", "r3", "r4"}, "absent": {"yes"},
	}
)

// labelNode adds the labels that node selectors speak of.
func labelNode(r rnd, node M) {
	labels := sub(node, "metadata", "labels")
	for _, key := range []string{"disk", "gen", "rank"} {
		if r.chance(0.75) {
			labels[key] = pick(r, nodeValues[key]...)
		}
	}
}

func nodeExpression(r rnd) M {
	key := pick(r, nodeKeys...)
	e := M{"key": key, "operator": pick(r, "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")}
	switch e["operator"] {
	case "In", "NotIn":
		e["values"] = list(atLeastOne(r, 0.5, nodeValues[key]...)...)
	case "Gt", "Lt":
		e["key"] = pick(r, "gen", "gen", "rank", "disk", "absent")
		e["values"] = list(pick(r, "0", "1", "2", "5", "04", "10", "9223372036854775806"))
	}
	return e
}

func nodeField(r rnd) M {
	return M{"key": "metadata.name", "operator": pick(r, "In", "In", "NotIn"), "values": list(pick(r, "node-00", "node-01", "node-02", "node-99"))}
}

func nodeTerm(r rnd) M {
	term := M{}
	if r.chance(0.05) {
		return term
	}
	for range r.IntN(3) {
		add(term, "matchExpressions", nodeExpression(r))
	}
	if r.chance(0.15) {
		add(term, "matchFields", nodeField(r))
	}
	if len(term) == 0 {
		add(term, "matchExpressions", nodeExpression(r))
	}
	return term
}

func nodeSelector(r rnd) M {
	s := M{}
	if r.chance(0.06) { // only fields: known before any node is looked at
		for range r.between(1, 2) {
			term := M{}
			for range r.between(1, 2) {
				add(term, "matchFields", M{"key": "metadata.name", "operator": "In", "values": list(pick(r, "node-00", "node-01", "node-02", "node-99"))})
			}
			add(s, "nodeSelectorTerms", term)
		}
		return s
	}
	for range r.between(1, 3) {
		add(s, "nodeSelectorTerms", nodeTerm(r))
	}
	return s
}

func preferredNodeTerms(r rnd) []any {
	var out []any
	for range r.between(1, 4) {
		out = append(out, M{"weight": pick(r, 1, 2, 10, 50, 100), "preference": nodeTerm(r)})
	}
	return out
}

// nodeAffinity gives a pod a required and a preferred part, either of them or both.
func nodeAffinity(r rnd, pod M, required, preferred float64) {
	affinity := M{}
	if r.chance(required) {
		affinity["requiredDuringSchedulingIgnoredDuringExecution"] = nodeSelector(r)
	}
	if r.chance(preferred) {
		affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferredNodeTerms(r)
	}
	if len(affinity) > 0 {
		sub(pod, "spec", "affinity")["nodeAffinity"] = affinity
	}
}

func buildNodeAffinity(r rnd, want outcome) *cluster {
	c := newCluster(r)
	c.plainNodes(c.size())
	for _, node := range c.nodes {
		labelNode(r, node)
		if r.chance(0.1) {
			taintNode(r, node, 1)
		}
	}
	for range r.IntN(len(c.nodes) + 1) {
		request(c.addBound("default"), M{"cpu": pick(r, "100m", "500m", "1"), "memory": pick(r, "64Mi", "1Gi")})
	}
	asked := c.ask(pick(r, "default", "prod"), "web")
	request(asked, M{"cpu": pick(r, "100m", "1"), "memory": "128Mi"})
	required := 0.6
	if want != wantScores {
		required = 0.95
	}
	nodeAffinity(r, asked, required, 0.6)
	if r.chance(0.35) {
		selector := M{}
		for _, key := range some(r, 0.4, "disk", "gen", zoneKey, "rack") {
			selector[key] = pick(r, nodeValues[key]...)
		}
		if len(selector) > 0 {
			sub(asked, "spec")["nodeSelector"] = selector
		}
	}
	if r.chance(0.35) {
		var entries []M
		if r.chance(0.8) {
			entries = append(entries, addedAffinityArgs(r))
		}
		profile := profileWith(entries...)
		if r.chance(0.3) {
			profile["plugins"] = scorePlugins(r)
		}
		c.config = newConfig(profile)
	}
	return c
}
