// SPDX-License-Identifier: Apache-2.0

// Stories written by hand in which the API server or the kubelets take their time: things happen meanwhile.
package main

var writtenSlow = []tale{
	{"binding-holds-the-room", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		s.create(pod("p", "1"))
		s.create(pod("q", "", near("web", hostKey)))
		a = s.update(a, label("app", "web")) // nobody hears of it before the binding is done
		s.answer(a)
		s.delete(a)
	}},
	{"deleted-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		p := s.create(pod("p", "1"))
		s.create(pod("big", "3"))
		s.delete(a)
		s.answer(a) // it fails, and that wakes once more
		s.answer(p)
	}},
	{"terminating-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		p := s.create(pod("p", "1"))
		s.terminate(a)
		s.answer(p)
		s.delete(a)
		s.answer(a)
	}},
	{"recreated-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		s.delete(a)
		s.create(node("m", "3"))
		a = s.create(pod("a", "2500m"))
		s.answer(a)
	}},
	{"bound-by-somebody-else-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "3"))
		s.create(node("m", "2"))
		a := s.create(pod("a", "2500m"))
		s.create(pod("p", "2500m"))
		s.bind(a, "n")
		s.answer(a)
		s.delete(a)
	}},
	{"bound-elsewhere-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "3"))
		s.create(node("m", "2"))
		a := s.create(pod("a", "2500m"))
		s.create(pod("p", "2500m"))
		s.bind(a, "m")
		s.answer(a)
		s.delete(a)
	}},
	{"node-deleted-while-binding", func(s *scribe) {
		s.story.SlowBindings = true
		n := s.create(node("n", "3"))
		s.create(node("m", "1"))
		a := s.create(pod("a", "2"))
		s.create(pod("p", "2", label("app", "web"), spreads("web", hostKey, 1)))
		s.delete(n)
		s.answer(a)
		s.delete(a)
		s.create(node("o", "4"))
	}},
	{"preemption-of-a-pod-that-is-binding", func(s *scribe) {
		s.story.SlowBindings = true
		s.create(node("n", "2"))
		low := s.create(pod("low", "2"))
		high := s.create(pod("high", "2", ranked(100)))
		s.answer(low)
		s.answer(high)
	}},
	{"victims-take-their-time", func(s *scribe) {
		s.story.SlowEvictions = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "1"))
		b := s.create(pod("b", "1"))
		high := s.create(pod("high", "2", ranked(100)))
		s.create(pod("low", "1"))
		s.update(high, annotation("note", "1"))
		s.delete(a)
		s.delete(b)
	}},
	{"a-higher-one-takes-the-place", func(s *scribe) {
		s.story.SlowEvictions = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		s.create(pod("high", "2", ranked(100)))
		s.create(pod("higher", "2", ranked(200)))
		s.delete(a)
	}},
	{"another-node-while-victims-go", func(s *scribe) {
		s.story.SlowEvictions = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "2"))
		s.create(pod("high", "2", ranked(100)))
		s.create(pod("low", "1"))
		s.create(node("m", "3"))
		s.delete(a)
	}},
	{"preemptor-deleted-while-victims-go", func(s *scribe) {
		s.story.SlowEvictions = true
		s.create(node("n", "2"))
		a := s.create(pod("a", "1500m"))
		high := s.create(pod("high", "2", ranked(100)))
		s.create(pod("low", "500m"))
		s.delete(high)
		s.delete(a)
	}},
}
