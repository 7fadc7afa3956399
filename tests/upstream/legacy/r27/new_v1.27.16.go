// SPDX-License-Identifier: Apache-2.0

//go:build v1.27.16

package main

import (
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
)

func newScheduler(client clientset.Interface, stop <-chan struct{}, options ...scheduler.Option) (*scheduler.Scheduler, error) {
	return scheduler.New(client, informers.NewSharedInformerFactory(client, 0), nil,
		func(string) events.EventRecorder { return nil }, stop, options...)
}
