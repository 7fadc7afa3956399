// SPDX-License-Identifier: Apache-2.0

// The scheduler and its cluster: upstream's scheduler whose informers are never started. Objects are put into their stores
// and told to the scheduler's own event handlers, so that no API server, watch or decoding is in the figures.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	testingclock "k8s.io/utils/clock/testing"
)

// cluster is a scheduler with its objects. Close it with stop.
type cluster struct {
	ctx       context.Context
	stop      context.CancelFunc
	logger    klog.Logger
	clock     *testingclock.FakeClock
	client    *client
	factory   *capturingFactory
	scheduler *scheduler.Scheduler
	snapshot  *internalcache.Snapshot
	profiles  map[string]*sampledProfile
	nodes     int
	fresh     map[types.UID]bool // pods that are in the active queue for sure: they were added and never tried
	known     int                // at least so many others can be popped
}

// sampledProfile is a profile whose sampling can be changed while it runs.
type sampledProfile struct {
	framework.Framework
	percentage *int32 // nil: as configured
}

func (p *sampledProfile) PercentageOfNodesToScore() *int32 {
	if p.percentage != nil {
		return p.percentage
	}
	return p.Framework.PercentageOfNodesToScore()
}

// sample makes attempts from now on judge this part of the nodes; nil is upstream's default.
func (c *cluster) sample(percentage *int32) {
	for _, profile := range c.profiles {
		profile.percentage = percentage
	}
}

func newCluster(clock *testingclock.FakeClock) (*cluster, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &cluster{ctx: ctx, stop: cancel, logger: klog.FromContext(ctx), clock: clock,
		client: &client{Clientset: fake.NewClientset()}, fresh: map[types.UID]bool{}, profiles: map[string]*sampledProfile{}}
	c.factory = &capturingFactory{SharedInformerFactory: scheduler.NewInformerFactory(c.client, 0)}
	c.scheduler, err = scheduler.New(ctx, c.client, c.factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithClock(clock))
	if err != nil {
		cancel()
		return nil, err
	}
	for name, profile := range c.scheduler.Profiles {
		c.profiles[name] = &sampledProfile{Framework: profile}
		snapshot, ok := profile.SnapshotSharedLister().(*internalcache.Snapshot)
		if !ok {
			cancel()
			return nil, fmt.Errorf("the snapshot is a %T", profile.SnapshotSharedLister())
		}
		c.snapshot = snapshot
	}
	c.scheduler.SchedulingQueue.Run(c.logger)
	return c, nil
}

// put tells the scheduler of a new object.
func (c *cluster) put(obj object) error {
	core := c.factory.Core().V1()
	switch o := obj.(type) {
	case *v1.Node:
		c.nodes++
		return tell(core.Nodes().Informer(), c.factory.nodes, o)
	case *v1.Pod:
		if len(o.Spec.SchedulingGates) == 0 && c.scheduler.Profiles.HandlesSchedulerName(o.Spec.SchedulerName) {
			c.fresh[o.UID] = true
		}
		return tell(core.Pods().Informer(), c.factory.pods, o)
	case *v1.Namespace:
		return core.Namespaces().Informer().GetStore().Add(o)
	case *v1.PersistentVolume:
		return tell(core.PersistentVolumes().Informer(), c.factory.volumes, o)
	case *v1.PersistentVolumeClaim:
		return tell(core.PersistentVolumeClaims().Informer(), c.factory.claims, o)
	case *storagev1.CSINode:
		return tell(c.factory.Storage().V1().CSINodes().Informer(), c.factory.csiNodes, o)
	default:
		return fmt.Errorf("objects of type %T are not for enginebench", obj)
	}
}

// tell stores a new object and lets the handlers know.
func tell(informer cache.SharedIndexInformer, handlers []cache.ResourceEventHandler, obj object) error {
	if err := informer.GetStore().Add(obj); err != nil {
		return err
	}
	for _, handler := range handlers {
		handler.OnAdd(obj, false)
	}
	return nil
}

// left notes that a pod may have left the queue.
func (c *cluster) left(uid types.UID) {
	if c.fresh[uid] {
		delete(c.fresh, uid)
	} else if c.known > 0 {
		c.known--
	}
}

// pod is the pod as the API server has it; nil when it is gone.
func (c *cluster) pod(namespace, name string) *v1.Pod {
	obj, found, err := c.factory.Core().V1().Pods().Informer().GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !found {
		return nil
	}
	return obj.(*v1.Pod)
}

