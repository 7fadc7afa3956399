// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const body = "a whole answer, and nothing but it"

// stage is a proxy in front of a server that answers everything with body, and a watch with lines until it is left.
type stage struct {
	proxy   *proxy
	url     string
	arrived atomic.Int64
}

func newStage(t *testing.T, faults ...fault) *stage {
	t.Helper()
	s := &stage{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.arrived.Add(1)
		fmt.Fprintln(w, body)
		if isWatch(r) {
			flush(w)
			<-r.Context().Done()
		}
	}))
	t.Cleanup(api.Close)
	server, err := url.Parse(api.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.proxy = newProxy(server, &http.Transport{})
	for _, f := range faults {
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		s.proxy.arsenal.arm(&f)
	}
	front := httptest.NewUnstartedServer(s.proxy)
	front.Config.ConnContext = withConnection
	front.Start()
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

func (s *stage) get(t *testing.T, path string) (*http.Response, string, error) {
	t.Helper()
	// A connection for each: Go repeats a GET whose connection went away by itself, if that was used before.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(s.url + path)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func TestWhatAFaultDoesToOneRequest(t *testing.T) {
	for _, c := range []struct {
		fault   fault
		arrives int64
		code    int // 0: no whole answer
		retry   string
	}{
		{fault{Action: actCut}, 0, 0, ""},
		{fault{Action: actLose}, 1, 0, ""},
		{fault{Action: actHalf}, 1, 0, ""},
		{fault{Action: actStatus, Code: 409}, 0, 409, ""},
		{fault{Action: actStatus, Code: 429, RetryAfter: "1"}, 0, 429, "1"},
		{fault{Action: actMask, Code: 500}, 1, 500, ""},
		{fault{Action: actSlow, Delay: "1ms"}, 1, 200, ""},
		{fault{Action: actTrickle, Delay: "1ms"}, 1, 200, ""},
	} {
		c.fault.Count = 1
		s := newStage(t, c.fault)
		response, text, err := s.get(t, "/api/v1/pods")
		if (err == nil) != (c.code != 0) || s.arrived.Load() != c.arrives {
			t.Errorf("%s: error %v, %d requests arrived", c.fault.Action, err, s.arrived.Load())
			continue
		}
		if err == nil && (response.StatusCode != c.code || response.Header.Get("Retry-After") != c.retry ||
			(text == body+"\n") != (c.code == 200)) {
			t.Errorf("%s: %s %v %q", c.fault.Action, response.Status, response.Header, text)
		}
		if _, text, err := s.get(t, "/api/v1/pods"); err != nil || text != body+"\n" {
			t.Errorf("%s: the next request: %v %q", c.fault.Action, err, text)
		}
	}
}

func TestFaultHitsWhatItNamesAndNoMoreOften(t *testing.T) {
	s := newStage(t, fault{Method: "GET", Path: "/pods/.*/binding$", Skip: 1, Every: 2, Count: 2, Action: actStatus, Code: 409})
	var codes []int
	for range 8 {
		if response, _, err := s.get(t, "/nodes"); err != nil || response.StatusCode != 200 {
			t.Fatal("another path is let through", err)
		}
		response, _, err := s.get(t, "/pods/x/binding")
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, response.StatusCode)
	}
	if got := fmt.Sprint(codes); got != "[200 200 409 200 409 200 200 200]" {
		t.Error(got)
	}
}

func TestOpenWatchesAreToldOnce(t *testing.T) {
	for order, want := range map[string]string{orderCut: "", orderEnd: "", orderExpire: `"code":410`} {
		s := newStage(t)
		response, err := http.Get(s.url + "/api/v1/nodes?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		lines := bufio.NewReader(response.Body)
		if line, err := lines.ReadString('\n'); err != nil || line != body+"\n" {
			t.Fatalf("%s: first %q, %v", order, line, err)
		}
		if told := s.proxy.watches.command(order, regexp.MustCompile("pods")); told != 0 {
			t.Errorf("%s: %d watches of pods", order, told)
		}
		if told := s.proxy.watches.command(order, regexp.MustCompile("nodes")); told != 1 {
			t.Errorf("%s: %d watches of nodes", order, told)
		}
		rest, err := io.ReadAll(lines)
		if (err == nil) != (order != orderCut) || !strings.Contains(string(rest), want) || want == "" && len(rest) > 0 {
			t.Errorf("%s: then %q, %v", order, rest, err)
		}
	}
}

func TestExpiryInProtobufIsAnEventWithAStatus(t *testing.T) {
	frame := expiredFrame(true)
	if size := binary.BigEndian.Uint32(frame); int(size) != len(frame)-4 {
		t.Fatalf("size %d of %d", size, len(frame))
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[4:]); err != nil || event.Type != "ERROR" || !strings.HasPrefix(string(event.Object.Raw), "k8s\x00") {
		t.Errorf("%v: %+v", err, event)
	}
}

func TestFaultThatMakesNoSenseIsRefused(t *testing.T) {
	for _, f := range []fault{{Action: "explode"}, {Action: actCut, Path: "("}, {Action: actSlow, Delay: "soon"},
		{Action: actStatus}, {Action: actCut, Code: 500}, {Action: actCut, Count: -1}} {
		if f.check() == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}
