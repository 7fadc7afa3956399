// SPDX-License-Identifier: Apache-2.0

// Faultproxy stands between a scheduler and an API server and does to requests what networks and busy servers do: cuts,
// delays, refusals, halves of answers. Part of the control plane rig, see controlplane.md.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type options struct {
	listen, control, server, pki, user string
	plain                              bool
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "", "where schedulers come, HOST:PORT")
	flag.StringVar(&o.control, "control", "", "where faults are armed over plain HTTP, HOST:PORT of a loopback address")
	flag.StringVar(&o.server, "server", "", "URL of the API server")
	flag.StringVar(&o.pki, "pki", "", "the rig's folder of certificates")
	flag.BoolVar(&o.plain, "plain", false, "listen without TLS; then everybody is --user")
	flag.StringVar(&o.user, "user", "system:kube-scheduler", "who is asking where no certificate says so, with --plain")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "faultproxy:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.listen == "" || o.control == "" || o.server == "" || o.pki == "" || flag.NArg() > 0 {
		return fmt.Errorf("want --listen, --control, --server and --pki and no other arguments, got %q", os.Args[1:])
	}
	host, _, err := net.SplitHostPort(o.control)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--control: want a loopback address with a port, got %q", o.control)
	}
	server, err := url.Parse(o.server)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	transport, listening, err := credentials(o.pki)
	if err != nil {
		return err
	}
	p := newProxy(server, transport)
	if o.plain {
		p.user = o.user
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	proxy := &http.Server{Addr: o.listen, Handler: p, TLSConfig: listening, ConnContext: withConnection}
	control := &http.Server{Addr: o.control, Handler: p.controls(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 2)
	go func() {
		if o.plain {
			failed <- proxy.ListenAndServe()
		} else {
			failed <- proxy.ListenAndServeTLS("", "")
		}
	}()
	go func() { failed <- control.ListenAndServe() }()
	select {
	case <-ctx.Done():
		return errors.Join(proxy.Close(), control.Close())
	case err := <-failed:
		return err
	}
}

// credentials: towards the API server we are the proxy that it believes about who is asking; towards schedulers we are a
// server of the rig that looks at certificates.
func credentials(pki string) (*http.Transport, *tls.Config, error) {
	authority, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	load := func(name string) (tls.Certificate, error) {
		return tls.LoadX509KeyPair(filepath.Join(pki, name+".crt"), filepath.Join(pki, name+".key"))
	}
	own, err := load("server")
	if err != nil {
		return nil, nil, err
	}
	front, err := load("front-proxy")
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{
		// Shown whatever authorities the server names: those are the users', and this one is not a user's.
		TLSClientConfig: &tls.Config{RootCAs: pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &front, nil
		}},
		DisableCompression:  true, // bodies go through as they are
		MaxIdleConnsPerHost: 256,
		// HTTP/1.1: one connection for each request under way, so that nothing waits for a watch.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	listening := &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}
	return transport, listening, nil
}
