// SPDX-License-Identifier: Apache-2.0

// The real preemption plugin, with a look at every candidate its dry run finds.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// tieTries is how often two candidates are put against each other: upstream settles a tie by map order.
const tieTries = 48

// preemptionRecorder stands in for the plugin in the framework.
type preemptionRecorder struct {
	*defaultpreemption.DefaultPreemption
	handle fwk.Handle
	found  *Preemption
	err    error // the plugin and our look at its candidates disagree
}

// PostFilter dry-runs every potential node first, then lets the plugin do its work.
func (r *preemptionRecorder) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	found := r.dryRun(ctx, state, pod, m)
	result, status := r.DefaultPreemption.PostFilter(ctx, state, pod, m)
	if status.IsSuccess() {
		r.found = found
		if node := result.NominatedNodeName; found == nil || node != found.Selected && !slices.Contains(found.SelectedAnyOf, node) {
			r.err = fmt.Errorf("preemption nominated %s, which is not among the best candidates: %+v", node, found)
		}
	}
	return result, status
}

func (r *preemptionRecorder) dryRun(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) *Preemption {
	nodes, err := m.NodesForStatusCode(r.handle.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	pdbs, err := r.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return nil
	}
	candidates, _, _ := r.Evaluator.DryRunPreemption(ctx, state, pod, nodes, pdbs, 0, int32(len(nodes)))
	if len(candidates) == 0 {
		return nil
	}
	p := &Preemption{}
	for _, c := range candidates {
		row := Candidate{Node: c.Name(), PDBViolations: c.Victims().NumPDBViolations}
		for _, victim := range c.Victims().Pods {
			row.Victims = append(row.Victims, victim.Namespace+"/"+victim.Name)
		}
		p.Candidates = append(p.Candidates, row)
	}
	slices.SortFunc(p.Candidates, func(a, b Candidate) int { return strings.Compare(a.Node, b.Node) })
	equals := r.best(ctx, candidates)
	p.Selected = equals[0]
	if len(equals) > 1 {
		p.SelectedAnyOf = equals
	}
	return p
}

// best lists every candidate that upstream may pick. Its criteria order candidates one by one, so pairs settle it.
func (r *preemptionRecorder) best(ctx context.Context, candidates []preemption.Candidate) []string {
	winner := r.Evaluator.SelectCandidate(ctx, candidates)
	equals := []string{winner.Name()}
	for _, c := range candidates {
		if c.Name() == winner.Name() {
			continue
		}
		pair := []preemption.Candidate{winner, c}
		for range tieTries {
			slices.Reverse(pair) // a small map favours what was put in first
			if r.Evaluator.SelectCandidate(ctx, pair).Name() == c.Name() {
				equals = append(equals, c.Name())
				break
			}
		}
	}
	slices.Sort(equals)
	return equals
}
