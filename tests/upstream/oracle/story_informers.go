// SPDX-License-Identifier: Apache-2.0

// Informers that tell when their handlers are through with an event, so that a story can wait for exactly that.
package main

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// mirror is what one handler has been told: versions by namespace/name.
type mirror struct {
	lock     sync.Mutex
	versions map[string]string
}

func (m *mirror) equals(truth map[string]string) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	return maps.Equal(m.versions, truth)
}

func (m *mirror) set(obj any, gone bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	key := accessor.GetNamespace() + "/" + accessor.GetName()
	m.lock.Lock()
	defer m.lock.Unlock()
	if gone {
		delete(m.versions, key)
	} else {
		m.versions[key] = accessor.GetResourceVersion()
	}
}

// mirroringHandler passes everything on and writes it down afterwards.
type mirroringHandler struct {
	cache.ResourceEventHandler
	mirror *mirror
}

func (h mirroringHandler) OnAdd(obj any, initial bool) {
	h.ResourceEventHandler.OnAdd(obj, initial)
	h.mirror.set(obj, false)
}

func (h mirroringHandler) OnUpdate(before, after any) {
	h.ResourceEventHandler.OnUpdate(before, after)
	h.mirror.set(after, false)
}

func (h mirroringHandler) OnDelete(obj any) {
	h.ResourceEventHandler.OnDelete(obj)
	h.mirror.set(obj, true)
}

// mirroringInformer gives every handler added a mirror.
type mirroringInformer struct {
	cache.SharedIndexInformer
	mirrors *[]*mirror
}

func (i mirroringInformer) wrap(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	m := &mirror{versions: map[string]string{}}
	*i.mirrors = append(*i.mirrors, m)
	return mirroringHandler{handler, m}
}

func (i mirroringInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.wrap(handler))
}

func (i mirroringInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.wrap(handler), period)
}

func (i mirroringInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.wrap(handler), options)
}

// mirroringFactory is upstream's factory with mirrors on pods and nodes, the kinds whose handlers move pods in the queue.
type mirroringFactory struct {
	informers.SharedInformerFactory
	pods, nodes []*mirror
}

func (f *mirroringFactory) Core() core.Interface {
	return mirroringCore{f.SharedInformerFactory.Core(), f}
}

type mirroringCore struct {
	core.Interface
	factory *mirroringFactory
}

func (c mirroringCore) V1() corev1.Interface { return mirroringV1{c.Interface.V1(), c.factory} }

type mirroringV1 struct {
	corev1.Interface
	factory *mirroringFactory
}

func (v mirroringV1) Pods() corev1.PodInformer {
	return mirroringPods{v.Interface.Pods(), &v.factory.pods}
}

func (v mirroringV1) Nodes() corev1.NodeInformer {
	return mirroringNodes{v.Interface.Nodes(), &v.factory.nodes}
}

type mirroringPods struct {
	corev1.PodInformer
	mirrors *[]*mirror
}

func (p mirroringPods) Informer() cache.SharedIndexInformer {
	return mirroringInformer{p.PodInformer.Informer(), p.mirrors}
}

type mirroringNodes struct {
	corev1.NodeInformer
	mirrors *[]*mirror
}

func (n mirroringNodes) Informer() cache.SharedIndexInformer {
	return mirroringInformer{n.NodeInformer.Informer(), n.mirrors}
}
