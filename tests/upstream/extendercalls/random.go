// SPDX-License-Identifier: Apache-2.0

// Random cases: a right answer in any spelling, or one that is wrong in one of many ways. What is known to differ between
// the two clients (COMPATIBILITY.md, Extenders that Berth calls) is not made: nodes that were not asked about under Nodes,
// names twice, null victims, redirects, fields of nodes that nobody looks at, an end after a complete value.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

type object = map[string]any

type maker struct {
	*rand.Rand
}

func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m maker, from ...T) T { return from[m.IntN(len(from))] }

// key writes a key in some case: Go takes all of them.
func (m maker) key(name string) string {
	switch m.IntN(4) {
	case 0:
		return strings.ToLower(name)
	case 1:
		return strings.ToUpper(name)
	case 2:
		return strings.ToLower(name[:1]) + name[1:]
	}
	return name
}

func (m maker) text() string {
	return pick(m, "", "no licence", "ein Schlüssel fehlt", "tab\tand \"quotes\"", "a<b & c>d", "\u2028", strings.Repeat("x", 300))
}

func (m maker) some(names []string) []string {
	out := []string{}
	for _, name := range names {
		if m.chance(60) {
			out = append(out, name)
		}
	}
	m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// junk is a value of a wrong type, for anything that is no number or text.
func (m maker) junk() any { return pick[any](m, 7, "junk", true, -1.5) }

func (m maker) reasons(names []string) any {
	if m.chance(10) {
		return nil
	}
	if m.chance(4) {
		return m.junk()
	}
	out := object{}
	for _, name := range m.some(append([]string{"nowhere"}, names...)) {
		out[name] = m.text()
		if m.chance(3) {
			out[name] = 5
		}
	}
	return out
}

func (m maker) filter(names []string) any {
	out := object{}
	if m.chance(70) {
		list := m.some(names)
		if m.chance(6) {
			list = append(list, pick(m, "nowhere", ""))
		}
		out[m.key("NodeNames")] = list
	} else if m.chance(30) {
		out[m.key("NodeNames")] = pick[any](m, nil, m.junk(), []any{1}, []any{nil})
	}
	if m.chance(60) {
		items := []any{}
		for _, name := range m.some(names) {
			items = append(items, object{"metadata": object{"name": name}})
		}
		out[m.key("Nodes")] = object{pick(m, "items", "Items", "ITEMS"): items, "metadata": object{}}
	} else if m.chance(30) {
		out[m.key("Nodes")] = pick[any](m, nil, object{}, object{"items": nil}, m.junk(), object{"items": 3})
	}
	if m.chance(60) {
		out[m.key("FailedNodes")] = m.reasons(names)
	}
	if m.chance(40) {
		out[m.key("FailedAndUnresolvableNodes")] = m.reasons(names)
	}
	if m.chance(10) {
		out[m.key("Error")] = pick[any](m, "", "not today", nil, 3)
	}
	if m.chance(20) {
		out["somethingElse"] = pick[any](m, nil, object{"deep": []int{1, 2}}, "x")
	}
	return out
}

func (m maker) prioritize() any {
	out := []any{}
	for range m.IntN(6) {
		entry := object{}
		if m.chance(90) {
			entry[m.key("Host")] = pick[any](m, "n1", "n2", "n3", "nowhere", "")
		}
		if m.chance(90) {
			entry[m.key("Score")] = pick[any](m, 0, 7, 10, -3, 1<<40, nil, json.Number("9223372036854775807"), json.Number("-9223372036854775808"))
		}
		if m.chance(3) {
			entry[m.key("Score")] = pick[any](m, "7", 1.5, json.Number("9223372036854775808"), object{})
		}
		out = append(out, entry)
	}
	return out
}

func (m maker) preempt(names []string) any {
	// One thing wrong at most: which of several Go finds first depends on the order of its maps.
	wrong := pick(m, "", "", "", "", "", "", "", "victim", "node")
	victims := object{}
	for _, name := range m.some(names) {
		pods := []any{}
		for _, uid := range m.some([]string{"v-" + name + "-0", "v-" + name + "-1"}) {
			pods = append(pods, object{m.key("UID"): uid})
		}
		if wrong != "" {
			pods = []any{object{"UID": "v-" + name + "-0"}}
		}
		if wrong == "victim" {
			wrong = "none any more"
			pods = append(pods, object{"UID": "mine"})
		}
		one := object{m.key("Pods"): pods}
		if m.chance(70) {
			one[m.key("NumPDBViolations")] = m.IntN(4)
		}
		victims[name] = one
	}
	if wrong == "node" {
		victims["nowhere"] = object{"Pods": []any{object{"UID": "v"}}}
	}
	if wrong == "" && m.chance(8) {
		return pick[any](m, object{}, nil, object{"NodeNameToMetaVictims": nil}, object{"NodeNameToMetaVictims": m.junk()}, []any{})
	}
	return object{m.key("NodeNameToMetaVictims"): victims}
}

// body writes the answer, perhaps not as JSON should be.
func (m maker) body(value any) string {
	text, err := json.Marshal(value)
	check(err)
	out := string(text)
	if m.chance(50) { // without Go's escapes for HTML
		out = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028").Replace(out)
	}
	switch {
	case m.chance(3):
		out = out[:m.IntN(len(out)+1)]
	case m.chance(3):
		out += pick(m, " trailing", "{}", "\n\n", "]")
	case m.chance(3):
		out = pick(m, " \n", "\t") + out
	case m.chance(2):
		out = strings.Replace(out, "licence", `half \ud83d and whole \ud83d\ude00`, 1)
	case m.chance(2):
		out = pick(m, "", "nonsense", "<html>", "{", "[", `"text"`, "7", "true", "null", "{} {", `{"NodeNames":["n1",]}`, `{'NodeNames':[]}`)
	}
	return out
}

// random makes case number `index` of a seed: each can be made alone.
func random(seed, index uint64) json.RawMessage {
	m := maker{rand.New(rand.NewPCG(seed, index))}
	names := []string{"n1", "n2", "n3"}[:1+m.IntN(3)]
	verb := pick(m, "filter", "filter", "filter", "prioritize", "prioritize", "preempt", "preempt", "bind")
	resource := pick(m, "example.com/gpu", "memory")
	c := object{
		"name": fmt.Sprintf("random %d of seed %d: %s", index, seed, verb), "verb": verb, "timeoutMs": 20000,
		"capable": m.chance(60), "ignorable": verb != "preempt" && m.chance(20), "prefix": pick(m, "", "", "/", "/x", "/x//", "/a/b"),
		"pod": object{
			"metadata": object{"name": "p", "namespace": "default", "uid": "u-p", "labels": object{"app": "x"},
				"annotations": object{"note": m.text()}},
			"spec": object{"schedulerName": "default-scheduler", "containers": []any{object{"name": "c", "image": "i",
				"resources": object{"requests": object{"cpu": "1", resource: "2"}, "limits": object{resource: "2"}}}}},
			"status": object{"phase": "Pending"},
		},
	}
	if m.chance(20) {
		c["action"] = pick(m, "v1/"+verb, verb+"?x=1&y=2", "other")
	}
	if verb != "preempt" && m.chance(30) { // whom it does not concern is not asked about victims
		c["managed"] = pick(m, []string{"example.com/gpu"}, []string{"example.com/other"}, []string{"example.com/other", "example.com/gpu"})
	}
	nodes := []any{}
	victims := object{}
	for _, name := range names {
		// As the API server writes them, so that both clients send the same.
		nodes = append(nodes, object{"metadata": object{"name": name, "labels": object{"zone": m.text()}}, "spec": object{},
			"status": object{"capacity": object{"cpu": "4"}, "daemonEndpoints": object{"kubeletEndpoint": object{"Port": 0}},
				"nodeInfo": object{"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "",
					"containerRuntimeVersion": "", "kubeletVersion": "v1.36.4", "kubeProxyVersion": "", "operatingSystem": "", "architecture": ""}}})
		pods := []any{}
		for i := range 2 {
			pods = append(pods, object{"metadata": object{"name": fmt.Sprintf("v-%s-%d", name, i), "namespace": "default",
				"uid": fmt.Sprintf("v-%s-%d", name, i)}, "spec": object{"containers": nil, "nodeName": name}, "status": object{}})
		}
		victims[name] = object{"Pods": pods, "NumPDBViolations": m.IntN(3)}
	}
	c["nodes"] = nodes
	answer := object{}
	switch verb {
	case "filter":
		answer["body"] = m.body(m.filter(names))
	case "prioritize":
		answer["body"] = m.body(m.prioritize())
	case "preempt":
		c["victims"] = victims
		answer["body"] = m.body(m.preempt(names))
	case "bind":
		c["node"] = pick(m, names...)
		answer["body"] = m.body(object{m.key("Error"): pick[any](m, "", "", "taken", nil, 4)})
	}
	switch {
	case m.chance(4):
		answer["status"] = pick(m, 201, 204, 400, 403, 404, 429, 500, 503)
	case m.chance(2):
		answer["close"] = true
	case m.chance(2) && strings.HasPrefix(answer["body"].(string), "{"):
		answer["cut"] = 1 + m.IntN(len(answer["body"].(string)))/2
	}
	c["answer"] = answer
	text, err := json.Marshal(c)
	check(err)
	return text
}
