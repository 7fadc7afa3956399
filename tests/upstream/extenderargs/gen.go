// SPDX-License-Identifier: Apache-2.0

// Requests: first as a tree whose values are mostly what the field takes, then as text, which may be damaged.
package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var messages = []string{"args", "args", "preemption", "binding"}

type generator struct {
	*rand.Rand
	wild bool // values of wrong types, odd keys, nulls
}

func (g *generator) one(of int) bool { return g.IntN(of) == 0 }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) request(message string) []byte {
	g.wild = !g.one(4)
	var text string
	switch message {
	case "args":
		text = g.object("Pod", g.pod, "Nodes", g.nodes, "NodeNames", g.list(g.name))
	case "preemption":
		meta := func() string { return g.object("UID", g.name) }
		text = g.object("Pod", g.pod, "NodeNameToVictims", g.byName(g.victims(g.pod)),
			"NodeNameToMetaVictims", g.byName(g.victims(meta)))
	case "binding":
		text = g.object("PodName", g.name, "PodNamespace", g.name, "PodUID", g.name, "Node", g.name)
	}
	if g.wild && g.one(3) {
		return g.damage([]byte(text))
	}
	return []byte(text)
}

// Blanks where JSON allows them.
func (g *generator) blank() string {
	if !g.one(12) {
		return ""
	}
	return pick(g, " ", "\n", "\t", "\r\n  ", "        ")
}

// A key, at times in another case or with a letter that folds to it.
func (g *generator) key(name string) string {
	if !g.wild || !g.one(8) {
		return `"` + name + `"`
	}
	switch g.IntN(7) {
	case 0:
		name = strings.ToLower(name)
	case 1:
		name = strings.ToUpper(name)
	case 2:
		name = strings.Replace(name, "s", "\u017f", 1)
	case 3:
		name = strings.Replace(name, "k", "\u212a", 1)
	case 4:
		name = name[:1] + fmt.Sprintf(`\u%04x`, name[1]) + name[2:]
	case 5:
		name += pick(g, "s", " ", "_", "\u017f")
	case 6:
		name = strings.ToLower(name[:1]) + name[1:]
	}
	return `"` + name + `"`
}

// object writes some of the fields, given as names and the functions that write their values.
func (g *generator) object(fields ...any) string {
	var members []string
	for i := 0; i < len(fields); i += 2 {
		if g.one(6) {
			continue
		}
		write := fields[i+1].(func() string)
		members = append(members, g.key(fields[i].(string))+g.blank()+":"+g.blank()+g.value(write))
		if g.wild && g.one(20) { // once more
			members = append(members, g.key(fields[i].(string))+":"+g.value(write))
		}
	}
	if g.wild && g.one(6) {
		members = append(members, pick(g, `"x"`, `"kind"`, `"apiVersion"`, `""`, `"\u0000"`, `"status"`, `"Error"`)+":"+g.anything(3))
	}
	if g.wild && g.one(10) {
		g.Shuffle(len(members), func(a, b int) { members[a], members[b] = members[b], members[a] })
	}
	return "{" + g.blank() + strings.Join(members, g.blank()+","+g.blank()) + g.blank() + "}"
}

// value is what `write` gives, or something else.
func (g *generator) value(write func() string) string {
	if g.wild && g.one(25) {
		return "null"
	}
	if g.wild && g.one(40) {
		return g.anything(2)
	}
	return write()
}

func (g *generator) list(item func() string) func() string {
	return func() string {
		items := make([]string, pick(g, 0, 1, 1, 2, 3))
		for i := range items {
			items[i] = g.value(item)
		}
		return "[" + g.blank() + strings.Join(items, g.blank()+",") + g.blank() + "]"
	}
}

func (g *generator) byName(value func() string) func() string {
	return func() string {
		entries := make([]string, pick(g, 0, 1, 1, 2, 3))
		for i := range entries {
			entries[i] = g.name() + ":" + g.blank() + g.value(value)
		}
		return "{" + strings.Join(entries, ",") + "}"
	}
}

func (g *generator) victims(pod func() string) func() string {
	return func() string { return g.object("Pods", g.list(pod), "NumPDBViolations", g.integer) }
}

func (g *generator) name() string {
	if g.wild && g.one(6) {
		return g.text()
	}
	return `"` + pick(g, "node-", "n", "pod-", "a", "kube-system", "default") + pick(g, "", "0", "1", "17") + `"`
}

// Strings that are JSON, and at times just not.
func (g *generator) text() string {
	return pick(g, `""`, `"a\"b"`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u00e4"`, `"ä"`, `"\u4e2d文"`, `"\ud83d\ude00"`, `"😀"`, `"\u0000"`,
		`"<&>"`, "\"\u2028\"", "\"\x7f\"", `"\u0041"`, `"{\"a\":[1,2]}"`, `"}"`, `"]"`, `" "`, `"\\\""`, `"`+strings.Repeat("x", g.IntN(90))+`"`,
		`"\ud800"`, `"\udc00\ud800"`, "\"\xff\"", "\"\xc3\"", `"\ud83d\u0041"`, "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc0\xaf\"")
}

func (g *generator) integer() string {
	if !g.wild || !g.one(3) {
		return pick(g, "0", "1", "2", "7")
	}
	return pick(g, "-1", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.0", "1e2", "1E+2", "0.5", "01",
		"+1", "1.", ".5", "-", "1e", "0x10", "NaN", "Infinity", "00", "-01", "1e400", "123456789012345678901234567890")
}

