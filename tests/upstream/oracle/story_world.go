// SPDX-License-Identifier: Apache-2.0

// The player of stories: upstream's whole scheduler, driven one event and one attempt at a time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	maxAttempts = 60                    // in one step; more means that a story runs in circles
	attemptTime = time.Millisecond      // of the queue's clock, per attempt
	patience    = 20 * time.Second      // until a goroutine must have done its work
	pollPeriod  = 50 * time.Microsecond //
)

// errUnfit marks stories whose outcome upstream leaves to chance.
var errUnfit = errors.New("unfit")

// storyWorld is a scheduler and its cluster. Close it with stop.
type storyWorld struct {
	ctx       context.Context
	stop      context.CancelFunc
	clock     *testingclock.FakeClock
	server    *storyServer
	factory   *mirroringFactory
	scheduler *scheduler.Scheduler
	created   int

	attempt *StoryAttempt // the one under way
	popped  *v1.Pod
	binding map[string]types.UID // pods whose binding was not answered yet, the newest of each name
	failed  sync.Map             // uids of pods whose binding cycle has failed and was cleaned up after
	unfit   error
}

// kinds a story may hold, and the informers whose content the scheduler reads.
var storyKinds = map[string]schema.GroupVersionResource{
	"Pod": podResource, "Node": v1.SchemeGroupVersion.WithResource("nodes"),
	"Namespace": v1.SchemeGroupVersion.WithResource("namespaces"), "Service": v1.SchemeGroupVersion.WithResource("services"),
	"PodDisruptionBudget": {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"PersistentVolume":    v1.SchemeGroupVersion.WithResource("persistentvolumes"), "PersistentVolumeClaim": claimResource,
	"StorageClass": storagev1.SchemeGroupVersion.WithResource("storageclasses"), "CSINode": storagev1.SchemeGroupVersion.WithResource("csinodes"),
	"CSIDriver":          storagev1.SchemeGroupVersion.WithResource("csidrivers"),
	"CSIStorageCapacity": storagev1.SchemeGroupVersion.WithResource("csistoragecapacities"),
	"VolumeAttachment":   storagev1.SchemeGroupVersion.WithResource("volumeattachments"),
}

var claimResource = v1.SchemeGroupVersion.WithResource("persistentvolumeclaims")

func newStoryWorld(config *string) (*storyWorld, error) {
	registerMetrics()
	cfg, err := loadConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	clock := testingclock.NewFakeClock(creationBase)
	w := &storyWorld{ctx: ctx, stop: cancel, clock: clock, server: newStoryServer(clock), binding: map[string]types.UID{}}
	w.factory = newMirroringFactory(scheduler.NewInformerFactory(w.server, 0))
	w.scheduler, err = scheduler.New(ctx, w.server, w.factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...), scheduler.WithClock(clock),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds))
	if err != nil {
		cancel()
		return nil, err
	}
	w.observe()
	for _, gvr := range storyKinds {
		if _, err := w.factory.ForResource(gvr); err != nil {
			cancel()
			return nil, err
		}
	}
	w.factory.Start(ctx.Done())
	w.factory.WaitForCacheSync(ctx.Done())
	return w, w.wait("watches", func() bool {
		w.server.lock.Lock()
		defer w.server.lock.Unlock()
		for _, gvr := range storyKinds {
			if !w.server.watches[gvr.Resource] {
				return false
			}
		}
		return true
	})
}

// tieFinder is a profile that notices when the choice of a node is left to chance.
type tieFinder struct {
	framework.Framework
	world *storyWorld
}

func (t tieFinder) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := t.Framework.RunScorePlugins(ctx, state, pod, nodes)
	best, ties := int64(-1), 0
	for _, s := range scores {
		if s.TotalScore > best {
			best, ties = s.TotalScore, 0
		} else if s.TotalScore == best {
			ties++
		}
	}
	if ties > 0 {
		t.world.unfit = fmt.Errorf("%w: %s/%s has several best nodes", errUnfit, pod.Namespace, pod.Name)
	}
	return scores, status
}

