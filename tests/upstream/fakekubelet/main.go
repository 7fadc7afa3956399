// SPDX-License-Identifier: Apache-2.0

// Fakekubelet is all kubelets of a cluster without machines: it makes nodes, keeps every node Ready, and lets pods that
// are bound run and pods that are deleted go. Part of the control plane rig, see controlplane.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const workers = 16

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	nodes := flag.Int("nodes", 2, "make node-1 to node-N where they do not exist")
	cpu := flag.String("cpu", "8", "cpu of a node that is made")
	memory := flag.String("memory", "32Gi", "memory of a node that is made")
	health := flag.String("health-address", "", "answer GET /healthz here once the nodes exist")
	reject := flag.Bool("reject-overcommitted", false, "a pod for which its node has no room fails: OutOfcpu, OutOfmemory, OutOfpods")
	klog.InitFlags(nil)
	flag.Parse()
	if err := run(*kubeconfig, *nodes, *cpu, *memory, *health, *reject); err != nil {
		fmt.Fprintln(os.Stderr, "fakekubelet:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string, count int, cpu, memory, health string, reject bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if kubeconfig == "" || count < 0 || flag.NArg() > 0 {
		return fmt.Errorf("want --kubeconfig FILE, --nodes N with N >= 0 and no other arguments, got %q", os.Args[1:])
	}
	resources, err := parseResources(cpu, memory)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit: we are thousands of kubelets
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := makeNodes(ctx, client, count, resources); err != nil {
		return err
	}

	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := &nodeKeeper{client: client, lister: factory.Core().V1().Nodes().Lister(), resources: resources}
	pods := &podKeeper{client: client, lister: factory.Core().V1().Pods().Lister()}
	nodeQueue := follow(factory.Core().V1().Nodes().Informer(), nil)
	if reject {
		pods.ledger = newLedger(factory.Core().V1().Nodes().Lister())
	}
	podQueue := follow(factory.Core().V1().Pods().Informer(), pods.ledger)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	var group sync.WaitGroup
	for range workers {
		group.Go(func() { work(ctx, nodeQueue, nodes.sync) })
		group.Go(func() { work(ctx, podQueue, pods.sync) })
	}
	group.Go(func() { nodes.renewLeases(ctx) })
	if health != "" {
		serveHealth(health)
	}
	klog.InfoS("Kubelets run", "nodes", count)
	<-ctx.Done()
	nodeQueue.ShutDown()
	podQueue.ShutDown()
	group.Wait()
	return nil
}

type queue = workqueue.TypedRateLimitingInterface[string]

// follow queues the key of every object that comes or changes. Events that come while a key waits are one. The ledger, where
// there is one, hears of each first.
func follow(informer cache.SharedIndexInformer, ledger *ledger) queue {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(object any) {
		if ledger != nil {
			ledger.changed(object)
		}
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			q.Add(key)
		}
	}
	// An error means that the informer has stopped, and ours has not started yet.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, now any) { add(now) },
		DeleteFunc: func(object any) {
			if ledger != nil {
				ledger.gone(object)
			}
		},
	})
	return q
}

func work(ctx context.Context, q queue, sync func(ctx context.Context, key string) error) {
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		if err := sync(ctx, key); err != nil {
			if ctx.Err() == nil {
				klog.ErrorS(err, "Trying again", "object", key)
			}
			q.AddRateLimited(key)
		} else {
			q.Forget(key)
		}
		q.Done(key)
	}
}

func serveHealth(address string) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	go func() {
		klog.ErrorS(http.ListenAndServe(address, mux), "Health is not served", "address", address)
	}()
}
