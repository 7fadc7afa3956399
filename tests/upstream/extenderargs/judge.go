// SPDX-License-Identifier: Apache-2.0

// What encoding/json makes of a request, and what about the request is known to make a difference to us.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

type judgement struct {
	// ok, syntax (no JSON), type (a value of the wrong type; Field says where), value (a field's own reader refused it).
	Go    string `json:"go"`
	Field string `json:"field,omitempty"`
	Read  any    `json:"read,omitempty"` // what was read, when ok
	// What COMPATIBILITY.md lists: text (not Unicode), null (as the whole body), merge (an object or list twice), case (of a
	// key inside a pod or node), escape (in an amount, which a Quantity does not undo), deep.
	Apart []string `json:"apart,omitempty"`
}

// What both sides are compared by.
type (
	podForm struct {
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		UID       string            `json:"uid"`
		Scheduler string            `json:"scheduler"`
		Labels    map[string]string `json:"labels"`
	}
	taintForm struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	nodeForm struct {
		Name          string            `json:"name"`
		UID           string            `json:"uid"`
		Unschedulable bool              `json:"unschedulable"`
		Labels        map[string]string `json:"labels"`
		Taints        []taintForm       `json:"taints"`
		Pods          int64             `json:"pods"`
	}
	victimsForm struct {
		UIDs *[]string `json:"uids"`
		PDB  int64     `json:"pdb"`
	}
	argsForm struct {
		Pod   *podForm    `json:"pod"`
		Nodes *[]nodeForm `json:"nodes"`
		Names *[]string   `json:"names"`
	}
	preemptionForm struct {
		Pod     *podForm                `json:"pod"`
		Victims *map[string]victimsForm `json:"victims"`
		Meta    *map[string]victimsForm `json:"meta"`
	}
	bindingForm struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		UID       string `json:"uid"`
		Node      string `json:"node"`
	}
)

func judge(message string, body []byte) judgement {
	var read any
	var err error
	switch message {
	case "args":
		var args extenderv1.ExtenderArgs
		if err = json.Unmarshal(body, &args); err == nil {
			read = formOfArgs(&args)
		}
	case "preemption":
		var args extenderv1.ExtenderPreemptionArgs
		if err = json.Unmarshal(body, &args); err == nil {
			read = formOfPreemption(&args)
		}
	case "binding":
		var args extenderv1.ExtenderBindingArgs
		if err = json.Unmarshal(body, &args); err == nil {
			read = bindingForm{args.PodName, args.PodNamespace, string(args.PodUID), args.Node}
		}
	}
	result := judgement{Go: "ok", Read: read, Apart: apart(body)}
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
	case !json.Valid(body):
		result.Go = "syntax"
	case errors.As(err, &wrongType):
		result.Go, result.Field = "type", wrongType.Field
	default:
		result.Go = "value"
	}
	return result
}

func formOfPod(pod *v1.Pod) *podForm {
	if pod == nil {
		return nil
	}
	scheduler := pod.Spec.SchedulerName
	if scheduler == "" {
		scheduler = v1.DefaultSchedulerName // as the API server fills it in
	}
	return &podForm{pod.Namespace, pod.Name, string(pod.UID), scheduler, orEmpty(pod.Labels)}
}