func (g *generator) amount() string {
	if g.wild && g.one(12) {
		return pick(g, `"4x"`, `""`, "null", "true", `"1e3"`, "1.5", `" 7 "`, `"-1"`, `"\u0031"`, "1e3", `"0.1"`)
	}
	return pick(g, `"4"`, `"110"`, `"16Gi"`, `"500m"`, "8", `"64"`)
}

func (g *generator) anything(depth int) string {
	kinds := 6
	if g.one(12) { // no JSON
		return pick(g, "tru", "nul", "nulll", "True", "'x'", "", "[1,]", `{"a":1,}`, `{"a"}`, "[,]", `{1:2}`, "\"\x01\"", `"\x"`, `"\u12"`, "[1 2]",
			`{"a":1 "b":2}`, "/**/1", `"unclosed`)
	}
	if depth == 0 {
		kinds = 4
	}
	switch g.IntN(kinds) {
	case 0:
		return pick(g, "null", "true", "false")
	case 1:
		return g.integer()
	case 2:
		return g.text()
	case 3:
		return pick(g, "{}", "[]", "[[]]", `{"":{}}`)
	case 4:
		return "[" + g.anything(depth-1) + "," + g.anything(depth-1) + "]"
	}
	return `{"a":` + g.anything(depth-1) + `,"b":` + g.anything(depth-1) + "}"
}

func (g *generator) labels() string {
	return g.byName(func() string { return g.name() })()
}

func (g *generator) meta() string {
	return g.object("name", g.name, "namespace", g.name, "uid", g.name, "labels", g.labels,
		"creationTimestamp", func() string { return pick(g, `"2026-01-01T00:00:00Z"`, `"2026-06-30T23:59:59+02:00"`) },
		"annotations", g.labels, "managedFields", g.managed)
}

// Fields that nobody reads, but which must be JSON.
func (g *generator) managed() string {
	fields := `{"f:metadata":{"f:labels":{".":{},"f:` + pick(g, "a", "b") + `":{}}},"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}`
	if g.wild && g.one(10) {
		fields = g.anything(3)
	}
	return `[{"manager":"kubelet","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]`
}

func (g *generator) pod() string {
	container := func() string {
		return g.object("name", g.name, "image", g.name, "resources", func() string {
			return g.object("requests", func() string { return `{"cpu":` + g.amount() + `,"memory":` + g.amount() + "}" })
		})
	}
	return g.object("metadata", g.meta, "spec", func() string {
		return g.object("schedulerName", g.name, "containers", g.list(container), "priority", g.integer,
			"nodeSelector", g.labels, "terminationGracePeriodSeconds", g.integer)
	}, "status", func() string { return `{"phase":"Pending","qosClass":"BestEffort"}` })
}

func (g *generator) node() string {
	return g.object("metadata", g.meta, "spec", func() string {
		taint := func() string { return g.object("key", g.name, "value", g.name, "effect", g.name) }
		return g.object("podCIDR", g.name, "unschedulable", func() string { return pick(g, "true", "false") }, "taints", g.list(taint))
	}, "status", func() string {
		amounts := func() string { return `{"cpu":` + g.amount() + `,"pods":` + g.amount() + "}" }
		image := func() string { return g.object("names", g.list(g.name), "sizeBytes", g.integer) }
		condition := func() string { return g.object("type", g.name, "status", g.name, "message", g.name) }
		return g.object("capacity", amounts, "allocatable", amounts, "images", g.list(image), "conditions", g.list(condition),
			"nodeInfo", func() string { return `{"kernelVersion":"6.1","architecture":"amd64"}` })
	})
}

func (g *generator) nodes() string {
	return g.object("metadata", func() string { return pick(g, "{}", "{}", `{"resourceVersion":"7"}`) }, "items", g.list(g.node))
}

// damage changes a few bytes, cuts the text, or puts something before or behind it.
func (g *generator) damage(text []byte) []byte {
	for range 1 + g.IntN(3) {
		at := g.IntN(len(text) + 1)
		switch g.IntN(9) {
		case 0: // cut
			text = text[:at]
		case 1: // behind
			text = append(text, pick(g, " ", "\n", "x", "{}", ",", "}", "]", "null", "\x00", "\"", " \t\r\n ")...)
		case 2: // before
			text = append([]byte(pick(g, " ", "\n", "\xef\xbb\xbf", "[", "{", "x", "\v", "\u00a0")), text...)
		case 3: // another byte
			if at < len(text) {
				text[at] = pick(g, byte('{'), '}', '[', ']', ',', ':', '"', '\\', ' ', '0', '-', 'e', 0, 0x1f, 0x80, 0xff, byte(g.IntN(256)))
			}
		case 4: // a bit
			if at < len(text) {
				text[at] ^= 1 << g.IntN(8)
			}
		case 5: // bytes less
			text = append(text[:at:at], text[min(at+1+g.IntN(4), len(text)):]...)
		case 6: // bytes more
			text = append(text[:at:at], append([]byte(pick(g, "{", "}", "[", "]", ",", ":", "\"", "\\", "null", "0", " ", "\\u0041", "\\", "-", "\xff")), text[at:]...)...)
		case 7: // a part twice
			end := min(at+g.IntN(40), len(text))
			text = append(text[:end:end], append([]byte(string(text[at:end])), text[end:]...)...)
		case 8: // deeper, more than we take
			if g.one(20) {
				text = append(text[:at:at], append([]byte(strings.Repeat("[", 600)+strings.Repeat("]", 600)), text[at:]...)...)
			}
		}
	}
	return text
}
