// SPDX-License-Identifier: Apache-2.0

// Extenderbench asks `berth extender` and the Go extender the same questions in one run, compares the answers, then
// measures server CPU, wall time and memory, and prints Markdown tables.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

type options struct {
	berth, reference string
	nodes, runs      int
	changed          int
	check            bool
	dump             string
}

func main() {
	var o options
	flag.StringVar(&o.berth, "berth", "", "the program")
	flag.StringVar(&o.reference, "reference", "", "the Go extender")
	flag.IntVar(&o.nodes, "nodes", 5000, "nodes of a request")
	flag.IntVar(&o.runs, "runs", 11, "requests of each kind to each server; medians count")
	flag.IntVar(&o.changed, "changed", 20, "nodes that have changed since the last request")
	flag.BoolVar(&o.check, "check", false, "compare answers only")
	flag.StringVar(&o.dump, "dump", "", "only write the large request to this file")
	flag.Parse()
	if o.dump != "" {
		if err := os.WriteFile(o.dump, fullNodes(o.nodes).bytes, 0o644); err != nil {
			log.Fatalf("extenderbench: %v", err)
		}
		return
	}
	if flag.NArg() > 0 || o.berth == "" || o.reference == "" || o.nodes < 1 || o.runs < 1 || o.changed < 0 || o.changed > o.nodes {
		log.Fatal("usage: extenderbench --berth PROGRAM --reference PROGRAM [--nodes N] [--runs N] [--changed N] [--check]")
	}
	if err := run(o); err != nil {
		log.Fatalf("extenderbench: %v", err)
	}
}

// pair is both servers with the same rule, and where they are asked.
type pair struct {
	ours, theirs           *server
	filter, prioritize     string
	ourFilter, ourPriority string
}

// byLabel follows the label; extenders that have to know nodes by their names find them with the kubeconfig.
func byLabel(o options, kubeconfig string) (pair, error) {
	return both(o, "label-priority", label, "/filter", "/prioritize", kubeconfig)
}

// allPass needs no node data: the one rule that both can follow knowing names alone.
func allPass(o options) (pair, error) {
	return both(o, "demo", "", "/scheduler/predicates/TruePredicate", "/scheduler/priorities/ZeroPriority", "")
}

func both(o options, preset, rule, filter, priority, kubeconfig string) (pair, error) {
	p := pair{filter: "/filter", prioritize: "/prioritize", ourFilter: filter, ourPriority: priority}
	ours := []string{o.berth, "extender", "--preset", preset, "--port", "PORT"}
	theirs := []string{o.reference, "-address", "127.0.0.1:PORT", "-label", rule}
	if kubeconfig != "" {
		ours, theirs = append(ours, "--kubeconfig", kubeconfig), append(theirs, "-kubeconfig", kubeconfig)
	}
	var err error
	if p.ours, err = startServer("berth extender", ours...); err != nil {
		return p, err
	}
	if p.theirs, err = startServer("the Go extender", theirs...); err != nil {
		p.ours.stop()
	}
	return p, err
}

func (p pair) stop() {
	p.ours.stop()
	p.theirs.stop()
}

