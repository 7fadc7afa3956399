// SPDX-License-Identifier: Apache-2.0

// Family resources: odd quantities, every way to ask for something, full and nearly full nodes.
package main

var (
	oddCPU = []string{"0", "1m", "100m", "250m", "0.1", "0.5", "1500u", "100n", "1", "1.5", "1e0", "999m", "1001m", "1e-3",
		"333m", "2", "700000u", "0.0005", "1500000001n"}
	oddMemory = []string{"0", "1", "1Ki", "1e3", "128974848", "129e6", "129M", "123Mi", "200Mi", "0.5Gi", "1Gi", "1.5Gi", "100n",
		"1500m", "268435455", "1048577", "2G", "1Mi", "3e8"}
	extended = []string{"example.com/gpu", "vendor.io/fpga", "example.com/nic"}
)

// containerResources makes a resources object; requests may be left to follow from limits.
func containerResources(r rnd, exts []string) M {
	requests, limits := M{}, M{}
	if r.chance(0.8) {
		requests["cpu"] = pick(r, oddCPU...)
	}
	if r.chance(0.8) {
		requests["memory"] = pick(r, oddMemory...)
	}
	if r.chance(0.2) {
		requests["ephemeral-storage"] = pick(r, "1Gi", "500M", "0", "10Mi", "2Gi")
	}
	if r.chance(0.1) {
		requests["cpu"] = r.between(0, 2) // a number, not a string
	}
	for _, name := range exts {
		if r.chance(0.35) {
			n := pick(r, "0", "1", "1", "2", "3")
			limits[name] = n
			if r.chance(0.5) {
				requests[name] = n
			}
		}
	}
	if r.chance(0.1) {
		requests["cpu"] = pick(r, "100m", "1")
		limits["hugepages-2Mi"] = pick(r, "2Mi", "4Mi", "0", "64Mi")
	}
	if r.chance(0.25) { // from limits alone
		for _, name := range []string{"cpu", "memory"} {
			if value, ok := requests[name]; ok && r.chance(0.7) {
				limits[name] = value
				delete(requests, name)
			}
		}
	}
	out := M{}
	if len(requests) > 0 {
		out["requests"] = requests
	}
	if len(limits) > 0 {
		out["limits"] = limits
	}
	return out
}

// dress gives a pod containers, init containers, sidecars, overhead and resources of its own.
func dress(r rnd, pod M, exts []string) {
	spec := sub(pod, "spec")
	mainContainer(pod)["resources"] = containerResources(r, exts)
	for i := range r.IntN(3) {
		if r.chance(0.5) {
			add(spec, "containers", M{"name": pick(r, "side", "extra") + string(rune('a'+i)), "image": "registry.example/side:v1",
				"resources": containerResources(r, exts)})
		}
	}
	if r.chance(0.35) {
		for i := range r.between(1, 3) {
			init := M{"name": "init-" + string(rune('a'+i)), "image": "registry.example/init:v1", "resources": containerResources(r, exts)}
			if r.chance(0.45) {
				init["restartPolicy"] = "Always"
			}
			add(spec, "initContainers", init)
		}
	}
	if r.chance(0.15) {
		spec["overhead"] = M{"cpu": pick(r, "10m", "250m", "0.25"), "memory": pick(r, "16Mi", "1", "120Mi")}
	}
	if r.chance(0.18) {
		resources := M{}
		if r.chance(0.7) {
			resources["requests"] = some2(r, M{"cpu": pick(r, "4", "4500m", "6"), "memory": pick(r, "4Gi", "6Gi", "7e9")})
		}
		if r.chance(0.5) {
			resources["limits"] = some2(r, M{"cpu": pick(r, "6", "8"), "memory": pick(r, "7Gi", "8Gi")})
		}
		if len(resources) > 0 {
			spec["resources"] = resources
		}
	}
	if r.chance(0.1) {
		add(spec, "volumes", M{"name": "scratch", "emptyDir": M{}})
	}
}

// some2 leaves out entries of a map at random, but not all of them.
func some2(r rnd, m M) M {
	out := M{}
	for _, key := range []string{"cpu", "memory"} {
		if r.chance(0.7) {
			out[key] = m[key]
		}
	}
	if len(out) == 0 {
		out["cpu"] = m["cpu"]
	}
	return out
}

