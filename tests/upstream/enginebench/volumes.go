// SPDX-License-Identifier: Apache-2.0

// Claims and volumes that createPods makes for its pods, and what createNodes says of attaching them, as scheduler_perf does it.
package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/informers/storage"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/tools/cache"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// allocatableStrategy is what nodes say of volumes.
type allocatableStrategy struct {
	NodeAllocatable    map[v1.ResourceName]string                `json:"nodeAllocatable"`
	CSINodeAllocatable map[string]*storagev1.VolumeNodeResources `json:"csiNodeAllocatable"`
	MigratedPlugins    []string                                  `json:"migratedPlugins"`
}

// prepare changes a node and gives its CSINode.
func (s *allocatableStrategy) prepare(node *v1.Node) (*storagev1.CSINode, error) {
	for name, text := range s.NodeAllocatable {
		amount, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("nodeAllocatableStrategy: nodeAllocatable[%s]: %w", name, err)
		}
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = v1.ResourceList{}
		}
		node.Status.Allocatable[name] = amount
	}
	out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node.Name,
		Annotations: map[string]string{v1.MigratedPluginsAnnotationKey: strings.Join(s.MigratedPlugins, ",")}}}
	for _, driver := range slices.Sorted(maps.Keys(s.CSINodeAllocatable)) {
		out.Spec.Drivers = append(out.Spec.Drivers,
			storagev1.CSINodeDriver{Name: driver, NodeID: node.Name, Allocatable: s.CSINodeAllocatable[driver]})
	}
	return out, nil
}

// volumeMaker makes the claim and the volume of each pod of an op, bound to each other.
type volumeMaker struct {
	claim, volume *objectTemplate
}

// volumesOf is nil for an op whose pods have none.
func volumesOf(op *operation) (*volumeMaker, error) {
	if op.VolumeTemplatePath == "" && op.ClaimTemplatePath == "" {
		return nil, nil
	}
	if op.VolumeTemplatePath == "" || op.ClaimTemplatePath == "" {
		return nil, fmt.Errorf("persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath: must both be given")
	}
	claim, err := readTemplate(op.ClaimTemplatePath, "")
	if err != nil {
		return nil, err
	}
	volume, err := readTemplate(op.VolumeTemplatePath, "")
	return &volumeMaker{claim, volume}, err
}

// make gives a pod the i-th claim of its namespace; both objects are returned.
func (m *volumeMaker) make(r *run, pod *v1.Pod, i, count int) ([]object, error) {
	claimObject, err := r.make(m.claim, i, count)
	if err != nil {
		return nil, err
	}
	volumeObject, err := r.make(m.volume, i, count)
	if err != nil {
		return nil, err
	}
	claim, ok := claimObject.(*v1.PersistentVolumeClaim)
	if !ok {
		return nil, fmt.Errorf("%s: must be a PersistentVolumeClaim, got %T", m.claim.source, claimObject)
	}
	volume, ok := volumeObject.(*v1.PersistentVolume)
	if !ok {
		return nil, fmt.Errorf("%s: must be a PersistentVolume, got %T", m.volume.source, volumeObject)
	}
	claim.Name, claim.Namespace = fmt.Sprintf("pvc-%d", i), pod.Namespace
	id := fmt.Sprintf("vol-%d", i)
	volume.Name = pod.Namespace + "-" + id // volumes have no namespace
	if source := volume.Spec.CSI; source != nil {
		source.VolumeHandle = volume.Name
	} else if source := volume.Spec.AWSElasticBlockStore; source != nil {
		source.VolumeID = id
	}
	volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: pod.Namespace, Name: claim.Name}
	volume.Status.Phase = v1.VolumeBound
	claim.Spec.VolumeName = volume.Name
	claim.Status.Phase = v1.ClaimBound
	pod.Spec.Volumes = []v1.Volume{{Name: "vol", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}}
	return []object{claim, volume}, nil
}

// The informers of these kinds, with their handlers captured.

func (v capturingV1) PersistentVolumes() corev1.PersistentVolumeInformer {
	return capturingVolumes{v.Interface.PersistentVolumes(), &v.factory.volumes}
}

func (v capturingV1) PersistentVolumeClaims() corev1.PersistentVolumeClaimInformer {
	return capturingClaims{v.Interface.PersistentVolumeClaims(), &v.factory.claims}
}

type capturingVolumes struct {
	corev1.PersistentVolumeInformer
	handlers *[]cache.ResourceEventHandler
}

func (v capturingVolumes) Informer() cache.SharedIndexInformer {
	return capturingInformer{v.PersistentVolumeInformer.Informer(), v.handlers}
}

type capturingClaims struct {
	corev1.PersistentVolumeClaimInformer
	handlers *[]cache.ResourceEventHandler
}

func (c capturingClaims) Informer() cache.SharedIndexInformer {
	return capturingInformer{c.PersistentVolumeClaimInformer.Informer(), c.handlers}
}

func (f *capturingFactory) Storage() storage.Interface {
	return capturingStorage{f.SharedInformerFactory.Storage(), f}
}

type capturingStorage struct {
	storage.Interface
	factory *capturingFactory
}

func (s capturingStorage) V1() storageinformers.Interface {
	return capturingStorageV1{s.Interface.V1(), s.factory}
}

type capturingStorageV1 struct {
	storageinformers.Interface
	factory *capturingFactory
}

func (v capturingStorageV1) CSINodes() storageinformers.CSINodeInformer {
	return capturingCSINodes{v.Interface.CSINodes(), &v.factory.csiNodes}
}

type capturingCSINodes struct {
	storageinformers.CSINodeInformer
	handlers *[]cache.ResourceEventHandler
}

func (n capturingCSINodes) Informer() cache.SharedIndexInformer {
	return capturingInformer{n.CSINodeInformer.Informer(), n.handlers}
}
