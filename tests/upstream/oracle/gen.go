// SPDX-License-Identifier: Apache-2.0

// The generator's frame: seeded randomness, the families, and the search for a case with the outcome wanted.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
)

// attempts is how many clusters are thrown away in search of the outcome wanted before one is taken as it is.
const attempts = 80

// rnd is the source of all randomness of one case.
type rnd struct{ *rand.Rand }

func newRnd(seed uint64, name string, index, attempt int) rnd {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", name, index, attempt)
	return rnd{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

func (r rnd) chance(p float64) bool { return r.Float64() < p }

func (r rnd) between(low, high int) int { return low + r.IntN(high-low+1) }

func pick[T any](r rnd, from ...T) T { return from[r.IntN(len(from))] }

// some returns a subset, in order.
func some[T any](r rnd, p float64, from ...T) []T {
	var out []T
	for _, x := range from {
		if r.chance(p) {
			out = append(out, x)
		}
	}
	return out
}

// atLeastOne is a subset that is not empty.
func atLeastOne[T any](r rnd, p float64, from ...T) []T {
	if out := some(r, p, from...); len(out) > 0 {
		return out
	}
	return []T{pick(r, from...)}
}

// outcome is what a case is wanted to end in.
type outcome int

const (
	wantScores     outcome = iota // two feasible nodes or more
	wantOne                       // exactly one
	wantNone                      // none
	wantCandidates                // none, but preemption helps
	wantRejected                  // none, and preemption does not help
	wantWaits                     // none, and the pod has to wait for victims on its nominated node
	wantEarly                     // turned away before any node was looked at
	wantFails                     // a plugin fails, as it is known to
	wantAny
)

func (o outcome) met(e *Explanation) bool {
	feasible := 0
	for _, n := range e.Nodes {
		if n.Feasible {
			feasible++
		}
	}
	switch o {
	case wantScores:
		return feasible >= 2
	case wantOne:
		return feasible == 1
	case wantNone:
		return feasible == 0
	case wantCandidates:
		return e.Preemption != nil
	case wantRejected:
		return feasible == 0 && e.Preemption == nil
	case wantEarly:
		return e.PreFilter != nil
	case wantFails:
		return e.failed
	case wantWaits:
		return strings.Contains(e.Message, "terminating pod on the nominated node")
	}
	return true
}

// family is a kind of case: how to build one and which outcomes to go for, in turn.
type family struct {
	name  string
	build func(r rnd, want outcome) *cluster
	wants []outcome
}

var families = []family{
	{"resources", buildResources, []outcome{wantScores, wantNone, wantScores, wantRejected, wantOne, wantCandidates}},
	{"taints", buildTaints, []outcome{wantScores, wantNone, wantScores, wantRejected, wantOne, wantNone}},
	{"nodeaffinity", buildNodeAffinity, []outcome{wantScores, wantNone, wantScores, wantNone, wantOne, wantNone}},
	{"interpod", buildInterPod, []outcome{wantScores, wantNone, wantScores, wantRejected, wantOne, wantCandidates}},
	{"spread", buildSpread, []outcome{wantScores, wantNone, wantScores, wantRejected, wantOne, wantCandidates}},
	{"scores", buildScores, []outcome{wantScores, wantScores, wantNone, wantScores, wantScores, wantAny}},
	{"preemption", buildPreemption, []outcome{wantCandidates, wantScores, wantCandidates, wantRejected, wantCandidates, wantOne, wantCandidates, wantAny}},
	{"mixed", buildMixed, []outcome{wantScores, wantNone, wantScores, wantCandidates, wantOne, wantRejected}},
	{"nominated", buildNominated, []outcome{wantWaits, wantCandidates, wantWaits, wantScores, wantCandidates, wantAny}},
	{"volumes", buildVolumes, []outcome{wantScores, wantNone, wantScores, wantCandidates, wantOne, wantEarly, wantCandidates, wantRejected, wantScores, wantFails, wantAny, wantCandidates}},
}

// familyOf returns the family of that name, or one that cannot build.
func familyOf(name string) family {
	for _, f := range families {
		if f.name == name {
			return f
		}
	}
	return family{}
}

func familyNames() []string {
	var names []string
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// debugf tells, when ORACLE_DEBUG is set, why something generated was thrown away.
func debugf(format string, args ...any) {
	if os.Getenv("ORACLE_DEBUG") != "" {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// makeCase builds cluster after cluster until one is valid and ends as wanted, or patience is over.
func makeCase(f family, seed uint64, index int) (*Case, error) {
	want := f.wants[index%len(f.wants)]
	var last *Case
	for attempt := 0; attempt < attempts || (last == nil && attempt < 20*attempts); attempt++ {
		r := newRnd(seed, f.name, index, attempt)
		c, err := f.build(r, want).toCase()
		if err != nil {
			debugf("%s-%d try %d: %v", f.name, index, attempt, err)
			continue
		}
		c.ID, c.Family, c.Seed = fmt.Sprintf("%s-%d", f.name, index), f.name, seed
		e, err := explain(c, false)
		if errors.Is(err, errUpstreamFailed) {
			debugf("%s-%d try %d: %v", f.name, index, attempt, err)
			continue
		}
		if err != nil {
			text, _ := json.Marshal(c.Config)
			return nil, fmt.Errorf("%s: %w\n%s", c.ID, err, text)
		}
		if e.failed && (want != wantFails || e.nominated) { // on its nominated node, such a pod may do well
			debugf("%s-%d try %d: a plugin failed", f.name, index, attempt)
			continue
		}
		if len(e.undecided) > 0 {
			debugf("%s-%d try %d: left to chance", f.name, index, attempt)
			continue
		}
		if e.mistaken {
			debugf("%s-%d try %d: a mistake of upstream's", f.name, index, attempt)
			continue
		}
		last = c
		if want.met(e) {
			break
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%s-%d: no valid cluster", f.name, index)
	}
	return last, last.judge()
}

// inParallel does n pieces of work that share nothing.
func inParallel(n int, work func(int) error) error {
	next, errs := make(chan int), make([]error, n)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				errs[i] = work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// generate writes the cases numbered first to first+count-1 of a family.
func generate(w io.Writer, name string, seed uint64, first, count int, stats bool) error {
	f := familyOf(name)
	if f.build == nil {
		return fmt.Errorf("no family %q", name)
	}
	cases := make([]*Case, count)
	if err := inParallel(count, func(i int) (err error) {
		cases[i], err = makeCase(f, seed, first+i)
		return err
	}); err != nil {
		return err
	}
	for _, c := range cases {
		if err := writeCase(w, c); err != nil {
			return err
		}
	}
	if stats {
		printStats(os.Stderr, name, cases)
	}
	return nil
}

// printStats says in one line how the cases of a family ended.
func printStats(w io.Writer, name string, cases []*Case) {
	var scored, one, none, early, preempt, configs, unstable, nodes int
	fields := map[string]int{}
	for _, c := range cases {
		switch {
		case wantScores.met(c.Expected):
			scored++
		case wantOne.met(c.Expected):
			one++
		default:
			none++
		}
		if c.Expected.PreFilter != nil {
			early++
		}
		if c.Expected.Preemption != nil {
			preempt++
		}
		if c.Config != nil {
			configs++
		}
		if len(c.Unstable) > 0 {
			unstable++
		}
		for _, field := range c.Unstable {
			fields[field]++
		}
		nodes += len(c.Expected.Nodes)
	}
	fmt.Fprintf(w, "%s: %d cases, %d scored, %d one node, %d infeasible (%d before filtering, %d with candidates), %d configs, %d node verdicts, %d unstable %v\n",
		name, len(cases), scored, one, none, early, preempt, configs, nodes, unstable, fields)
}
