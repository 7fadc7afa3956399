// SPDX-License-Identifier: Apache-2.0

// Nodes: made at the start, given a status where they have none, kept alive by leases as kubelets do it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const (
	// A node with this annotation is left alone: its lease runs out and the controller manager finds it dead.
	stoppedAnnotation = "rig.berth.dev/stopped"

	renewEvery    = 30 * time.Second // the rig's controller manager waits two minutes
	leaseDuration = 120
	zones         = 3
)

type nodeKeeper struct {
	client    kubernetes.Interface
	lister    listers.NodeLister
	resources v1.ResourceList
}

func parseResources(cpu, memory string) (v1.ResourceList, error) {
	list := v1.ResourceList{
		v1.ResourcePods:             resource.MustParse("110"),
		v1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	}
	for name, text := range map[v1.ResourceName]string{v1.ResourceCPU: cpu, v1.ResourceMemory: memory} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %q is not a quantity: %w", name, text, err)
		}
		list[name] = quantity
	}
	return list, nil
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

func makeNodes(ctx context.Context, client kubernetes.Interface, count int, resources v1.ResourceList) error {
	return inParallel(count, func(i int) error {
		name := fmt.Sprintf("node-%d", i+1)
		node := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				v1.LabelHostname:       name,
				v1.LabelOSStable:       "linux",
				v1.LabelArchStable:     "amd64",
				v1.LabelTopologyZone:   fmt.Sprintf("zone-%d", i%zones+1),
				v1.LabelTopologyRegion: "region-1",
			}},
			Status: readyStatus(name, resources),
		}
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("making %s: %w", name, err)
		}
		return renewLease(ctx, client, name)
	})
}

func readyStatus(name string, resources v1.ResourceList) v1.NodeStatus {
	now := metav1.Now()
	condition := func(kind v1.NodeConditionType, status v1.ConditionStatus, reason string) v1.NodeCondition {
		return v1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return v1.NodeStatus{
		Capacity:    resources,
		Allocatable: resources,
		Conditions: []v1.NodeCondition{
			condition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory"),
			condition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure"),
			condition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID"),
			condition(v1.NodeReady, v1.ConditionTrue, "KubeletReady"),
		},
		Addresses: []v1.NodeAddress{{Type: v1.NodeHostName, Address: name}, {Type: v1.NodeInternalIP, Address: "127.0.0.1"}},
		NodeInfo: v1.NodeSystemInfo{
			KubeletVersion: "v1.36.4", OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "fake://1",
			OSImage: "none", KernelVersion: "none",
		},
	}
}

// sync makes a node Ready that is not: one that somebody else made, or one whose kubelet was stopped for a while.
func (k *nodeKeeper) sync(ctx context.Context, name string) error {
	node, err := k.lister.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, stopped := node.Annotations[stoppedAnnotation]; stopped {
		return nil
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady && condition.Status == v1.ConditionTrue {
			return nil
		}
	}
	resources := k.resources
	if len(node.Status.Capacity) > 0 {
		resources = node.Status.Capacity
	}
	changed := node.DeepCopy()
	changed.Status = readyStatus(name, resources)
	if len(node.Status.Allocatable) > 0 {
		changed.Status.Allocatable = node.Status.Allocatable
	}
	changed.Status.Images = node.Status.Images
	if err := renewLease(ctx, k.client, name); err != nil {
		return err
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // its next event brings us back
	}
	return err
}

func (k *nodeKeeper) renewLeases(ctx context.Context) {
	for {
		// Not all kubelets at once, nor always in step with other timers.
		pause := renewEvery - time.Duration(rand.Int64N(int64(renewEvery/5)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		nodes, err := k.lister.List(labels.Everything())
		if err != nil {
			klog.ErrorS(err, "No nodes to keep alive")
			continue
		}
		err = inParallel(len(nodes), func(i int) error {
			if _, stopped := nodes[i].Annotations[stoppedAnnotation]; stopped {
				return nil
			}
			return renewLease(ctx, k.client, nodes[i].Name)
		})
		if err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "Some leases were not renewed")
		}
	}
}

// renewLease patches without reading first: nobody else writes these leases.
func renewLease(ctx context.Context, client kubernetes.Interface, node string) error {
	lease := &coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: v1.NamespaceNodeLease},
		Spec: coordination.LeaseSpec{
			HolderIdentity:       ptr.To(node),
			LeaseDurationSeconds: ptr.To[int32](leaseDuration),
			RenewTime:            ptr.To(metav1.NowMicro()),
		},
	}
	patch, err := json.Marshal(map[string]any{"spec": lease.Spec})
	if err != nil {
		return err
	}
	leases := client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	_, err = leases.Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("lease of %s: %w", node, err)
	}
	return nil
}
