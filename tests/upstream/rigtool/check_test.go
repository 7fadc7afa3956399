// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// calm is a cluster with nothing wrong: two pods of one cpu on a node that has two, each with its event.
func calm() world {
	w := world{bindings: map[string]int{}}
	w.nodes = []v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("2"), v1.ResourceMemory: resource.MustParse("1Gi"), v1.ResourcePods: resource.MustParse("10")}}}}
	for i := range 2 {
		name := fmt.Sprintf("p%d", i)
		w.pods = append(w.pods, v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, UID: types.UID(name)},
			Spec: v1.PodSpec{NodeName: "n", Containers: []v1.Container{{Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}}},
		})
		w.events = append(w.events, v1.Event{InvolvedObject: v1.ObjectReference{UID: types.UID(name)},
			Message: "Successfully assigned d/" + name + " to n"})
		w.bindings["d/"+name] = 1
	}
	w.all = append(w.all, w.pods...)
	return w
}

func TestEveryKindOfHarmIsSeen(t *testing.T) {
	two := expectation{pods: 2}
	if problems := judge(calm(), two); len(problems) > 0 {
		t.Fatal(problems)
	}
	for want, harm := range map[string]func(w *world){
		"1 pods, want 2":                 func(w *world) { w.pods = w.pods[:1] },
		"1 pods wait, want 0: d/p1":      func(w *world) { w.pods[1].Spec.NodeName = ""; w.events = w.events[:1] },
		"d/p1 is not bound, but has":     func(w *world) { w.pods[1].Spec.NodeName = "" },
		"was scheduled more than once":   func(w *world) { w.events = append(w.events, w.events[1]) },
		"but its event says":             func(w *world) { w.events[0].Message = "Successfully assigned d/p0 to m" },
		"d/p0 was bound 2 times":         func(w *world) { w.bindings["d/p0"] = 2 },
		"1 bound pods have no Scheduled": func(w *world) { w.events = w.events[1:] },
		"1 pods were rejected":           func(w *world) { w.pods[0].Status.Reason = "OutOfcpu" },
		"d/p0 is bound to gone": func(w *world) {
			w.pods[0].Spec.NodeName = "gone"
			w.events[0].Message = "Successfully assigned d/p0 to gone"
		},
		"n has 2 cpu, 1Gi memory and roo": func(w *world) { w.all = append(w.all, w.all[0]) },
	} {
		w := calm()
		harm(&w)
		if problems := strings.Join(judge(w, two), "\n"); !strings.Contains(problems, want) {
			t.Errorf("want %q, got %q", want, problems)
		}
	}
}

func TestOnlyExcusedPodsNeedNoEvent(t *testing.T) {
	w := calm()
	w.events = nil
	want := expectation{pods: 2, excused: map[string]bool{"d/p0": true}}
	if problems := strings.Join(judge(w, want), "\n"); problems != "1 bound pods have no Scheduled event: d/p1" {
		t.Error(problems)
	}
}

func TestAuditLogIsReadAsFarAsItIsWhole(t *testing.T) {
	binding := `{"stage":"ResponseComplete","verb":"create","user":{"username":"u"},"userAgent":"berth/1","requestURI":"/b",` +
		`"objectRef":{"resource":"pods","subresource":"binding","namespace":"d","name":"p"},"responseStatus":{"code":201}}`
	refused := strings.Replace(binding, "201", "403", 1)
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(binding+"\n"+binding+"\n"+refused+"\n"+binding[:40]), 0o600); err != nil {
		t.Fatal(err)
	}
	bindings, err := bindingsOf(file)
	if err != nil || bindings["d/p"] != 2 {
		t.Errorf("%v %v", bindings, err)
	}
	for want, args := range map[string][]string{
		"1 of 3 requests of u were answered with 403: create /b": {"--user", "u"},
		"asked nothing": {"--user", "u", "--agent", "kube"},
		"":              {"--user", "u", "--code", "401"},
	} {
		err := audit(append(args, "--file", file))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