// observe puts our ears into the scheduler.
func (w *storyWorld) observe() {
	for name, profile := range w.scheduler.Profiles {
		w.scheduler.Profiles[name] = tieFinder{profile, w}
	}
	next, schedule, fail := w.scheduler.NextPod, w.scheduler.SchedulePod, w.scheduler.FailureHandler
	w.scheduler.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		info, err := next(logger)
		if err == nil && info != nil {
			w.popped = info.Pod
			w.attempt = &StoryAttempt{Pod: podKey(info.Pod), Skipped: true}
			w.server.beginCycle(w.attempt.Pod)
		}
		return info, err
	}
	w.scheduler.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		w.attempt.Skipped = false
		result, err := schedule(ctx, f, state, info)
		if err == nil {
			w.attempt.Node = result.SuggestedHost
			if w.waits(info.Pod) {
				w.unfit = fmt.Errorf("%w: %s would wait for its volumes", errUnfit, podKey(info.Pod))
				return result, w.unfit
			}
		}
		return result, err
	}
	w.scheduler.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		// Without any node there is no rejector either: the pod comes back by the clock, which stands still here.
		if w.attempt == nil { // of a binding cycle
			fail(ctx, f, info, status, nominating, start)
			w.failed.Store(info.Pod.UID, true)
			return
		}
		if !status.IsRejected() || errors.Is(status.AsError(), scheduler.ErrNoNodesAvailable) {
			w.unfit = fmt.Errorf("%w: attempt failed: %s", errUnfit, status.Message())
		}
		w.attempt.Message = status.Message()
		if nominating != nil {
			w.attempt.Nominated = nominating.NominatedNodeName
		}
		fail(ctx, f, info, status, nominating, start)
	}
}

// waits tells of a pod with a claim that is not bound: binding it takes the volume controllers, and seconds.
func (w *storyWorld) waits(pod *v1.Pod) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		obj, err := w.server.Tracker().Get(claimResource, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
		if err != nil || obj.(*v1.PersistentVolumeClaim).Spec.VolumeName == "" {
			return true
		}
	}
	return false
}

