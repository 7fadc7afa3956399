// SPDX-License-Identifier: Apache-2.0

// Objects in thousands: nodes without kubelets, pods to be scheduled, their churn, and the end of all of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

const (
	workers = 32
	zones   = 3
)

// flags of a command that talks to a cluster.
type flags struct {
	*flag.FlagSet
	kubeconfig *string
	namespace  *string
}

func newFlags(name string) flags {
	set := flag.NewFlagSet("rigtool "+name, flag.ContinueOnError)
	return flags{set, set.String("kubeconfig", "", "how to reach the API server"),
		set.String("namespace", v1.NamespaceDefault, "of the pods")}
}

func (f flags) parse(args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s: unknown argument %q", f.Name(), f.Arg(0))
	}
	return nil
}

func (f flags) connect(args []string) (kubernetes.Interface, error) {
	if err := f.parse(args); err != nil {
		return nil, err
	}
	if *f.kubeconfig == "" {
		return nil, fmt.Errorf("%s: want --kubeconfig FILE", f.Name())
	}
	config, err := clientcmd.BuildConfigFromFlags("", *f.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(config)
}

// inParallel calls f with the numbers below count; the first error is returned, after all have ended.
func inParallel(count int, f func(i int) error) error {
	var group sync.WaitGroup
	var once sync.Once
	var first error
	next := make(chan int)
	for range min(workers, count) {
		group.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
	return first
}

// again repeats what failed because the API server was away for a moment: scenarios kill it while pods arrive.
func again(f func() error) error {
	var err error
	for range 120 {
		err = f()
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		if status := apierrors.APIStatus(nil); errors.As(err, &status) && !transient(err) {
			return err
		}
		time.Sleep(250 * time.Millisecond)
	}
	return err
}

func transient(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		// After a start roles and namespaces may not have been read yet.
		apierrors.IsForbidden(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
}

func quantities(amounts map[v1.ResourceName]string) (v1.ResourceList, error) {
	list := v1.ResourceList{}
	for name, text := range amounts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %q is not a quantity: %w", name, text, err)
		}
		list[name] = quantity
	}
	return list, nil
}

func makeNodes(args []string) error {
	f := newFlags("nodes")
	count := f.Int("count", 0, "make PREFIX1 to PREFIXcount where they do not exist, Ready, in three zones")
	prefix := f.String("prefix", "node-", "their names begin so")
	cpu := f.String("cpu", "4", "of each")
	memory := f.String("memory", "32Gi", "of each")
	pods := f.String("pods", "110", "that each takes")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	resources, err := quantities(map[v1.ResourceName]string{v1.ResourceCPU: *cpu, v1.ResourceMemory: *memory, v1.ResourcePods: *pods})
	if err != nil {
		return err
	}
	began := time.Now()
	err = inParallel(*count, func(i int) error {
		node := readyNode(fmt.Sprintf("%s%d", *prefix, i+1), i, resources)
		return again(func() error {
			_, err := client.CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{})
			return err
		})
	})
	fmt.Printf("%d nodes in %.1f s\n", *count, time.Since(began).Seconds())
	return err
}

func readyNode(name string, i int, resources v1.ResourceList) *v1.Node {
	now := metav1.Now()
	condition := func(kind v1.NodeConditionType, status v1.ConditionStatus, reason string) v1.NodeCondition {
		return v1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname:       name,
			v1.LabelOSStable:       "linux",
			v1.LabelArchStable:     "amd64",
			v1.LabelTopologyZone:   fmt.Sprintf("zone-%d", i%zones+1),
			v1.LabelTopologyRegion: "region-1",
		}},
		Status: v1.NodeStatus{
			Capacity:    resources,
			Allocatable: resources,
			Conditions: []v1.NodeCondition{
				condition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory"),
				condition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure"),
				condition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID"),
				condition(v1.NodeReady, v1.ConditionTrue, "KubeletReady"),
			},
			Addresses: []v1.NodeAddress{{Type: v1.NodeHostName, Address: name}, {Type: v1.NodeInternalIP, Address: "127.0.0.1"}},
			NodeInfo: v1.NodeSystemInfo{KubeletVersion: "v1.36.4", OperatingSystem: "linux", Architecture: "amd64",
				ContainerRuntimeVersion: "none://1", OSImage: "none", KernelVersion: "none"},
		},
	}
}

