// SPDX-License-Identifier: Apache-2.0

// Made-up sequences: a cluster of one of the families, replicas of a few templates, odd pods; sequence_changes.go has what may
// happen in between.
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// mostNodes keeps sequences short to read and to store.
const mostNodes = 14

// sequenceFamilies are the kinds of clusters, in turn: those most often whose verdicts depend on other nodes and pods.
var sequenceFamilies = []string{"mixed", "interpod", "spread", "preemption", "scores", "interpod", "taints", "spread", "mixed", "resources", "interpod",
	"spread", "nodeaffinity", "preemption", "scores", "mixed"}

// sequencer makes up one sequence. It does not know where pods end up.
type sequencer struct {
	r         rnd
	family    family
	c         *cluster // the first cluster; its nodes are those that were ever there
	spare     *cluster // where newcomers come from
	out       *Sequence
	templates []M
	gone      map[string]bool // nodes and others that were removed, by key
	placed    []M             // pods that were put to the question
	serial    int
	errs      []error
	objects   float64  // how much of what happens is about namespaces, services, controllers and budgets
	kinds     []string // which of them above all
}

// small builds clusters until one has few nodes, but some.
func (s *sequencer) small() *cluster {
	for {
		c := s.family.build(s.r, pick(s.r, s.family.wants...))
		if len(c.nodes) > 0 && len(c.nodes) <= mostNodes {
			return c
		}
	}
}

// stamp gives an object an identity, once.
func (s *sequencer) stamp(obj M) M {
	metadata := sub(obj, "metadata")
	s.serial++
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.serial)
	}
	if metadata["creationTimestamp"] == nil {
		metadata["creationTimestamp"] = fmt.Sprintf("2026-01-01T%02d:%02d:%02dZ", s.serial/3600%24, s.serial/60%60, s.serial%60)
	}
	return obj
}

var classValues = map[string]int{"low": -100, "normal": 0, "high": 1000, "polite": 1000, "system-node-critical": 2000001000}

// plain writes a pod's priority class out, for admission happens elsewhere, and takes its gates away.
func plain(pod M) M {
	spec := sub(pod, "spec")
	if class, ok := spec["priorityClassName"].(string); ok {
		delete(spec, "priorityClassName")
		spec["priority"] = classValues[class]
		if class == "polite" {
			spec["preemptionPolicy"] = "Never"
		}
	}
	delete(spec, "schedulingGates")
	return pod
}

// asTemplate makes a pod one that is nowhere.
func asTemplate(pod M) M {
	pod = plain(clone(pod).(M))
	delete(pod, "status")
	delete(sub(pod, "spec"), "nodeName")
	for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "uid", "creationTimestamp"} {
		delete(sub(pod, "metadata"), field)
	}
	return pod
}

func (s *sequencer) text(obj M) json.RawMessage {
	text, err := validated(obj)
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return text
}

func (s *sequencer) step(op string, obj M) *SequenceStep {
	s.out.Steps = append(s.out.Steps, SequenceStep{Op: op, Object: s.text(obj)})
	return &s.out.Steps[len(s.out.Steps)-1]
}

func (s *sequencer) put(obj M) {
	delete(s.gone, objectKey(obj))
	s.step("put", s.stamp(obj))
}

func (s *sequencer) remove(obj M) {
	s.gone[objectKey(obj)] = true
	metadata := M{"name": sub(obj, "metadata")["name"]}
	if namespace, ok := sub(obj, "metadata")["namespace"]; ok {
		metadata["namespace"] = namespace
	}
	text, _ := json.Marshal(M{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata})
	s.out.Steps = append(s.out.Steps, SequenceStep{Op: "remove", Object: text})
}

// there lists objects that were not removed.
func (s *sequencer) there(objects []M) []M {
	var out []M
	for _, obj := range objects {
		if !s.gone[objectKey(obj)] {
			out = append(out, obj)
		}
	}
	return out
}

