// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func TestBindingsAreNotedOnce(t *testing.T) {
	source := watch.NewFake()
	seen := &bindings{watch: source, at: map[string]time.Time{}}
	ended := make(chan struct{})
	go func() { seen.note(); close(ended) }()
	pod := func(name, node string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{NodeName: node}}
	}
	began := time.Now()
	source.Add(pod("a", ""))
	source.Add(pod("b", ""))
	source.Modify(pod("a", "n"))
	source.Modify(pod("b", "n"))
	made := map[string]time.Time{"a": began.Add(-time.Hour), "b": began.Add(-2 * time.Hour)}
	first, err := seen.waits(made, time.Minute, 0)
	if err != nil || len(first) != 2 || first[0] < 3.6e6 || first[1] < 7.2e6 || first[1] > 9e6 {
		t.Fatalf("%v, %v", first, err)
	}
	source.Modify(pod("a", "n"))
	source.Add(pod("c", "")) // the one before has been read
	if again, err := seen.waits(made, time.Minute, 0); err != nil || !slices.Equal(first, again) {
		t.Errorf("%v, then %v, %v", first, again, err)
	}
	made["c"] = began
	if _, err := seen.waits(made, time.Millisecond, 0); err == nil || !strings.Contains(err.Error(), "2 of 3 pods") {
		t.Errorf("one is not bound: %v", err)
	}
	if _, err := seen.waits(made, time.Minute, 1<<30); err == nil || !strings.Contains(err.Error(), "2 of 3 bindings") {
		t.Errorf("there is no such process: %v", err)
	}
	source.Stop()
	<-ended
	if _, err := seen.waits(made, time.Minute, 0); err == nil || !strings.Contains(err.Error(), "watch") {
		t.Errorf("nothing more is to be seen: %v", err)
	}
}
