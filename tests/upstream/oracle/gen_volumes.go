// SPDX-License-Identifier: Apache-2.0

// Family volumes: claims in every state, volumes that fit and that nearly fit, limits, shared disks, storage that runs out.
package main

import "fmt"

// askVolumes gives the pod that is asked about its volumes, healthy ones or not.
func (s *stock) askVolumes(pod M, want outcome) {
	r := s.r
	spoilt := pick(r, 0, 0, 0.15, 0.4)
	if want == wantScores || want == wantCandidates {
		spoilt = pick(r, 0, 0, 0, 0.05)
	}
	if want == wantEarly {
		spoilt = 0.6
	}
	n := pick(r, 1, 1, 1, 2, 2, 3, 4)
	for i := range n {
		name := fmt.Sprintf("v%d", i)
		switch p := r.Float64(); {
		case p < 0.12:
			s.addEphemeral(pod, name, r.chance(spoilt))
		case p < 0.26:
			add(sub(pod, "spec"), "volumes", s.inline(name))
		case p < 0.29:
			add(sub(pod, "spec"), "volumes", pick(r, M{"name": name, "emptyDir": M{}},
				M{"name": name, "csi": M{"driver": pick(r, drivers...)}}, M{"name": name, "nfs": M{"server": "nfs.example", "path": "/"}}))
		case r.chance(spoilt):
			claimVolume(pod, name, s.spoiltClaim(podNamespace(pod)))
		case r.chance(0.35):
			claimVolume(pod, name, s.boundClaim(podNamespace(pod)))
		case r.chance(0.2) && len(s.shared[podNamespace(pod)]) > 0:
			claimVolume(pod, name, pick(r, s.shared[podNamespace(pod)]...))
		default:
			claimVolume(pod, name, s.delayedClaim(podNamespace(pod)))
		}
	}
	if r.chance(0.04) { // one claim, mounted twice under two names
		volumes := sub(pod, "spec")["volumes"].([]any)
		again := clone(pick(r, volumes...)).(M)
		again["name"] = "again"
		add(sub(pod, "spec"), "volumes", again)
	}
}

func podNamespace(pod M) string {
	if namespace, ok := sub(pod, "metadata")["namespace"].(string); ok {
		return namespace
	}
	return "default"
}

func claimVolume(pod M, name, claim string) {
	source := M{"claimName": claim}
	add(sub(pod, "spec"), "volumes", M{"name": name, "persistentVolumeClaim": source})
}

// use gives a running or waiting pod volumes: claims of the pool, shared with others or not, inline disks, ephemeral ones.
func (s *stock) use(pod M) {
	r := s.r
	for i := range pick(r, 0, 1, 1, 2, 3) {
		name := fmt.Sprintf("u%d", i)
		pool := s.shared[podNamespace(pod)]
		switch p := r.Float64(); {
		case p < 0.55 && len(pool) > 0:
			claimVolume(pod, name, pick(r, pool...))
		case p < 0.62:
			claimVolume(pod, name, s.delayedClaim(podNamespace(pod)))
		case p < 0.65:
			claimVolume(pod, name, "gone")
		case p < 0.78:
			s.addEphemeral(pod, name, r.chance(0.06))
		default:
			add(sub(pod, "spec"), "volumes", s.inline(name))
		}
	}
}

// neighbours puts running pods on the nodes, with and without volumes.
func (s *stock) neighbours(n int, want outcome) {
	r := s.r
	for range n {
		pod := s.c.addBound(pick(r, "default", "default", "prod"))
		setLabels(pod, randomLabels(r))
		request(pod, M{"cpu": pick(r, "50m", "250m", "500m", "1"), "memory": pick(r, "64Mi", "512Mi", "1Gi")})
		if want == wantCandidates || r.chance(0.3) {
			sub(pod, "spec")["priority"] = pick(r, -5, 0, 0, 3, 2000)
		}
		if r.chance(0.75) {
			s.use(pod)
		}
		if r.chance(0.06) {
			terminate(pod)
		}
		if r.chance(0.02) {
			sub(pod, "status")["phase"] = pick(r, "Succeeded", "Failed")
		}
		if r.chance(0.02) {
			sub(pod, "spec")["nodeName"] = "node-gone"
		}
	}
}

