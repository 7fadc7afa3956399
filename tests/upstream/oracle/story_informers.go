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

// mirroringFactory is upstream's factory with mirrors on all kinds whose handlers move pods in the queue.
type mirroringFactory struct {
	informers.SharedInformerFactory
	mirrors map[string]*[]*mirror // by resource
}

func newMirroringFactory(factory informers.SharedInformerFactory) *mirroringFactory {
	return &mirroringFactory{factory, map[string]*[]*mirror{}}
}

// wrap lets whoever adds a handler to an informer be waited for.
func (f *mirroringFactory) wrap(resource string, informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	if f.mirrors[resource] == nil {
		f.mirrors[resource] = &[]*mirror{}
	}
	return mirroringInformer{informer, f.mirrors[resource]}
}

// told says whether all handlers of a resource have seen what there is.
func (f *mirroringFactory) told(resource string, truth map[string]string) bool {
	if f.mirrors[resource] == nil {
		return true
	}
	for _, m := range *f.mirrors[resource] {
		if !m.equals(truth) {
			return false
		}
	}
	return true
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
	return mirroringPods{v.Interface.Pods(), v.factory}
}

func (v mirroringV1) Nodes() corev1.NodeInformer {
	return mirroringNodes{v.Interface.Nodes(), v.factory}
}

func (v mirroringV1) PersistentVolumes() corev1.PersistentVolumeInformer {
	return mirroringVolumes{v.Interface.PersistentVolumes(), v.factory}
}

func (v mirroringV1) PersistentVolumeClaims() corev1.PersistentVolumeClaimInformer {
	return mirroringClaims{v.Interface.PersistentVolumeClaims(), v.factory}
}

type mirroringPods struct {
	corev1.PodInformer
	factory *mirroringFactory
}

func (p mirroringPods) Informer() cache.SharedIndexInformer {
	return p.factory.wrap("pods", p.PodInformer.Informer())
}

type mirroringNodes struct {
	corev1.NodeInformer
	factory *mirroringFactory
}

func (n mirroringNodes) Informer() cache.SharedIndexInformer {
	return n.factory.wrap("nodes", n.NodeInformer.Informer())
}

type mirroringVolumes struct {
	corev1.PersistentVolumeInformer
	factory *mirroringFactory
}

func (v mirroringVolumes) Informer() cache.SharedIndexInformer {
	return v.factory.wrap("persistentvolumes", v.PersistentVolumeInformer.Informer())
}

type mirroringClaims struct {
	corev1.PersistentVolumeClaimInformer
	factory *mirroringFactory
}

func (c mirroringClaims) Informer() cache.SharedIndexInformer {
	return c.factory.wrap("persistentvolumeclaims", c.PersistentVolumeClaimInformer.Informer())
}
