// SPDX-License-Identifier: Apache-2.0

// A scheduler without its loop: upstream's informers, cache, queue, snapshot and profiles, filled with the objects of a case.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

var registerMetrics = sync.OnceFunc(metrics.Register)

// world is one filled scheduler. Close it with stop.
type world struct {
	ctx      context.Context
	stop     context.CancelFunc
	logger   klog.Logger
	profiles profile.Map
	snapshot *internalcache.Snapshot
	informer informers.SharedInformerFactory
	plugins  map[string]map[string]fwk.Plugin // by profile, by name
	preempts map[string]*preemptionRecorder   // by profile
}

// loadConfig reads a configuration as kube-scheduler does, or gives the default one.
func loadConfig(text *string) (*schedulerapi.KubeSchedulerConfiguration, error) {
	if text == nil {
		return latest.Default()
	}
	f, err := os.CreateTemp("", "oracle-config-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(*text); err != nil {
		return nil, err
	}
	f.Close()
	cfg, err := options.LoadConfigFromFile(klog.Background(), f.Name())
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// registry is the in-tree one, with every instance noted by profile.
func (w *world) registry() frameworkruntime.Registry {
	var lock sync.Mutex
	r := frameworkplugins.NewInTreeRegistry()
	for name, factory := range r {
		r[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, h)
			if err != nil {
				return nil, err
			}
			lock.Lock()
			defer lock.Unlock()
			profileName := h.(interface{ ProfileName() string }).ProfileName()
			if w.plugins[profileName] == nil {
				w.plugins[profileName] = map[string]fwk.Plugin{}
			}
			w.plugins[profileName][name] = plugin
			if preemption, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
				recorder := &preemptionRecorder{DefaultPreemption: preemption, handle: h}
				w.preempts[profileName] = recorder
				return recorder, nil
			}
			return plugin, nil
		}
	}
	return r
}

// newWorld builds the scheduler and fills it; reversed feeds nodes and pods from the last to the first.
func newWorld(objects []runtime.Object, cfg *schedulerapi.KubeSchedulerConfiguration, asked *v1.Pod, reversed bool) (*world, error) {
	registerMetrics()
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{ctx: ctx, stop: cancel, logger: klog.FromContext(ctx),
		plugins: map[string]map[string]fwk.Plugin{}, preempts: map[string]*preemptionRecorder{}}
	if err := w.build(objects, cfg, asked, reversed); err != nil {
		cancel()
		return nil, err
	}
	return w, nil
}

func (w *world) build(objects []runtime.Object, cfg *schedulerapi.KubeSchedulerConfiguration, asked *v1.Pod, reversed bool) error {
	client := fake.NewSimpleClientset(objects...)
	w.informer = scheduler.NewInformerFactory(client, 0)
	w.snapshot = internalcache.NewEmptySnapshot()
	recorder := metrics.NewMetricsAsyncRecorder(1000, time.Second, w.ctx.Done())

	claims := assumecache.NewAssumeCache(w.logger, w.informer.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	trackerOptions := resourceslicetracker.Options{
		SliceInformer: w.informer.Resource().V1().ResourceSlices(), KubeClient: client,
		EnableDeviceTaintRules:   feature.DefaultFeatureGate.Enabled(features.DRADeviceTaintRules),
		EnableConsumableCapacity: feature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity)}
	if trackerOptions.EnableDeviceTaintRules {
		trackerOptions.TaintInformer = w.informer.Resource().V1beta2().DeviceTaintRules()
		trackerOptions.ClassInformer = w.informer.Resource().V1().DeviceClasses()
	}
	slicesTracker, err := resourceslicetracker.StartTracker(w.ctx, trackerOptions)
	if err != nil {
		return err
	}
	cache := internalcache.New(w.ctx, nil, false)
	w.profiles, err = profile.NewMap(w.ctx, cfg.Profiles, w.registry(),
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		frameworkruntime.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(w.informer),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(w.ctx, claims, slicesTracker, w.informer)),
		frameworkruntime.WithSnapshotSharedLister(w.snapshot),
		frameworkruntime.WithParallelism(int(cfg.Parallelism)),
		frameworkruntime.WithMetricsRecorder(recorder),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(w.informer.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodGroupManager(cache),
	)
	if err != nil {
		return fmt.Errorf("initializing profiles: %w", err)
	}
	preEnqueue := map[string]map[string]fwk.PreEnqueuePlugin{}
	for name, p := range w.profiles {
		preEnqueue[name] = map[string]fwk.PreEnqueuePlugin{}
		for _, plugin := range p.PreEnqueuePlugins() {
			preEnqueue[name][plugin.Name()] = plugin
		}
	}
	queue := internalqueue.NewSchedulingQueue(
		w.profiles[cfg.Profiles[0].SchedulerName].QueueSortFunc(), w.informer,
		internalqueue.WithPodLister(w.informer.Core().V1().Pods().Lister()),
		internalqueue.WithPreEnqueuePluginMap(preEnqueue),
		internalqueue.WithMetricsRecorder(recorder),
	)
	for _, p := range w.profiles {
		p.SetPodNominator(queue)
		p.SetPodActivator(queue)
	}
	w.informer.Start(w.ctx.Done())
	w.informer.WaitForCacheSync(w.ctx.Done())
	if needsHandlers(objects) {
		time.Sleep(100 * time.Millisecond) // resource claims reach their caches through handlers that nobody can wait for
	}
	return w.fill(objects, cache, queue, asked, reversed)
}

// needsHandlers tells whether the case holds kinds that plugins keep in caches of their own. Volumes are none of them: what
// VolumeBinding has assumed lies over the informers' own stores.
func needsHandlers(objects []runtime.Object) bool {
	return slices.ContainsFunc(objects, func(obj runtime.Object) bool {
		switch obj.GetObjectKind().GroupVersionKind().Kind {
		case "ResourceClaim", "ResourceSlice", "DeviceClass":
			return true
		}
		return false
	})
}

// fill does what the event handlers do with the initial list, in an order of our choosing.
func (w *world) fill(objects []runtime.Object, cache internalcache.Cache, queue internalqueue.SchedulingQueue, asked *v1.Pod, reversed bool) error {
	ordered := slices.Clone(objects)
	if reversed {
		slices.Reverse(ordered)
	}
	for _, obj := range ordered {
		if node, ok := obj.(*v1.Node); ok {
			cache.AddNode(w.logger, node)
		}
	}
	for _, obj := range ordered {
		pod, ok := obj.(*v1.Pod)
		if !ok || pod.UID == asked.UID {
			continue
		}
		if pod.Spec.NodeName != "" {
			if err := cache.AddPod(w.logger, pod); err != nil {
				return err
			}
		} else if w.profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
			queue.Add(w.ctx, pod)
		}
	}
	return cache.UpdateSnapshot(w.logger, w.snapshot)
}
