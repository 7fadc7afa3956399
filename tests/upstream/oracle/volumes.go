// SPDX-License-Identifier: Apache-2.0

// Where upstream's word about volumes is not to be taken: what it leaves to chance, and a mistake it makes.
package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// matchTries is how often nodes are judged anew: among volumes of equal size upstream takes the first of a map.
const matchTries = 40

// doubt notes what of the nodes' verdicts could have been otherwise, and whether it should have been.
func (w *world) doubt(fw framework.Framework, pod *v1.Pod, all []fwk.NodeInfo, e *Explanation) error {
	claims := 0
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil {
			claims++
		}
	}
	if claims == 0 {
		return nil
	}
	mistaken, err := w.namesakes(pod)
	if err != nil {
		return err
	}
	e.mistaken = mistaken
	for try := 0; claims > 1 && try < matchTries; try++ { // which volume one claim gets matters to the next
		again := &Explanation{}
		diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
		if _, err := w.filter(fw, framework.NewCycleState(), pod, all, &diagnosis, again); err != nil {
			return err
		}
		again.Pod, again.Profile, again.Winners, again.Message = e.Pod, e.Profile, e.Winners, e.Message
		if len(differences(e, again)) > 0 {
			e.undecided = append(e.undecided, "message", "nodes", "preemption", "winners")
			return nil
		}
	}
	return nil
}

// namesakes tells whether a pod of another namespace uses a claim that is called like one which the pod needs for itself:
// upstream counts such pods in and out by the claim's name alone.
func (w *world) namesakes(pod *v1.Pod) (bool, error) {
	alone := sets.New[string]()
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := w.informer.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(volume.PersistentVolumeClaim.ClaimName)
		if err == nil && len(claim.Spec.AccessModes) == 1 && claim.Spec.AccessModes[0] == v1.ReadWriteOncePod {
			alone.Insert(claim.Name)
		}
	}
	if len(alone) == 0 {
		return false, nil
	}
	others, err := w.informer.Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return false, err
	}
	for _, other := range others {
		if other.Namespace == pod.Namespace {
			continue
		}
		for _, volume := range other.Spec.Volumes {
			if volume.PersistentVolumeClaim != nil && alone.Has(volume.PersistentVolumeClaim.ClaimName) {
				return true, nil
			}
		}
	}
	return false, nil
}
