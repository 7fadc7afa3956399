// SPDX-License-Identifier: Apache-2.0

// One question put to upstream: gates, PreFilter, Filter on every node, scores, preemption.
package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// errUpstreamFailed marks a case in which a plugin failed while scoring, which leaves nothing to compare.
var errUpstreamFailed = errors.New("a plugin failed")

// explain answers the case's question.
func explain(c *Case, reversed bool) (*Explanation, error) {
	var objects []runtime.Object
	for _, text := range c.Objects {
		more, err := decodeObject(text)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	if err := store(objects); err != nil {
		return nil, err
	}
	cfg, err := loadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	var asked *v1.Pod
	objects = slices.DeleteFunc(objects, func(obj runtime.Object) bool {
		pod, ok := obj.(*v1.Pod)
		if !ok {
			return false
		}
		if pod.Namespace+"/"+pod.Name == c.Pod {
			asked = pod
			return false
		}
		return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	})
	if asked == nil {
		return nil, fmt.Errorf("no pod %s", c.Pod)
	}
	asked.Spec.NodeName = "" // its nomination stays: it narrows nothing here, but preemption asks for it
	if c.Config == nil && asked.Spec.SchedulerName != v1.DefaultSchedulerName {
		asked.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	w, err := newWorld(objects, cfg, asked, reversed)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	return w.explain(asked)
}

func (w *world) explain(pod *v1.Pod) (*Explanation, error) {
	fw := w.profiles[pod.Spec.SchedulerName]
	if fw == nil {
		return nil, fmt.Errorf("no profile %q", pod.Spec.SchedulerName)
	}
	e := &Explanation{Pod: pod.Namespace + "/" + pod.Name, Profile: fw.ProfileName(), Nodes: []NodeVerdict{}, Winners: []string{},
		nominated: pod.Status.NominatedNodeName != ""}
	for _, plugin := range fw.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(w.ctx, pod); !status.IsSuccess() {
			e.PreFilter = &Rejection{Plugin: plugin.Name(), Code: status.Code().String(), Reasons: sorted(status.Reasons())}
			return e, nil
		}
	}
	all, err := w.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		e.Message = scheduler.ErrNoNodesAvailable.Error()
		return e, nil
	}
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	feasible, err := w.filter(fw, state, pod, all, &diagnosis, e)
	if err != nil {
		return nil, err
	}
	if err := w.doubt(fw, pod, all, e); err != nil {
		return nil, err
	}
	switch {
	case e.failed:
	case len(feasible) == 0:
		if err := w.postFilter(fw, state, pod, len(all), &diagnosis, e); err != nil {
			return nil, err
		}
	case len(feasible) == 1:
		e.Winners = []string{feasible[0].Node().Name}
	default:
		if err := w.score(fw, state, pod, feasible, e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// filter judges every node and returns those that fit.
func (w *world) filter(fw framework.Framework, state fwk.CycleState, pod *v1.Pod, all []fwk.NodeInfo, diagnosis *framework.Diagnosis, e *Explanation) ([]fwk.NodeInfo, error) {
	narrowed, status, rejectors := fw.RunPreFilterPlugins(w.ctx, state, pod)
	if !status.IsSuccess() {
		e.PreFilter = &Rejection{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: sorted(status.Reasons())}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		if e.failed = !status.IsRejected(); e.failed {
			e.Message = status.Message()
		}
		return nil, nil
	}
	var absent *fwk.Status
	if !narrowed.AllNodes() {
		absent = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(rejectors)))
		diagnosis.NodeToStatus.SetAbsentNodesStatus(absent)
	}
	var feasible []fwk.NodeInfo
	for _, node := range all {
		name := node.Node().Name
		status := absent
		if narrowed.AllNodes() || narrowed.NodeNames.Has(name) {
			if status = fw.RunFilterPluginsWithNominatedPods(w.ctx, state, pod, node); !status.IsSuccess() {
				diagnosis.NodeToStatus.Set(name, status)
			}
		}
		row := NodeVerdict{Name: name, Feasible: status.IsSuccess()}
		if row.Feasible {
			feasible = append(feasible, node)
		} else {
			plugin, reasons := status.Plugin(), sorted(status.Reasons())
			if !status.IsRejected() {
				e.fail(status.Message())
				reasons = []string{strings.TrimPrefix(status.Message(), fmt.Sprintf("running %q filter plugin: ", plugin))}
			}
			row.Plugin, row.Code, row.Reasons = &plugin, status.Code().String(), &reasons
		}
		e.Nodes = append(e.Nodes, row)
	}
	slices.SortFunc(e.Nodes, func(a, b NodeVerdict) int { return strings.Compare(a.Name, b.Name) })
	return feasible, nil
}

// fail notes that a plugin failed on a node. Upstream reports one such node, whichever comes first.
func (e *Explanation) fail(message string) {
	if e.failed && e.Message != message {
		e.undecided = append(e.undecided, "message")
	}
	e.failed, e.Message = true, message
}

// postFilter runs preemption and writes the message of a pod that fits nowhere.
func (w *world) postFilter(fw framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes int, diagnosis *framework.Diagnosis, e *Explanation) error {
	fit := &framework.FitError{Pod: pod, NumAllNodes: nodes, Diagnosis: *diagnosis}
	if fw.HasPostFilterPlugins() {
		_, status := fw.RunPostFilterPlugins(w.ctx, state, pod, fit.Diagnosis.NodeToStatus)
		fit.Diagnosis.PostFilterMsg = status.Message()
		if recorder := w.preempts[fw.ProfileName()]; recorder != nil {
			if recorder.err != nil {
				return recorder.err
			}
			e.Preemption = recorder.found
		}
	}
	e.Message = fit.Error()
	return nil
}

// score fills in the scores of the feasible rows and names the winners.
func (w *world) score(fw framework.Framework, state fwk.CycleState, pod *v1.Pod, feasible []fwk.NodeInfo, e *Explanation) error {
	rows := map[string]*NodeVerdict{}
	for i := range e.Nodes {
		rows[e.Nodes[i].Name] = &e.Nodes[i]
	}
	weights := map[string]int64{}
	for _, plugin := range fw.ListPlugins().Score.Enabled {
		weights[plugin.Name] = int64(plugin.Weight)
	}
	if fw.HasScorePlugins() {
		if status := fw.RunPreScorePlugins(w.ctx, state, pod, feasible); !status.IsSuccess() {
			return fmt.Errorf("%w: PreScore: %s", errUpstreamFailed, status.Message())
		}
		results, status := fw.RunScorePlugins(w.ctx, state, pod, feasible)
		if !status.IsSuccess() {
			return fmt.Errorf("%w: Score: %s", errUpstreamFailed, status.Message())
		}
		for i, result := range results {
			scores, total := map[string]Score{}, result.TotalScore
			for _, s := range result.Scores {
				if weights[s.Name] == 0 {
					return fmt.Errorf("plugin %s scored without a weight", s.Name)
				}
				raw, status := w.plugins[fw.ProfileName()][s.Name].(fwk.ScorePlugin).Score(w.ctx, state, pod, feasible[i])
				if !status.IsSuccess() {
					return fmt.Errorf("%w: Score: %s", errUpstreamFailed, status.Message())
				}
				scores[s.Name] = Score{Raw: raw, Normalized: s.Score / weights[s.Name], Weighted: s.Score}
			}
			row := rows[result.Name]
			row.Scores, row.Total = &scores, &total
		}
	} else {
		for _, node := range feasible {
			one := int64(1)
			row := rows[node.Node().Name]
			row.Scores, row.Total = &map[string]Score{}, &one
		}
	}
	best := *rows[feasible[0].Node().Name].Total
	for _, node := range feasible {
		best = max(best, *rows[node.Node().Name].Total)
	}
	for _, row := range e.Nodes {
		if row.Feasible && *row.Total == best {
			e.Winners = append(e.Winners, row.Name)
		}
	}
	return nil
}

func sorted(reasons []string) []string {
	out := slices.Clone(reasons)
	if out == nil {
		out = []string{}
	}
	slices.Sort(out)
	return out
}