// heartbeat does what kubelets do when nothing happens: it reports that a node is still Ready.
func heartbeat(args []string) error {
	f := newFlags("heartbeat")
	rate := f.Float64("rate", 17, "nodes a second")
	seconds := f.Float64("seconds", 60, "for so long")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	if *rate <= 0 {
		return fmt.Errorf("--rate: want a number above 0, got %v", *rate)
	}
	nodes, err := nodeNames(client)
	if err != nil {
		return err
	}
	return paced(*rate, *seconds, func(i int) error { return beat(client, nodes[i%len(nodes)]) })
}

func nodeNames(client kubernetes.Interface) ([]string, error) {
	list, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, errors.New("there are no nodes")
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}

func beat(client kubernetes.Interface, node string) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "lastHeartbeatTime": metav1.Now()}}}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().PatchStatus(context.Background(), node, patch)
	return err
}

// paced calls f so often a second, one call after the other; one that is late is not made up for.
func paced(rate, seconds float64, f func(i int) error) error {
	ticker := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer ticker.Stop()
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for i := 0; time.Now().Before(end); i++ {
		if err := f(i); err != nil {
			return err
		}
		<-ticker.C
	}
	return nil
}

// podMaker makes pods of one template.
type podMaker struct {
	client    kubernetes.Interface
	namespace string
	label     string
	scheduler string
	requests  v1.ResourceList
}

func (f flags) podFlags() func(client kubernetes.Interface) (podMaker, error) {
	label := f.String("label", "app=load", "of the pods, KEY=VALUE")
	cpu := f.String("cpu", "100m", "that each asks for")
	memory := f.String("memory", "500Mi", "that each asks for")
	scheduler := f.String("scheduler", v1.DefaultSchedulerName, "who is to schedule them")
	return func(client kubernetes.Interface) (podMaker, error) {
		requests, err := quantities(map[v1.ResourceName]string{v1.ResourceCPU: *cpu, v1.ResourceMemory: *memory})
		if err == nil && !strings.Contains(*label, "=") {
			err = fmt.Errorf("--label: want KEY=VALUE, got %q", *label)
		}
		return podMaker{client, *f.namespace, *label, *scheduler, requests}, err
	}
}

func (m podMaker) make(name, node string) error {
	key, value, _ := strings.Cut(m.label, "=")
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: m.namespace, Labels: map[string]string{key: value}},
		Spec: v1.PodSpec{
			NodeName:                      node,
			SchedulerName:                 m.scheduler,
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []v1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10",
				Resources: v1.ResourceRequirements{Requests: m.requests}}},
		},
	}
	return again(func() error {
		_, err := m.client.CoreV1().Pods(m.namespace).Create(context.Background(), pod, metav1.CreateOptions{})
		return err
	})
}

func makePods(args []string) error {
	f := newFlags("pods")
	maker := f.podFlags()
	count := f.Int("count", 0, "make PREFIX1 to PREFIXcount")
	prefix := f.String("prefix", "load-", "their names begin so")
	rate := f.Float64("rate", 0, "at most so many a second; 0: as fast as the server takes them")
	random := f.Bool("random", false, "with --rate: independent of each other, not one after another in equal steps")
	onNodes := f.Int("on-nodes", 0, "bound already, in turn to node-1 to node-N")
	waits := f.Bool("waits", false, "wait until all are bound, and say how long they waited for that from when their creation was answered")
	pid := f.Int("pid", 0, "with --waits: the scheduler; once it has ended nobody waits")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	m, err := maker(client)
	if err != nil {
		return err
	}
	if *random && *rate <= 0 {
		return errors.New("--random: goes with --rate")
	}
	if *pid != 0 && !*waits {
		return errors.New("--pid: goes with --waits")
	}
	arrivals := arrivalTimes(*count, *rate, *random)
	made := map[string]time.Time{}
	var mutex sync.Mutex
	var seen *bindings
	if *waits {
		if seen, err = watchBindings(client, *f.namespace); err != nil {
			return err
		}
		defer seen.stop()
	}
	began := time.Now()
	err = inParallel(*count, func(i int) error {
		time.Sleep(time.Until(began.Add(arrivals[i])))
		node := ""
		if *onNodes > 0 {
			node = fmt.Sprintf("node-%d", i%*onNodes+1)
		}
		name := fmt.Sprintf("%s%d", *prefix, i+1)
		err := m.make(name, node)
		at := time.Now()
		mutex.Lock()
		defer mutex.Unlock()
		made[name] = at
		return err
	})
	fmt.Printf("%d pods in %.1f s\n", *count, time.Since(began).Seconds())
	if err != nil || seen == nil {
		return err
	}
	lasted, err := seen.waits(made, 10*time.Minute, *pid)
	if err == nil && len(lasted) > 0 {
		fmt.Printf("wait_ms_median %.1f\nwait_ms_p99 %.1f\n", lasted[len(lasted)/2], lasted[len(lasted)*99/100])
	}
	return err
}

