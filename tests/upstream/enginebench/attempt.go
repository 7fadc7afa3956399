// SPDX-License-Identifier: Apache-2.0

// One attempt: upstream's scheduling step, from the queue to the assumed pod or back into the queue, and the news that
// follow from it. The calls are those of upstream's scheduling cycle; events, status patches and bindings are not made.
package main

import (
	"errors"
	"fmt"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Upstream measures its plugins in one cycle of ten.
const pluginMetricsPercent = 10

// How long the goroutine of a preemption may take, and how often it is asked.
const (
	preemptionPatience = 20 * time.Second
	preemptionPoll     = 20 * time.Microsecond
)

// outcome of an attempt.
type outcome struct {
	pod     *v1.Pod
	node    string // it was placed there
	message string // why not
}

// ready tells whether there is a pod to pop. The queue is asked only when none is known to be there: it answers with a copy
// of all its pods, which would count as upstream's CPU in every step.
func (c *cluster) ready() bool {
	if len(c.fresh) == 0 && c.known == 0 {
		queue := c.scheduler.SchedulingQueue
		c.known = len(queue.PodsInActiveQ()) + len(queue.PodsInBackoffQ())
	}
	return len(c.fresh) > 0 || c.known > 0
}

// attempt tries the next pod. REQUIRES: ready().
func (c *cluster) attempt() (outcome, error) {
	info, err := c.scheduler.NextPod(c.logger)
	if err != nil || info == nil {
		return outcome{}, fmt.Errorf("nothing was popped: %w", err)
	}
	pod := info.Pod
	c.left(pod.UID)
	profile := c.profiles[pod.Spec.SchedulerName]
	if pod.DeletionTimestamp != nil {
		c.scheduler.SchedulingQueue.Done(pod.UID)
		return outcome{pod: pod, message: "terminating"}, nil
	}
	state := framework.NewCycleState()
	state.SetRecordPluginMetrics(rand.Intn(100) < pluginMetricsPercent)
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	if err := c.scheduler.Cache.UpdateSnapshot(c.logger, c.snapshot); err != nil {
		return outcome{}, err
	}
	result, err := c.scheduler.SchedulePod(c.ctx, profile, state, info)
	if err != nil {
		return c.reject(profile, state, info, err)
	}
	return c.place(profile, state, info, result)
}

// place assumes the pod, and confirms its binding.
func (c *cluster) place(profile framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo, result scheduler.ScheduleResult) (outcome, error) {
	queue, host := c.scheduler.SchedulingQueue, result.SuggestedHost
	assumed := info.DeepCopy().Pod
	assumed.Spec.NodeName = host
	if err := c.scheduler.Cache.AssumePod(c.logger, assumed); err != nil {
		return outcome{}, err
	}
	queue.DeleteNominatedPodIfExists(assumed)
	if status := profile.RunReservePluginsReserve(c.ctx, state, assumed, host); !status.IsSuccess() {
		return outcome{}, fmt.Errorf("reserve: %w", status.AsError())
	}
	if _, status := profile.RunPermitPlugins(c.ctx, state, assumed, host); !status.IsSuccess() {
		return outcome{}, fmt.Errorf("permit: %w", status.AsError())
	}
	queue.Done(assumed.UID)
	before := c.pod(assumed.Namespace, assumed.Name)
	if before == nil {
		return outcome{}, fmt.Errorf("%s/%s is gone", assumed.Namespace, assumed.Name)
	}
	return outcome{pod: assumed, node: host}, c.change(before, assumed)
}

// reject looks for victims, gives the pod back to the queue and lets the victims go.
func (c *cluster) reject(profile framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo, why error) (outcome, error) {
	queue := c.scheduler.SchedulingQueue
	info.ClearRejectorPlugins()
	var nominating *fwk.NominatingInfo
	var fit *framework.FitError
	if errors.As(why, &fit) {
		result, status := profile.RunPostFilterPlugins(c.ctx, state, info.Pod, fit.Diagnosis.NodeToStatus)
		if status.Code() == fwk.Error {
			return outcome{}, fmt.Errorf("%s/%s: %w", info.Pod.Namespace, info.Pod.Name, status.AsError())
		}
		fit.Diagnosis.PostFilterMsg = status.Message()
		if result != nil {
			nominating = result.NominatingInfo
		}
		info.UnschedulablePlugins, info.PendingPlugins = fit.Diagnosis.UnschedulablePlugins, fit.Diagnosis.PendingPlugins
	} else if !errors.Is(why, scheduler.ErrNoNodesAvailable) {
		return outcome{}, fmt.Errorf("%s/%s: %w", info.Pod.Namespace, info.Pod.Name, why)
	}
	out := outcome{pod: info.Pod, message: why.Error()}
	// The nomination is in the pod's status at once.
	pod := info.Pod.DeepCopy()
	if nominating.Mode() == fwk.ModeOverride && nominating.NominatedNodeName != pod.Status.NominatedNodeName {
		pod.Status.NominatedNodeName = nominating.NominatedNodeName
		if err := c.factory.Core().V1().Pods().Informer().GetStore().Update(pod); err != nil {
			return outcome{}, err
		}
	}
	var err error
	if info.PodInfo, err = framework.NewPodInfo(pod); err != nil {
		return outcome{}, err
	}
	if err := queue.AddUnschedulableIfNotPresent(c.logger, info, queue.SchedulingCycle()); err != nil {
		return outcome{}, err
	}
	queue.AddNominatedPod(c.logger, info.PodInfo, nominating)
	if nominating == nil || nominating.NominatedNodeName == "" {
		return out, nil
	}
	return out, c.evict(profile, pod)
}

// evict waits until the preemption's goroutine has written everything, and does it.
func (c *cluster) evict(profile framework.Framework, preemptor *v1.Pod) error {
	for end := time.Now().Add(preemptionPatience); ; time.Sleep(preemptionPoll) {
		busy := false
		for _, plugin := range profile.PreEnqueuePlugins() {
			busy = busy || plugin.Name() == "DefaultPreemption" && !plugin.PreEnqueue(c.ctx, preemptor).IsSuccess()
		}
		if !busy {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("the preemption for %s/%s does not end", preemptor.Namespace, preemptor.Name)
		}
	}
	deleted, cleared := c.client.taken()
	for _, name := range cleared {
		if before := c.pod(name.Namespace, name.Name); before != nil {
			after := before.DeepCopy()
			after.Status.NominatedNodeName = ""
			after.ResourceVersion += "0"
			if err := c.change(before, after); err != nil {
				return err
			}
		}
	}
	for _, name := range deleted {
		if victim := c.pod(name.Namespace, name.Name); victim != nil {
			if err := c.remove(victim); err != nil {
				return err
			}
		}
	}
	return nil
}
