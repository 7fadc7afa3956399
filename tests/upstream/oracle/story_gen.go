// SPDX-License-Identifier: Apache-2.0

// Made-up stories: a small crowded cluster, pods that want too much, and changes that may or may not help them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A theme is what the pods of a story are mostly about.
type theme int

const (
	ofEverything theme = iota
	ofRoom
	ofNodes
	ofPartners
	ofBalance
	ofPorts
	ofRank
	themes
)

// teller makes up one story.
type teller struct {
	*scribe
	theme  theme
	r      rnd
	nodes  map[string]M // as last written
	pods   map[string]M
	serial int
}

var (
	storyApps   = []string{"web", "db"}
	storyDisks  = []string{"ssd", "hdd"}
	storyTaints = []string{"dedicated", "spot"}
)

func (t *teller) names(of map[string]M) []string {
	var names []string
	for i := range t.serial + 1 { // in order of creation, not in map order
		for _, prefix := range []string{"n", "p"} {
			if name := fmt.Sprintf("%s%d", prefix, i); of[name] != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// rough is the chance that a node is closed: small unless the story is about that.
func (t *teller) rough(chance float64) float64 {
	if t.theme == ofNodes || t.theme == ofEverything {
		return chance
	}
	return chance / 5
}

func (t *teller) createNode() {
	t.serial++
	r, name := t.r, fmt.Sprintf("n%d", t.serial)
	n := node(name, fmt.Sprintf("%d", 1000*r.between(1, 4)+10*t.serial)+"m")
	resize(n, "memory", fmt.Sprintf("%dMi", 1024*r.between(2, 8)+32*t.serial))
	if r.chance(0.2) {
		resize(n, "pods", pick(r, "1", "2", "3"))
	}
	if r.chance(0.2) {
		resize(n, "example.com/gpu", pick(r, "1", "2"))
	}
	if r.chance(0.8) || t.theme == ofBalance {
		label(zoneKey, pick(r, zones...))(n)
	}
	if r.chance(0.5) {
		label("disk", pick(r, storyDisks...))(n)
	}
	if r.chance(t.rough(0.3)) {
		sub(n, "spec")["taints"] = list(tainted(pick(r, storyTaints...), pick(r, "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")))
	}
	if r.chance(t.rough(0.15)) {
		sub(n, "spec")["unschedulable"] = true
	}
	t.nodes[name] = t.create(n)
}

// wish adds one demand to a pod, mostly one of the story's theme.
func (t *teller) wish(p M) {
	r := t.r
	about := t.theme
	if about == ofEverything || r.chance(0.2) {
		about = theme(1 + r.IntN(int(themes)-1))
	}
	topology := pick(r, hostKey, zoneKey, zoneKey)
	switch about {
	case ofNodes:
		switch r.IntN(3) {
		case 0:
			needsLabel("disk", pick(r, storyDisks...))(p)
		case 1:
			spec("tolerations", list(tolerate(pick(r, storyTaints...))))(p)
		case 2:
			spec("nodeSelector", M{zoneKey: pick(r, zones...)})(p)
		}
	case ofPartners:
		if r.chance(0.5) {
			near(pick(r, storyApps...), topology)(p)
		} else {
			awayFrom(pick(r, storyApps...), topology)(p)
		}
	case ofBalance:
		if sub(p, "spec")["topologySpreadConstraints"] == nil {
			label("app", "web")(p) // most of the balance is among themselves
			spreads(pick(r, "web", "web", "web", "db"), topology, pick(r, 1, 1, 2))(p)
		}
	case ofPorts:
		hostPort(pick(r, 8080, 9090))(p)
	}
}

func (t *teller) createPod() {
	t.serial++
	r, name := t.r, fmt.Sprintf("p%d", t.serial)
	p := pod(name, "")
	requests := M{}
	switch {
	case t.theme == ofRoom || t.theme == ofRank || t.theme == ofBalance:
		requests["cpu"] = pick(r, "500m", "900m", "1500m", "2500m", "3500m")
	case r.chance(0.7):
		requests["cpu"] = pick(r, "100m", "200m", "500m", "1500m")
	}
	if r.chance(0.2) {
		requests["memory"] = pick(r, "128Mi", "1Gi", "3Gi")
	}
	if r.chance(0.08) {
		requests["example.com/gpu"] = "1"
		sub(mainContainer(p), "resources")["limits"] = M{"example.com/gpu": "1"}
	}
	if len(requests) > 0 {
		request(p, requests)
	}
	if r.chance(0.8) {
		label("app", pick(r, storyApps...))(p)
	}
	if r.chance(0.15) {
		sub(p, "metadata")["namespace"] = "other"
	}
	for range r.between(0, 2) {
		t.wish(p)
	}
	if r.chance(0.08) {
		gates(atLeastOne(r, 0.5, "first", "second")...)(p)
	}
	if t.theme == ofRank || r.chance(0.2) {
		ranked(pick(r, 0, 10, 100, 1000))(p)
		if r.chance(0.15) {
			spec("preemptionPolicy", "Never")(p)
		}
	}
	if t.story.Config != nil && r.chance(0.5) {
		spec("schedulerName", "no-taints")(p)
	} else if r.chance(0.05) {
		spec("schedulerName", "another")(p)
	}
	if r.chance(0.1) && len(t.nodes) > 0 && sub(p, "spec")["schedulingGates"] == nil {
		on(pick(r, t.names(t.nodes)...))(p)
	}
	t.pods[name] = t.create(p)
}

func (t *teller) updateNode() {
	if len(t.nodes) == 0 {
		return
	}
	r, name := t.r, pick(t.r, t.names(t.nodes)...)
	t.nodes[name] = t.update(t.nodes[name], func(n M) {
		for range r.between(1, 2) {
			change := r.IntN(8)
			if (change == 3 || change == 5) && !r.chance(t.rough(1)) {
				change = pick(r, 1, 6)
			}
			switch change {
			case 0:
				label("disk", pick(r, storyDisks...))(n)
			case 1:
				label(zoneKey, pick(r, zones...))(n)
			case 2:
				delete(sub(n, "metadata", "labels"), pick(r, zoneKey, "disk"))
			case 3:
				sub(n, "spec")["taints"] = list(tainted(pick(r, storyTaints...), pick(r, "NoSchedule", "NoExecute", "PreferNoSchedule")))
			case 4:
				delete(sub(n, "spec"), "taints")
			case 5:
				sub(n, "spec")["unschedulable"] = sub(n, "spec")["unschedulable"] == nil || r.chance(0.3)
			case 6:
				resize(n, "cpu", fmt.Sprintf("%dm", 1000*r.between(1, 5)+r.IntN(90)))
			case 7:
				annotation("note", fmt.Sprint(r.IntN(1000)))(n)
			}
		}
	})
}

func (t *teller) updatePod() {
	if len(t.pods) == 0 {
		return
	}
	r, name := t.r, pick(t.r, t.names(t.pods)...)
	t.pods[name] = t.update(t.pods[name], func(p M) {
		switch r.IntN(6) {
		case 0:
			label("app", pick(r, storyApps...))(p)
		case 1:
			label("tier", pick(r, "1", "2"))(p)
		case 2:
			annotation("note", fmt.Sprint(r.IntN(1000)))(p)
		case 3:
			add(sub(p, "spec"), "tolerations", tolerate(pick(r, storyTaints...)))
		case 4:
			if all, ok := sub(p, "spec")["schedulingGates"].([]any); ok && len(all) > 1 {
				sub(p, "spec")["schedulingGates"] = all[1:]
			} else {
				delete(sub(p, "spec"), "schedulingGates")
			}
		case 5:
			if resources, ok := mainContainer(p)["resources"].(M); ok {
				if requests, ok := resources["requests"].(M); ok && requests["cpu"] != nil {
					requests["cpu"] = pick(r, "100m", "400m", "1", "2")
				}
			}
		}
	})
}

func (t *teller) deletePod() {
	name := pick(t.r, t.names(t.pods)...)
	t.delete(t.pods[name])
	delete(t.pods, name)
}

func (t *teller) tell() {
	t.create(M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "default"}})
	t.create(M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "other"}})
	r := t.r
	for range r.between(1, 3) {
		t.createNode()
	}
	for range r.between(10, 20) {
		switch p := r.Float64(); {
		case t.story.SlowBindings && len(t.pods) > 0 && r.chance(0.3):
			t.answer(t.pods[pick(r, t.names(t.pods)...)])
		case t.story.SlowEvictions && len(t.pods) > 3 && r.chance(0.2):
			t.deletePod()
		case p < 0.42:
			t.createPod()
			if r.chance(0.1) {
				t.holdLast()
			}
		case p < 0.49:
			t.createNode()
		case p < 0.66:
			t.updateNode()
		case p < 0.80:
			t.updatePod()
		case p < 0.90 && len(t.pods) > 0:
			t.deletePod()
		case p < 0.93 && len(t.nodes) > 1:
			name := pick(r, t.names(t.nodes)...)
			t.delete(t.nodes[name])
			delete(t.nodes, name)
		case p < 0.95 && len(t.nodes) > 0 && len(t.pods) > 0:
			t.bind(t.pods[pick(r, t.names(t.pods)...)], pick(r, t.names(t.nodes)...))
		case p < 0.98 && len(t.nodes) > 0 && len(t.pods) > 0:
			t.nominate(t.pods[pick(r, t.names(t.pods)...)], pick(r, t.names(t.nodes)...))
		case p >= 0.98 && len(t.pods) > 0:
			t.terminate(t.pods[pick(r, t.names(t.pods)...)])
		}
		t.pace = pick(r, soon, soon, 1_500, later)
		if t.at > 20*later {
			t.pace = soon
		}
	}
	t.story.Steps[len(t.story.Steps)-1].Hold = false
}