// collide lets a running pod hold what the asked pod wants: its claims, which may be for one pod alone, or its disks.
func (s *stock) collide(asked M, chance float64) {
	r := s.r
	volumes, _ := sub(asked, "spec")["volumes"].([]any)
	for i, volume := range volumes {
		v := volume.(M)
		if v["ephemeral"] != nil || !r.chance(chance) {
			continue
		}
		if claim, ok := v["persistentVolumeClaim"].(M); ok && r.chance(0.8) {
			if obj := s.find(podNamespace(asked), claim["claimName"].(string)); obj != nil {
				sub(obj, "spec")["accessModes"] = list("ReadWriteOncePod")
			}
		}
		for range pick(r, 1, 1, 1, 1, 2, 3) {
			pod := s.c.addBound(podNamespace(asked))
			held := clone(v).(M)
			held["name"] = fmt.Sprintf("held-%d", i)
			if disk, ok := held["gcePersistentDisk"].(M); ok && r.chance(0.3) {
				disk["readOnly"] = true
			}
			add(sub(pod, "spec"), "volumes", held)
			request(pod, M{"cpu": pick(r, "50m", "1", "2")})
			sub(pod, "spec")["priority"] = pick(r, -100, 0, 0, 5, 100000)
			if r.chance(0.1) {
				terminate(pod)
			}
		}
	}
}

func buildVolumes(r rnd, want outcome) *cluster {
	c := newCluster(r)
	c.plainNodes(pick(r, r.between(2, 5), r.between(3, 8), r.between(3, 8), r.between(6, 14)))
	s := newStock(c, chooseSubject(r, want))
	for _, node := range c.nodes {
		if r.chance(0.3) {
			labelNode(r, node)
		}
		s.labelTopology(node)
		if r.chance(0.04) {
			taintNode(r, node, 1)
		}
	}
	s.addClasses()
	s.addDrivers()
	s.addCSINodes()
	s.addPool()
	if r.chance(0.6) {
		s.neighbours(r.IntN(2*len(c.nodes)+1), want)
	}
	asked := c.ask(pick(r, "default", "default", "default", "prod"), "web")
	sub(asked, "metadata")["uid"] = "00000000-0000-4000-9000-000000000001"
	setLabels(asked, randomLabels(r))
	request(asked, M{"cpu": pick(r, "100m", "500m", "1"), "memory": pick(r, "64Mi", "1Gi")})
	switch want {
	case wantCandidates:
		sub(asked, "spec")["priority"] = pick(r, 10, 1000)
	case wantFails:
		add(sub(asked, "spec"), "volumes", s.inline("odd"))
	default:
		sub(asked, "spec")["priority"] = pick(r, -1, 0, 4, 1000)
	}
	s.play(asked, want)
	s.addVolumes()
	s.addCapacities()
	s.addAttachments()
	c.others = append(c.others, s.volumes...)
	c.others = append(c.others, s.claims...)
	if r.chance(0.25) {
		c.obstacles(asked)
		tolerations(r, asked, 2)
	}
	if want != wantScores && r.chance(0.25) {
		request(asked, M{"cpu": pick(r, "1900m", "3"), "memory": pick(r, "1Gi", "6Gi")})
	}
	for range r.IntN(3) {
		if r.chance(0.3) {
			c.addBudget()
		}
	}
	for i := range pick(r, 0, 0, 0, 1, 2) {
		pod := c.nominate(fmt.Sprintf("nominated-%d", i), pick(r, -1, 0, 10, 2000))
		if r.chance(0.7) {
			for j, claim := range some(r, 0.3, s.shared[podNamespace(pod)]...) {
				claimVolume(pod, fmt.Sprintf("n%d", j), claim)
			}
		}
		if volumes, ok := sub(asked, "spec")["volumes"].([]any); ok && podNamespace(pod) == podNamespace(asked) && r.chance(0.4) {
			held := clone(pick(r, volumes...)).(M)
			held["name"] = "wanted"
			add(sub(pod, "spec"), "volumes", held)
		}
	}
	if want == wantEarly && r.chance(0.4) || r.chance(0.25) {
		c.config = s.config(want)
	}
	return c
}

var volumePlugins = []string{"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}

// config switches some of the four plugins off, which leaves it to the others to object.
func (s *stock) config(want outcome) M {
	r := s.r
	if want == wantEarly && r.chance(0.7) {
		profile := profileWith()
		profile["plugins"] = M{"multiPoint": M{"disabled": named(atLeastOne(r, 0.6, volumePlugins...)...)}}
		return newConfig(profile)
	}
	if r.chance(0.15) {
		return anyConfig(r)
	}
	profile := profileWith(some(r, 0.5, pluginArgs("VolumeBinding", M{"bindTimeoutSeconds": pick(r, 0, 1, 600)}))...)
	plugins := M{}
	if r.chance(0.5) {
		sub(plugins, "multiPoint")["disabled"] = named(atLeastOne(r, 0.35, volumePlugins...)...)
	} else if r.chance(0.5) {
		sub(plugins, "filter")["disabled"] = named(atLeastOne(r, 0.35, volumePlugins...)...)
	} else {
		order := some(r, 0.7, append([]string{"NodeResourcesFit", "TaintToleration"}, volumePlugins...)...)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if len(order) > 0 {
			sub(plugins, "filter")["enabled"] = named(order...)
		}
	}
	if len(plugins) > 0 {
		profile["plugins"] = plugins
	}
	return newConfig(profile)
}
