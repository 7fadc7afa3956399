// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
)

type world struct {
	client *fake.Clientset
	nodes  *nodeKeeper
	pods   *podKeeper
}

func newWorld(t *testing.T, objects ...runtime.Object) world {
	t.Helper()
	resources, err := parseResources("8", "32Gi")
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	w := world{
		client: client,
		nodes:  &nodeKeeper{client: client, lister: factory.Core().V1().Nodes().Lister(), resources: resources},
		pods:   &podKeeper{client: client, lister: factory.Core().V1().Pods().Lister()},
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return w
}

func pod(name, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "u"},
		Spec:       v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "c", Image: "none"}}},
		Status:     v1.PodStatus{Phase: v1.PodPending},
	}
}

func TestBoundPodRunsAndUnboundWaits(t *testing.T) {
	w := newWorld(t, pod("bound", "node-1"), pod("unbound", ""))
	for name, want := range map[string]v1.PodPhase{"bound": v1.PodRunning, "unbound": v1.PodPending} {
		if err := w.pods.sync(t.Context(), "default/"+name); err != nil {
			t.Fatal(err)
		}
		got, err := w.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || got.Status.Phase != want {
			t.Errorf("%s: phase %q, want %q (%v)", name, got.Status.Phase, want, err)
		}
		if want == v1.PodRunning && (len(got.Status.ContainerStatuses) != 1 || got.Status.PodIP == "") {
			t.Errorf("%s: status %+v", name, got.Status)
		}
	}
}

func TestDeletedPodGoesAndOneHeldByAFinalizerStays(t *testing.T) {
	leaving, held := pod("leaving", "node-1"), pod("held", "node-1")
	for _, p := range []*v1.Pod{leaving, held} {
		p.DeletionTimestamp = ptr.To(metav1.Now())
		p.DeletionGracePeriodSeconds = ptr.To[int64](30)
		p.Finalizers = []string{"example.com/wait"} // the fake keeps no deleted object without one
	}
	held.DeletionGracePeriodSeconds = ptr.To[int64](0)
	w := newWorld(t, leaving, held)
	for name, want := range map[string]int{"leaving": 1, "held": 0} {
		w.client.ClearActions()
		if err := w.pods.sync(t.Context(), "default/"+name); err != nil {
			t.Fatal(err)
		}
		deletes := 0
		for _, action := range w.client.Actions() {
			if action.GetVerb() == "delete" {
				deletes++
			}
		}
		if deletes != want {
			t.Errorf("%s: %d deletes, want %d", name, deletes, want)
		}
	}
}

func ready(t *testing.T, w world, name string) bool {
	t.Helper()
	node, err := w.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady {
			return condition.Status == v1.ConditionTrue
		}
	}
	return false
}

func TestNodesAreMadeOnceWithLeases(t *testing.T) {
	w := newWorld(t, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"mine": "yes"}}})
	for range 2 {
		if err := makeNodes(t.Context(), w.client, 3, w.nodes.resources); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 3 {
		t.Fatalf("%d nodes, want 3 (%v)", len(nodes.Items), err)
	}
	leases, err := w.client.CoordinationV1().Leases(v1.NamespaceNodeLease).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) != 3 {
		t.Fatalf("%d leases, want 3 (%v)", len(leases.Items), err)
	}
	if ready(t, w, "node-1") || !ready(t, w, "node-3") {
		t.Error("a node that exists is not to be changed, a new one is to be ready")
	}
}

func TestForeignNodeGetsReadyUnlessStopped(t *testing.T) {
	stopped := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stopped", Annotations: map[string]string{stoppedAnnotation: ""}}}
	w := newWorld(t, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}, stopped)
	for name, want := range map[string]bool{"foreign": true, "stopped": false, "gone": false} {
		if err := w.nodes.sync(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			continue
		}
		if got := ready(t, w, name); got != want {
			t.Errorf("%s: ready %v, want %v", name, got, want)
		}
		_, err := w.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Get(context.Background(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) == want {
			t.Errorf("%s: lease: %v", name, err)
		}
	}
}

func TestPodThatFindsNoRoomIsRejected(t *testing.T) {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("2"), v1.ResourceMemory: resource.MustParse("1Gi"), v1.ResourcePods: resource.MustParse("3")}}}
	asking := func(name, cpu, memory string) *v1.Pod {
		p := pod(name, "small")
		p.UID = types.UID(name)
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
		return p
	}
	pods := []*v1.Pod{asking("first", "1500m", "100Mi"), asking("cpu", "501m", "1Mi"), asking("memory", "1m", "1000Mi"),
		asking("second", "500m", "100Mi"), asking("third", "0", "0"), asking("fourth", "0", "0")}
	objects := []runtime.Object{node}
	for _, p := range pods {
		objects = append(objects, p)
	}
	w := newWorld(t, objects...)
	w.pods.ledger = newLedger(w.nodes.lister)
	want := map[string]string{"cpu": "OutOfcpu", "memory": "OutOfmemory", "fourth": "OutOfpods"}
	for _, p := range pods {
		if err := w.pods.sync(t.Context(), "default/"+p.Name); err != nil {
			t.Fatal(err)
		}
		got, err := w.client.CoreV1().Pods("default").Get(t.Context(), p.Name, metav1.GetOptions{})
		if err != nil || got.Status.Reason != want[p.Name] || (got.Status.Phase == v1.PodFailed) != (want[p.Name] != "") {
			t.Errorf("%s: %s %q, want %q (%v)", p.Name, got.Status.Phase, got.Status.Reason, want[p.Name], err)
		}
	}
	w.pods.ledger.remove(pods[0])
	if refused := w.pods.ledger.admit(pods[1]); refused != nil {
		t.Errorf("a pod that has gone leaves room, but %+v", *refused)
	}
}

func TestBadQuantityIsNamed(t *testing.T) {
	if _, err := parseResources("eight", "32Gi"); err == nil || err.Error()[:12] != `--cpu: "eigh` {
		t.Errorf("got %v", err)
	}
}
