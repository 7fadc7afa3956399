// SPDX-License-Identifier: Apache-2.0

// Family taints: taints and tolerations, cordoned nodes, host ports, declared features, scheduling gates, names.
package main

import "slices"

var (
	taintKeys    = []string{"dedicated", "example.com/gpu", "maintenance", "node.kubernetes.io/unschedulable"}
	taintValues  = []string{"", "a", "b", "5", "10"}
	taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
)

func taint(r rnd) M {
	t := M{"key": pick(r, taintKeys...), "effect": pick(r, "NoSchedule", "NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute")}
	if value := pick(r, taintValues...); value != "" {
		t["value"] = value
	}
	return t
}

// taintNode adds taints that differ in key or effect.
func taintNode(r rnd, node M, n int) {
	seen := map[string]bool{}
	for range n {
		t := taint(r)
		id := t["key"].(string) + t["effect"].(string)
		if !seen[id] {
			seen[id] = true
			add(sub(node, "spec"), "taints", t)
		}
	}
}

func toleration(r rnd) M {
	t := M{}
	switch r.IntN(8) {
	case 0: // everything
		t["operator"] = "Exists"
	case 1, 2:
		t["key"], t["operator"] = pick(r, taintKeys...), "Exists"
	case 3:
		t["key"] = pick(r, taintKeys...) // Equal by default, the empty value
	default:
		t["key"], t["value"] = pick(r, taintKeys...), pick(r, taintValues...)
		if r.chance(0.6) {
			t["operator"] = "Equal"
		}
	}
	if r.chance(0.7) {
		t["effect"] = pick(r, taintEffects...)
		if t["effect"] == "NoExecute" && r.chance(0.4) {
			t["tolerationSeconds"] = pick(r, 0, 300)
		}
	}
	return t
}

func tolerations(r rnd, pod M, most int) {
	for range r.IntN(most + 1) {
		add(sub(pod, "spec"), "tolerations", toleration(r))
	}
}

var ports = []int{80, 443, 8080, 9100, 53}

// hostPorts gives the first container ports on its node.
func hostPorts(r rnd, pod M, most int) {
	type key struct {
		port          int
		protocol, ip  string
		containerPort int
	}
	var seen []key
	for range r.between(1, most) {
		k := key{port: pick(r, 80, pick(r, ports...)), protocol: pick(r, "", "TCP", "UDP", "SCTP"), ip: pick(r, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1")}
		k.containerPort = k.port
		if slices.Contains(seen, k) {
			continue
		}
		seen = append(seen, k)
		p := M{"containerPort": k.containerPort, "hostPort": k.port}
		if k.protocol != "" {
			p["protocol"] = k.protocol
		}
		if k.ip != "" {
			p["hostIP"] = k.ip
		}
		add(mainContainer(pod), "ports", p)
	}
}

// declaredFeatures are the names a node may declare; some of them a pod can need.
var declaredFeatures = []string{"GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits", "SomethingElse", "UserNamespacesHostNetworkSupport"}

// needFeature makes a pod that only nodes declaring a feature can run.
func needFeature(r rnd, pod M) {
	container := mainContainer(pod)
	container["restartPolicy"] = "Never"
	container["restartPolicyRules"] = list(M{"action": "RestartAllContainers", "exitCodes": M{"operator": "In", "values": list(r.between(1, 99))}})
}

func buildTaints(r rnd, want outcome) *cluster {
	c := newCluster(r)
	tainted, cordoned := pick(r, 0.3, 0.6), 0.08
	if want != wantScores {
		tainted, cordoned = pick(r, 0.6, 0.9, 1), pick(r, 0.1, 0.4)
	}
	for range c.size() {
		node := c.addNode(pick(r, "2", "4"), pick(r, "4Gi", "8Gi"), "110")
		if r.chance(tainted) {
			taintNode(r, node, r.between(1, 4))
		}
		if r.chance(cordoned) {
			sub(node, "spec")["unschedulable"] = true
		}
		if r.chance(0.4) {
			sub(node, "status")["declaredFeatures"] = list(some(r, 0.5, declaredFeatures...)...)
		}
	}
	withPorts := r.chance(0.4)
	bound := r.IntN(2*len(c.nodes) + 1)
	if withPorts && want != wantScores {
		bound += 2 * len(c.nodes)
	}
	for i := range bound {
		pod := c.addBound(pick(r, "default", "prod"))
		if i < len(c.nodes) {
			sub(pod, "spec")["nodeName"] = nodeName(c.nodes[i])
		}
		request(pod, M{"cpu": pick(r, "100m", "200m"), "memory": pick(r, "64Mi", "128Mi")})
		if withPorts && r.chance(0.8) {
			hostPorts(r, pod, 3)
			if r.chance(0.1) {
				delete(mainContainer(pod)["ports"].([]any)[0].(M), "hostPort")
				delete(mainContainer(pod)["ports"].([]any)[0].(M), "hostIP")
				sub(pod, "spec")["hostNetwork"] = true
				hostNetworkPorts(pod)
			}
		}
		if r.chance(0.2) {
			sub(pod, "spec")["priority"] = pick(r, -5, -1)
		}
	}
	asked := c.ask("default", "web")
	request(asked, M{"cpu": "100m"})
	if want == wantScores {
		tolerations(r, asked, 6)
	} else {
		tolerations(r, asked, 3)
	}
	if withPorts && r.chance(0.85) {
		hostPorts(r, asked, pick(r, 1, 2, 5))
	}
	if r.chance(0.12) {
		needFeature(r, asked)
	}
	if want != wantScores && r.chance(0.07) {
		for _, name := range atLeastOne(r, 0.5, "example.com/quota", "example.com/wait", "z-gate") {
			add(sub(asked, "spec"), "schedulingGates", M{"name": name})
		}
	}
	if r.chance(0.15) {
		sub(asked, "spec")["schedulerName"] = "batch" // judged by the default profile, or by its own
	}
	if r.chance(0.2) || sub(asked, "spec")["schedulerName"] != nil && r.chance(0.5) {
		c.config = anyConfig(r)
		c.knownProfile()
	}
	return c
}

// hostNetworkPorts makes every named host port the container's own, as the host network demands.
func hostNetworkPorts(pod M) {
	for _, p := range mainContainer(pod)["ports"].([]any) {
		if p := p.(M); p["hostPort"] != nil {
			p["hostPort"] = p["containerPort"]
		}
	}
}

// knownProfile sees to it that the asked pod's scheduler has a profile.
func (c *cluster) knownProfile() {
	name, ok := sub(c.asked, "spec")["schedulerName"].(string)
	if !ok || c.config == nil {
		return
	}
	for _, p := range c.config["profiles"].([]any) {
		if p.(M)["schedulerName"] == name {
			return
		}
	}
	other := profileWith()
	other["schedulerName"] = name
	add(c.config, "profiles", other)
}
