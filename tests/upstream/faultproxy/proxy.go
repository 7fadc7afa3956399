// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The pieces that actTrickle makes of an answer. There are as many as that, whatever the size.
const pieces = 20

type proxy struct {
	server    *url.URL
	transport http.RoundTripper
	user      string // of everybody, where there is no TLS
	arsenal   arsenal
	watches   watches
	requests  atomic.Int64

	mutex       sync.Mutex
	connections map[net.Conn]int // requests under way on each
}

func newProxy(server *url.URL, transport http.RoundTripper) *proxy {
	return &proxy{server: server, transport: transport, connections: map[net.Conn]int{}}
}

type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// reset closes a connection so that its other end hears of an error, not of an end.
func reset(c net.Conn) {
	raw := c
	if secure, ok := c.(*tls.Conn); ok {
		raw = secure.NetConn()
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = raw.Close()
}

// cut resets the connection that a request came on, and ends its handler.
func cut(r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(net.Conn); ok {
		reset(c)
	}
	panic(http.ErrAbortHandler)
}

// cutAll resets every connection that has requests under way, watches too, and says how many there were.
func (p *proxy) cutAll() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for c := range p.connections {
		reset(c)
	}
	return len(p.connections)
}

func (p *proxy) busy(r *http.Request, change int) {
	c, ok := r.Context().Value(connectionKey{}).(net.Conn)
	if !ok {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.connections[c] += change; p.connections[c] == 0 {
		delete(p.connections, c)
	}
}

func isWatch(r *http.Request) bool {
	watch := r.URL.Query().Get("watch")
	return watch == "true" || watch == "1"
}

func pause(r *http.Request, duration time.Duration) {
	select {
	case <-time.After(duration):
	case <-r.Context().Done():
	}
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	p.busy(r, 1)
	defer p.busy(r, -1)
	f := p.arsenal.hit(r)
	if f == nil {
		f = &fault{}
	}
	switch f.Action {
	case actCut:
		cut(r)
	case actStatus:
		_, _ = io.Copy(io.Discard, r.Body)
		writeStatus(w, f.Code, f.RetryAfter)
		return
	case actSlow:
		pause(r, f.delay)
	}
	response, err := p.forward(r)
	if err != nil {
		cut(r) // an API server that is not there does not answer either
	}
	defer response.Body.Close()
	if isWatch(r) && response.StatusCode == http.StatusOK {
		p.watch(w, r, response, f)
		return
	}
	p.answer(w, r, response, f)
}

// forward asks the API server in the name of whoever asks us.
func (p *proxy) forward(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = p.server.Scheme, p.server.Host, p.server.Host, ""
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Remote-") || name == "Connection" || name == "Keep-Alive" || name == "Te" {
			out.Header.Del(name)
		}
	}
	switch {
	case r.TLS != nil && len(r.TLS.PeerCertificates) > 0:
		subject := r.TLS.PeerCertificates[0].Subject
		out.Header.Set("X-Remote-User", subject.CommonName)
		for _, group := range subject.Organization {
			out.Header.Add("X-Remote-Group", group)
		}
	case p.user != "":
		out.Header.Set("X-Remote-User", p.user)
	}
	if out.ContentLength == 0 {
		out.Body = nil // Go would send an empty body in chunks
	}
	return p.transport.RoundTrip(out)
}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		if name != "Connection" && name != "Transfer-Encoding" {
			to[name] = values
		}
	}
}

func (p *proxy) answer(w http.ResponseWriter, r *http.Request, response *http.Response, f *fault) {
	body, err := io.ReadAll(response.Body)
	if err != nil || f.Action == actLose {
		cut(r)
	}
	if f.Action == actMask {
		writeStatus(w, f.Code, f.RetryAfter)
		return
	}
	copyHeader(w.Header(), response.Header)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(response.StatusCode)
	switch f.Action {
	case actHalf:
		_, _ = w.Write(body[:len(body)/2])
		flush(w)
		// The half is to arrive: a reset may overtake it.
		time.Sleep(20 * time.Millisecond)
		cut(r)
	case actTrickle:
		for size := len(body)/pieces + 1; len(body) > 0; body = body[min(size, len(body)):] {
			_, _ = w.Write(body[:min(size, len(body))])
			flush(w)
			pause(r, f.delay)
		}
	default:
		_, _ = w.Write(body) // a client that has gone needs no answer
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// injected is a Status as the API server's own are.
func injected(code int, retryAfter string) metav1.Status {
	reasons := map[int]metav1.StatusReason{
		401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden, 404: metav1.StatusReasonNotFound,
		409: metav1.StatusReasonConflict, 410: metav1.StatusReasonExpired, 429: metav1.StatusReasonTooManyRequests,
		500: metav1.StatusReasonInternalError, 503: metav1.StatusReasonServiceUnavailable, 504: metav1.StatusReasonTimeout,
	}
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: "injected by the fault proxy", Reason: reasons[code], Code: int32(code),
	}
	if seconds, err := strconv.Atoi(retryAfter); err == nil {
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
	}
	return status
}

func writeStatus(w http.ResponseWriter, code int, retryAfter string) {
	body := &bytes.Buffer{}
	_ = json.NewEncoder(body).Encode(injected(code, retryAfter)) // a plain struct
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes())
}
