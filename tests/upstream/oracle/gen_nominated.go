// SPDX-License-Identifier: Apache-2.0

// Family nominated: the pod that is asked about has preempted before, and its victims are still there, or not, or never were.
package main

// leave makes a pod one of those that a nominated pod may have to wait for: three things have to come together, and each
// may be missing.
func leave(r rnd, pod M, surely bool) {
	if surely || r.chance(0.7) {
		terminate(pod)
	}
	condition := M{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
	if !surely {
		switch r.IntN(6) {
		case 0:
			condition["reason"] = pick(r, "DeletionByTaintManager", "EvictionByEvictionAPI")
		case 1:
			condition["status"] = pick(r, "False", "Unknown")
		case 2:
			return
		}
	}
	status := sub(pod, "status")
	delete(status, "conditions")
	if r.chance(0.5) {
		add(status, "conditions", M{"type": "Ready", "status": "False"})
	}
	add(status, "conditions", condition)
}

func buildNominated(r rnd, want outcome) *cluster {
	build := want
	if want == wantWaits {
		build = wantCandidates
	}
	c := buildPreemption(r, build)
	node := pick(r, c.nodes...)
	name := nodeName(node)
	var there []M
	for _, pod := range c.pods {
		if sub(pod, "spec")["nodeName"] == name {
			there = append(there, pod)
		}
	}
	surely := want == wantWaits
	for _, pod := range there {
		if r.chance(0.6) {
			leave(r, pod, surely && r.chance(0.7))
		}
		if r.chance(0.3) && sub(c.asked, "spec")["priority"] != nil { // as important as the pod itself, or hardly less
			sub(pod, "spec")["priority"] = sub(c.asked, "spec")["priority"].(int) - r.IntN(2)
			delete(sub(pod, "spec"), "priorityClassName")
		}
	}
	if !surely {
		switch r.IntN(12) {
		case 0: // gone since
			name = "node-that-was"
		case 1: // no preemption helps there any more
			taintNode(r, node, 1)
		case 2:
			sub(node, "spec")["unschedulable"] = true
		case 3: // nor there, and perhaps PreFilter has said so
			nodeAffinity(r, c.asked, 1, 0)
		}
	}
	if r.chance(0.08) {
		sub(c.asked, "spec")["preemptionPolicy"] = "Never"
	}
	sub(c.asked, "status")["nominatedNodeName"] = name
	return c
}
