// SPDX-License-Identifier: Apache-2.0

// extendercalls [--seed S --first I --count N] [-o FILE] [CASES]: lets kube-scheduler's own HTTPExtender make the calls of
// a file of cases, and of N random ones, before a server that answers as each case says, and writes for every case, as one
// line of JSON, what the server heard and what came of it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type answer struct {
	Status int    `json:"status"` // 0: 200
	Body   string `json:"body"`
	Cut    int    `json:"cut"`    // so many bytes of the body, then the end of the connection
	Close  bool   `json:"close"`  // no answer at all
	Hang   string `json:"hang"`   // "head" or "body": silence from there on
	Repeat int    `json:"repeat"` // the body so many times
}

type testCase struct {
	Name      string                         `json:"name"`
	Verb      string                         `json:"verb"` // filter, prioritize, preempt, bind
	Prefix    string                         `json:"prefix"`
	Action    string                         `json:"action"` // empty: as the verb
	Capable   bool                           `json:"capable"`
	Ignorable bool                           `json:"ignorable"`
	Managed   []string                       `json:"managed"`
	TimeoutMs int                            `json:"timeoutMs"`
	Answer    answer                         `json:"answer"`
	Nobody    bool                           `json:"nobody"` // nobody listens
	Pod       v1.Pod                         `json:"pod"`
	Nodes     []v1.Node                      `json:"nodes"`
	Victims   map[string]*extenderv1.Victims `json:"victims"`
	Node      string                         `json:"node"`
}

type heard struct {
	Method      string          `json:"method"`
	Target      string          `json:"target"`
	ContentType string          `json:"contentType"`
	Body        json.RawMessage `json:"body"`
}

type outcome struct {
	Interested   bool                      `json:"interested"`
	Error        string                    `json:"error"`
	Passed       []string                  `json:"passed"`
	Failed       map[string]string         `json:"failed"`
	Unresolvable map[string]string         `json:"unresolvable"`
	Scores       []extenderv1.HostPriority `json:"scores"`
	Weight       int64                     `json:"weight"`
	Victims      map[string]victims        `json:"victims"`
	Heard        []heard                   `json:"heard"`
}

type victims struct {
	UIDs          []string `json:"uids"`
	PDBViolations int64    `json:"pdbViolations"`
}

type lister map[string]fwk.NodeInfo

