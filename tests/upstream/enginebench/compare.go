// SPDX-License-Identifier: Apache-2.0

// Berth and upstream on the same workloads, one after the other: are the answers the same, and what did they cost?
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// comparison is one row of the table.
type comparison struct {
	topic, testCase, workload string
	small                     string // the workload of the same case that takes no time
	allNodes                  int    // measured pods when upstream judges all nodes, which takes it ten times as long
	even                      bool   // the workload determines how many nodes have how many pods, whatever ties are
}

// The workloads with figures in bench/RESULTS.md. Topics are folders of upstream's; "" is bench/workloads.
var comparisons = []comparison{
	{"misc", "SchedulingBasic", "5000Nodes_10000Pods", "5Nodes", 500, true},
	{"", "AllDifferentPods", "5000Nodes_10000Pods", "10Nodes", 500, false},
	{"", "HugeCluster", "100000Nodes_50000Pods", "10Nodes", 50, true},
	{"affinity", "SchedulingPodAntiAffinity", "5000Nodes_2000Pods", "5Nodes", 300, true},
	{"affinity", "SchedulingPodAffinity", "5000Nodes_5000Pods", "5Nodes", 200, true},
	{"affinity", "SchedulingPreferredPodAffinity", "5000Nodes_5000Pods", "5Nodes", 200, false},
	{"affinity", "SchedulingPreferredPodAntiAffinity", "5000Nodes_5000Pods", "5Nodes", 200, true},
	{"topology_spreading", "TopologySpreading", "5000Nodes_5000Pods", "5Nodes", 200, true},
	{"topology_spreading", "PreferredTopologySpreading", "5000Nodes_5000Pods", "5Nodes", 200, true},
	{"affinity", "SchedulingRequiredPodAntiAffinityWithNSSelector", "5000Nodes_2000Pods", "10Nodes", 200, true},
	{"", "FitsNowhere", "5000Nodes_10000Pods", "10Nodes", 500, true},
	{"misc", "PreemptionAsync", "5000Nodes", "5Nodes", 300, false},
	{"misc", "SchedulingDaemonset", "15000Nodes", "5Nodes", 5000, true},
	{"volumes", "SchedulingInTreePVs", "5000Nodes_2000Pods", "5Nodes", 300, true},
	{"volumes", "SchedulingMigratedInTreePVs", "5000Nodes_5000Pods", "5Nodes", 100, true},
	{"volumes", "SchedulingCSIPVs", "5000Nodes_5000Pods", "5Nodes", 100, true},
	{"volumes", "PreemptionPVs", "1000Nodes", "5Nodes", 300, true},
}

// limits are measured pods of full-size runs, for both sides, where upstream would take more than some minutes.
var limits = map[string]int{"HugeCluster": 2000, "FitsNowhere": 1000}

type comparer struct {
	berth, upstream, own, only string
	runs, pods                 int // pods: measured ones at most; 0 for all
	small                      bool
	scratch                    string
}

// measurement is a workload at one sampling: all runs of both sides.
type measurement struct {
	ours, theirs []result
}