// resized gives a bound pod the status of one whose resources were changed while it ran.
func resized(r rnd, pod M) {
	status := sub(pod, "status")
	container := M{"name": "main", "image": "registry.example/app:v1", "imageID": "", "ready": true, "restartCount": 0}
	if r.chance(0.85) {
		container["resources"] = M{"requests": M{"cpu": pick(r, oddCPU...), "memory": pick(r, oddMemory...)}}
	}
	if r.chance(0.7) {
		container["allocatedResources"] = M{"cpu": pick(r, oddCPU...), "memory": pick(r, oddMemory...)}
	}
	status["containerStatuses"] = list(container)
	if r.chance(0.4) {
		status["conditions"] = list(M{"type": "PodResizePending", "status": "True", "reason": pick(r, "Infeasible", "Deferred")})
	}
	if _, ok := sub(pod, "spec")["resources"]; ok && r.chance(0.6) {
		status["resources"] = M{"requests": M{"cpu": pick(r, "1", "2", "3500m"), "memory": pick(r, "1Gi", "2Gi")}}
		status["allocatedResources"] = M{"cpu": pick(r, "1", "4"), "memory": pick(r, "512Mi", "4Gi")}
	}
}

// resourceNode adds a node whose room may be odd, tight, or lack a resource altogether.
func (c *cluster) resourceNode(tight bool, exts []string) {
	r := c.r
	cpu, memory, pods := pick(r, "2", "4", "8", "3.5", "3999m", "4001m", "6e0"), pick(r, "4Gi", "8Gi", "8e9", "7.5Gi", "16777216Ki"), pick(r, "110", "20", "6", "4")
	if tight {
		cpu, memory, pods = pick(r, "1", "500m", "1500m", "0.1", "2", "1001m"), pick(r, "1Gi", "512Mi", "129M", "2Gi", "1"), pick(r, "1", "2", "3", "5", "0", "110")
	}
	if r.chance(0.03) {
		memory = pick(r, "8Ei", "9223372036854775807", "7Ei", "9e18", "1E")
	}
	node := c.addNode(cpu, memory, pods)
	resources := allocatable(node)
	for _, name := range exts {
		if r.chance(0.7) {
			resources[name] = pick(r, "0", "1", "2", "4", "8")
		}
	}
	if r.chance(0.5) {
		resources["ephemeral-storage"] = pick(r, "5Gi", "10Gi", "1Gi", "100M")
	}
	if r.chance(0.3) {
		resources["hugepages-2Mi"] = pick(r, "0", "64Mi", "128Mi", "4Mi")
	}
	if r.chance(0.03) {
		delete(resources, pick(r, "cpu", "memory", "pods"))
	}
}

func buildResources(r rnd, want outcome) *cluster {
	c := newCluster(r)
	exts := some(r, 0.5, extended...)
	tight := 0.3
	if want != wantScores {
		tight = pick(r, 0.6, 0.9, 1)
	}
	for range c.size() {
		c.resourceNode(r.chance(tight), exts)
	}
	perNode := pick(r, 0.5, 1, 2, 3)
	for range int(perNode * float64(len(c.nodes))) {
		pod := c.addBound(pick(r, "default", "prod"))
		if r.chance(0.9) {
			dress(r, pod, exts)
		}
		if r.chance(0.2) {
			resized(r, pod)
		}
		if r.chance(0.3) || want == wantCandidates {
			sub(pod, "spec")["priority"] = pick(r, -10, 0, 5)
		}
		if r.chance(0.05) {
			terminate(pod)
		}
		if r.chance(0.03) {
			sub(pod, "status")["phase"] = pick(r, "Succeeded", "Failed")
		}
	}
	asked := c.ask("default", "web")
	dress(r, asked, exts)
	if want != wantScores && r.chance(0.6) {
		request(asked, M{"cpu": pick(r, "1900m", "3", "3999m", "1", "8001m"), "memory": pick(r, "1Gi", "3Gi", "9e9", "100Mi")})
		if want == wantRejected && r.chance(0.7) {
			sub(asked, "spec")["preemptionPolicy"] = pick(r, "Never", "PreemptLowerPriority")
		}
	}
	if want == wantCandidates || r.chance(0.2) {
		sub(asked, "spec")["priority"] = pick(r, 1, 10, 1000)
	}
	if r.chance(0.45) {
		c.config = resourceConfig(r)
	}
	return c
}