// makeStory makes up stories until upstream tells one the same way every time: of kind generated or generated-volumes.
func makeStory(kind string, seed uint64, index int) (*Story, error) {
	source := "stories"
	if kind != "generated" {
		source = kind
	}
	for attempt := range attempts {
		t := &teller{scribe: newScribe(fmt.Sprintf("%s-%d", kind, index), seed, soon), r: newRnd(seed, source, index, attempt),
			nodes: map[string]M{}, pods: map[string]M{}}
		t.theme = theme(t.r.IntN(int(themes)))
		if t.r.chance(0.1) {
			config := twoProfiles
			t.story.Config = &config
		}
		t.story.SlowBindings = t.r.chance(0.2)
		t.story.SlowEvictions = t.theme == ofRank && t.r.chance(0.5)
		if kind == "generated" {
			t.tell()
		} else if !tellVolumes(t) {
			continue
		}
		if err := validStory(t.story); err != nil {
			debugf("%s try %d: %v", t.story.Name, attempt, err)
			continue
		}
		err := record(t.story, 4)
		if errors.Is(err, errUnfit) {
			debugf("%s try %d: %v", t.story.Name, attempt, err)
			continue
		}
		if err == nil && skipsNominated(t.story) {
			debugf("%s try %d: a nominated pod is skipped", t.story.Name, attempt)
			continue
		}
		return t.story, err
	}
	return nil, fmt.Errorf("%s-%d: no story fit to be told", kind, index)
}

