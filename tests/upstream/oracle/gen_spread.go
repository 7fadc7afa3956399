// SPDX-License-Identifier: Apache-2.0

// Family spread: topology spread constraints, written on the pod, in the configuration, or by the system's defaults.
package main

import "fmt"

func spreadConstraint(r rnd, hard float64) M {
	s := M{"maxSkew": pick(r, 1, 1, 2, 3, 5), "topologyKey": pick(r, zoneKey, zoneKey, hostKey, hostKey, "rack", "absent"),
		"whenUnsatisfiable": "ScheduleAnyway"}
	if s["topologyKey"] == "absent" && r.chance(0.5) {
		s["topologyKey"] = zoneKey
	}
	if r.chance(hard) {
		s["whenUnsatisfiable"] = "DoNotSchedule"
		if r.chance(0.25) {
			s["minDomains"] = pick(r, 1, 2, 3, 4, 10)
		}
	}
	if selector := labelSelector(r); selector != nil {
		s["labelSelector"] = selector
		if r.chance(0.2) {
			s["matchLabelKeys"] = list(pick(r, "pod-template-hash", "version", "unknown"))
		}
	}
	if r.chance(0.3) {
		s["nodeAffinityPolicy"] = pick(r, "Honor", "Ignore")
	}
	if r.chance(0.3) {
		s["nodeTaintsPolicy"] = pick(r, "Honor", "Ignore")
	}
	return s
}

// spread gives a pod constraints that differ in key or strictness.
func spread(r rnd, pod M, most int, hard float64) {
	seen := map[string]bool{}
	for range r.between(1, most) {
		s := spreadConstraint(r, hard)
		id := s["topologyKey"].(string) + s["whenUnsatisfiable"].(string)
		if !seen[id] {
			seen[id] = true
			add(sub(pod, "spec"), "topologySpreadConstraints", s)
		}
	}
}

// addWorkloads makes services and controllers around the asked pod, for the constraints nobody wrote.
func (c *cluster) addWorkloads() {
	r := c.r
	metadata := sub(c.asked, "metadata")
	namespace, ok := metadata["namespace"]
	if !ok {
		namespace = "default"
	}
	labels, _ := metadata["labels"].(M)
	if len(labels) == 0 {
		labels = M{"app": "web"}
		metadata["labels"] = labels
	}
	match := M{}
	for _, key := range podKeys {
		if labels[key] != nil && (len(match) == 0 || r.chance(0.4)) {
			match[key] = labels[key]
		}
	}
	template := M{"metadata": M{"labels": clone(match)}, "spec": M{"containers": list(M{"name": "main", "image": "registry.example/app:v1"})}}
	for i := range r.IntN(3) {
		key := pick(r, podKeys...)
		selector := M{key: pick(r, podLabels[key]...)}
		if r.chance(0.7) {
			selector = clone(match).(M)
		}
		service := M{"apiVersion": "v1", "kind": "Service", "metadata": M{"name": fmt.Sprintf("svc-%d", i), "namespace": pick(r, namespace, namespace, "prod")},
			"spec": M{"ports": list(M{"port": 80}), "selector": selector}}
		if r.chance(0.1) {
			delete(service["spec"].(M), "selector")
		}
		c.others = append(c.others, service)
	}
	kind := pick(r, "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job", "")
	version := "apps/v1"
	owner := M{"metadata": M{"name": "owner", "namespace": namespace, "uid": "11111111-2222-4333-8444-555555555555"}}
	spec := M{"replicas": 3, "selector": M{"matchLabels": match}, "template": template}
	switch kind {
	case "":
		return
	case "Job":
		version = "batch/v1"
	case "ReplicationController":
		version = "v1"
		spec["selector"] = match
	case "StatefulSet":
		spec["serviceName"] = "svc-0"
	case "ReplicaSet":
		if r.chance(0.3) {
			spec["selector"] = M{"matchLabels": match, "matchExpressions": list(M{"key": "app", "operator": "NotIn", "values": list("nope")})}
		}
	}
	owner["apiVersion"], owner["kind"], owner["spec"] = version, kind, spec
	if kind != "Job" && r.chance(0.92) {
		c.others = append(c.others, owner)
	}
	reference := M{"apiVersion": version, "kind": kind, "name": "owner", "uid": "11111111-2222-4333-8444-555555555555"}
	if r.chance(0.9) {
		reference["controller"] = true
	}
	metadata["ownerReferences"] = list(reference)
}