func orEmpty(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

func formOfArgs(args *extenderv1.ExtenderArgs) argsForm {
	form := argsForm{Pod: formOfPod(args.Pod), Names: args.NodeNames}
	if args.NodeNames != nil && *args.NodeNames == nil {
		form.Names = &[]string{}
	}
	if args.Nodes != nil {
		nodes := []nodeForm{}
		for i := range args.Nodes.Items {
			node := &args.Nodes.Items[i]
			taints := []taintForm{}
			for _, taint := range node.Spec.Taints {
				taints = append(taints, taintForm{taint.Key, taint.Value})
			}
			allocatable := node.Status.Allocatable
			if allocatable == nil {
				allocatable = node.Status.Capacity // as the API server fills it in
			}
			nodes = append(nodes, nodeForm{node.Name, string(node.UID), node.Spec.Unschedulable, orEmpty(node.Labels), taints,
				allocatable.Pods().Value()})
		}
		form.Nodes = &nodes
	}
	return form
}

// Nulls that would end the kube-scheduler that asked, if they came back, are left out on both sides.
func formOfPreemption(args *extenderv1.ExtenderPreemptionArgs) preemptionForm {
	form := preemptionForm{Pod: formOfPod(args.Pod)}
	if args.NodeNameToVictims != nil {
		form.Victims = &map[string]victimsForm{}
		for name, victims := range args.NodeNameToVictims {
			if victims == nil {
				continue
			}
			entry := victimsForm{PDB: victims.NumPDBViolations}
			if victims.Pods != nil {
				entry.UIDs = &[]string{}
				for _, pod := range victims.Pods {
					if pod != nil {
						*entry.UIDs = append(*entry.UIDs, string(pod.UID))
					}
				}
			}
			(*form.Victims)[name] = entry
		}
	}
	if args.NodeNameToMetaVictims != nil {
		form.Meta = &map[string]victimsForm{}
		for name, victims := range args.NodeNameToMetaVictims {
			if victims == nil {
				continue
			}
			entry := victimsForm{PDB: victims.NumPDBViolations}
			if victims.Pods != nil {
				entry.UIDs = &[]string{}
				for _, pod := range victims.Pods {
					if pod != nil {
						*entry.UIDs = append(*entry.UIDs, pod.UID)
					}
				}
			}
			(*form.Meta)[name] = entry
		}
	}
	return form
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// apart names what of the request we are known to read in another way.
func apart(body []byte) []string {
	var found []string
	add := func(is bool, name string) {
		if is {
			found = append(found, name)
		}
	}
	add(!utf8.Valid(body) || surrogate.Match(body), "text")
	add(string(bytes.TrimSpace(body)) == "null", "null")
	if json.Valid(body) {
		w := walker{body: body, decoder: json.NewDecoder(bytes.NewReader(body))}
		w.decoder.UseNumber()
		w.value(0, false)
		add(w.merge, "merge")
		add(w.fold, "case")
		add(w.escape, "escape")
	}
	add(depth(body) > 500, "deep")
	return found
}

func depth(body []byte) int {
	now, most := 0, 0
	for _, c := range body {
		switch c {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}

// walker goes through valid JSON and notes repeated objects and lists, which encoding/json merges, keys of pods and nodes
// in another case than theirs, and amounts written with escapes.
type walker struct {
	body                []byte
	decoder             *json.Decoder
	merge, fold, escape bool
}

// The names of fields in pods and nodes, by their lower case form.
var inner = func() map[string]string {
	names := map[string]string{}
	for _, name := range strings.Fields(`metadata name namespace uid resourceVersion generation labels annotations creationTimestamp
		deletionTimestamp ownerReferences apiVersion kind controller blockOwnerDeletion managedFields finalizers spec status
		schedulerName priority priorityClassName containers initContainers resources requests limits nodeSelector affinity
		tolerations taints key value effect operator unschedulable allocatable capacity images names sizeBytes conditions type
		phase overhead volumes ports hostPort image imagePullPolicy nodeName selfLink generateName nodeInfo`) {
		names[strings.ToLower(name)] = name
	}
	return names
}()

// value says whether it passed an object or list, or a null, which leaves an object as it was.
func (w *walker) value(level int, amount bool) (composite, null bool) {
	before := w.decoder.InputOffset()
	token, err := w.decoder.Token()
	if err != nil {
		return false, false
	}
	switch token {
	case json.Delim('['):
		for w.decoder.More() {
			w.value(level+1, false)
		}
		_, _ = w.decoder.Token()
		return true, false
	case json.Delim('{'):
		w.members(level, amount)
		return true, false
	}
	w.escape = w.escape || amount && bytes.ContainsRune(w.body[before:w.decoder.InputOffset()], '\\')
	return false, token == nil
}

func (w *walker) members(level int, amounts bool) {
	seen := map[string]bool{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return
		}
		key := token.(string)
		folded := strings.ToLower(strings.NewReplacer("\u017f", "s", "\u212a", "k").Replace(key))
		if exact, known := inner[folded]; known && exact != key && level > 0 {
			w.fold = true
		}
		composite, null := w.value(level+1, amounts || strings.Contains(" allocatable capacity requests limits overhead ", " "+folded+" "))
		w.merge = w.merge || seen[folded] && (composite || null && level > 0)
		seen[folded] = seen[folded] || composite
	}
	_, _ = w.decoder.Token()
}
