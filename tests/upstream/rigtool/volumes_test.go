// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// bound is a cluster with nothing wrong: on each of two nodes a pod with a claim that is bound to a disk there.
func bound() storage {
	var s storage
	for _, name := range []string{"a", "b"} {
		s.nodes = append(s.nodes, v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, Labels: map[string]string{v1.LabelHostname: "node-" + name}}})
		s.volumes = append(s.volumes, v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk-" + name}, Spec: v1.PersistentVolumeSpec{
			ClaimRef: &v1.ObjectReference{Namespace: "d", Name: "data-" + name, UID: types.UID(name)}, NodeAffinity: onNode("node-" + name)}})
		s.claims = append(s.claims, v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "data-" + name, UID: types.UID(name), Annotations: map[string]string{bindCompleted: "yes"}},
			Spec:       v1.PersistentVolumeClaimSpec{VolumeName: "disk-" + name},
			Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound}})
		s.pods = append(s.pods, v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Spec: v1.PodSpec{NodeName: "node-" + name,
			Volumes: []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name}}}}}})
	}
	return s
}

func TestEveryHarmToVolumesIsSeen(t *testing.T) {
	if problems := judgeVolumes(bound(), 2, 0); len(problems) > 0 {
		t.Fatal(problems)
	}
	for want, harm := range map[string]func(s *storage){
		"1 pods, want 2":                                     func(s *storage) { s.pods = s.pods[:1] },
		"1 pods wait, want 0: b":                             func(s *storage) { s.pods[1].Spec.NodeName = "" },
		"claim data-a is not there":                          func(s *storage) { s.claims = s.claims[1:] },
		"claim data-a is not bound":                          func(s *storage) { s.claims[0].Annotations = nil },
		"bound to disk-a, which is not there":                func(s *storage) { s.volumes = s.volumes[1:] },
		"bound to disk-a, which is for null":                 func(s *storage) { s.volumes[0].Spec.ClaimRef = nil },
		"the volume disk-b is claimed twice":                 func(s *storage) { s.claims[0].Spec.VolumeName = "disk-b" },
		"both disk-a and disk-b are for":                     func(s *storage) { s.volumes[1].Spec.ClaimRef = s.volumes[0].Spec.ClaimRef },
		"bound to disk-a, which only node-a reaches":         func(s *storage) { s.pods[0].Spec.NodeName = "node-b" },
		"a is on node-a, but its claim data-a is bound, but": func(s *storage) { s.nodes = s.nodes[1:] },
	} {
		s := bound()
		harm(&s)
		if problems := strings.Join(judgeVolumes(s, 2, 0), "\n"); !strings.Contains(problems, want) {
			t.Errorf("want %q, got %q", want, problems)
		}
	}
}