// trap leaves one zone without pods and closed, and crowds the others: the skew is too high wherever the pod may go.
func (c *cluster) trap() {
	r := c.r
	setLabels(c.asked, M{"app": "web", "version": pick(r, "v1", "v2")})
	constraint := spreadConstraint(r, 1)
	constraint["topologyKey"], constraint["maxSkew"] = zoneKey, pick(r, 1, 1, 2)
	constraint["labelSelector"] = M{"matchLabels": M{"app": "web"}}
	if r.chance(0.6) {
		delete(constraint, "nodeTaintsPolicy")
	}
	sub(c.asked, "spec")["topologySpreadConstraints"] = list(constraint)
	for _, node := range c.nodes {
		if sub(node, "metadata", "labels")[zoneKey] == zones[0] {
			sub(node, "spec")["unschedulable"] = true
			continue
		}
		for range r.between(1, 2) {
			pod := c.newPod(pick(r, "default", "default", "prod"), fmt.Sprintf("pod-%03d", len(c.pods)))
			setLabels(pod, M{"app": "web", "version": pick(r, "v1", "v2")})
			sub(pod, "spec")["priority"] = pick(r, -3, -2, -1, 0, 0, 200)
			c.bind(pod, nodeName(node))
		}
	}
}

func buildSpread(r rnd, want outcome) *cluster {
	c := newCluster(r)
	if r.chance(0.3) {
		c.addNamespaces()
	}
	c.plainNodes(c.size())
	for _, node := range c.nodes {
		if r.chance(0.4) {
			labelNode(r, node)
		}
		if r.chance(0.15) {
			taintNode(r, node, 1)
		}
		if r.chance(0.05) {
			sub(node, "spec")["unschedulable"] = true
		}
		if want == wantNone && r.chance(0.3) {
			delete(sub(node, "metadata", "labels"), zoneKey)
		}
	}
	asked := c.ask(pick(r, "default", "prod"), "web")
	setLabels(asked, randomLabels(r))
	request(asked, M{"cpu": "100m"})
	hard := 0.4
	if want != wantScores {
		hard = 0.9
	}
	if r.chance(0.25) && want != wantCandidates {
		if r.chance(0.9) {
			c.addWorkloads()
		}
	} else {
		spread(r, asked, 3, hard)
	}
	crowd := nodeName(pick(r, c.nodes...))
	if want == wantCandidates || want != wantScores && r.chance(0.4) {
		c.trap()
	}
	for range r.IntN(3*len(c.nodes)) + 2 {
		pod := c.addBound(pick(r, "default", "default", "prod", "dev"))
		setLabels(pod, randomLabels(r))
		request(pod, M{"cpu": pick(r, "50m", "100m")})
		if r.chance(0.3) {
			sub(pod, "spec")["nodeName"] = crowd
		}
		if want == wantCandidates && r.chance(0.7) {
			setLabels(pod, M{"app": "db"})
		}
		if r.chance(0.08) {
			terminate(pod)
		}
		if want == wantCandidates || r.chance(0.2) {
			sub(pod, "spec")["priority"] = pick(r, -3, -2, 0)
		}
	}
	if want == wantCandidates {
		sub(asked, "spec")["priority"] = 100
	}
	if r.chance(0.25) {
		nodeAffinity(r, asked, 0.7, 0.2)
	}
	tolerations(r, asked, 2)
	if r.chance(0.3) {
		profile := profileWith(spreadArgs(r))
		if r.chance(0.15) {
			profile["plugins"] = scorePlugins(r)
		}
		c.config = newConfig(profile)
	}
	return c
}
