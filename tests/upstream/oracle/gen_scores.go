// SPDX-License-Identifier: Apache-2.0

// Families scores and mixed: everything that ranks nodes under made-up configurations, and clusters as one meets them.
package main

import "fmt"

var images = []string{"registry.example/app:v1", "registry.example/side:v1", "nginx", "docker.io/library/nginx:latest", "registry.example/big:v2",
	"registry.example:5000/odd", "app@sha256:0123456789012345678901234567890123456789012345678901234567890123"}

// imageSizes settles how big each image is. Upstream goes by the first node that reports an image, so nodes should agree.
func imageSizes(r rnd) map[string]int {
	sizes := map[string]int{}
	for _, image := range images {
		sizes[image] = pick(r, 0, 1000, 23*1024*1024, 24*1024*1024, 300*1024*1024, 999*1024*1024, 1001*1024*1024, 5000000000)
	}
	sizes["nginx"] = sizes["docker.io/library/nginx:latest"]
	return sizes
}

// addImages tells which images a node holds, under one or several names.
func addImages(r rnd, node M, sizes map[string]int) {
	for _, image := range some(r, 0.4, images...) {
		names := list(image)
		switch image {
		case "nginx":
			names = list("docker.io/library/nginx:latest", "nginx:latest")
		case "registry.example:5000/odd":
			names = list("registry.example:5000/odd:latest")
		}
		add(sub(node, "status"), "images", M{"names": names, "sizeBytes": sizes[image]})
	}
}

// askImages gives a pod one to three containers with images of the list.
func askImages(r rnd, pod M) {
	mainContainer(pod)["image"] = pick(r, images...)
	for i := range r.IntN(3) {
		add(sub(pod, "spec"), "containers", M{"name": fmt.Sprintf("more-%d", i), "image": pick(r, images...)})
	}
	if r.chance(0.2) {
		add(sub(pod, "spec"), "initContainers", M{"name": "first", "image": pick(r, images...)})
	}
}

// populate puts running pods of all sorts on the nodes.
func (c *cluster) populate(n int) {
	r := c.r
	for range n {
		pod := c.addBound(pick(r, namespaces...))
		setLabels(pod, randomLabels(r))
		request(pod, M{"cpu": pick(r, "100m", "250m", "500m", "1"), "memory": pick(r, "128Mi", "512Mi", "1Gi", "2Gi")})
		if r.chance(0.1) {
			delete(mainContainer(pod), "resources")
		}
		if r.chance(0.15) {
			podAffinity(r, pod, 0.2, 0.1, 0.6)
		}
		if r.chance(0.03) {
			terminate(pod)
		}
	}
}

func buildScores(r rnd, want outcome) *cluster {
	c := newCluster(r)
	c.addNamespaces()
	c.plainNodes(c.size())
	sizes := imageSizes(r)
	for _, node := range c.nodes {
		labelNode(r, node)
		addImages(r, node, sizes)
		for _, name := range some(r, 0.3, extended...) {
			allocatable(node)[name] = pick(r, "0", "2", "4", "8")
		}
		if r.chance(0.4) {
			taintNode(r, node, r.between(1, 3))
			if want == wantScores {
				for _, t := range sub(node, "spec")["taints"].([]any) {
					if r.chance(0.8) {
						t.(M)["effect"] = "PreferNoSchedule"
					}
				}
				uniqueTaints(sub(node, "spec"))
			}
		}
	}
	c.populate(r.IntN(3 * len(c.nodes)))
	asked := c.ask(pick(r, namespaces...), "web")
	setLabels(asked, randomLabels(r))
	askImages(r, asked)
	if r.chance(0.85) {
		request(asked, M{"cpu": pick(r, oddCPU...), "memory": pick(r, oddMemory...)})
	}
	if r.chance(0.2) {
		sub(mainContainer(asked), "resources")["limits"] = M{pick(r, extended...): "1"}
	}
	if r.chance(0.6) {
		nodeAffinity(r, asked, 0.1, 0.95)
	}
	if r.chance(0.5) {
		podAffinity(r, asked, 0.05, 0.05, 0.9)
	}
	if r.chance(0.4) {
		spread(r, asked, 3, 0.1)
	} else if r.chance(0.4) {
		c.addWorkloads()
	}
	tolerations(r, asked, 3)
	if want == wantNone {
		request(asked, M{"cpu": pick(r, "17", "8", "100")})
	}
	if r.chance(0.75) {
		c.config = anyConfig(r)
		if r.chance(0.15) {
			sub(asked, "spec")["schedulerName"] = "batch"
			c.knownProfile()
		}
	}
	return c
}

// uniqueTaints drops taints that came to share key and effect.
func uniqueTaints(spec M) {
	seen, kept := map[string]bool{}, []any{}
	for _, t := range spec["taints"].([]any) {
		id := t.(M)["key"].(string) + t.(M)["effect"].(string)
		if !seen[id] {
			seen[id] = true
			kept = append(kept, t)
		}
	}
	spec["taints"] = kept
}

