// SPDX-License-Identifier: Apache-2.0

// What upstream does not answer the same way twice, by field name.
package main

import (
	"maps"
	"slices"
)

// differences names the fields in which two answers to one question differ, sorted.
func differences(a, b *Explanation) []string {
	names := map[string]bool{}
	note := func(same bool, name string) {
		if !same {
			names[name] = true
		}
	}
	note(a.Profile == b.Profile, "profile")
	note(a.Message == b.Message, "message")
	note(slices.Equal(a.Winners, b.Winners), "winners")
	switch {
	case (a.PreFilter == nil) != (b.PreFilter == nil):
		names["preFilter"] = true
	case a.PreFilter != nil:
		note(a.PreFilter.Plugin == b.PreFilter.Plugin, "preFilter.plugin")
		note(a.PreFilter.Code == b.PreFilter.Code, "preFilter.code")
		note(slices.Equal(a.PreFilter.Reasons, b.PreFilter.Reasons), "preFilter.reasons")
	}
	if len(a.Nodes) != len(b.Nodes) {
		names["nodes"] = true
	} else {
		for i := range a.Nodes {
			nodeDifferences(&a.Nodes[i], &b.Nodes[i], note)
		}
	}
	preemptionDifferences(a.Preemption, b.Preemption, note)
	if len(names) == 0 {
		return []string{}
	}
	return slices.Sorted(maps.Keys(names))
}

func nodeDifferences(a, b *NodeVerdict, note func(bool, string)) {
	note(a.Name == b.Name, "nodes")
	note(a.Feasible == b.Feasible, "nodes.feasible")
	note(a.Code == b.Code, "nodes.code")
	note((a.Plugin == nil) == (b.Plugin == nil) && (a.Plugin == nil || *a.Plugin == *b.Plugin), "nodes.plugin")
	note((a.Reasons == nil) == (b.Reasons == nil) && (a.Reasons == nil || slices.Equal(*a.Reasons, *b.Reasons)), "nodes.reasons")
	note((a.Total == nil) == (b.Total == nil) && (a.Total == nil || *a.Total == *b.Total), "nodes.total")
	if a.Scores == nil || b.Scores == nil {
		note(a.Scores == nil && b.Scores == nil, "nodes.scores")
		return
	}
	for name, score := range *a.Scores {
		other, ok := (*b.Scores)[name]
		note(ok && score == other, "nodes.scores."+name)
	}
	note(len(*a.Scores) == len(*b.Scores), "nodes.scores")
}

func preemptionDifferences(a, b *Preemption, note func(bool, string)) {
	if a == nil || b == nil {
		note(a == nil && b == nil, "preemption")
		return
	}
	note(a.Selected == b.Selected && slices.Equal(a.SelectedAnyOf, b.SelectedAnyOf), "preemption.selected")
	if len(a.Candidates) != len(b.Candidates) {
		note(false, "preemption.candidates")
		return
	}
	for i := range a.Candidates {
		x, y := &a.Candidates[i], &b.Candidates[i]
		note(x.Node == y.Node, "preemption.candidates")
		note(slices.Equal(x.Victims, y.Victims), "preemption.candidates.victims")
		note(x.PDBViolations == y.PDBViolations, "preemption.candidates.pdbViolations")
	}
}