// name gives a pod a name of its own and a start of its own, which counts as soon as it has a node.
func (s *sequencer) name(pod M) M {
	s.serial++
	metadata := sub(pod, "metadata")
	metadata["name"] = fmt.Sprintf("%s-s%d", strings.TrimRight(metadata["name"].(string), "-0123456789"), s.serial)
	sub(pod, "status")["startTime"] = fmt.Sprintf("2026-02-%02dT%02d:%02d:00Z", 1+s.serial/1440%28, s.serial/60%24, s.serial%60)
	return pod
}

// place asks about one more pod.
func (s *sequencer) place(template M) {
	pod := s.name(clone(template).(M))
	if s.family.name == "volumes" && s.r.chance(0.5) {
		s.ownClaims(pod)
	}
	if s.r.chance(0.03) && len(s.there(s.c.nodes)) > 0 {
		sub(pod, "status")["nominatedNodeName"] = nodeName(pick(s.r, s.there(s.c.nodes)...))
	}
	s.step("place", s.stamp(pod)).Linger = s.r.chance(0.4)
	s.placed = append(s.placed, pod)
}

// about is a step that is about a pod by its name.
func (s *sequencer) about(op string) {
	if len(s.placed) > 0 {
		pod := s.placed[len(s.placed)-1-min(len(s.placed)-1, s.r.IntN(12))]
		s.out.Steps = append(s.out.Steps, SequenceStep{Op: op, Pod: fullName(pod), Linger: s.r.chance(0.4)})
	}
}

// without takes a pod's affinity to other pods away.
func without(pod M) {
	if affinity, ok := sub(pod, "spec")["affinity"].(M); ok {
		delete(affinity, "podAffinity")
		delete(affinity, "podAntiAffinity")
	}
}

// lean makes verdicts hang on objects that are neither nodes nor pods. Guards are the only pods with terms, and which
// namespaces these are about is for labels to say; pods that come have none. Or services and controllers have the
// say, for pods that spread without having asked for it.
func (s *sequencer) lean() {
	r, c := s.r, s.c
	if s.objects > 0 {
		return
	}
	if !slices.ContainsFunc(c.others, func(obj M) bool { return obj["kind"] == "Namespace" }) {
		c.addNamespaces()
	}
	s.objects, s.kinds = 0.05, []string{"Namespace"}
	switch r.IntN(4) {
	case 0:
		s.objects = 0.5
		for _, pod := range slices.Concat(c.pods, s.spare.pods, []M{c.asked, s.spare.asked}) {
			without(pod)
		}
		for range r.between(1, 2) {
			guard := c.addBound(pick(r, namespaces...))
			setLabels(guard, randomLabels(r))
			term := M{"topologyKey": pick(r, zoneKey, hostKey), "labelSelector": M{},
				"namespaceSelector": pick(r, M{"matchLabels": M{"env": "prod"}}, M{"matchLabels": M{"team": "x"}})}
			if r.chance(0.6) {
				add(sub(guard, "spec", "affinity", "podAntiAffinity"), "requiredDuringSchedulingIgnoredDuringExecution", term)
			} else {
				add(sub(guard, "spec", "affinity", pick(r, "podAffinity", "podAntiAffinity")), "preferredDuringSchedulingIgnoredDuringExecution",
					M{"weight": pick(r, 10, 100), "podAffinityTerm": term})
			}
		}
	case 1:
		s.objects, s.kinds = 0.4, []string{"Service", "Service", "ReplicaSet"}
		delete(sub(c.asked, "spec"), "topologySpreadConstraints")
		delete(sub(c.asked, "metadata"), "ownerReferences")
		c.others = slices.DeleteFunc(c.others, func(obj M) bool { return sub(obj, "metadata")["name"] == "owner" })
		c.addWorkloads()
		request(c.asked, M{"cpu": "100m"})
		if r.chance(0.5) {
			delete(sub(c.asked, "metadata"), "ownerReferences") // then services alone have the say
		}
		if !slices.ContainsFunc(c.others, func(obj M) bool { return obj["kind"] == "Service" }) {
			namespace, _, _ := strings.Cut(fullName(c.asked), "/")
			c.others = append(c.others, M{"apiVersion": "v1", "kind": "Service", "metadata": M{"name": "svc-0", "namespace": namespace},
				"spec": M{"ports": list(M{"port": 80}), "selector": M{"app": pick(r, podLabels["app"]...)}}})
		}
		if c.config == nil && r.chance(0.7) {
			c.config = newConfig(profileWith(spreadArgs(r)))
		}
		s.templates = append(s.templates, asTemplate(c.asked), asTemplate(c.asked)) // comes more often
	}
	seen := map[string]bool{}
	c.others = slices.DeleteFunc(c.others, func(obj M) bool {
		again := seen[objectKey(obj)]
		seen[objectKey(obj)] = true
		return again
	})
}

