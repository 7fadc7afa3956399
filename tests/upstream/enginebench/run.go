// SPDX-License-Identifier: Apache-2.0

// Ops in virtual time, as `berth bench --mode engine` runs them: 300 attempts of pods that createPods made take a second.
package main

import (
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	attemptTime      = time.Second / 300
	otherAttemptTime = time.Microsecond
	patience         = 10 * time.Minute // of an op, without getting any of its pods where it wants them
	churnPatience    = 10 * time.Second // the same when nothing but churn could still help
)

// result is what one run has found. The names are those of `berth bench -o json`.
type result struct {
	Case          string         `json:"case"`
	Workload      string         `json:"workload"`
	Percentage    int32          `json:"percentage_of_nodes_to_score"`
	Nodes         int            `json:"nodes"`
	Pods          int            `json:"pods"`
	Scheduled     int            `json:"scheduled"`
	Unschedulable int            `json:"unschedulable"`
	Attempts      int            `json:"attempts"`
	CPU           float64        `json:"process_cpu_us_per_pod"`
	PodsPerNode   map[string]int `json:"nodes_by_pods"` // how many nodes have so many pods
	Message       string         `json:"message,omitempty"`
}

type timer struct {
	at time.Time
	do func() error
}

type run struct {
	*cluster
	clock    *testingclock.FakeClock
	serial   int
	timers   []*timer
	churns   int
	paced    map[types.UID]bool // made by createPods
	awaited  map[types.UID]bool
	measured map[types.UID]bool
	progress time.Time // when an awaited pod last got there

	measuring bool
	result    result
	cpu       time.Duration
}

// processCPU is what all threads of this process have used so far.
func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func runPlan(p *plan, percentage int32) (*result, error) {
	clock := testingclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	c, err := newCluster(clock)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	r := &run{cluster: c, clock: clock, paced: map[types.UID]bool{}, awaited: map[types.UID]bool{}, measured: map[types.UID]bool{},
		result: result{Case: p.testCase, Workload: p.workload, Percentage: percentage, PodsPerNode: map[string]int{}}}
	for i := range p.ops {
		if err := r.do(&p.ops[i], i); err != nil {
			return nil, fmt.Errorf("workloadTemplate: op %d (%s): %w", i, p.ops[i].Opcode, err)
		}
	}
	r.finish()
	return &r.result, nil
}

func (r *run) do(op *operation, index int) error {
	switch op.Opcode {
	case "createNodes":
		return r.createNodes(op)
	case "createNamespaces":
		return r.createNamespaces(op)
	case "createPods":
		return r.createPods(op, index)
	case "churn":
		return r.churn(op, index)
	case "barrier":
		for _, obj := range r.factory.Core().V1().Pods().Informer().GetStore().List() {
			if pod := obj.(*v1.Pod); r.paced[pod.UID] && pod.Spec.NodeName == "" {
				r.awaited[pod.UID] = true
			}
		}
		return r.await()
	}
	return fmt.Errorf("not for enginebench")
}

func (r *run) make(t *objectTemplate, index, count int) (object, error) {
	r.serial++
	return t.make(index, count, r.serial, metav1.NewTime(r.clock.Now()))
}

// namespaceOf gives the namespace of an op, which is there from then on: the op's own or one named after its place.
func (r *run) namespaceOf(op *operation, index int) (string, error) {
	if op.Namespace != nil {
		return *op.Namespace, r.ensureNamespace(*op.Namespace)
	}
	name := "namespace-" + strconv.Itoa(index)
	return name, r.ensureNamespace(name)
}

func (r *run) ensureNamespace(name string) error {
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelMetadataName: name}}}
	if _, found, err := r.factory.Core().V1().Namespaces().Informer().GetStore().GetByKey(name); found || err != nil {
		return err
	}
	return r.put(namespace)
}