func (l lister) List() ([]fwk.NodeInfo, error)                                 { return nil, nil }
func (l lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error)             { return nil, nil }
func (l lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) { return nil, nil }
func (l lister) Get(name string) (fwk.NodeInfo, error) {
	if info, ok := l[name]; ok {
		return info, nil
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

func run(c *testCase) outcome {
	var out outcome
	var mu sync.Mutex
	done := make(chan struct{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		out.Heard = append(out.Heard, heard{r.Method, r.RequestURI, r.Header.Get("Content-Type"), body})
		mu.Unlock()
		a := c.Answer
		conn := func() net.Conn {
			hijacked, _, err := w.(http.Hijacker).Hijack()
			check(err)
			return hijacked
		}
		text := strings.Repeat(a.Body, max(a.Repeat, 1))
		head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n"
		switch {
		case a.Close:
			conn().Close()
		case a.Hang == "head":
			hijacked := conn()
			<-done
			hijacked.Close()
		case a.Hang == "body":
			hijacked := conn()
			io.WriteString(hijacked, head+text[:len(text)/2])
			<-done
			hijacked.Close()
		case a.Cut > 0:
			hijacked := conn()
			io.WriteString(hijacked, head+text[:a.Cut])
			hijacked.Close()
		default:
			if a.Status != 0 {
				w.WriteHeader(a.Status)
			}
			io.WriteString(w, text)
		}
	})}
	if c.Nobody {
		listener.Close()
	} else {
		go server.Serve(listener)
	}
	defer server.Close()
	defer close(done)

	action := c.Action
	if action == "" {
		action = c.Verb
	}
	config := schedulerapi.Extender{
		URLPrefix: "http://127.0.0.1:" + port + c.Prefix, Weight: 3, NodeCacheCapable: c.Capable, Ignorable: c.Ignorable,
		HTTPTimeout: metav1.Duration{Duration: time.Duration(c.TimeoutMs) * time.Millisecond},
	}
	for _, name := range c.Managed {
		config.ManagedResources = append(config.ManagedResources, schedulerapi.ExtenderManagedResource{Name: name})
	}
	switch c.Verb {
	case "filter":
		config.FilterVerb = action
	case "prioritize":
		config.PrioritizeVerb = action
	case "preempt":
		config.PreemptVerb = action
	case "bind":
		config.BindVerb = action
	}
	extender, err := scheduler.NewHTTPExtender(&config)
	check(err)
	out.Interested = extender.IsInterested(&c.Pod)
	var infos []fwk.NodeInfo
	known := lister{}
	byName := map[string]*framework.NodeInfo{}
	for i := range c.Nodes {
		info := framework.NewNodeInfo()
		info.SetNode(&c.Nodes[i])
		infos = append(infos, info)
		known[c.Nodes[i].Name] = info
		byName[c.Nodes[i].Name] = info
	}
	for node, of := range c.Victims {
		for _, pod := range of.Pods {
			pod.Spec.NodeName = node
			byName[node].AddPod(pod)
		}
	}
	switch c.Verb {
	case "filter":
		passed, failed, unresolvable, e := extender.Filter(&c.Pod, infos)
		err = e
		for _, info := range passed {
			out.Passed = append(out.Passed, info.Node().Name)
		}
		out.Failed, out.Unresolvable = failed, unresolvable
	case "prioritize":
		scores, weight, e := extender.Prioritize(&c.Pod, infos)
		err = e
		if e == nil {
			out.Scores, out.Weight = *scores, weight
		}
	case "preempt":
		left, e := extender.ProcessPreemption(&c.Pod, c.Victims, known)
		err = e
		out.Victims = map[string]victims{}
		for node, of := range left {
			one := victims{UIDs: []string{}, PDBViolations: of.NumPDBViolations}
			for _, pod := range of.Pods {
				one.UIDs = append(one.UIDs, string(pod.UID))
			}
			out.Victims[node] = one
		}
	case "bind":
		err = extender.Bind(&v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Pod.Namespace, Name: c.Pod.Name, UID: types.UID(c.Pod.UID)},
			Target:     v1.ObjectReference{Kind: "Node", Name: c.Node},
		})
	}
	if err != nil {
		out.Error = strings.ReplaceAll(err.Error(), "127.0.0.1:"+port, "127.0.0.1:PORT")
	}
	mu.Lock()
	defer mu.Unlock()
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "extendercalls:", err)
		os.Exit(1)
	}
}

func main() {
	seed := flag.Uint64("seed", 1, "of random cases")
	first := flag.Uint64("first", 0, "the number of the first of them")
	count := flag.Uint64("count", 0, "how many")
	path := flag.String("o", "/dev/stdout", "where to write")
	flag.Parse()
	if flag.NArg() > 1 || flag.NArg() == 0 && *count == 0 {
		fmt.Fprintln(os.Stderr, "usage: extendercalls [--seed S --first I --count N] [-o FILE] [CASES]")
		os.Exit(2)
	}
	var raw []json.RawMessage
	if flag.NArg() == 1 {
		text, err := os.ReadFile(flag.Arg(0))
		check(err)
		check(json.Unmarshal(text, &raw))
	}
	for i := range *count {
		raw = append(raw, random(*seed, *first+i))
	}
	out, err := os.OpenFile(*path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	check(err)
	for _, one := range raw {
		var c testCase
		check(json.Unmarshal(one, &c))
		line, err := json.Marshal(map[string]any{"case": one, "upstream": run(&c)})
		check(err)
		_, err = fmt.Fprintln(out, string(line))
		check(err)
	}
	check(out.Close())
}
