// SPDX-License-Identifier: Apache-2.0

// The steps of a story, done to the API server.
package main

import (
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// errAbsent marks steps about objects that are not there.
var errAbsent = errors.New("no such object")

// apply does what a step says.
func (w *storyWorld) apply(step *Step) error {
	w.server.lock.Lock()
	defer w.server.lock.Unlock()
	namespace, name, _ := strings.Cut(step.Pod, "/")
	if step.Op == "answer" {
		uid, ok := w.binding[step.Pod]
		if w.leaving(namespace, name) {
			return errAbsent
		}
		delete(w.binding, step.Pod)
		if !ok || !w.server.answer(uid) {
			return errAbsent
		}
		pod, err := w.server.pod(namespace, name)
		refused := err != nil || pod.UID != uid || !bindable(pod)
		w.server.lock.Unlock()
		defer w.server.lock.Lock()
		return w.answered(namespace, name, uid, refused)
	}
	if step.Pod != "" {
		if _, err := w.server.pod(namespace, name); err != nil || w.leaving(namespace, name) {
			return errAbsent
		}
	}
	switch step.Op {
	case "bind":
		if w.server.bind(namespace, name, step.Node) != nil {
			return errAbsent
		}
		return nil
	case "nominate":
		return w.server.change(namespace, name, func(pod *v1.Pod) error {
			if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName == step.Node {
				return errAbsent
			}
			pod.Status.NominatedNodeName = step.Node
			return nil
		})
	case "terminate":
		return w.server.terminate(namespace, name)
	}
	objects, err := decodeObject(step.Object)
	if err != nil {
		return err
	}
	obj := objects[0]
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	gvr, ok := storyKinds[obj.GetObjectKind().GroupVersionKind().Kind]
	if !ok {
		return fmt.Errorf("no %s in stories", obj.GetObjectKind().GroupVersionKind())
	}
	if m.GetNamespace() == "" && namespaced(obj) {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	before, err := w.server.Tracker().Get(gvr, m.GetNamespace(), m.GetName())
	if (err == nil) == (step.Op == "create") {
		return errAbsent
	}
	switch step.Op {
	case "create":
		w.created++
		m.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", w.created)))
		m.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
		if pod, ok := obj.(*v1.Pod); ok {
			if err := admit(pod); err != nil {
				return err
			}
		}
		return w.server.write(gvr, obj, true)
	case "update":
		if gvr == podResource && w.leaving(m.GetNamespace(), m.GetName()) {
			return errAbsent
		}
		return w.update(gvr, before, obj)
	case "delete":
		if gvr == podResource {
			return w.server.deletePod(m.GetNamespace(), m.GetName())
		}
		return w.server.remove(gvr, m.GetNamespace(), m.GetName())
	}
	return fmt.Errorf("no op %q", step.Op)
}

// answered waits for the end of a binding cycle.
func (w *storyWorld) answered(namespace, name string, uid types.UID, refused bool) error {
	err := w.wait("the end of the binding of "+namespace+"/"+name, func() bool {
		if refused {
			_, failed := w.failed.Load(uid)
			return failed
		}
		pod, err := w.server.pod(namespace, name)
		return err == nil && pod.Status.StartTime != nil
	})
	if err != nil {
		return err
	}
	if info, ok := w.scheduler.SchedulingQueue.GetPod(name, namespace); ok && info.Pod.UID == uid {
		return fmt.Errorf("%w: %s comes back by the clock", errUnfit, name)
	}
	return nil
}

// leaving tells of a pod that is terminating while it is bound. Nothing but its deletion is told of it: its binding
// fails, and then it comes back by the clock; its updates are an exception (stories/README.md).
func (w *storyWorld) leaving(namespace, name string) bool {
	pod, err := w.server.pod(namespace, name)
	return err == nil && pod.DeletionTimestamp != nil && w.server.binding[pod.UID]
}

func admit(pod *v1.Pod) error {
	if err := admitPriority(pod, nil, nil); err != nil {
		return err
	}
	return prepareForCreate(pod)
}

// update replaces an object, except for what is not the user's to write.
func (w *storyWorld) update(gvr schema.GroupVersionResource, before, after runtime.Object) error {
	b, err := meta.Accessor(before)
	if err != nil {
		return err
	}
	a, err := meta.Accessor(after)
	if err != nil {
		return err
	}
	a.SetUID(b.GetUID())
	a.SetCreationTimestamp(b.GetCreationTimestamp())
	a.SetDeletionTimestamp(b.GetDeletionTimestamp())
	a.SetDeletionGracePeriodSeconds(b.GetDeletionGracePeriodSeconds())
	if pod, ok := after.(*v1.Pod); ok {
		if err := admit(pod); err != nil {
			return err
		}
		old := before.(*v1.Pod)
		pod.Spec.NodeName = old.Spec.NodeName
		pod.Status = *old.Status.DeepCopy()
	}
	return w.server.write(gvr, after, false)
}