// skipsNominated finds pods that were nominated and are skipped because they terminate. Upstream lets such a
// nomination count as a pod without requests until the pod is gone; Berth drops it, on purpose (COMPATIBILITY.md).
func skipsNominated(story *Story) bool {
	nominated, skipped := map[string]bool{}, map[string]bool{}
	for _, step := range story.Steps {
		if step.Op == "nominate" {
			nominated[step.Pod] = true
		}
		if step.Expect == nil {
			continue
		}
		for _, attempt := range step.Expect.Attempts {
			nominated[attempt.Pod] = nominated[attempt.Pod] || attempt.Nominated != ""
			skipped[attempt.Pod] = skipped[attempt.Pod] || attempt.Skipped
		}
	}
	for pod := range skipped {
		if skipped[pod] && nominated[pod] {
			return true
		}
	}
	return false
}

// validStory asks the API server's validation about every object.
func validStory(story *Story) error {
	for _, step := range story.Steps {
		if step.Op != "create" && step.Op != "update" {
			continue
		}
		if err := validate(step.Object); err != nil {
			text, _ := json.Marshal(step)
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return nil
}

func generateStories(w io.Writer, kind string, seed uint64, first, count int) error {
	stories := make([]*Story, count)
	if err := inParallel(count, func(i int) (err error) {
		stories[i], err = makeStory(kind, seed, first+i)
		return err
	}); err != nil {
		return err
	}
	for _, story := range stories {
		if err := writeStory(w, story); err != nil {
			return err
		}
	}
	return nil
}
