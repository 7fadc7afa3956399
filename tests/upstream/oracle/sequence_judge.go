// SPDX-License-Identifier: Apache-2.0

// Walking through a sequence whose placements are known: the objects as they are at every step, put to upstream as a case.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// sequenceWorld holds the objects of a sequence, in order of appearance.
type sequenceWorld struct {
	keys    []string
	objects map[string]M
	assumed map[string]bool // pods that were placed here and that nobody has confirmed
	freed   bool            // a host port went with one pod although another on that node has it, too
}

// portsOf lists what a pod takes of its node's ports. Validation has made sure of the form.
func portsOf(pod M) []string {
	spec := sub(pod, "spec")
	hostNetwork, _ := spec["hostNetwork"].(bool)
	var ports []string
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := spec[list].([]any)
		for _, container := range containers {
			of, _ := container.(M)["ports"].([]any)
			for _, item := range of {
				port := item.(M)
				number := port["hostPort"]
				if number == nil && hostNetwork {
					number = port["containerPort"]
				}
				if number == nil {
					continue
				}
				ip, protocol := port["hostIP"], port["protocol"]
				if ip == nil || ip == "" {
					ip = "0.0.0.0"
				}
				if protocol == nil || protocol == "" {
					protocol = "TCP"
				}
				ports = append(ports, fmt.Sprint(ip, " ", protocol, " ", number))
			}
		}
	}
	return ports
}

// takenPorts counts the pods that have a port, by node and port.
func (w *sequenceWorld) takenPorts() map[string]int {
	taken := map[string]int{}
	for _, obj := range w.objects {
		if node, ok := sub(obj, "spec")["nodeName"].(string); ok && obj["kind"] == "Pod" {
			ports := portsOf(obj)
			slices.Sort(ports)
			for _, port := range slices.Compact(ports) {
				taken[node+" "+port]++
			}
		}
	}
	return taken
}

func objectKey(obj M) string {
	metadata := sub(obj, "metadata")
	name, _ := metadata["name"].(string)
	kind, _ := obj["kind"].(string)
	switch kind {
	case "Node", "Namespace", "PriorityClass", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment":
		return kind + " " + name
	}
	return kind + " " + fullName(obj)
}

func decodeMap(text []byte) (M, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	obj := M{}
	return obj, decoder.Decode(&obj)
}

// carry copies a field, or its absence, of an object that is replaced.
func carry(from, to M, part, field string) {
	if value, ok := sub(from, part)[field]; ok {
		sub(to, part)[field] = value
	} else {
		delete(sub(to, part), field)
	}
}

func (w *sequenceWorld) put(obj M) {
	key := objectKey(obj)
	if before := w.objects[key]; before == nil {
		w.keys = append(w.keys, key)
	} else if obj["kind"] == "Pod" {
		carry(before, obj, "spec", "nodeName")
		carry(before, obj, "status", "nominatedNodeName")
		if sub(before, "metadata")["deletionTimestamp"] != nil {
			terminate(obj)
		}
		delete(w.assumed, key)
	}
	w.objects[key] = obj
}

func (w *sequenceWorld) remove(key string) {
	if w.objects[key] != nil {
		delete(w.objects, key)
		delete(w.assumed, key)
		w.keys = slices.DeleteFunc(w.keys, func(k string) bool { return k == key })
	}
}

// question is the case of one pod in the cluster as it is.
func (w *sequenceWorld) question(s *Sequence, asked string) (*Case, error) {
	c := &Case{ID: s.Name, Seed: s.Seed, Config: s.Config, Pod: asked}
	for _, key := range w.keys {
		obj := w.objects[key]
		if obj["kind"] == "Pod" && fullName(obj) != asked && sub(obj, "spec")["nodeName"] == nil && sub(obj, "status")["nominatedNodeName"] == nil {
			continue // waits, and nobody takes any notice
		}
		text, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		c.Objects = append(c.Objects, text)
	}
	return c, nil
}

// judgeSequence fills in what is expected at every placing.
func judgeSequence(s *Sequence) error {
	w := &sequenceWorld{objects: map[string]M{}, assumed: map[string]bool{}}
	for _, text := range s.Objects {
		obj, err := decodeMap(text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		w.put(obj)
	}
	taken := w.takenPorts()
	for i := range s.Steps {
		if err := w.step(s, &s.Steps[i]); err != nil {
			return fmt.Errorf("%s, step %d: %w", s.Name, i+1, err)
		}
		now := w.takenPorts()
		for port, count := range taken {
			w.freed = w.freed || (now[port] > 0 && now[port] < count)
		}
		taken = now
	}
	return nil
}

func (w *sequenceWorld) step(s *Sequence, step *SequenceStep) error {
	key := "Pod " + step.Pod
	var obj M
	if step.Object != nil {
		var err error
		if obj, err = decodeMap(step.Object); err != nil {
			return err
		}
		key = objectKey(obj)
	}
	switch step.Op {
	case "put":
		w.put(obj)
	case "remove":
		w.remove(key)
	case "confirm":
		delete(w.assumed, key)
	case "forget":
		if w.assumed[key] {
			delete(w.assumed, key)
			delete(sub(w.objects[key], "spec"), "nodeName")
		}
	case "place":
		if obj != nil {
			w.put(obj)
		}
		pod := w.objects[key]
		if pod == nil || sub(pod, "spec")["nodeName"] != nil || sub(pod, "metadata")["deletionTimestamp"] != nil {
			if step.Placed != nil {
				return fmt.Errorf("there is nothing to place, and yet it was placed on %q", step.Placed.Node)
			}
			return nil
		}
		if step.Placed == nil {
			return errors.New("no placement")
		}
		// Upstream's cache frees a port with the first pod that goes; a case, made of what is there, cannot tell that.
		if w.freed && len(portsOf(pod)) > 0 {
			w.follow(pod, key, step)
			return nil
		}
		c, err := w.question(s, fullName(pod))
		if err != nil {
			return err
		}
		if err := c.judge(); errors.Is(err, errUpstreamFailed) {
			debugf("%s: %v", c.Pod, err)
		} else if err != nil {
			return err
		} else if !c.Expected.failed && !c.Expected.mistaken {
			step.Expected, step.Unstable = c.Expected, c.Unstable
		}
		w.follow(pod, key, step)
	default:
		return fmt.Errorf("no op %q", step.Op)
	}
	return nil
}

// follow does to the cluster what Berth did.
func (w *sequenceWorld) follow(pod M, key string, step *SequenceStep) {
	placed := step.Placed
	delete(sub(pod, "status"), "nominatedNodeName")
	if placed.Node != "" {
		sub(pod, "spec")["nodeName"] = placed.Node
		w.assumed[key] = true
		return
	}
	if placed.Nominated != "" {
		sub(pod, "status")["nominatedNodeName"] = placed.Nominated
	}
	for _, victim := range placed.Victims {
		if obj := w.objects["Pod "+victim]; obj != nil && step.Linger {
			delete(w.assumed, "Pod "+victim)
			terminate(obj)
		} else {
			w.remove("Pod " + victim)
		}
	}
}
