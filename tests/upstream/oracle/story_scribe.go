// SPDX-License-Identifier: Apache-2.0

// Words to write stories in: nodes and pods as small as they can be, and what happens to them.
package main

import (
	"encoding/json"
	"fmt"
)

const (
	soon  = 100    // milliseconds to the next step: who failed is still backing off
	later = 12_000 // who failed has waited long enough; twenty such steps stay below the timeout of the queue
)

// scribe writes a story down.
type scribe struct {
	story *Story
	pace  int
	at    int
}

func newScribe(name string, seed uint64, pace int) *scribe {
	return &scribe{story: &Story{Name: name, Seed: seed}, pace: pace, at: 350}
}

func (s *scribe) step(step Step) *Step {
	step.At = s.at
	s.at += s.pace
	s.story.Steps = append(s.story.Steps, step)
	return &s.story.Steps[len(s.story.Steps)-1]
}

func (s *scribe) object(op string, obj M) *Step {
	text, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return s.step(Step{Op: op, Object: text})
}

func (s *scribe) create(obj M) M {
	s.object("create", obj)
	return obj
}

// hold is create without attempts after it.
func (s *scribe) hold(obj M) M {
	s.create(obj)
	s.holdLast()
	return obj
}

// holdLast lets the next step follow at once, so that nobody's backoff ends in between.
func (s *scribe) holdLast() {
	last := &s.story.Steps[len(s.story.Steps)-1]
	last.Hold = true
	s.at = last.At + 1
}

// update changes a copy of obj and writes that.
func (s *scribe) update(obj M, edit func(M)) M {
	changed := clone(obj).(M)
	edit(changed)
	s.object("update", changed)
	return changed
}

func (s *scribe) delete(obj M) {
	metadata := M{"name": sub(obj, "metadata")["name"]}
	if namespace, ok := sub(obj, "metadata")["namespace"]; ok {
		metadata["namespace"] = namespace
	}
	s.object("delete", M{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata})
}

func (s *scribe) bind(pod M, node string) { s.step(Step{Op: "bind", Pod: fullName(pod), Node: node}) }
func (s *scribe) nominate(pod M, node string) {
	s.step(Step{Op: "nominate", Pod: fullName(pod), Node: node})
}
func (s *scribe) terminate(pod M) { s.step(Step{Op: "terminate", Pod: fullName(pod)}) }

func (s *scribe) answer(pod M) { s.step(Step{Op: "answer", Pod: fullName(pod)}) }

func fullName(pod M) string {
	metadata := sub(pod, "metadata")
	namespace, ok := metadata["namespace"].(string)
	if !ok {
		namespace = "default"
	}
	return namespace + "/" + metadata["name"].(string)
}

// node has a name, a size and the label of its name; labels come in pairs.
func node(name, cpu string, labels ...string) M {
	resources := M{"cpu": cpu, "memory": "16Gi", "pods": "110"}
	all := M{hostKey: name}
	for i := 0; i+1 < len(labels); i += 2 {
		all[labels[i]] = labels[i+1]
	}
	return M{"apiVersion": "v1", "kind": "Node", "metadata": M{"name": name, "labels": all},
		"status": M{"allocatable": resources, "capacity": clone(resources)}}
}

func resize(node M, resource, amount string) {
	sub(node, "status", "allocatable")[resource] = amount
	sub(node, "status", "capacity")[resource] = amount
}

func tainted(key, effect string) M { return M{"key": key, "value": "yes", "effect": effect} }

func tolerate(key string) M { return M{"key": key, "operator": "Exists"} }

// pod asks for cpu ("" for none) and what the edits say.
func pod(name, cpu string, edits ...func(M)) M {
	p := M{"apiVersion": "v1", "kind": "Pod", "metadata": M{"name": name},
		"spec": M{"containers": list(M{"name": "main", "image": "registry.example/app:v1"})}}
	if cpu != "" {
		request(p, M{"cpu": cpu})
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func spec(key string, value any) func(M) { return func(obj M) { sub(obj, "spec")[key] = value } }

func label(key, value string) func(M) {
	return func(obj M) { sub(obj, "metadata", "labels")[key] = value }
}

func annotation(key, value string) func(M) {
	return func(obj M) { sub(obj, "metadata", "annotations")[key] = value }
}

func ranked(value int) func(M) { return spec("priority", value) }

func asking(cpu string) func(M) { return func(obj M) { request(obj, M{"cpu": cpu}) } }

func on(node string) func(M) {
	return func(obj M) {
		sub(obj, "spec")["nodeName"] = node
		sub(obj, "status")["phase"] = "Running"
		sub(obj, "status")["startTime"] = fmt.Sprintf("2025-12-31T00:%02d:00Z", len(fullName(obj))%60)
	}
}

func hostPort(port int) func(M) {
	return func(obj M) { mainContainer(obj)["ports"] = list(M{"containerPort": port, "hostPort": port}) }
}

func gates(names ...string) func(M) {
	var all []any
	for _, name := range names {
		all = append(all, M{"name": name})
	}
	return spec("schedulingGates", all)
}

func needsLabel(key, value string) func(M) {
	return func(obj M) {
		sub(obj, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"] =
			list(M{"matchExpressions": list(M{"key": key, "operator": "In", "values": list(value)})})
	}
}

func selects(app string) M { return M{"matchLabels": M{"app": app}} }

func near(app, topology string) func(M) {
	return func(obj M) {
		add(sub(obj, "spec", "affinity", "podAffinity"), "requiredDuringSchedulingIgnoredDuringExecution",
			M{"labelSelector": selects(app), "topologyKey": topology})
	}
}

func awayFrom(app, topology string) func(M) {
	return func(obj M) {
		add(sub(obj, "spec", "affinity", "podAntiAffinity"), "requiredDuringSchedulingIgnoredDuringExecution",
			M{"labelSelector": selects(app), "topologyKey": topology})
	}
}

func spreads(app, topology string, skew int) func(M) {
	return func(obj M) {
		add(sub(obj, "spec"), "topologySpreadConstraints",
			M{"labelSelector": selects(app), "topologyKey": topology, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"})
	}
}
