// SPDX-License-Identifier: Apache-2.0

// Pods: a bound one runs at once, a deleted one is gone at once. Nothing ever exits, and nothing fails but what its kubelet
// rejects.
package main

import (
	"context"
	"fmt"
	"hash/fnv"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

type podKeeper struct {
	client kubernetes.Interface
	lister listers.PodLister
	ledger *ledger // nil: every pod is taken
}

func (k *podKeeper) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil // our own keys can be split
	}
	pod, err := k.lister.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if pod.Spec.NodeName == "" {
		return nil
	}
	switch {
	case pod.DeletionTimestamp != nil:
		err = k.remove(ctx, pod)
	case pod.Status.Phase == v1.PodPending || pod.Status.Phase == "":
		err = k.admit(ctx, pod)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone, or changed: then its next event brings us back
	}
	return err
}

func (k *podKeeper) remove(ctx context.Context, pod *v1.Pod) error {
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		return nil // we are through with it; a finalizer holds it
	}
	return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// admit starts the pod, or says as a kubelet does why not.
func (k *podKeeper) admit(ctx context.Context, pod *v1.Pod) error {
	if k.ledger == nil {
		return k.start(ctx, pod)
	}
	refused := k.ledger.admit(pod)
	if refused == nil {
		return k.start(ctx, pod)
	}
	changed := pod.DeepCopy()
	changed.Status.Phase = v1.PodFailed
	changed.Status.Reason = "OutOf" + string(refused.resource)
	changed.Status.Message = fmt.Sprintf("Pod was rejected: Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
		refused.resource, refused.requested, refused.used, refused.capacity)
	klog.InfoS("Rejected", "pod", klog.KObj(pod), "node", pod.Spec.NodeName, "reason", changed.Status.Reason)
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}

func (k *podKeeper) start(ctx context.Context, pod *v1.Pod) error {
	now := metav1.Now()
	changed := pod.DeepCopy()
	status := &changed.Status
	status.Phase = v1.PodRunning
	status.StartTime = &now
	status.HostIP = "127.0.0.1"
	status.HostIPs = []v1.HostIP{{IP: status.HostIP}}
	status.PodIP = address(pod)
	status.PodIPs = []v1.PodIP{{IP: status.PodIP}}
	for _, kind := range []v1.PodConditionType{v1.PodReadyToStartContainers, v1.PodInitialized, v1.ContainersReady, v1.PodReady, v1.PodScheduled} {
		setTrue(status, kind, now)
	}
	status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, v1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: "fake://" + container.Image,
			ContainerID: "fake://" + string(pod.UID) + "/" + container.Name,
			Ready:       true, Started: ptr.To(true),
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}},
		})
	}
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}

func setTrue(status *v1.PodStatus, kind v1.PodConditionType, now metav1.Time) {
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if condition.Type == kind {
			if condition.Status != v1.ConditionTrue {
				*condition = v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: now}
			}
			return
		}
	}
	status.Conditions = append(status.Conditions, v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: now})
}

// address is the pod's own as far as anybody looks, which is that it has one.
func address(pod *v1.Pod) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, pod.UID)
	sum := hash.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", 64+sum>>16%128, sum>>8%256, 1+sum%254)
}