func median(results []result) float64 {
	values := make([]float64, 0, len(results))
	for _, r := range results {
		values = append(values, r.CPU)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func (m *measurement) ratio() float64 { return median(m.theirs) / median(m.ours) }

// differences tells what the two sides do not agree on.
func (m *measurement) differences(even bool) []string {
	var out []string
	say := func(what string, ours, theirs any) {
		out = append(out, fmt.Sprintf("%s: %v here, %v upstream", what, ours, theirs))
	}
	for i := range m.ours {
		a, b := m.ours[i], m.theirs[i]
		if a.Nodes != b.Nodes {
			say("nodes", a.Nodes, b.Nodes)
		}
		if a.Pods != b.Pods || a.Pods == 0 {
			say("measured pods", a.Pods, b.Pods)
		}
		if a.Scheduled != b.Scheduled || a.Unschedulable != b.Unschedulable {
			say("scheduled and not", []int{a.Scheduled, a.Unschedulable}, []int{b.Scheduled, b.Unschedulable})
		}
		if even && !maps.Equal(a.PodsPerNode, b.PodsPerNode) {
			say("nodes by their pods", a.PodsPerNode, b.PodsPerNode)
		}
	}
	return out
}

func (c *comparer) source(row comparison) string {
	if row.topic == "" {
		return filepath.Join(c.own, "performance-config.yaml")
	}
	return filepath.Join(c.upstream, row.topic, "performance-config.yaml")
}

// output runs a program; what it complains about goes to the error.
func output(program string, args ...string) ([]byte, error) {
	command := exec.Command(program, args...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, complaints.Bytes())
	}
	return text, nil
}

// once runs both sides on one file.
func (c *comparer) once(m *measurement, file string, row comparison, percentage int) error {
	text, err := output(c.berth, "bench", "-f", file, "--mode", "engine", "-o", "json")
	if err != nil {
		return err
	}
	var ours []result
	if err := json.Unmarshal(text, &ours); err != nil || len(ours) != 1 {
		return fmt.Errorf("berth bench: no result (%v)", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err = output(self, "run", "-f", file, "--case", row.testCase, "--workload", row.workload, "--percentage", fmt.Sprint(percentage))
	if err != nil {
		return err
	}
	var theirs result
	if err := json.Unmarshal(text, &theirs); err != nil {
		return err
	}
	m.ours, m.theirs = append(m.ours, ours[0]), append(m.theirs, theirs)
	return nil
}

// write puts the workload into a file of its own; pods is the limit of measured ones, 0 for all.
func (c *comparer) write(row comparison, name string, pods int) (string, error) {
	var params []string
	if pods > 0 {
		params = append(params, fmt.Sprintf("measurePods=%d", pods))
	}
	text, err := cut(c.source(row), row.testCase, row.workload, params)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.scratch, name)
	return path, os.WriteFile(path, text, 0o600)
}

// measure runs a row, sides and samplings in turn.
func (c *comparer) measure(row comparison) (sampled, all measurement, err error) {
	limit := limits[row.testCase]
	if c.small {
		row.workload, limit, row.allNodes = row.small, 0, 0
	} else if c.pods > 0 {
		if limit == 0 || limit > c.pods {
			limit = c.pods
		}
		row.allNodes = min(row.allNodes, c.pods)
	}
	full, err := c.write(row, "full.yaml", limit)
	if err != nil {
		return sampled, all, err
	}
	short, err := c.write(row, "short.yaml", row.allNodes)
	if err != nil {
		return sampled, all, err
	}
	for range c.runs {
		if err := c.once(&sampled, full, row, 0); err != nil {
			return sampled, all, err
		}
		if err := c.once(&all, short, row, 100); err != nil {
			return sampled, all, err
		}
	}
	return sampled, all, nil
}

// compare prints the table, or with small workloads only whether the answers agree. False: some do not.
func (c *comparer) compare() (bool, error) {
	scratch, err := os.MkdirTemp("", "enginebench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	c.scratch = scratch
	if !c.small {
		fmt.Printf("Medians of %d; processor time of the whole process per measured pod.\n\n", c.runs)
		fmt.Println("| workload | pods | Berth µs | kube-scheduler µs | ratio | pods | Berth µs | all nodes µs | ratio |")
		fmt.Println("|---|---|---|---|---|---|---|---|---|")
	}
	passed, failed := 0, 0
	logs := [2]float64{}
	for _, row := range comparisons {
		if c.only != "" && row.testCase != c.only {
			continue
		}
		sampled, all, err := c.measure(row)
		if err != nil {
			return false, err
		}
		// With sampling nobody says that pods are spread evenly; with few nodes all of them are judged anyway.
		different := append(sampled.differences(row.even && c.small), all.differences(row.even)...)
		for _, difference := range different {
			fmt.Fprintf(os.Stderr, "%s: %s\n", row.testCase, difference)
		}
		if len(different) > 0 {
			failed++
			continue
		}
		passed++
		logs[0] += math.Log(sampled.ratio())
		logs[1] += math.Log(all.ratio())
		if !c.small {
			fmt.Printf("| %s %s | %d | %.1f | %.0f | %.0f× | %d | %.1f | %.0f | %.0f× |\n", row.testCase, row.workload,
				sampled.ours[0].Pods, median(sampled.ours), median(sampled.theirs), sampled.ratio(),
				all.ours[0].Pods, median(all.ours), median(all.theirs), all.ratio())
		}
	}
	if passed+failed == 0 {
		return false, fmt.Errorf("--only: no case %q", c.only)
	}
	if !c.small && passed > 0 {
		fmt.Printf("| geometric mean | | | | %.0f× | | | | %.0f× |\n", math.Exp(logs[0]/float64(passed)), math.Exp(logs[1]/float64(passed)))
	}
	if c.small || failed > 0 {
		fmt.Printf("%d passed, %d failed\n", passed, failed)
	}
	return failed == 0, nil
}
