// SPDX-License-Identifier: Apache-2.0

// The API server of a story: the fake clientset's tracker, with resource versions that grow, bindings that bind, and
// writes of the scheduler's own goroutines held back until the scheduling cycle is over.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
)

var podResource = v1.SchemeGroupVersion.WithResource("pods")

// storyServer is also the client that the scheduler is given.
type storyServer struct {
	*fake.Clientset
	clock *testingclock.FakeClock

	lock     sync.Mutex
	changed  *sync.Cond
	version  int
	versions map[schema.GroupVersionResource]map[string]string // what there is, by namespace/name
	watches  map[string]bool                                   // resources that are watched by now
	cycle    string                                            // the pod in its scheduling cycle; empty: none is
	deleted  []string                                          // by the scheduler, since last asked
	graceful bool                                              // pods deleted by the scheduler stay for a while
	slow     bool                                              // bindings wait for an answer
	binding  map[types.UID]bool                                // those that do
}

var _ kubernetes.Interface = &storyServer{}

func newStoryServer(clock *testingclock.FakeClock) *storyServer {
	s := &storyServer{Clientset: fake.NewSimpleClientset(), clock: clock,
		versions: map[schema.GroupVersionResource]map[string]string{}, watches: map[string]bool{},
		binding: map[types.UID]bool{}}
	s.changed = sync.NewCond(&s.lock)
	s.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := s.Tracker().Watch(action.GetResource(), action.GetNamespace())
		s.lock.Lock()
		defer s.lock.Unlock()
		s.watches[action.GetResource().Resource] = true
		return true, w, err
	})
	return s
}

// write stores an object under a new version. The caller holds the lock.
func (s *storyServer) write(gvr schema.GroupVersionResource, obj runtime.Object, create bool) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.version++
	m.SetResourceVersion(strconv.Itoa(s.version))
	if create {
		err = s.Tracker().Create(gvr, obj, m.GetNamespace())
	} else {
		err = s.Tracker().Update(gvr, obj, m.GetNamespace())
	}
	if err == nil {
		if s.versions[gvr] == nil {
			s.versions[gvr] = map[string]string{}
		}
		s.versions[gvr][m.GetNamespace()+"/"+m.GetName()] = m.GetResourceVersion()
	}
	return err
}

// remove takes an object away. The caller holds the lock.
func (s *storyServer) remove(gvr schema.GroupVersionResource, namespace, name string) error {
	delete(s.versions[gvr], namespace+"/"+name)
	return s.Tracker().Delete(gvr, namespace, name)
}

func (s *storyServer) pod(namespace, name string) (*v1.Pod, error) {
	obj, err := s.Tracker().Get(podResource, namespace, name)
	if err != nil {
		return nil, err
	}
	return obj.(*v1.Pod).DeepCopy(), nil
}

// change edits a pod. The caller holds the lock.
func (s *storyServer) change(namespace, name string, edit func(*v1.Pod) error) error {
	pod, err := s.pod(namespace, name)
	if err != nil {
		return err
	}
	if err := edit(pod); err != nil {
		return err
	}
	return s.write(podResource, pod, false)
}

// bind sets the node; the kubelet's report that the pod runs follows at once.
func (s *storyServer) bind(namespace, name, node string) error {
	err := s.change(namespace, name, func(pod *v1.Pod) error {
		if !bindable(pod) {
			return apierrors.NewConflict(podResource.GroupResource(), name, fmt.Errorf("pod is bound, terminating or gated"))
		}
		pod.Spec.NodeName = node
		pod.Status.Conditions = append(withoutCondition(pod.Status.Conditions, v1.PodScheduled),
			v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
		return nil
	})
	if err != nil {
		return err
	}
	return s.change(namespace, name, func(pod *v1.Pod) error {
		now := metav1.NewTime(s.clock.Now())
		pod.Status.Phase, pod.Status.StartTime = v1.PodRunning, &now
		return nil
	})
}

func bindable(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0
}

func withoutCondition(conditions []v1.PodCondition, which v1.PodConditionType) []v1.PodCondition {
	var out []v1.PodCondition
	for _, c := range conditions {
		if c.Type != which {
			out = append(out, c)
		}
	}
	return out
}

// deletePod removes a pod; one on a node is terminating first, and its kubelet is quick.
func (s *storyServer) deletePod(namespace, name string) error {
	pod, err := s.pod(namespace, name)
	if err != nil {
		return err
	}
	if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
		if err := s.terminate(namespace, name); err != nil {
			return err
		}
	}
	return s.remove(podResource, namespace, name)
}

