// SPDX-License-Identifier: Apache-2.0

//go:build v1.28.15

package main

import (
	"context"

	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
)

func newScheduler(client clientset.Interface, stop <-chan struct{}, options ...scheduler.Option) (*scheduler.Scheduler, error) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stop
		cancel()
	}()
	return scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil,
		func(string) events.EventRecorder { return nil }, options...)
}
