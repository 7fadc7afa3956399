// SPDX-License-Identifier: Apache-2.0

// Goextender is a scheduler extender as people write them in Go: the protocol's own types, encoding/json, one label that
// decides. It is the reference that `berth extender` is compared with, in what it answers and what it costs.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	address, kubeconfig, label  string
	certFile, keyFile, clientCA string
	delay                       time.Duration
	logCalls                    bool
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "127.0.0.1:8080", "where to listen; port 0 is any free one")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server, for bind, preempt and NodeNames")
	flag.StringVar(&o.label, "label", "priority.lixueduan.com", "nodes with this label pass, and its value is the score; empty: all pass, with 0")
	flag.StringVar(&o.certFile, "tls-cert-file", "", "serve HTTPS with this certificate")
	flag.StringVar(&o.keyFile, "tls-private-key-file", "", "and this key")
	flag.StringVar(&o.clientCA, "client-ca-file", "", "accept only clients with a certificate of this authority")
	flag.DurationVar(&o.delay, "delay", 0, "think for so long before each answer")
	flag.BoolVar(&o.logCalls, "log-calls", false, "a line per call, as it comes in")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("goextender: unexpected argument %q", flag.Arg(0))
	}
	if err := run(o); err != nil {
		log.Fatalf("goextender: %v", err)
	}
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	extender := &extender{label: o.label, delay: o.delay, logCalls: o.logCalls}
	if o.kubeconfig != "" {
		if err := extender.connect(ctx, o.kubeconfig); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: extender.routes(), ReadHeaderTimeout: 10 * time.Second}
	if o.clientCA != "" {
		authority, err := os.ReadFile(o.clientCA)
		if err != nil {
			return fmt.Errorf("-client-ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(authority) {
			return fmt.Errorf("-client-ca-file: no certificate in %s", o.clientCA)
		}
		server.TLSConfig = &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
	})
	log.Printf("listening on %s", listener.Addr())
	if o.certFile != "" {
		err = server.ServeTLS(listener, o.certFile, o.keyFile)
	} else {
		err = server.Serve(listener)
	}
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}

func (e *extender) connect(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	if e.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	factory := informers.NewSharedInformerFactory(e.client, 0)
	e.nodes = factory.Core().V1().Nodes().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return ctx.Err()
}