// compare asks both the same and fails unless the answers mean the same.
func (p pair) compare(b *body) error {
	for _, paths := range [][2]string{{p.ourFilter, p.filter}, {p.ourPriority, p.prioritize}} {
		var answers [2]any
		for i, s := range []*server{p.ours, p.theirs} {
			reply, err := s.post(paths[i], b.bytes, true)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(reply, &answers[i]); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if !reflect.DeepEqual(answers[0], answers[1]) {
			return fmt.Errorf("%s: the answers differ:\n%.1500v\n%.1500v", paths[1], answers[0], answers[1])
		}
	}
	return nil
}

type sample struct {
	cpu, wall []time.Duration
}

func (s *server) measure(path string, b *body, into *sample) error {
	before, begin := s.cpu(), time.Now()
	_, err := s.post(path, b.bytes, false)
	into.wall = append(into.wall, time.Since(begin))
	into.cpu = append(into.cpu, s.cpu()-before)
	return err
}

func median(values []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

func ratio(theirs, ours time.Duration) string {
	return fmt.Sprintf("**%.1f**", float64(theirs)/float64(max(ours, 1)))
}

// alternate measures both servers in turn, so that what else the machine does falls on both.
func (p pair) alternate(title, ourPath, theirPath string, b *body, changed, runs int) error {
	var ours, theirs sample
	for range runs {
		b.touch(changed)
		if err := p.ours.measure(ourPath, b, &ours); err != nil {
			return err
		}
		if err := p.theirs.measure(theirPath, b, &theirs); err != nil {
			return err
		}
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", title, milliseconds(median(ours.cpu)), milliseconds(median(theirs.cpu)),
		ratio(median(theirs.cpu), median(ours.cpu)), milliseconds(median(ours.wall)), milliseconds(median(theirs.wall)),
		ratio(median(theirs.wall), median(ours.wall)))
	return nil
}

const head = "| request | berth: CPU | Go: CPU | ratio | berth: wall | Go: wall | ratio |\n|---|---|---|---|---|---|---|\n"

func run(o options) error {
	p, err := byLabel(o, "")
	if err != nil {
		return err
	}
	defer func() { p.stop() }()
	full := fullNodes(o.nodes)
	// The first request that ours ever saw: measured before answers are compared.
	var first sample
	if !o.check {
		if err := p.ours.measure(p.ourFilter, full, &first); err != nil {
			return err
		}
	}
	if err := p.compare(full); err != nil {
		return err
	}
	full.touch(o.changed)
	if err := p.compare(full); err != nil {
		return err
	}
	if o.check {
		return checkNames(o)
	}
	fmt.Printf("%d full nodes, %.1f MB; medians of %d:\n\n%s", o.nodes, float64(len(full.bytes))/1e6, o.runs, head)
	all := len(full.versions)
	for _, row := range []struct {
		title, ours, theirs string
		changed             int
	}{
		{fmt.Sprintf("filter, %d nodes changed since the last", o.changed), p.ourFilter, p.filter, o.changed},
		{fmt.Sprintf("prioritize, %d nodes changed", o.changed), p.ourPriority, p.prioritize, o.changed},
		{"filter, all nodes changed", p.ourFilter, p.filter, all},
		{"prioritize, all nodes changed", p.ourPriority, p.prioritize, all},
	} {
		if err := p.alternate(row.title, row.ours, row.theirs, full, row.changed, o.runs); err != nil {
			return err
		}
	}
	ours, theirs := p.ours.peak(), p.theirs.peak()
	fmt.Printf("\nThe first request of all: %s of CPU, %s. Peak resident: berth %.0f MB, Go %.0f MB (**%.2f** of it).\n\n",
		milliseconds(first.cpu[0]), milliseconds(first.wall[0]), float64(ours)/1e6, float64(theirs)/1e6, float64(ours)/float64(theirs))

	p.stop()
	if p, err = allPass(o); err != nil {
		return err
	}
	if err := p.byName("names alone decide", o); err != nil {
		return err
	}
	if err := p.small(); err != nil {
		return err
	}
	return withNodeData(o, func(known pair) error { return known.byName("node data from the API server", o) })
}

// byName measures requests that carry names only.
func (p pair) byName(what string, o options) error {
	few := names(o.nodes)
	if err := p.compare(few); err != nil {
		return err
	}
	fmt.Printf("\n%d names, %.0f kB, %s:\n\n%s", o.nodes, float64(len(few.bytes))/1e3, what, head)
	before := p.ours.inside()
	if err := p.alternate("filter", p.ourFilter, p.filter, few, 0, 20*o.runs); err != nil {
		return err
	}
	if err := p.alternate("prioritize", p.ourPriority, p.prioritize, few, 0, 20*o.runs); err != nil {
		return err
	}
	after := p.ours.inside()
	fmt.Println()
	for _, path := range []string{p.ourFilter, p.ourPriority} {
		if count := after[path].count - before[path].count; count > 0 {
			fmt.Printf("Inside berth (`/metrics`, mean of %.0f), %s: **%.3f ms**.\n", count, path, (after[path].sum-before[path].sum)/count*1e3)
		}
	}
	return nil
}

func checkNames(o options) error {
	p, err := allPass(o)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.compare(names(o.nodes)); err != nil {
		return err
	}
	if err := withNodeData(o, func(known pair) error { return known.compare(names(o.nodes)) }); err != nil {
		return err
	}
	fmt.Println("the answers are the same\n1 passed, 0 failed")
	return nil
}

// withNodeData starts both beside an API server and waits until ours has read it; theirs does not answer before.
func withNodeData(o options, ask func(pair) error) error {
	api, err := startAPI(o.nodes)
	if err != nil {
		return err
	}
	defer api.stop()
	p, err := byLabel(o, api.kubeconfig)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.ours.waitReady(); err != nil {
		return err
	}
	return ask(p)
}

// total is a histogram's sum and count.
type total struct{ sum, count float64 }

// inside is what the server itself says of the time between a request's last byte and its answer, by path.
func (s *server) inside() map[string]total {
	totals := map[string]total{}
	text, err := s.get("/metrics")
	if err != nil {
		return totals
	}
	const metric = "berth_extender_request_duration_seconds_"
	for line := range strings.Lines(text) {
		var value float64
		rest, is := strings.CutPrefix(line, metric)
		part, rest, found := strings.Cut(rest, `{route="`)
		path, number, ends := strings.Cut(rest, `"} `)
		if !is || !found || !ends {
			continue
		}
		if _, err := fmt.Sscan(number, &value); err != nil {
			continue
		}
		t := totals[path]
		switch part {
		case "sum":
			t.sum = value
		case "count":
			t.count = value
		}
		totals[path] = t
	}
	return totals
}

// small measures how many requests with three names a second of one core's time is worth.
func (p pair) small() error {
	b := names(3)
	if err := p.compare(b); err != nil {
		return err
	}
	fmt.Printf("\nSmall requests (%d bytes, three names), 16 connections:\n\n| server | requests per second of server CPU | requests per second here |\n|---|---|---|\n", len(b.bytes))
	for _, server := range []struct {
		*server
		path string
	}{{p.ours, p.ourFilter}, {p.theirs, p.filter}} {
		var perCPU, perSecond []float64
		for range 3 {
			before := server.cpu()
			count, took, err := server.storm(server.path, b.bytes, 16, 2*time.Second)
			if err != nil {
				return err
			}
			perCPU = append(perCPU, float64(count)/(server.cpu()-before).Seconds())
			perSecond = append(perSecond, float64(count)/took.Seconds())
		}
		slices.Sort(perCPU)
		slices.Sort(perSecond)
		fmt.Printf("| %s | **%.0f** | %.0f |\n", server.name, perCPU[1], perSecond[1])
	}
	return nil
}
