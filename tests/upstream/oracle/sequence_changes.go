// SPDX-License-Identifier: Apache-2.0

// What may happen between two placings of a made-up sequence: nodes, pods and other objects come, change and go.
package main

import (
	"fmt"
	"slices"
	"strings"
)

// images lists what nodes said of images at first, so that all agree about sizes.
func (s *sequencer) images() []any {
	var all []any
	for _, node := range s.c.nodes {
		images, _ := sub(node, "status")["images"].([]any)
		all = append(all, images...)
	}
	return all
}

// refreshImages gives a node some of the images that others have.
func (s *sequencer) refreshImages(node M) {
	var chosen []any
	seen := map[string]bool{}
	for _, image := range some(s.r, 0.3, s.images()...) {
		if name := fmt.Sprint(image.(M)["names"]); !seen[name] {
			seen[name] = true
			chosen = append(chosen, clone(image))
		}
	}
	delete(sub(node, "status"), "images")
	if len(chosen) > 0 {
		sub(node, "status")["images"] = chosen
	}
}

// changeNode edits a node that is there.
func (s *sequencer) changeNode() {
	nodes := s.there(s.c.nodes)
	if len(nodes) == 0 {
		return
	}
	r := s.r
	node := pick(r, nodes...)
	for range pick(r, 1, 1, 2) {
		s.edit(node)
	}
	s.put(node)
}

func (s *sequencer) edit(node M) {
	r := s.r
	labels, spec, status := sub(node, "metadata", "labels"), sub(node, "spec"), sub(node, "status")
	switch r.IntN(13) {
	case 0:
		labelNode(r, node)
	case 1:
		labels[zoneKey] = pick(r, zones...)
	case 2:
		delete(labels, pick(r, zoneKey, hostKey, "rack", "disk", "gen"))
	case 3:
		labels["rack"] = pick(r, "r1", "r2", "r3", "r4")
	case 4:
		delete(spec, "taints")
		taintNode(r, node, r.between(1, 2))
	case 5, 6:
		delete(spec, "taints")
	case 7:
		if spec["unschedulable"] == true {
			delete(spec, "unschedulable")
		} else if r.chance(0.6) {
			spec["unschedulable"] = true
		}
	case 8:
		allocatable(node)[pick(r, "cpu", "memory")] = pick(r, "1", "2", "4", "8", "64Gi", "3500m", "6Gi", "512Mi")
	case 9:
		allocatable(node)["pods"] = pick(r, "1", "3", "8", "110", "110")
	case 10:
		s.refreshImages(node)
	case 11:
		allocatable(node)[pick(r, extended...)] = pick(r, "0", "1", "4")
		status["declaredFeatures"] = list(some(r, 0.5, declaredFeatures...)...)
	case 12:
		sub(node, "metadata", "annotations")["note"] = fmt.Sprint(r.IntN(1000))
	}
	if labels[hostKey] == nil && r.chance(0.7) {
		labels[hostKey] = strings.TrimSuffix(nodeName(node), ".eu.example.com")
	}
}

// addNode brings back a node that was there, or a new one.
func (s *sequencer) addNode() {
	for _, node := range s.c.nodes {
		if s.gone[objectKey(node)] && s.r.chance(0.3) {
			s.put(node)
			return
		}
	}
	node := clone(pick(s.r, s.spare.nodes...)).(M)
	name := fmt.Sprintf("node-%02d", len(s.c.nodes))
	sub(node, "metadata")["name"] = name
	if sub(node, "metadata", "labels")[hostKey] != nil {
		sub(node, "metadata", "labels")[hostKey] = name
	}
	s.refreshImages(node)
	s.c.nodes = append(s.c.nodes, node)
	s.put(node)
}

// changePod edits a pod that is there: one of the first ones, or one that was placed.
func (s *sequencer) changePod() {
	pods := s.there(append(slices.Clone(s.c.pods), s.placed...))
	if len(pods) == 0 {
		return
	}
	pod, r := pick(s.r, pods...), s.r
	switch p := r.Float64(); {
	case p < 0.5:
		s.remove(pod)
	case p < 0.85:
		delete(sub(pod, "metadata"), "labels")
		setLabels(pod, randomLabels(r))
		s.put(pod)
	default:
		terminate(pod)
		s.put(pod)
	}
}

// stranger is a pod that somebody else bound, or nominated.
func (s *sequencer) stranger() {
	nodes, r := s.there(s.c.nodes), s.r
	if len(nodes) == 0 {
		return
	}
	var pod M
	if len(s.spare.pods) > 0 && r.chance(0.7) {
		pod = s.asTemplate(pick(r, s.spare.pods...))
	} else {
		pod = clone(pick(r, s.templates...)).(M)
	}
	s.name(pod)
	if r.chance(0.3) {
		sub(pod, "status")["nominatedNodeName"] = nodeName(pick(r, nodes...))
		sub(pod, "spec")["priority"] = pick(r, -10, 0, 0, 100, 5000)
		delete(sub(pod, "spec"), "schedulerName")
		s.placed = append(s.placed, pod)
	} else {
		sub(pod, "spec")["nodeName"] = nodeName(pick(r, nodes...))
		sub(pod, "status")["phase"] = "Running"
		s.c.pods = append(s.c.pods, pod)
	}
	s.put(pod)
}

// changeOther edits, removes or brings back a namespace, service, controller or budget.
func (s *sequencer) changeOther() {
	r := s.r
	others := append(slices.Clone(s.c.others), s.spare.others...)
	if len(others) == 0 {
		return
	}
	kind := pick(r, others...)["kind"]
	if s.objects > 0.3 && r.chance(0.8) { // what the sequence leans to
		kind = pick(r, s.kinds...)
	}
	others = slices.DeleteFunc(others, func(obj M) bool { return obj["kind"] != kind })
	if len(others) == 0 {
		return
	}
	obj := pick(r, others...)
	if !s.gone[objectKey(obj)] && r.chance(0.25) {
		s.remove(obj)
		return
	}
	switch obj["kind"] {
	case "Namespace":
		delete(sub(obj, "metadata"), "labels")
		labels := M{}
		if r.chance(0.7) {
			labels["env"] = pick(r, "prod", "dev")
		}
		if r.chance(0.5) {
			labels["team"] = "x"
		}
		setLabels(obj, labels)
	case "Service":
		key := pick(r, podKeys...)
		value := any(pick(r, podLabels[key]...))
		if own := sub(pick(r, s.templates...), "metadata", "labels")[key]; own != nil && r.chance(0.6) {
			value = own
		}
		sub(obj, "spec")["selector"] = M{key: value}
	case "PodDisruptionBudget":
		sub(obj, "status")["disruptionsAllowed"] = pick(r, 0, 1, 2)
	default:
		s.changeStored(obj)
	}
	s.put(obj)
}

func (s *sequencer) change() {
	r := s.r
	if r.chance(s.objects) {
		s.changeOther()
		return
	}
	switch p := r.Float64(); {
	case p < 0.46:
		s.changeNode()
	case p < 0.53:
		s.addNode()
	case p < 0.59:
		if nodes := s.there(s.c.nodes); len(nodes) > 2 {
			s.remove(pick(r, nodes...))
		}
	case p < 0.72:
		s.changePod()
	case p < 0.80:
		s.stranger()
	case p < 0.86:
		s.changeOther()
	case p < 0.91:
		s.about("confirm")
	case p < 0.94:
		s.about("forget")
	default:
		s.about("place")
	}
}