// buildMixed is a cluster of pools with workloads stamped from templates, daemons everywhere, and one more pod to place.
func buildMixed(r rnd, want outcome) *cluster {
	c := newCluster(r)
	c.addNamespaces()
	c.addClasses()
	n := pick(r, c.size(), r.between(12, 40))
	sizes := imageSizes(r)
	for i := range n {
		pool := pick(r, "general", "general", "highmem", "gpu", "spot")
		var node M
		switch pool {
		case "highmem":
			node = c.addNode("7910m", "62Gi", "110")
		case "gpu":
			node = c.addNode("15890m", "56Gi", "110")
			allocatable(node)["nvidia.com/gpu"] = "4"
			add(sub(node, "spec"), "taints", M{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"})
		case "spot":
			node = c.addNode("3920m", "14Gi", "58")
			add(sub(node, "spec"), "taints", M{"key": "spot", "value": "true", "effect": pick(r, "NoSchedule", "PreferNoSchedule")})
		default:
			node = c.addNode("3920m", "14Gi", "58")
		}
		labels := sub(node, "metadata", "labels")
		labels["pool"] = pool
		labels["kubernetes.io/arch"] = pick(r, "amd64", "amd64", "arm64")
		labels[zoneKey] = zones[i%3]
		addImages(r, node, sizes)
		if r.chance(0.05) {
			sub(node, "spec")["unschedulable"] = true
			add(sub(node, "spec"), "taints", M{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
		}
		if r.chance(0.04) {
			add(sub(node, "spec"), "taints", M{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}, M{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
		}
		daemon := c.newPod("kube-system", fmt.Sprintf("proxy-%02d", i))
		request(daemon, M{"cpu": "100m", "memory": "64Mi"})
		add(sub(daemon, "spec"), "tolerations", M{"operator": "Exists"})
		sub(daemon, "spec")["priorityClassName"] = "system-node-critical"
		hostPorts(r, daemon, 1)
		c.bind(daemon, nodeName(node))
	}
	load := pick(r, 1, 2, 3)
	if want != wantScores {
		load = pick(r, 2, 4, 5)
	}
	var templates []M
	for i := range r.between(2, 5) {
		templates = append(templates, c.template(fmt.Sprintf("work-%d", i)))
	}
	for range load * n {
		pod := clone(pick(r, templates...)).(M)
		metadata := sub(pod, "metadata")
		metadata["name"] = fmt.Sprintf("%s-%03d", metadata["name"], len(c.pods))
		c.bind(pod, nodeName(pick(r, c.nodes...)))
		if r.chance(0.03) {
			terminate(pod)
		}
	}
	for range r.IntN(3) {
		c.addBudget()
	}
	for i := range r.IntN(3) {
		c.nominate(fmt.Sprintf("nominated-%d", i), pick(r, 0, 100, 100000))
	}
	c.asked = clone(pick(r, templates...)).(M)
	if r.chance(0.3) {
		c.asked = c.template("new")
	}
	if want == wantCandidates {
		sub(c.asked, "spec")["priorityClassName"] = "high"
		delete(sub(c.asked, "spec"), "priority")
	}
	if want != wantScores && r.chance(0.7) {
		request(c.asked, M{"cpu": pick(r, "3500m", "7500m", "2", "15"), "memory": pick(r, "1Gi", "12Gi", "50Gi")})
	}
	sub(c.asked, "metadata")["name"] = "asked"
	if r.chance(0.4) {
		c.addWorkloads()
	}
	if r.chance(0.35) {
		c.config = anyConfig(r)
		c.knownProfile()
	}
	return c
}

// template is a workload's pod: labels, requests, and the constraints such workloads carry.
func (c *cluster) template(name string) M {
	r := c.r
	pod := c.newPod(pick(r, namespaces...), name)
	setLabels(pod, M{"app": pick(r, podLabels["app"]...), "tier": pick(r, podLabels["tier"]...), "pod-template-hash": pick(r, "h1", "h2")})
	mainContainer(pod)["image"] = pick(r, images...)
	request(pod, M{"cpu": pick(r, "100m", "250m", "500m", "1"), "memory": pick(r, "256Mi", "1Gi", "2Gi")})
	spec := sub(pod, "spec")
	if r.chance(0.6) {
		spec["priorityClassName"] = pick(r, "low", "normal", "high")
	}
	if r.chance(0.2) {
		sub(mainContainer(pod), "resources")["limits"] = M{"nvidia.com/gpu": "1"}
		add(spec, "tolerations", M{"key": "nvidia.com/gpu", "operator": "Exists"})
	}
	if r.chance(0.3) {
		add(spec, "tolerations", M{"key": "spot", "operator": "Equal", "value": "true"})
	}
	if r.chance(0.3) {
		spec["nodeSelector"] = M{"kubernetes.io/arch": "amd64"}
	}
	if r.chance(0.35) {
		add(spec, "topologySpreadConstraints", M{"maxSkew": 1, "topologyKey": pick(r, zoneKey, hostKey), "whenUnsatisfiable": pick(r, "DoNotSchedule", "ScheduleAnyway"),
			"labelSelector": M{"matchLabels": M{"app": sub(pod, "metadata", "labels")["app"]}}, "matchLabelKeys": list("pod-template-hash")})
	}
	if r.chance(0.3) {
		podAffinity(r, pod, 0.1, 0.3, 0.7)
	}
	if r.chance(0.15) {
		dress(r, pod, nil)
	}
	return pod
}