func (s *storyServer) terminate(namespace, name string) error {
	return s.change(namespace, name, func(pod *v1.Pod) error {
		now, grace := metav1.NewTime(s.clock.Now()), int64(0)
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, &grace
		return nil
	})
}

// beginCycle holds back what goroutines write; endCycle lets it go.
func (s *storyServer) beginCycle(pod string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.cycle = pod
}

func (s *storyServer) endCycle() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.cycle = ""
	s.changed.Broadcast()
}

// The scheduler's side.

func (s *storyServer) CoreV1() typedcorev1.CoreV1Interface {
	return storyCore{s.Clientset.CoreV1(), s}
}

type storyCore struct {
	typedcorev1.CoreV1Interface
	server *storyServer
}

func (c storyCore) Pods(namespace string) typedcorev1.PodInterface {
	return storyPods{c.CoreV1Interface.Pods(namespace), c.server, namespace}
}

type storyPods struct {
	typedcorev1.PodInterface
	server    *storyServer
	namespace string
}

func (p storyPods) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*v1.Pod, error) {
	s := p.server
	s.lock.Lock()
	defer s.lock.Unlock()
	for s.cycle != "" && s.cycle != p.namespace+"/"+name {
		s.changed.Wait()
	}
	return nil, s.change(p.namespace, name, func(pod *v1.Pod) error {
		before, err := json.Marshal(pod)
		if err != nil {
			return err
		}
		after, err := strategicpatch.StrategicMergePatch(before, data, &v1.Pod{})
		if err != nil {
			return err
		}
		patched := &v1.Pod{}
		if err := json.Unmarshal(after, patched); err != nil {
			return err
		}
		patched.Status.StartTime = pod.Status.StartTime // the text has seconds only
		*pod = *patched
		return nil
	})
}

func (p storyPods) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	s := p.server
	s.lock.Lock()
	defer s.lock.Unlock()
	for s.cycle != "" {
		s.changed.Wait()
	}
	s.deleted = append(s.deleted, p.namespace+"/"+name)
	if s.graceful {
		return s.terminate(p.namespace, name)
	}
	return s.deletePod(p.namespace, name)
}

func (p storyPods) Bind(_ context.Context, binding *v1.Binding, _ metav1.CreateOptions) error {
	s := p.server
	s.lock.Lock()
	defer s.lock.Unlock()
	for s.cycle != "" {
		s.changed.Wait()
	}
	if s.slow {
		s.binding[binding.UID] = true
		for s.slow && s.binding[binding.UID] {
			s.changed.Wait()
		}
	}
	if pod, err := s.pod(p.namespace, binding.Name); err == nil && pod.UID != binding.UID {
		return apierrors.NewConflict(podResource.GroupResource(), binding.Name, fmt.Errorf("another pod by now"))
	}
	return s.bind(p.namespace, binding.Name, binding.Target.Name)
}

// answer lets a binding through; false when there is none.
func (s *storyServer) answer(uid types.UID) bool {
	if !s.binding[uid] {
		return false
	}
	delete(s.binding, uid)
	s.changed.Broadcast()
	return true
}

// hurry ends the slowness.
func (s *storyServer) hurry() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.slow = false
	s.changed.Broadcast()
}

func (s *storyServer) isBinding(uid types.UID) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.binding[uid]
}
