// SPDX-License-Identifier: Apache-2.0

// When pods are bound, as a client of the API server sees it.
package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// bindings notes when each pod of a namespace is first seen with a node.
type bindings struct {
	watch watch.Interface

	mutex sync.Mutex
	at    map[string]time.Time
	err   error // there is no more to see
}

func watchBindings(client kubernetes.Interface, namespace string) (*bindings, error) {
	watch, err := client.CoreV1().Pods(namespace).Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	b := &bindings{watch: watch, at: map[string]time.Time{}}
	go b.note()
	return b, nil
}

func (b *bindings) note() {
	var failure any = "it has ended"
	for event := range b.watch.ResultChan() {
		now := time.Now()
		pod, ok := event.Object.(*v1.Pod)
		if !ok {
			failure = event.Object
			break
		}
		b.mutex.Lock()
		if _, known := b.at[pod.Name]; !known && pod.Spec.NodeName != "" {
			b.at[pod.Name] = now
		}
		b.mutex.Unlock()
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.err = fmt.Errorf("the watch of pods: %v", failure)
}

func (b *bindings) stop() { b.watch.Stop() }

// waits says for how many milliseconds each waited, from when its creation was answered; sorted. It waits until all are
// bound, for so long at the most, and no longer than the process of that number lives; 0: that of no process.
func (b *bindings) waits(made map[string]time.Time, patience time.Duration, pid int) ([]float64, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		lasted, err := b.soFar(made)
		if err == nil && pid != 0 && len(lasted) < len(made) {
			if _, err = readProcess(pid); err != nil {
				return nil, fmt.Errorf("%w, after %d of %d bindings", err, len(lasted), len(made))
			}
		}
		if err != nil || len(lasted) == len(made) {
			slices.Sort(lasted)
			return lasted, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("after %v %d of %d pods are bound", patience, len(lasted), len(made))
		}
	}
}

func (b *bindings) soFar(made map[string]time.Time) ([]float64, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	lasted := make([]float64, 0, len(made))
	for name, at := range made {
		if bound, ok := b.at[name]; ok {
			lasted = append(lasted, float64(bound.Sub(at).Microseconds())/1000)
		}
	}
	if len(lasted) < len(made) {
		return lasted, b.err
	}
	return lasted, nil
}
