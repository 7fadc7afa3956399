// SPDX-License-Identifier: Apache-2.0

// Building blocks of a made-up cluster: objects as plain maps, so that quantities keep the spelling they were given.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// M is a JSON object under construction.
type M = map[string]any

// cluster is a case under construction.
type cluster struct {
	r      rnd
	others []M // everything that is neither node nor pod
	nodes  []M
	pods   []M
	asked  M
	config M
}

func newCluster(r rnd) *cluster { return &cluster{r: r} }

// sub returns a nested object, made on first use.
func sub(m M, keys ...string) M {
	for _, key := range keys {
		child, ok := m[key].(M)
		if !ok {
			child = M{}
			m[key] = child
		}
		m = child
	}
	return m
}

// add appends to a list field.
func add(m M, key string, items ...any) {
	list, _ := m[key].([]any)
	m[key] = append(list, items...)
}

func list[T any](items ...T) []any {
	out := []any{}
	for _, item := range items {
		out = append(out, item)
	}
	return out
}

// clone copies nested objects and lists, so that pods stamped from one template can go separate ways.
func clone(v any) any {
	switch v := v.(type) {
	case M:
		out := M{}
		for key, value := range v {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}

// size picks a number of nodes: mostly few, sometimes up to 60.
func (c *cluster) size() int {
	switch p := c.r.Float64(); {
	case p < 0.70:
		return c.r.between(3, 10)
	case p < 0.94:
		return c.r.between(11, 25)
	default:
		return c.r.between(26, 60)
	}
}

var zones = []string{"zone-a", "zone-b", "zone-c"}

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"
)

// addNode makes a node with hostname and mostly zone and rack labels.
func (c *cluster) addNode(cpu, memory any, pods any) M {
	name := fmt.Sprintf("node-%02d", len(c.nodes))
	labels := M{}
	if c.r.chance(0.97) {
		labels[hostKey] = name
	}
	if c.r.chance(0.05) { // known by a longer name than its label tells
		name += ".eu.example.com"
	}
	if c.r.chance(0.9) {
		labels[zoneKey] = pick(c.r, zones...)
	}
	if c.r.chance(0.6) {
		labels["rack"] = pick(c.r, "r1", "r2", "r3", "r4")
	}
	resources := M{"cpu": cpu, "memory": memory, "pods": pods}
	node := M{"apiVersion": "v1", "kind": "Node", "metadata": M{"name": name, "labels": labels}, "spec": M{}, "status": M{}}
	if c.r.chance(0.1) {
		node["status"] = M{"capacity": resources}
	} else {
		node["status"] = M{"allocatable": resources, "capacity": clone(resources)}
	}
	c.nodes = append(c.nodes, node)
	return node
}

// allocatable is the list that counts, whichever field it stands in.
func allocatable(node M) M {
	status := sub(node, "status")
	if list, ok := status["allocatable"].(M); ok {
		return list
	}
	return sub(status, "capacity")
}

func nodeName(node M) string { return sub(node, "metadata")["name"].(string) }

// plainNodes adds n roomy nodes of a few shapes.
func (c *cluster) plainNodes(n int) {
	for range n {
		c.addNode(pick(c.r, "2", "4", "8", "16", "3920m"), pick(c.r, "4Gi", "8Gi", "16Gi", "32Gi", "7890Mi"), pick(c.r, "110", "110", "250", "8"))
	}
}

// newPod makes a pod that is neither bound nor in the cluster yet.
func (c *cluster) newPod(namespace, name string) M {
	metadata := M{"name": name, "namespace": namespace}
	if namespace == "default" && c.r.chance(0.1) {
		delete(metadata, "namespace")
	}
	return M{"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
		"spec": M{"containers": list(M{"name": "main", "image": "registry.example/app:v1"})}}
}

// ask makes the pod that is asked about.
func (c *cluster) ask(namespace, name string) M {
	c.asked = c.newPod(namespace, name)
	return c.asked
}

// bind puts a pod on a node, running for some time.
func (c *cluster) bind(pod M, node string) M {
	sub(pod, "spec")["nodeName"] = node
	status := sub(pod, "status")
	if c.r.chance(0.95) {
		status["phase"] = "Running"
		status["startTime"] = c.startTime()
	} else {
		status["phase"] = "Pending"
	}
	c.pods = append(c.pods, pod)
	return pod
}

// startTime is nearly always different from every other.
func (c *cluster) startTime() string {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.r.IntN(40*86400)) * time.Second)
	return at.Format(time.RFC3339)
}

// addBound makes a bound pod on a node picked at random.
func (c *cluster) addBound(namespace string) M {
	pod := c.newPod(namespace, fmt.Sprintf("pod-%03d", len(c.pods)))
	return c.bind(pod, nodeName(pick(c.r, c.nodes...)))
}

// terminate marks a pod as on its way out.
func terminate(pod M) {
	metadata := sub(pod, "metadata")
	metadata["deletionTimestamp"] = "2026-03-01T00:00:00Z"
	metadata["deletionGracePeriodSeconds"] = 30
}

// mainContainer is the first one.
func mainContainer(pod M) M { return sub(pod, "spec")["containers"].([]any)[0].(M) }

// request sets requests of the first container.
func request(pod M, resources M) {
	sub(mainContainer(pod), "resources")["requests"] = resources
}

func setLabels(obj M, labels M) {
	if len(labels) > 0 {
		sub(obj, "metadata")["labels"] = labels
	}
}

// toCase validates what was built and gives it the recorded form. Invalid pods that are not asked about are left out.
func (c *cluster) toCase() (*Case, error) {
	if c.r.chance(0.04) { // a question about a pod that already runs
		sub(c.asked, "spec")["nodeName"] = nodeName(pick(c.r, c.nodes...))
		sub(c.asked, "status")["phase"] = "Running"
	} else if c.r.chance(0.04) {
		sub(c.asked, "status")["nominatedNodeName"] = nodeName(pick(c.r, c.nodes...))
	}
	if c.r.chance(0.01) {
		c.nodes = nil
	}
	metadata := sub(c.asked, "metadata")
	namespace, ok := metadata["namespace"].(string)
	if !ok {
		namespace = "default"
	}
	out := &Case{Pod: namespace + "/" + metadata["name"].(string)}
	askedText, err := validated(c.asked)
	if err != nil {
		return nil, err
	}
	for _, group := range [][]M{c.others, c.nodes, c.pods} {
		for _, obj := range group {
			text, err := validated(obj)
			if err == nil {
				out.Objects = append(out.Objects, text)
			} else if obj["kind"] != "Pod" {
				return nil, err
			} else {
				debugf("left out: %v", err)
			}
		}
	}
	out.Objects = append(out.Objects, askedText)
	if c.r.chance(0.15) {
		c.r.Shuffle(len(out.Objects), func(i, j int) {
			out.Objects[i], out.Objects[j] = out.Objects[j], out.Objects[i]
		})
	}
	if c.config != nil {
		text, err := yaml.Marshal(c.config)
		if err != nil {
			return nil, err
		}
		config := string(text)
		out.Config = &config
		if _, err := loadConfig(out.Config); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// validated turns an object into JSON that the API server would have taken.
func validated(obj M) (json.RawMessage, error) {
	for _, key := range []string{"spec", "status"} {
		if m, ok := obj[key].(M); ok && len(m) == 0 {
			delete(obj, key)
		}
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return text, validate(text)
}