// begin writes down what is there at first.
func (s *sequencer) begin() {
	s.lean()
	noClasses := func(c *cluster) {
		c.others = slices.DeleteFunc(c.others, func(obj M) bool { return obj["kind"] == "PriorityClass" })
	}
	noClasses(s.c)
	noClasses(s.spare)
	finished := func(pod M) bool {
		phase := sub(pod, "status")["phase"]
		return phase == "Succeeded" || phase == "Failed"
	}
	s.c.pods = slices.DeleteFunc(s.c.pods, finished)
	for _, obj := range slices.Concat(s.c.others, s.c.nodes, s.c.pods) {
		if obj["kind"] == "Pod" {
			plain(obj)
		}
		s.out.Objects = append(s.out.Objects, s.text(s.stamp(obj)))
	}
	s.templates = append(s.templates, s.asTemplate(s.c.asked), s.asTemplate(s.spare.asked))
	for range s.r.IntN(3) {
		if len(s.c.pods) > 0 {
			s.templates = append(s.templates, s.asTemplate(pick(s.r, s.c.pods...)))
		}
	}
}

// profiles lets pods be of any profile, and sees to it that all are there.
func (s *sequencer) profiles() error {
	if s.c.config == nil {
		for _, template := range s.templates {
			delete(sub(template, "spec"), "schedulerName")
		}
		return nil
	}
	for _, template := range s.templates {
		if s.r.chance(0.3) {
			sub(template, "spec")["schedulerName"] = "batch"
		}
		s.c.asked = template
		s.c.knownProfile()
	}
	text, err := yaml.Marshal(s.c.config)
	if err != nil {
		return err
	}
	config := string(text)
	s.out.Config = &config
	_, err = loadConfig(s.out.Config)
	return err
}

// tell lets replicas come in runs, with changes between them.
func (s *sequencer) tell() {
	r := s.r
	for length := r.between(20, 100); len(s.out.Steps) < length; {
		template := pick(r, s.templates...)
		if r.chance(0.15) {
			template = s.asTemplate(s.small().asked)
			if s.out.Config != nil {
				delete(sub(template, "spec"), "schedulerName")
			}
		}
		for range pick(r, 1, 1, 2, 3, 6) {
			s.place(template)
		}
		for range pick(r, 0, 1, 2, 3, 5) {
			s.change()
		}
	}
}

// makeSequence makes up sequences until one is valid; without the name of a family they take turns.
func makeSequence(name string, seed uint64, index int) (*Sequence, error) {
	var last error
	source := "sequences"
	if name == "" {
		name = sequenceFamilies[index%len(sequenceFamilies)]
	} else {
		source += "-" + name
	}
	for attempt := range attempts {
		f := familyOf(name)
		if f.build == nil {
			return nil, fmt.Errorf("no family %q", name)
		}
		s := &sequencer{r: newRnd(seed, source, index, attempt), family: f, gone: map[string]bool{},
			out: &Sequence{Name: fmt.Sprintf("%s-%d", f.name, index), Seed: seed, Objects: []json.RawMessage{}}}
		s.c, s.spare = s.small(), s.small()
		if name == "volumes" {
			s.leanToVolumes()
		}
		s.begin()
		last = s.profiles()
		if last == nil {
			s.tell()
			if len(s.errs) == 0 {
				return s.out, nil
			}
			last = s.errs[0]
		}
		debugf("%s try %d: %v", s.out.Name, attempt, last)
	}
	return nil, fmt.Errorf("sequence %d: no valid one, at last: %w", index, last)
}
