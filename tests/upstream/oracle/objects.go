// SPDX-License-Identifier: Apache-2.0

// From the text of objects to what the API server would have stored: defaults, priorities, merged selectors, identities.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// invented creation times start here and grow by a second per object.
var creationBase = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// decodeObject reads one object and gives it upstream's defaults. Lists come back as their items.
func decodeObject(text []byte) ([]runtime.Object, error) {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Kind == "List" || head.Items != nil {
		var all []runtime.Object
		for _, item := range head.Items {
			objects, err := decodeObject(item)
			if err != nil {
				return nil, err
			}
			all = append(all, objects...)
		}
		return all, nil
	}
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(obj)
	return []runtime.Object{obj}, nil
}

// store turns decoded objects into stored ones, in place and in file order.
func store(objects []runtime.Object) error {
	classes := map[string]*schedulingv1.PriorityClass{}
	var global *schedulingv1.PriorityClass
	for _, obj := range objects {
		if class, ok := obj.(*schedulingv1.PriorityClass); ok {
			classes[class.Name] = class
			if class.GlobalDefault && (global == nil || class.Value < global.Value) {
				global = class
			}
		}
	}
	for i, obj := range objects {
		m, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		if m.GetUID() == "" {
			m.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)))
		}
		if created := m.GetCreationTimestamp(); created.IsZero() {
			m.SetCreationTimestamp(metav1.NewTime(creationBase.Add(time.Duration(i) * time.Second)))
		}
		if m.GetNamespace() == "" && namespaced(obj) {
			m.SetNamespace(metav1.NamespaceDefault)
		}
		if pod, ok := obj.(*v1.Pod); ok {
			if err := admitPriority(pod, classes, global); err != nil {
				return err
			}
			if err := prepareForCreate(pod); err != nil {
				return err
			}
		}
	}
	return nil
}

func namespaced(obj runtime.Object) bool {
	switch obj.GetObjectKind().GroupVersionKind().Kind {
	case "Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment",
		"PriorityClass", "ResourceSlice", "DeviceClass", "DeviceTaintRule":
		return false
	}
	return true
}

// admitPriority resolves the priority class; a priority or policy written without a class stands.
func admitPriority(pod *v1.Pod, classes map[string]*schedulingv1.PriorityClass, global *schedulingv1.PriorityClass) error {
	spec := &pod.Spec
	class := global
	if spec.PriorityClassName != "" {
		if class = classes[spec.PriorityClassName]; class == nil {
			if spec.Priority != nil {
				return nil
			}
			return fmt.Errorf("pod %s/%s: no PriorityClass %q", pod.Namespace, pod.Name, spec.PriorityClassName)
		}
	} else if spec.Priority != nil {
		return nil
	}
	if class == nil {
		zero := int32(0)
		spec.Priority = &zero
		return nil
	}
	value := class.Value
	spec.PriorityClassName = class.Name
	spec.Priority = &value
	if class.PreemptionPolicy != nil {
		policy := *class.PreemptionPolicy
		spec.PreemptionPolicy = &policy
	}
	return nil
}

// prepareForCreate lets the pod registry do what it does on create, and keeps the status, which came from elsewhere.
func prepareForCreate(pod *v1.Pod) error {
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return err
	}
	status := pod.Status.DeepCopy()
	podregistry.Strategy.PrepareForCreate(context.Background(), internal)
	stored := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return err
	}
	stored.TypeMeta = pod.TypeMeta
	stored.Status = *status
	if stored.Status.Phase == "" {
		stored.Status.Phase = v1.PodPending
	}
	*pod = *stored
	return nil
}