// change tells of a new version of a pod.
func (c *cluster) change(before, after *v1.Pod) error {
	if err := c.factory.Core().V1().Pods().Informer().GetStore().Update(after); err != nil {
		return err
	}
	for _, handler := range c.factory.pods {
		handler.OnUpdate(before, after)
	}
	return nil
}

// remove takes an object away; one that is not there is no error.
func (c *cluster) remove(obj object) error {
	core := c.factory.Core().V1()
	switch o := obj.(type) {
	case *v1.Node:
		c.nodes--
		if err := core.Nodes().Informer().GetStore().Delete(o); err != nil {
			return err
		}
		for _, handler := range c.factory.nodes {
			handler.OnDelete(o)
		}
	case *v1.Pod:
		present := c.pod(o.Namespace, o.Name)
		if present == nil {
			return nil
		}
		if present.Spec.NodeName == "" {
			c.left(present.UID)
		}
		if err := core.Pods().Informer().GetStore().Delete(present); err != nil {
			return err
		}
		for _, handler := range c.factory.pods {
			handler.OnDelete(present)
		}
	}
	return nil
}

// The scheduler's side: what it writes is noted and done by the run when the attempt is over.

type client struct {
	*fake.Clientset
	lock    sync.Mutex
	deleted []types.NamespacedName
	cleared []types.NamespacedName // pods that lose their nomination
}

// taken gives what was written since the last call.
func (c *client) taken() (deleted, cleared []types.NamespacedName) {
	c.lock.Lock()
	defer c.lock.Unlock()
	deleted, cleared = c.deleted, c.cleared
	c.deleted, c.cleared = nil, nil
	return deleted, cleared
}

func (c *client) CoreV1() typedcorev1.CoreV1Interface { return coreClient{c.Clientset.CoreV1(), c} }

type coreClient struct {
	typedcorev1.CoreV1Interface
	client *client
}

func (c coreClient) Pods(namespace string) typedcorev1.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), c.client, namespace}
}

type podClient struct {
	typedcorev1.PodInterface
	client    *client
	namespace string
}

func (p podClient) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	p.client.lock.Lock()
	defer p.client.lock.Unlock()
	p.client.deleted = append(p.client.deleted, types.NamespacedName{Namespace: p.namespace, Name: name})
	return nil
}

// Patch only ever writes a victim's condition, which nobody reads here, or takes a nomination back.
func (p podClient) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*v1.Pod, error) {
	var patch struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	if _, ok := patch.Status["nominatedNodeName"]; ok {
		p.client.lock.Lock()
		defer p.client.lock.Unlock()
		p.client.cleared = append(p.client.cleared, types.NamespacedName{Namespace: p.namespace, Name: name})
	}
	return nil, nil
}

// capturingFactory is upstream's factory; it keeps the handlers of the kinds whose events the run tells itself.
type capturingFactory struct {
	informers.SharedInformerFactory
	pods, nodes, volumes, claims, csiNodes []cache.ResourceEventHandler
}

func (f *capturingFactory) Core() core.Interface {
	return capturingCore{f.SharedInformerFactory.Core(), f}
}

type capturingCore struct {
	core.Interface
	factory *capturingFactory
}

func (c capturingCore) V1() corev1.Interface { return capturingV1{c.Interface.V1(), c.factory} }

type capturingV1 struct {
	corev1.Interface
	factory *capturingFactory
}

func (v capturingV1) Pods() corev1.PodInformer {
	return capturingPods{v.Interface.Pods(), &v.factory.pods}
}

func (v capturingV1) Nodes() corev1.NodeInformer {
	return capturingNodes{v.Interface.Nodes(), &v.factory.nodes}
}

type capturingPods struct {
	corev1.PodInformer
	handlers *[]cache.ResourceEventHandler
}

func (p capturingPods) Informer() cache.SharedIndexInformer {
	return capturingInformer{p.PodInformer.Informer(), p.handlers}
}

type capturingNodes struct {
	corev1.NodeInformer
	handlers *[]cache.ResourceEventHandler
}

func (n capturingNodes) Informer() cache.SharedIndexInformer {
	return capturingInformer{n.NodeInformer.Informer(), n.handlers}
}

type capturingInformer struct {
	cache.SharedIndexInformer
	handlers *[]cache.ResourceEventHandler
}

func (i capturingInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	*i.handlers = append(*i.handlers, handler)
	return i.SharedIndexInformer.AddEventHandler(handler)
}

func (i capturingInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	*i.handlers = append(*i.handlers, handler)
	return i.SharedIndexInformer.AddEventHandlerWithOptions(handler, options)
}
