// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// What a fault does to a request that it hits.
const (
	actCut     = "cut"     // the connection is reset, the request never arrives
	actLose    = "lose"    // the request arrives and is answered, then the connection is reset: the answer is lost
	actStatus  = "status"  // answered with a Status of `code` here; the request never arrives
	actMask    = "mask"    // the request arrives, but is answered with a Status of `code` all the same
	actSlow    = "slow"    // forwarded after `delay`
	actTrickle = "trickle" // the answer comes in small pieces with `delay` between them
	actHalf    = "half"    // half of the answer, then the connection is reset
	actExpire  = "expire"  // a watch begins, and says 410 at once
)

var actions = []string{actCut, actLose, actStatus, actMask, actSlow, actTrickle, actHalf, actExpire}

// fault is armed over the control port, as JSON.
type fault struct {
	Method string `json:"method,omitempty"` // empty: any
	Path   string `json:"path,omitempty"`   // a regular expression for path and query
	Skip   int    `json:"skip,omitempty"`   // so many requests that match are let through first
	Every  int    `json:"every,omitempty"`  // then every so many-th is hit; 0: each
	Count  int    `json:"count,omitempty"`  // and no more than so many; 0: until disarmed
	Action string `json:"action"`
	Code   int    `json:"code,omitempty"`
	// Seconds, or a date; sent where it is not empty.
	RetryAfter string `json:"retryAfter,omitempty"`
	Delay      string `json:"delay,omitempty"`

	Seen int `json:"seen"` // that matched
	Hits int `json:"hits"`

	path  *regexp.Regexp
	delay time.Duration
}

func (f *fault) check() error {
	known := false
	for _, action := range actions {
		known = known || f.Action == action
	}
	if !known {
		return fmt.Errorf("action: want one of %v, got %q", actions, f.Action)
	}
	var err error
	if f.path, err = regexp.Compile(f.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if f.Delay != "" {
		if f.delay, err = time.ParseDuration(f.Delay); err != nil || f.delay < 0 {
			return fmt.Errorf("delay: want a duration, got %q", f.Delay)
		}
	}
	if (f.Action == actStatus || f.Action == actMask) != (f.Code >= 400 && f.Code < 600) {
		return fmt.Errorf("code: want 400 to 599 with status and mask and none with others, got %d with %s", f.Code, f.Action)
	}
	if f.Skip < 0 || f.Every < 0 || f.Count < 0 {
		return errors.New("skip, every, count: want no negative numbers")
	}
	return nil
}

// arsenal has the armed faults, oldest first.
type arsenal struct {
	mutex  sync.Mutex
	faults []*fault
}

// hit says which fault is this request's: the first that matches and has something left.
func (a *arsenal) hit(r *http.Request) *fault {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, f := range a.faults {
		if f.Method != "" && f.Method != r.Method || !f.path.MatchString(r.URL.RequestURI()) {
			continue
		}
		if f.Count > 0 && f.Hits == f.Count {
			continue
		}
		f.Seen++
		if f.Seen <= f.Skip || f.Every > 1 && (f.Seen-f.Skip)%f.Every != 0 {
			continue
		}
		f.Hits++
		return f
	}
	return nil
}

func (a *arsenal) arm(f *fault) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.faults = append(a.faults, f)
}

// disarm returns what was armed.
func (a *arsenal) disarm() []*fault {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	was := a.faults
	a.faults = nil
	return was
}

func (a *arsenal) list() []fault {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	list := []fault{}
	for _, f := range a.faults {
		list = append(list, *f)
	}
	return list
}

// controls: GET /faults, POST /faults (one fault), DELETE /faults (all, answered with what they hit), POST
// /watches/{cut,expire,end}?path=REGEX and POST /connections/cut for what is open now, GET /requests.
func (p *proxy) controls() http.Handler {
	answer := func(w http.ResponseWriter, code int, value any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(value) // a client that has gone needs no answer
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, p.arsenal.list()) })
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, p.arsenal.disarm()) })
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		f := &fault{}
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		err := decoder.Decode(f)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			answer(w, http.StatusBadRequest, err.Error())
			return
		}
		p.arsenal.arm(f)
		answer(w, http.StatusCreated, f)
	})
	mux.HandleFunc("POST /watches/{order}", func(w http.ResponseWriter, r *http.Request) {
		order := r.PathValue("order")
		path, err := regexp.Compile(r.URL.Query().Get("path"))
		if err != nil || order != orderCut && order != orderExpire && order != orderEnd {
			answer(w, http.StatusBadRequest, "want /watches/cut, expire or end, and a regular expression as path")
			return
		}
		answer(w, http.StatusOK, p.watches.command(order, path))
	})
	mux.HandleFunc("POST /connections/cut", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, p.cutAll())
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]int64{"requests": p.requests.Load(), "watches": p.watches.opened.Load()})
	})
	return mux
}
