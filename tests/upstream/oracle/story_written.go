// SPDX-License-Identifier: Apache-2.0

// The stories written by hand, each named for what it shows.
package main

const twoProfiles = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: no-taints
  plugins:
    multiPoint:
      disabled:
      - name: TaintToleration
`

// tale pairs a name with the telling.
type tale struct {
	name string
	tell func(s *scribe)
}

var written = []tale{
	{"node-add-wakes-pod-that-fits-there", func(s *scribe) {
		s.create(node("small", "1"))
		s.create(pod("p", "2"))
		s.create(node("tiny", "500m")) // too small: nobody stirs
		s.create(node("big", "4"))
	}},
	{"node-label-wakes-node-affinity", func(s *scribe) {
		n := s.create(node("n", "4"))
		s.create(pod("p", "1", needsLabel("disk", "ssd")))
		n = s.update(n, label("rack", "r1"))
		n = s.update(n, label("disk", "hdd"))
		s.update(n, label("disk", "ssd"))
	}},
	{"node-selector-and-new-node", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(pod("p", "1", spec("nodeSelector", M{"disk": "ssd"})))
		s.create(node("m", "2", "disk", "hdd"))
		s.create(node("o", "3", "disk", "ssd"))
	}},
	{"taint-taken-away", func(s *scribe) {
		n := node("n", "4")
		sub(n, "spec")["taints"] = list(tainted("a", "NoSchedule"), tainted("b", "NoSchedule"))
		n = s.create(n)
		s.create(pod("p", "1"))
		s.create(pod("q", "8"))
		n = s.update(n, spec("taints", list(tainted("a", "NoSchedule"))))
		s.update(n, spec("taints", []any{}))
	}},
	{"taint-changes-wake-who-asked-for-new-nodes", func(s *scribe) {
		n := s.create(node("n", "1"))
		s.create(pod("big", "2"))
		s.create(pod("picky", "100m", needsLabel("disk", "ssd")))
		s.create(pod("lonely", "100m", near("nobody", hostKey)))
		s.update(n, spec("taints", list(tainted("a", "NoSchedule"))))
	}},
	{"cordon-and-uncordon", func(s *scribe) {
		n := s.create(node("n", "4"))
		n = s.update(n, spec("unschedulable", true))
		s.create(pod("p", "1"))
		s.create(pod("q", "9"))
		n = s.update(n, annotation("note", "1"))
		s.update(n, spec("unschedulable", false))
	}},
	{"allocatable-grows-and-shrinks", func(s *scribe) {
		n := s.create(node("n", "1"))
		s.create(pod("p", "2"))
		s.create(pod("q", "9"))
		n = s.update(n, func(n M) { resize(n, "cpu", "500m") })
		n = s.update(n, func(n M) { resize(n, "memory", "32Gi") })
		n = s.update(n, func(n M) { resize(n, "cpu", "1500m") })
		s.update(n, func(n M) { resize(n, "cpu", "3") })
	}},
	{"node-annotation-wakes-nobody", func(s *scribe) {
		n := s.create(node("n", "1"))
		s.create(pod("p", "2"))
		s.create(pod("q", "", near("nobody", hostKey)))
		s.update(n, annotation("note", "1"))
	}},
	{"node-delete-wakes-spread-only", func(s *scribe) {
		s.create(node("n", "4", zoneKey, "zone-a"))
		m := s.create(node("m", "2", zoneKey, "zone-b"))
		s.create(pod("a", "1", label("app", "web"), on("n")))
		s.create(pod("p", "3", label("app", "web"), spreads("web", zoneKey, 1)))
		s.create(pod("q", "9"))
		s.delete(m)
	}},
	{"pod-delete-frees-room", func(s *scribe) {
		s.create(node("n", "2"))
		a := s.create(pod("a", "1"))
		b := s.create(pod("b", "500m"))
		s.create(pod("p", "2"))
		s.create(pod("affine", "", near("nobody", hostKey)))
		s.delete(b)
		s.delete(a)
	}},
	{"pod-delete-frees-a-slot", func(s *scribe) {
		n := node("n", "4")
		resize(n, "pods", "1")
		s.create(n)
		a := s.create(pod("a", ""))
		s.create(pod("p", ""))
		s.delete(a)
	}},
	{"scale-down-of-a-running-pod", func(s *scribe) {
		s.create(node("n", "2"))
		a := s.create(pod("a", "1500m"))
		s.create(pod("p", "1"))
		a = s.update(a, asking("1600m"))
		a = s.update(a, asking("1200m"))
		s.update(a, asking("1"))
	}},
	{"scale-down-of-a-waiting-pod", func(s *scribe) {
		s.create(node("n", "2"))
		p := s.create(pod("p", "4"))
		p = s.update(p, asking("5"))
		p = s.update(p, asking("3"))
		s.update(p, asking("2"))
	}},
	{"affinity-waits-for-its-partner", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(pod("p", "100m", near("db", hostKey)))
		s.create(pod("other", "100m", label("app", "web")))
		s.create(pod("db", "100m", label("app", "db")))
	}},
	{"affinity-partner-by-new-label", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(pod("p", "100m", near("db", hostKey)))
		a := s.create(pod("a", "100m", label("app", "web")))
		a = s.update(a, label("tier", "1"))
		s.update(a, label("app", "db"))
	}},
	{"anti-affinity-until-the-other-leaves", func(s *scribe) {
		s.create(node("n", "4"))
		a := s.create(pod("a", "100m", label("app", "web")))
		b := s.create(pod("b", "100m", label("app", "db")))
		s.create(pod("p", "100m", awayFrom("web", hostKey)))
		s.delete(b)
		s.delete(a)
	}},
	{"anti-affinity-of-the-running-pod", func(s *scribe) {
		s.create(node("n", "4"))
		a := s.create(pod("a", "100m", awayFrom("web", hostKey)))
		p := s.create(pod("p", "100m", label("app", "web")))
		s.create(pod("q", "100m", label("app", "web")))
		s.update(p, label("app", "db"))
		s.delete(a)
	}},
	{"anti-affinity-partner-changes-label", func(s *scribe) {
		s.create(node("n", "4"))
		a := s.create(pod("a", "100m", label("app", "web")))
		s.create(pod("p", "100m", awayFrom("web", hostKey)))
		a = s.update(a, label("tier", "1"))
		s.update(a, label("app", "db"))
	}},
	{"affinity-and-new-nodes", func(s *scribe) {
		s.create(node("n", "1", zoneKey, "zone-a"))
		s.create(pod("a", "900m", label("app", "db"), on("n")))
		s.create(pod("p", "500m", near("db", zoneKey)))
		s.create(node("m", "2"))
		s.create(node("o", "3", zoneKey, "zone-b"))
		s.create(node("q", "4", zoneKey, "zone-a"))
	}},
	{"spread-waits-for-balance", func(s *scribe) {
		s.create(node("n", "4", zoneKey, "zone-a"))
		s.create(node("m", "1", zoneKey, "zone-b"))
		a := s.create(pod("a", "100m", label("app", "web"), on("n")))
		s.create(pod("big", "2", label("app", "web"), spreads("web", zoneKey, 1)))
		b := s.create(pod("b", "100m", label("app", "db"), on("n")))
		s.delete(b)
		s.update(a, label("tier", "1"))
		s.delete(a)
	}},
	{"spread-helped-by-a-pod-elsewhere", func(s *scribe) {
		s.create(node("n", "4", zoneKey, "zone-a"))
		s.create(node("m", "1", zoneKey, "zone-b"))
		s.create(pod("a", "100m", label("app", "web"), on("n")))
		s.create(pod("big", "2", label("app", "web"), spreads("web", zoneKey, 1)))
		s.create(pod("c", "100m", label("app", "web"), on("m")))
	}},
	{"spread-and-node-labels", func(s *scribe) {
		n := s.create(node("n", "4"))
		s.create(pod("p", "1", label("app", "web"), spreads("web", zoneKey, 1)))
		n = s.update(n, label("disk", "ssd"))
		s.update(n, label(zoneKey, "zone-a"))
	}},
	{"host-port-freed", func(s *scribe) {
		s.create(node("n", "4"))
		a := s.create(pod("a", "100m", hostPort(8080)))
		b := s.create(pod("b", "100m", hostPort(9090)))
		s.create(pod("p", "100m", hostPort(8080)))
		s.delete(b)
		s.delete(a)
	}},
	{"host-port-and-new-node", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(pod("a", "100m", hostPort(8080)))
		s.create(pod("p", "100m", hostPort(8080)))
		s.create(node("m", "2"))
	}},
	{"toleration-added-to-a-waiting-pod", func(s *scribe) {
		n := node("n", "4")
		sub(n, "spec")["taints"] = list(tainted("a", "NoSchedule"))
		s.create(n)
		p := s.create(pod("p", "1"))
		q := s.create(pod("q", "8", spec("tolerations", list(tolerate("a")))))
		p = s.update(p, spec("tolerations", list(tolerate("b"))))
		s.update(p, spec("tolerations", list(tolerate("b"), tolerate("a"))))
		s.update(q, spec("tolerations", list(tolerate("a"), tolerate("b"))))
	}},
	{"gates-go-one-by-one", func(s *scribe) {
		s.create(node("n", "4"))
		p := s.create(pod("p", "1", gates("first", "second")))
		s.create(node("m", "2"))
		p = s.update(p, label("app", "web"))
		p = s.update(p, gates("second"))
		s.update(p, func(p M) { delete(sub(p, "spec"), "schedulingGates") })
	}},
	{"gate-gone-but-no-room", func(s *scribe) {
		s.create(node("n", "1"))
		p := s.create(pod("p", "2", gates("first")))
		s.update(p, func(p M) { delete(sub(p, "spec"), "schedulingGates") })
		s.create(node("m", "4"))
	}},
	{"annotation-of-a-waiting-pod-wakes-nobody", func(s *scribe) {
		s.create(node("n", "1"))
		p := s.create(pod("p", "2"))
		s.update(p, annotation("note", "1"))
	}},
	{"labels-of-a-waiting-pod", func(s *scribe) {
		s.create(node("n", "1"))
		p := s.create(pod("p", "2"))
		q := s.create(pod("q", "100m", near("db", hostKey)))
		s.update(p, label("app", "db"))
		s.update(q, label("app", "db")) // now it is its own partner
	}},
	{"preemption-makes-room", func(s *scribe) {
		s.create(node("n", "2"))
		s.create(pod("low", "1500m", ranked(1)))
		s.create(pod("lower", "500m"))
		s.create(pod("high", "2", ranked(100)))
	}},
	{"preemption-spares-the-cheaper-node", func(s *scribe) {
		s.create(node("n", "2"))
		s.create(node("m", "3"))
		s.create(pod("mid", "2", ranked(10), on("n")))
		s.create(pod("low", "3", ranked(1), on("m")))
		s.create(pod("waits", "1"))
		s.create(pod("high", "2", ranked(100)))
	}},
	{"preemption-policy-never-waits", func(s *scribe) {
		s.create(node("n", "2"))
		low := s.create(pod("low", "2"))
		s.create(pod("patient", "2", ranked(100), spec("preemptionPolicy", "Never")))
		s.delete(low)
	}},
	{"preemption-cannot-help", func(s *scribe) {
		s.create(node("n", "2"))
		s.create(pod("low", "2"))
		s.create(pod("high", "4", ranked(100)))
		s.create(pod("picky", "1", ranked(100), needsLabel("disk", "ssd")))
	}},
	{"nominated-pod-deleted-wakes-lower-ones", func(s *scribe) {
		s.create(node("n", "2"))
		high := s.create(pod("high", "2", ranked(100), needsLabel("disk", "ssd")))
		s.nominate(high, "n")
		s.create(pod("higher", "2", ranked(200), spec("preemptionPolicy", "Never"), needsLabel("disk", "hdd")))
		s.create(pod("low", "1"))
		s.delete(high)
	}},
	{"nomination-moved-wakes-lower-ones", func(s *scribe) {
		s.create(node("n", "2"))
		high := s.create(pod("high", "2", ranked(100), needsLabel("disk", "ssd")))
		s.nominate(high, "n")
		s.create(pod("low", "1"))
		s.create(pod("equal", "1500m", ranked(100)))
		s.nominate(high, "m")
	}},
	{"pods-of-another-scheduler", func(s *scribe) {
		s.create(node("n", "2"))
		theirs := s.create(pod("theirs", "2", spec("schedulerName", "another")))
		s.bind(theirs, "n")
		s.create(pod("p", "1"))
		s.delete(theirs)
	}},
	{"bound-by-somebody-else", func(s *scribe) {
		s.create(node("n", "2"))
		p := s.create(pod("p", "4"))
		s.create(pod("q", "100m", label("app", "web"), near("db", hostKey)))
		s.bind(p, "n")
		s.create(node("m", "9"))
	}},
	{"terminating-while-waiting", func(s *scribe) {
		s.create(node("n", "2"))
		p := pod("p", "4")
		sub(p, "metadata")["finalizers"] = list("example.com/hold")
		s.create(p)
		s.terminate(p)
		s.create(node("m", "9"))
	}},
	{"terminating-while-running", func(s *scribe) {
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		s.create(pod("p", "1"))
		s.terminate(a)
		s.delete(a)
	}},
	{"higher-priority-first", func(s *scribe) {
		s.create(node("n", "4"))
		s.hold(pod("third", "500m"))
		s.hold(pod("fourth", "500m"))
		s.hold(pod("second", "500m", ranked(10)))
		s.create(pod("first", "500m", ranked(100)))
	}},
	{"woken-together-by-priority", func(s *scribe) {
		s.create(node("n", "1"))
		s.create(pod("c", "2"))
		s.create(pod("b", "2", ranked(10)))
		s.create(pod("a", "2", ranked(100)))
		s.create(node("m", "5"))
	}},
	{"recreated-under-the-same-name", func(s *scribe) {
		s.create(node("n", "2"))
		p := s.create(pod("p", "4"))
		s.delete(p)
		s.create(pod("p", "3"))
		s.create(node("m", "3"))
	}},
	{"two-profiles", func(s *scribe) {
		config := twoProfiles
		s.story.Config = &config
		n := node("n", "2")
		sub(n, "spec")["taints"] = list(tainted("a", "NoSchedule"))
		n = s.create(n)
		s.create(pod("strict", "1"))
		s.create(pod("loose", "1", spec("schedulerName", "no-taints")))
		s.create(pod("loose-big", "4", spec("schedulerName", "no-taints")))
		s.update(n, spec("taints", []any{}))
		s.create(node("m", "5"))
	}},
	{"namespace-labels-wake-nobody", func(s *scribe) {
		ns := s.create(M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "other"}})
		s.create(node("n", "2"))
		a := pod("a", "100m", label("app", "db"))
		sub(a, "metadata")["namespace"] = "other"
		s.create(a)
		s.create(pod("p", "100m", near("db", hostKey), func(p M) {
			terms := sub(p, "spec", "affinity", "podAffinity")["requiredDuringSchedulingIgnoredDuringExecution"].([]any)
			terms[0].(M)["namespaceSelector"] = M{"matchLabels": M{"team": "blue"}}
		}))
		s.update(ns, label("team", "blue"))
		s.create(node("m", "1"))
	}},
	{"scale-down-of-what-nobody-waits-for", func(s *scribe) {
		n := node("n", "4")
		resize(n, "example.com/gpu", "1")
		s.create(n)
		gpu := func(cpu string) func(M) {
			return func(p M) {
				mainContainer(p)["resources"] = M{"requests": M{"cpu": cpu, "example.com/gpu": "1"}, "limits": M{"example.com/gpu": "1"}}
			}
		}
		a := s.create(pod("a", "", gpu("2")))
		s.create(pod("p", "", gpu("0")))
		a = s.update(a, gpu("1"))
		s.delete(a)
	}},
	{"spread-that-honors-taints", func(s *scribe) {
		config := twoProfiles
		s.story.Config = &config
		n := node("n", "1", zoneKey, "zone-a")
		sub(n, "spec")["taints"] = list(tainted("a", "NoSchedule"))
		n = s.create(n)
		s.create(node("m", "4", zoneKey, "zone-b"))
		s.create(node("o", "1", zoneKey, "zone-c"))
		s.create(pod("b", "100m", label("app", "web"), on("m")))
		s.create(pod("c", "100m", label("app", "web"), on("m")))
		honors := func(p M) {
			spreads("web", zoneKey, 1)(p)
			sub(p, "spec")["topologySpreadConstraints"].([]any)[0].(M)["nodeTaintsPolicy"] = "Honor"
		}
		other := spec("schedulerName", "no-taints")
		p := s.create(pod("p", "2", label("app", "web"), honors, other))
		q := s.create(pod("q", "2", label("app", "web"), spreads("web", zoneKey, 1), other))
		s.update(q, spec("tolerations", list(tolerate("b"))))
		s.update(p, spec("tolerations", list(tolerate("a"))))
		s.update(n, spec("taints", []any{}))
	}},
	{"two-rejectors-one-event", func(s *scribe) {
		n := s.create(node("n", "1"))
		m := node("m", "4")
		sub(m, "spec")["unschedulable"] = true
		m = s.create(m)
		s.create(pod("p", "2"))
		n = s.update(n, label("disk", "ssd"))
		s.update(m, label("disk", "ssd"))
		s.update(n, func(n M) { resize(n, "cpu", "3") })
	}},
}

// toldTwice tells each story twice: while pods back off, and after.
func toldTwice(tales ...tale) []*Story {
	var all []*Story
	for _, w := range tales {
		for _, pace := range []struct {
			suffix string
			pause  int
		}{{"", later}, {"-in-backoff", soon}} {
			s := newScribe(w.name+pace.suffix, 0, pace.pause)
			w.tell(s)
			all = append(all, s.story)
		}
	}
	return all
}
