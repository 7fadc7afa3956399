// SPDX-License-Identifier: Apache-2.0

// What is taken on each node, for kubelets that reject a pod for which there is no room.
package main

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// In the order in which a kubelet looks.
var countedResources = []v1.ResourceName{v1.ResourcePods, v1.ResourceCPU, v1.ResourceMemory}

type refusal struct {
	resource                  v1.ResourceName
	requested, used, capacity int64
}

// ledger is kept by what kubelets took, not by what the API shows: that comes later.
type ledger struct {
	nodes listers.NodeLister
	mutex sync.Mutex
	taken map[string]map[types.UID]map[v1.ResourceName]int64
}

func newLedger(nodes listers.NodeLister) *ledger {
	return &ledger{nodes: nodes, taken: map[string]map[types.UID]map[v1.ResourceName]int64{}}
}

// changed counts what runs already and forgets what has ended; gone forgets what is deleted. Both are told in the order of
// the watch, each before anybody looks at the pod: a deleted pod's room is there for the next one.
func (l *ledger) changed(object any) {
	pod, ok := object.(*v1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	switch pod.Status.Phase {
	case v1.PodRunning:
		l.put(pod)
	case v1.PodFailed, v1.PodSucceeded:
		l.remove(pod)
	}
}

func (l *ledger) gone(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if pod, ok := object.(*v1.Pod); ok {
		l.remove(pod)
	}
}

func amounts(pod *v1.Pod) map[v1.ResourceName]int64 {
	sum := map[v1.ResourceName]int64{v1.ResourcePods: 1}
	for i := range pod.Spec.Containers {
		requests := pod.Spec.Containers[i].Resources.Requests
		sum[v1.ResourceCPU] += requests.Cpu().MilliValue()
		sum[v1.ResourceMemory] += requests.Memory().Value()
	}
	return sum
}

func (l *ledger) put(pod *v1.Pod) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.putLocked(pod)
}

func (l *ledger) putLocked(pod *v1.Pod) {
	on := l.taken[pod.Spec.NodeName]
	if on == nil {
		on = map[types.UID]map[v1.ResourceName]int64{}
		l.taken[pod.Spec.NodeName] = on
	}
	on[pod.UID] = amounts(pod)
}

func (l *ledger) remove(pod *v1.Pod) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.taken[pod.Spec.NodeName], pod.UID)
}

// admit takes the pod if there is room, and says what there is not room for otherwise. One that was taken stays.
func (l *ledger) admit(pod *v1.Pod) *refusal {
	node, err := l.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return nil // its node is gone or not seen yet; nobody can say
	}
	capacity := map[v1.ResourceName]int64{
		v1.ResourcePods:   node.Status.Allocatable.Pods().Value(),
		v1.ResourceCPU:    node.Status.Allocatable.Cpu().MilliValue(),
		v1.ResourceMemory: node.Status.Allocatable.Memory().Value(),
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, known := l.taken[pod.Spec.NodeName][pod.UID]; known {
		return nil
	}
	asked := amounts(pod)
	for _, name := range countedResources {
		var used int64
		for _, other := range l.taken[pod.Spec.NodeName] {
			used += other[name]
		}
		if asked[name] > 0 && used+asked[name] > capacity[name] {
			return &refusal{name, asked[name], used, capacity[name]}
		}
	}
	l.putLocked(pod)
	return nil
}
