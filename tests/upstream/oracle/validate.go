// SPDX-License-Identifier: Apache-2.0

// The API server's validation, so that no generated object is one it would have refused.
package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// validate decodes an object, applies defaults and checks the result.
func validate(text []byte) error {
	objects, err := decodeObject(text)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		m, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		if m.GetNamespace() == "" && namespaced(obj) {
			m.SetNamespace(v1.NamespaceDefault)
		}
		if pod, ok := obj.(*v1.Pod); ok {
			if err := prepareForCreate(pod); err != nil {
				return err
			}
		}
		if errs := check(obj); len(errs) > 0 {
			return fmt.Errorf("%s %s: %w", obj.GetObjectKind().GroupVersionKind().Kind, m.GetName(), errs.ToAggregate())
		}
	}
	return nil
}

func check(obj runtime.Object) field.ErrorList {
	convert := func(to any) { _ = legacyscheme.Scheme.Convert(obj, to, nil) }
	switch obj := obj.(type) {
	case *v1.Node:
		in := &core.Node{}
		convert(in)
		return corevalidation.ValidateNode(in)
	case *v1.Pod:
		in := &core.Pod{}
		convert(in)
		return podregistry.Strategy.Validate(context.Background(), in)
	case *v1.Namespace:
		in := &core.Namespace{}
		convert(in)
		return corevalidation.ValidateNamespace(in)
	case *v1.Service:
		in := &core.Service{}
		convert(in)
		return corevalidation.ValidateServiceCreate(in)
	case *v1.ReplicationController:
		in := &core.ReplicationController{}
		convert(in)
		return corevalidation.ValidateReplicationController(in, corevalidation.PodValidationOptions{})
	case *appsv1.ReplicaSet:
		in := &apps.ReplicaSet{}
		convert(in)
		return appsvalidation.ValidateReplicaSet(in, corevalidation.PodValidationOptions{})
	case *appsv1.StatefulSet:
		in := &apps.StatefulSet{}
		convert(in)
		return appsvalidation.ValidateStatefulSet(in, corevalidation.PodValidationOptions{})
	case *policyv1.PodDisruptionBudget:
		in := &policy.PodDisruptionBudget{}
		convert(in)
		return policyvalidation.ValidatePodDisruptionBudget(in, policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *schedulingv1.PriorityClass:
		in := &scheduling.PriorityClass{}
		convert(in)
		return schedulingvalidation.ValidatePriorityClass(in)
	case *v1.PersistentVolume:
		in := &core.PersistentVolume{}
		convert(in)
		return corevalidation.ValidatePersistentVolume(in, corevalidation.ValidationOptionsForPersistentVolume(in, nil))
	case *v1.PersistentVolumeClaim:
		in := &core.PersistentVolumeClaim{}
		convert(in)
		return corevalidation.ValidatePersistentVolumeClaim(in, corevalidation.ValidationOptionsForPersistentVolumeClaim(in, nil))
	case *storagev1.StorageClass:
		in := &storage.StorageClass{}
		convert(in)
		return storagevalidation.ValidateStorageClass(in)
	case *storagev1.CSINode:
		in := &storage.CSINode{}
		convert(in)
		return storagevalidation.ValidateCSINode(in)
	case *storagev1.CSIDriver:
		in := &storage.CSIDriver{}
		convert(in)
		return storagevalidation.ValidateCSIDriver(in)
	case *storagev1.CSIStorageCapacity:
		in := &storage.CSIStorageCapacity{}
		convert(in)
		return storagevalidation.ValidateCSIStorageCapacity(in, storagevalidation.CSIStorageCapacityValidateOptions{})
	case *storagev1.VolumeAttachment:
		in := &storage.VolumeAttachment{}
		convert(in)
		return storagevalidation.ValidateVolumeAttachment(in)
	default:
		return field.ErrorList{field.Invalid(field.NewPath("kind"), obj.GetObjectKind().GroupVersionKind().String(), "no validation for this kind")}
	}
}
