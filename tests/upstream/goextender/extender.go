// SPDX-License-Identifier: Apache-2.0

// The four verbs. A failure goes into the reply's Error where the reply has one, else it is a 500 with the sentence.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// Scores are multiplied by ten and the extender's weight, so they must stay far from the end of int64.
const scoreLimit = 1_000_000_000_000_000

var errNoCluster = errors.New("this needs -kubeconfig: the request has names only, and nodes are not known here")

type extender struct {
	label    string
	delay    time.Duration
	logCalls bool
	client   kubernetes.Interface // nil without -kubeconfig
	nodes    listers.NodeLister   // nil without -kubeconfig
}

func (e *extender) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/filter", answer(e, e.filter))
	mux.Handle("/prioritize", answer(e, e.prioritize))
	mux.Handle("/preempt", answer(e, e.preempt))
	mux.Handle("/bind", answer(e, e.bind))
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /version", ok)
	return mux
}

// answer makes a handler of a function from message to message.
func answer[Args, Result any](e *extender, verb func(context.Context, *Args) (Result, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args Args
		if !decode(w, r, &args) {
			return
		}
		if e.logCalls {
			log.Printf("call %s", r.URL.Path)
		}
		time.Sleep(e.delay)
		result, err := verb(r.Context(), &args)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		encode(w, result)
	})
}

func decode(w http.ResponseWriter, r *http.Request, args any) bool {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return false
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 256<<20)).Decode(args); err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return false
	}
	return true
}

func encode(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(result)
}

// labelOf returns the label of a node known by name, and whether the node exists and has it.
func (e *extender) labelOf(name string) (value string, known, labelled bool, err error) {
	if e.label == "" {
		return "", true, true, nil
	}
	if e.nodes == nil {
		return "", false, false, errNoCluster
	}
	node, err := e.nodes.Get(name)
	if err != nil {
		return "", false, false, nil // a lister's only error is that there is none
	}
	value, labelled = node.Labels[e.label]
	return value, true, labelled, nil
}

func (e *extender) passes(node *v1.Node) bool {
	_, labelled := node.Labels[e.label]
	return e.label == "" || labelled
}

func score(value string) int64 {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return max(-scoreLimit, min(number, scoreLimit))
}

func (e *extender) filter(_ context.Context, args *extenderv1.ExtenderArgs) (*extenderv1.ExtenderFilterResult, error) {
	failed := extenderv1.FailedNodesMap{}
	result := &extenderv1.ExtenderFilterResult{FailedNodes: failed, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	reason := fmt.Sprintf("node(s) didn't have label %s", e.label)
	passed := 0
	switch {
	case args.NodeNames != nil:
		names := []string{}
		for _, name := range *args.NodeNames {
			_, known, labelled, err := e.labelOf(name)
			switch {
			case err != nil:
				return &extenderv1.ExtenderFilterResult{Error: err.Error()}, nil
			case !known:
				failed[name] = "node is not known"
			case !labelled:
				result.FailedAndUnresolvableNodes[name] = reason
			default:
				names = append(names, name)
			}
		}
		passed = len(names)
		result.NodeNames = &names
	case args.Nodes != nil:
		nodes := &v1.NodeList{Items: []v1.Node{}}
		for i := range args.Nodes.Items {
			if node := &args.Nodes.Items[i]; e.passes(node) {
				nodes.Items = append(nodes.Items, *node)
			} else {
				result.FailedAndUnresolvableNodes[node.Name] = reason
			}
		}
		passed = len(nodes.Items)
		result.Nodes = nodes
	default:
		return &extenderv1.ExtenderFilterResult{Error: "neither Nodes nor NodeNames in the request"}, nil
	}
	if passed == 0 && len(result.FailedAndUnresolvableNodes) > 0 && len(failed) == 0 {
		return &extenderv1.ExtenderFilterResult{Error: "all node do not have label " + e.label}, nil
	}
	return result, nil
}

func (e *extender) prioritize(_ context.Context, args *extenderv1.ExtenderArgs) (extenderv1.HostPriorityList, error) {
	list := extenderv1.HostPriorityList{}
	switch {
	case args.NodeNames != nil:
		for _, name := range *args.NodeNames {
			value, _, _, err := e.labelOf(name)
			if err != nil {
				return nil, err
			}
			list = append(list, extenderv1.HostPriority{Host: name, Score: score(value)})
		}
	case args.Nodes != nil:
		for i := range args.Nodes.Items {
			node := &args.Nodes.Items[i]
			list = append(list, extenderv1.HostPriority{Host: node.Name, Score: score(node.Labels[e.label])})
		}
	}
	return list, nil
}

// preempt keeps the candidates that the filter would pass: victims make no difference to a label.
func (e *extender) preempt(_ context.Context, args *extenderv1.ExtenderPreemptionArgs) (*extenderv1.ExtenderPreemptionResult, error) {
	kept := map[string]*extenderv1.MetaVictims{}
	keep := func(name string, victims *extenderv1.MetaVictims) error {
		_, _, labelled, err := e.labelOf(name)
		if labelled {
			kept[name] = victims
		}
		return err
	}
	for name, victims := range args.NodeNameToMetaVictims {
		if victims == nil {
			continue // a null would end the scheduler that asked, here and among the pods
		}
		victims.Pods = slices.DeleteFunc(victims.Pods, func(pod *extenderv1.MetaPod) bool { return pod == nil })
		if err := keep(name, victims); err != nil {
			return nil, err
		}
	}
	for name, victims := range args.NodeNameToVictims {
		if victims == nil {
			continue
		}
		meta := &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{}, NumPDBViolations: victims.NumPDBViolations}
		for _, pod := range victims.Pods {
			if pod != nil {
				meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
		}
		if err := keep(name, meta); err != nil {
			return nil, err
		}
	}
	return &extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: kept}, nil
}

func (e *extender) bind(ctx context.Context, args *extenderv1.ExtenderBindingArgs) (*extenderv1.ExtenderBindingResult, error) {
	if e.client == nil {
		return &extenderv1.ExtenderBindingResult{Error: "bind needs -kubeconfig"}, nil
	}
	binding := &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID},
		Target:     v1.ObjectReference{Kind: "Node", Name: args.Node},
	}
	if err := e.client.CoreV1().Pods(args.PodNamespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return &extenderv1.ExtenderBindingResult{Error: err.Error()}, nil
	}
	return &extenderv1.ExtenderBindingResult{}, nil
}