func (r *run) createNodes(op *operation) error {
	from, err := readTemplate(op.NodeTemplatePath, baseNode)
	if err != nil {
		return err
	}
	for i := range op.Count {
		obj, err := r.make(from, i, op.Count)
		if err != nil {
			return err
		}
		labels := obj.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[v1.LabelHostname] = obj.GetName()
		if strategy := op.LabelNodePrepareStrategy; strategy != nil {
			if len(strategy.LabelValues) == 0 {
				return fmt.Errorf("labelNodePrepareStrategy: labelValues: Required value")
			}
			labels[strategy.LabelKey] = strategy.LabelValues[i%len(strategy.LabelValues)]
		}
		obj.SetLabels(labels)
		var attached *storagev1.CSINode
		if node, ok := obj.(*v1.Node); ok && op.NodeAllocatableStrategy != nil {
			if attached, err = op.NodeAllocatableStrategy.prepare(node); err != nil {
				return err
			}
		}
		if err := r.put(obj); err != nil {
			return err
		}
		if attached != nil {
			if err := r.put(attached); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) createNamespaces(op *operation) error {
	from, err := readTemplate(op.NamespaceTemplatePath, baseNamespace)
	if err != nil {
		return err
	}
	for i := range op.Count {
		obj, err := r.make(from, i, op.Count)
		if err != nil {
			return err
		}
		obj.SetName(fmt.Sprintf("%s-%d", op.Prefix, i))
		labels := map[string]string{v1.LabelMetadataName: obj.GetName()}
		for key, value := range obj.GetLabels() {
			labels[key] = value
		}
		obj.SetLabels(labels)
		if err := r.put(obj); err != nil {
			return err
		}
	}
	return nil
}

// createPods makes all pods, and their volumes, before the measurement starts; that they exist is told after it has started. Pods that are not measured are placed with upstream's default
// sampling, whatever was asked for: that takes a tenth of the time.
func (r *run) createPods(op *operation, index int) error {
	namespace, err := r.namespaceOf(op, index)
	if err != nil {
		return err
	}
	from, err := readTemplate(op.PodTemplatePath, basePod)
	if err != nil {
		return err
	}
	volumes, err := volumesOf(op)
	if err != nil {
		return err
	}
	objects := make([]object, 0, op.Count) // pods, each after its claim and its volume
	for i := range op.Count {
		obj, err := r.make(from, i, op.Count)
		if err != nil {
			return err
		}
		obj.SetNamespace(namespace)
		if pod, ok := obj.(*v1.Pod); ok && volumes != nil {
			made, err := volumes.make(r, pod, i, op.Count)
			if err != nil {
				return err
			}
			objects = append(objects, made...)
		}
		objects = append(objects, obj)
		r.paced[obj.GetUID()] = true
		if !op.SkipWaitToCompletion {
			r.awaited[obj.GetUID()] = true
		}
		if op.CollectMetrics {
			r.measured[obj.GetUID()] = true
		}
	}
	var began time.Duration
	if op.CollectMetrics {
		runtime.GC() // what was left behind so far is not the measurement's to clean up
		r.measuring = true
		if r.result.Percentage > 0 {
			r.sample(&r.result.Percentage)
		}
		began = processCPU()
	}
	for _, obj := range objects {
		if err := r.put(obj); err != nil {
			return err
		}
	}
	if err := r.await(); err != nil {
		return err
	}
	if op.CollectMetrics {
		r.cpu += processCPU() - began
		r.measuring = false
		r.sample(nil)
		r.result.Nodes = r.nodes
	}
	return nil
}

func (r *run) churn(op *operation, index int) error {
	namespace, err := r.namespaceOf(op, index)
	if err != nil {
		return err
	}
	var from []*objectTemplate
	for _, path := range op.TemplatePaths {
		t, err := readTemplate(path, "")
		if err != nil {
			return err
		}
		from = append(from, t)
	}
	slots := make([]object, op.Number*len(from)) // of recreate; nil: the slot is free
	interval := time.Duration(op.IntervalMilliseconds) * time.Millisecond
	next, tick := &timer{at: r.clock.Now().Add(interval)}, 0
	next.do = func() error {
		for i, t := range from {
			slot := 0
			if op.Mode == "recreate" {
				slot = tick%op.Number*len(from) + i
				if gone := slots[slot]; gone != nil {
					slots[slot] = nil
					if err := r.remove(gone); err != nil {
						return err
					}
					continue
				}
			}
			obj, err := r.make(t, tick, 1)
			if err != nil {
				return err
			}
			if _, ok := obj.(*v1.Pod); ok {
				obj.SetNamespace(namespace)
			}
			if err := r.put(obj); err != nil {
				return err
			}
			if op.Mode == "recreate" {
				slots[slot] = obj
			}
		}
		tick++
		if op.Mode == "create" && op.Number > 0 && tick >= op.Number {
			r.churns--
			return nil
		}
		next.at = r.clock.Now().Add(interval)
		r.timers = append(r.timers, next)
		return nil
	}
	r.churns++
	r.timers = append(r.timers, next)
	return nil
}

// Time.

// tick runs the timers that are due; the time of the next one, or zero, is returned.
func (r *run) tick() (next time.Time, err error) {
	for i := 0; i < len(r.timers); i++ {
		if t := r.timers[i]; !t.at.After(r.clock.Now()) {
			r.timers = append(r.timers[:i], r.timers[i+1:]...)
			if err := t.do(); err != nil {
				return next, err
			}
			i = -1 // it may have added some
		}
	}
	for _, t := range r.timers {
		if next.IsZero() || t.at.Before(next) {
			next = t.at
		}
	}
	return next, nil
}

// await goes on until all awaited pods are placed, or nothing that is planned can get them there.
func (r *run) await() error {
	r.progress = r.clock.Now()
	for len(r.awaited) > 0 {
		next, err := r.tick()
		if err != nil {
			return err
		}
		ready, waited := r.ready(), r.clock.Since(r.progress)
		if (!ready && (r.churns == 0 || waited > churnPatience)) || waited > patience {
			break
		}
		if !ready {
			r.clock.SetTime(next)
			continue
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	clear(r.awaited)
	return nil
}

func (r *run) step() error {
	out, err := r.attempt()
	if err != nil {
		return err
	}
	uid := out.pod.UID
	if r.paced[uid] {
		r.clock.Step(attemptTime)
	} else {
		r.clock.Step(otherAttemptTime)
	}
	if r.measuring {
		r.result.Attempts++
	}
	if out.node == "" {
		if r.measured[uid] && r.result.Message == "" {
			r.result.Message = out.message
		}
		return nil
	}
	if r.measured[uid] {
		r.result.Scheduled++
	}
	if r.awaited[uid] {
		delete(r.awaited, uid)
		r.progress = r.clock.Now()
	}
	return nil
}

func (r *run) finish() {
	r.result.Pods = len(r.measured)
	r.result.Unschedulable = r.result.Pods - r.result.Scheduled
	if r.result.Unschedulable == 0 {
		r.result.Message = ""
	}
	if r.result.Pods > 0 {
		r.result.CPU = float64(r.cpu.Nanoseconds()/10/int64(r.result.Pods)) / 100
	}
	perNode := map[string]int{}
	for _, obj := range r.factory.Core().V1().Pods().Informer().GetStore().List() {
		if pod := obj.(*v1.Pod); pod.Spec.NodeName != "" {
			perNode[pod.Spec.NodeName]++
		}
	}
	for _, pods := range perNode {
		r.result.PodsPerNode[strconv.Itoa(pods)]++
	}
	if empty := r.nodes - len(perNode); empty > 0 {
		r.result.PodsPerNode["0"] = empty
	}
}