func podKey(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

// wait polls until something is so.
func (w *storyWorld) wait(what string, done func() bool) error {
	for end := time.Now().Add(patience); !done(); time.Sleep(pollPeriod) {
		if time.Now().After(end) {
			return fmt.Errorf("waited too long for %s", what)
		}
	}
	return nil
}

// settle waits until every handler and every lister knows what the server has.
func (w *storyWorld) settle() error {
	return w.wait("informers", func() bool {
		w.server.lock.Lock()
		defer w.server.lock.Unlock()
		for _, gvr := range storyKinds {
			truth := w.server.versions[gvr]
			informer, err := w.factory.ForResource(gvr)
			if err != nil || !holds(informer.Informer().GetStore(), truth) || !w.factory.told(gvr.Resource, truth) {
				return false
			}
		}
		return true
	})
}

func holds(store cache.Store, truth map[string]string) bool {
	items := store.List()
	if len(items) != len(truth) {
		return false
	}
	for _, item := range items {
		m, err := meta.Accessor(item)
		if err != nil || truth[m.GetNamespace()+"/"+m.GetName()] != m.GetResourceVersion() {
			return false
		}
	}
	return true
}

// attemptOne lets the scheduler try one pod and waits for all that follows from it.
func (w *storyWorld) attemptOne() (*StoryAttempt, error) {
	w.clock.Step(attemptTime)
	w.attempt = nil
	w.scheduler.ScheduleOne(w.ctx)
	attempt := w.attempt
	w.attempt = nil
	w.server.endCycle()
	if attempt == nil {
		return nil, errors.New("nothing was popped")
	}
	namespace, name, _ := strings.Cut(attempt.Pod, "/")
	switch {
	case attempt.Node != "" && attempt.Message == "":
		if w.server.slow {
			w.binding[attempt.Pod] = w.popped.UID
		}
		err := w.wait("the binding of "+attempt.Pod, func() bool {
			if w.server.isBinding(w.popped.UID) {
				return true
			}
			pod, err := w.server.pod(namespace, name)
			return err != nil || pod.Status.StartTime != nil
		})
		if err != nil {
			return nil, err
		}
	case attempt.Nominated != "":
		profile := w.scheduler.Profiles[w.popped.Spec.SchedulerName]
		err := w.wait("the preemption of "+attempt.Pod, func() bool {
			for _, plugin := range profile.PreEnqueuePlugins() {
				if plugin.Name() == "DefaultPreemption" && !plugin.PreEnqueue(w.ctx, w.popped).IsSuccess() {
					return false
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return attempt, w.settle()
}

// queued lists the pods that would be tried next.
func (w *storyWorld) queued() map[string]string {
	out := map[string]string{}
	for _, pod := range w.scheduler.SchedulingQueue.PodsInActiveQ() {
		out[podKey(pod)] = "active"
	}
	for _, pod := range w.scheduler.SchedulingQueue.PodsInBackoffQ() {
		out[podKey(pod)] = "backoff"
	}
	return out
}

// expect runs the attempts of a step and notes everything.
func (w *storyWorld) expect() (*Expect, error) {
	e := &Expect{Queued: w.queued(), Attempts: []StoryAttempt{}, Evicted: []string{}, Unschedulable: map[string][]string{},
		Gated: map[string]string{}, Nominated: map[string]string{}}
	w.server.deleted = nil
	for len(w.queued()) > 0 {
		if len(e.Attempts) == maxAttempts {
			return nil, fmt.Errorf("%w: more than %d attempts in a step", errUnfit, maxAttempts)
		}
		attempt, err := w.attemptOne()
		if err != nil {
			return nil, err
		}
		if w.unfit != nil {
			return nil, w.unfit
		}
		e.Attempts = append(e.Attempts, *attempt)
	}
	e.Evicted = append(e.Evicted, w.server.deleted...)
	slices.Sort(e.Evicted)
	for _, pod := range w.scheduler.SchedulingQueue.UnschedulablePods() {
		info, ok := w.scheduler.SchedulingQueue.GetPod(pod.Name, pod.Namespace)
		if !ok {
			return nil, fmt.Errorf("%s is in no queue", podKey(pod))
		}
		if info.Gated() {
			e.Gated[podKey(pod)] = info.GatingPlugin
		} else {
			plugins := append(info.UnschedulablePlugins.UnsortedList(), info.PendingPlugins.UnsortedList()...)
			slices.Sort(plugins)
			e.Unschedulable[podKey(pod)] = append([]string{}, plugins...)
		}
		stored, err := w.server.pod(pod.Namespace, pod.Name)
		if err != nil {
			return nil, err
		}
		if stored.Status.NominatedNodeName != "" {
			e.Nominated[podKey(pod)] = stored.Status.NominatedNodeName
		}
	}
	return e, nil
}

// play runs a story and fills in what is expected; steps without an object are dropped.
func play(story *Story) error {
	w, err := newStoryWorld(story.Config)
	if err != nil {
		return err
	}
	defer w.stop()
	defer w.server.hurry()
	w.server.slow, w.server.graceful = story.SlowBindings, story.SlowEvictions
	var played []Step
	for _, step := range story.Steps {
		w.clock.SetTime(creationBase.Add(time.Duration(step.At) * time.Millisecond))
		if err := w.apply(&step); errors.Is(err, errAbsent) {
			continue
		} else if err != nil {
			text, _ := json.Marshal(step)
			return fmt.Errorf("step at %d: %w\n%s", step.At, err, text)
		}
		if err := w.settle(); err != nil {
			return fmt.Errorf("step at %d: %w", step.At, err)
		}
		step.Expect = nil
		if !step.Hold {
			if step.Expect, err = w.expect(); err != nil {
				return fmt.Errorf("step at %d: %w", step.At, err)
			}
		}
		played = append(played, step)
	}
	story.Steps = played
	return nil
}