// arrivalTimes says when each of them arrives, the same every time; rate 0: at once.
func arrivalTimes(count int, rate float64, random bool) []time.Duration {
	times := make([]time.Duration, count)
	if rate <= 0 {
		return times
	}
	source := rand.New(rand.NewPCG(1, 2))
	var seconds float64
	for i := range times {
		times[i] = time.Duration(seconds * float64(time.Second))
		if random {
			seconds += source.ExpFloat64() / rate
		} else {
			seconds = float64(i+1) / rate
		}
	}
	return times
}

// churn keeps about as many pods as it is told: at each tick a pod comes, and when there are enough a bound one goes. Now
// and then a node reports, is cordoned or opened again, or goes and comes back.
func churn(args []string) error {
	f := newFlags("churn")
	maker := f.podFlags()
	keep := f.Int("keep", 2000, "pods")
	rate := f.Float64("rate", 50, "pods a second that come, and go")
	beats := f.Float64("heartbeats", 4, "nodes a second that report")
	seconds := f.Float64("seconds", 60, "for so long")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	m, err := maker(client)
	if err != nil {
		return err
	}
	nodes, err := nodeNames(client)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var beatErr error
	group.Go(func() {
		beatErr = paced(*beats, *seconds, func(i int) error {
			node := nodes[rand.IntN(len(nodes))]
			if i%20 == 0 { // closed for a moment
				if err := cordon(client, node, true); err != nil {
					return err
				}
				return cordon(client, node, false)
			}
			return beat(client, node)
		})
	})
	var alive []string
	prefix := fmt.Sprintf("churn-%d-", time.Now().Unix())
	err = paced(*rate, *seconds, func(i int) error {
		name := fmt.Sprintf("%s%d", prefix, i)
		if err := m.make(name, ""); err != nil {
			return err
		}
		alive = append(alive, name)
		if len(alive) <= *keep {
			return nil
		}
		last := alive[0]
		alive = alive[1:]
		return removePod(client, *f.namespace, last)
	})
	group.Wait()
	fmt.Printf("%d pods are left\n", len(alive))
	return errors.Join(err, beatErr)
}

func cordon(client kubernetes.Interface, node string, closed bool) error {
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%v}}`, closed)
	_, err := client.CoreV1().Nodes().Patch(context.Background(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func removePod(client kubernetes.Interface, namespace, name string) error {
	err := client.CoreV1().Pods(namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// clearCluster takes away pods at once, whatever their grace period, all events of the namespace, and nodes.
func clearCluster(args []string) error {
	f := newFlags("clear")
	label := f.String("label", "app=load", "pods of this selector")
	prefix := f.String("nodes", "", "nodes whose names begin so; empty: none")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(*f.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: *label})
	if err != nil {
		return err
	}
	err = inParallel(len(pods.Items), func(i int) error {
		return removePod(client, *f.namespace, pods.Items[i].Name)
	})
	if err != nil {
		return err
	}
	if *prefix != "" {
		if err := removeNodes(client, *prefix); err != nil {
			return err
		}
	}
	events, err := client.CoreV1().Events(*f.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	return inParallel(len(events.Items), func(i int) error {
		err := client.CoreV1().Events(*f.namespace).Delete(context.Background(), events.Items[i].Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func removeNodes(client kubernetes.Interface, prefix string) error {
	nodes, err := nodeNames(client)
	if err != nil {
		return err
	}
	return inParallel(len(nodes), func(i int) error {
		if !strings.HasPrefix(nodes[i], prefix) {
			return nil
		}
		err := client.CoreV1().Nodes().Delete(context.Background(), nodes[i], metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
