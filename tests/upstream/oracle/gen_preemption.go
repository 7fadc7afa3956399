// SPDX-License-Identifier: Apache-2.0

// Family preemption: who has to go, and from where: priorities, budgets, start times, nominations.
package main

import "fmt"

// addClasses makes the priority classes that pods refer to.
func (c *cluster) addClasses() {
	classes := []struct {
		name  string
		value int
	}{{"low", -100}, {"normal", 0}, {"high", 1000}, {"polite", 1000}, {"system-node-critical", 2000001000}, {"system-cluster-critical", 2000000000}}
	for _, class := range classes {
		obj := M{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": M{"name": class.name}, "value": class.value}
		if class.name == "polite" {
			obj["preemptionPolicy"] = "Never"
		}
		if class.name == "normal" && c.r.chance(0.3) {
			obj["globalDefault"] = true
			obj["value"] = pick(c.r, 0, 7, -50)
		}
		c.others = append(c.others, obj)
	}
}

// addBudget makes a disruption budget over some of the pods.
func (c *cluster) addBudget() {
	r := c.r
	key := pick(r, podKeys...)
	budget := M{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
		"metadata": M{"name": fmt.Sprintf("pdb-%d", len(c.others)), "namespace": pick(r, "default", "default", "prod")},
		"spec":     M{"selector": M{"matchLabels": M{key: pick(r, podLabels[key]...)}}, "minAvailable": pick[any](r, 1, "50%")},
		"status":   M{"disruptionsAllowed": pick(r, 0, 0, 1, 2, 5), "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 4}}
	switch r.IntN(8) {
	case 0:
		budget["spec"].(M)["selector"] = M{} // covers nothing here
	case 1:
		delete(budget["spec"].(M), "selector")
	case 2:
		budget["spec"].(M)["selector"] = M{"matchExpressions": list(selectorExpression(r))}
	}
	if r.chance(0.3) && len(c.pods) > 0 {
		disrupted := M{}
		for range r.between(1, 3) {
			disrupted[sub(pick(r, c.pods...), "metadata")["name"].(string)] = "2026-02-01T00:00:00Z"
		}
		sub(budget, "status")["disruptedPods"] = disrupted
	}
	c.others = append(c.others, budget)
}

// priority sets a pod's priority by number or by class.
func priority(r rnd, pod M, classes bool, values ...int) {
	if classes && r.chance(0.4) {
		sub(pod, "spec")["priorityClassName"] = pick(r, "low", "low", "normal", "high")
		return
	}
	sub(pod, "spec")["priority"] = pick(r, values...)
}

// victim is a pod that may have to go; it gets its name and node later.
func (c *cluster) victim(classes bool, values []int, exts []string) M {
	r := c.r
	pod := c.newPod(pick(r, "default", "default", "prod"), "victim")
	setLabels(pod, randomLabels(r))
	request(pod, M{"cpu": pick(r, "200m", "500m", "1", "1500m", "700m"), "memory": pick(r, "100Mi", "512Mi", "1Gi")})
	for _, name := range exts {
		if r.chance(0.5) {
			sub(mainContainer(pod), "resources")["limits"] = M{name: "1"}
		}
	}
	priority(r, pod, classes, values...)
	if r.chance(0.1) {
		hostPorts(r, pod, 2)
	}
	if r.chance(0.1) {
		podAffinity(r, pod, 0, 0.7, 0.2)
	}
	return pod
}

func buildPreemption(r rnd, want outcome) *cluster {
	c := newCluster(r)
	classes := r.chance(0.4)
	if classes {
		c.addClasses()
	}
	exts := some(r, 0.3, "example.com/gpu")
	for range pick(r, c.size(), r.between(3, 12)) {
		node := c.addNode(pick(r, "2", "4", "3"), pick(r, "4Gi", "8Gi"), pick(r, "110", "110", "5", "3"))
		for _, name := range exts {
			allocatable(node)[name] = pick(r, "1", "2", "4")
		}
		if r.chance(0.12) {
			taintNode(r, node, 1)
		}
		labelNode(r, node)
	}
	values := pick(r, []int{0, 0, 10, 100}, []int{-2147483648, -100, -1, 0}, []int{5}, []int{1, 2, 3, 4, 5, 6}, []int{0, 1000, 2000})
	tied, ordered := r.chance(0.2), r.chance(0.9)
	var crew []M // what runs on every node, when nodes are to come out equal
	for range r.between(1, 4) {
		crew = append(crew, c.victim(classes, values, exts))
	}
	for _, node := range c.nodes {
		if tied {
			for i, template := range crew {
				pod := clone(template).(M)
				sub(pod, "metadata")["name"] = fmt.Sprintf("pod-%03d", len(c.pods))
				c.bind(pod, nodeName(node))
				sub(pod, "status")["startTime"] = fmt.Sprintf("2026-01-05T00:00:%02dZ", i)
			}
			continue
		}
		for range r.IntN(6) {
			pod := c.victim(classes, values, exts)
			sub(pod, "metadata")["name"] = fmt.Sprintf("pod-%03d", len(c.pods))
			c.bind(pod, nodeName(node))
			if ordered {
				sub(pod, "status")["startTime"] = c.startTime()
			}
			if r.chance(0.07) {
				terminate(pod)
				if r.chance(0.5) {
					add(sub(pod, "status"), "conditions", M{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"})
				}
			}
		}
	}
	for range pick(r, 0, 1, 2, 4) {
		c.addBudget()
	}
	asked := c.ask("default", "high")
	setLabels(asked, randomLabels(r))
	cpu, memory := pick(r, "1", "1900m", "2", "1200m", "3"), pick(r, "100Mi", "1Gi", "3Gi")
	if want == wantScores {
		cpu = pick(r, "100m", "300m", "1")
	}
	request(asked, M{"cpu": cpu, "memory": memory})
	for _, name := range exts {
		if r.chance(0.6) {
			sub(mainContainer(asked), "resources")["limits"] = M{name: pick(r, "1", "2")}
		}
	}
	if want == wantCandidates {
		sub(asked, "spec")["priority"] = pick(r, 50, 500, 5000, 1000000000)
		if classes && r.chance(0.5) {
			delete(sub(asked, "spec"), "priority")
			sub(asked, "spec")["priorityClassName"] = "high"
		}
	} else {
		priority(r, asked, classes, -1000, 0, 3, 10, 5000)
		if r.chance(0.25) {
			sub(asked, "spec")["preemptionPolicy"] = "Never"
		} else if classes && r.chance(0.2) {
			delete(sub(asked, "spec"), "priority")
			sub(asked, "spec")["priorityClassName"] = "polite"
		}
	}
	c.obstacles(asked)
	for i := range pick(r, 0, 0, 1, 2, 4) {
		pod := c.nominate(fmt.Sprintf("nominated-%d", i), pick(r, -1000, 0, 50, 500, 10000))
		if r.chance(0.4) && sub(asked, "spec")["priority"] != nil {
			sub(pod, "spec")["priority"] = sub(asked, "spec")["priority"]
		}
	}
	if r.chance(0.3) {
		profile := profileWith(preemptionArgs(r))
		if r.chance(0.4) {
			plugins := M{}
			filterPlugins(r, plugins)
			if len(plugins) > 0 {
				profile["plugins"] = plugins
			}
		}
		c.config = newConfig(profile)
	}
	return c
}

// obstacles are the other things that removing pods may or may not clear away.
func (c *cluster) obstacles(asked M) {
	r := c.r
	if r.chance(0.15) {
		hostPorts(r, asked, 2)
	}
	if r.chance(0.15) {
		podAffinity(r, asked, 0.2, 0.8, 0)
	}
	if r.chance(0.12) {
		spread(r, asked, 2, 0.9)
	}
	if r.chance(0.15) {
		nodeAffinity(r, asked, 0.9, 0)
	}
}
