// SPDX-License-Identifier: Apache-2.0

// What must be so whatever has happened to a scheduler: the one check after every scenario and every measured run.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// expectation is what the pods of a scenario are to look like.
type expectation struct {
	pods      int             // there are
	pending   int             // of these wait, and no more
	rejected  int             // at most so many were refused by their kubelet
	excused   map[string]bool // NAMESPACE/NAME of those that need no Scheduled event
	goneNodes bool            // they may be bound to
}

// world is what a fresh list of everything shows.
type world struct {
	pods     []v1.Pod // of the scenario
	all      []v1.Pod // in the cluster
	nodes    []v1.Node
	events   []v1.Event     // Scheduled
	bindings map[string]int // by the audit log; nil: not known
}

func check(args []string) error {
	f := newFlags("check")
	label := f.String("label", "app=load", "pods of this selector")
	var want expectation
	f.IntVar(&want.pods, "want", 0, "so many pods there must be")
	f.IntVar(&want.pending, "pending", 0, "so many of them wait, and no more")
	f.IntVar(&want.rejected, "rejected", 0, "so many at most were refused by a kubelet")
	excused := f.String("excused", "", "a file with NAMESPACE/NAME of pods that need no event: it was refused, or its scheduler killed")
	f.BoolVar(&want.goneNodes, "gone-nodes", false, "pods may be bound to nodes that are gone")
	log := f.String("audit", "", "an audit log: no pod may have been bound twice by it")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	if want.excused, err = readNames(*excused); err != nil {
		return err
	}
	seen, err := look(client, *f.namespace, *label)
	if err != nil {
		return err
	}
	if *log != "" {
		if seen.bindings, err = bindingsOf(*log); err != nil {
			return err
		}
	}
	problems := judge(seen, want)
	if len(problems) == 0 {
		fmt.Printf("%d pods, %d nodes, %d Scheduled events\n", len(seen.pods), len(seen.nodes), len(seen.events))
		return nil
	}
	if len(problems) > 10 {
		problems = append(problems[:10], fmt.Sprintf("and %d more", len(problems)-10))
	}
	return errors.New(strings.Join(problems, "\n"))
}

func readNames(file string) (map[string]bool, error) {
	names := map[string]bool{}
	if file == "" {
		return names, nil
	}
	text, err := os.ReadFile(file)
	for name := range strings.FieldsSeq(string(text)) {
		names[name] = true
	}
	return names, err
}

func look(client kubernetes.Interface, namespace, label string) (world, error) {
	var seen world
	// Lists without a resource version: what etcd has, not what a cache remembers.
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return seen, err
	}
	seen.all = pods.Items
	selected, err := client.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{LabelSelector: label})
	if err != nil {
		return seen, err
	}
	seen.pods = selected.Items
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return seen, err
	}
	seen.nodes = nodes.Items
	events, err := client.CoreV1().Events(namespace).List(context.Background(), metav1.ListOptions{
		FieldSelector: fields.Set{"reason": "Scheduled", "involvedObject.kind": "Pod"}.String()})
	if err != nil {
		return seen, err
	}
	seen.events = events.Items
	return seen, nil
}

// auditLine is what we read of a line of an audit log.
type auditLine struct {
	Stage string
	Verb  string
	User  struct{ Username string }
	// The agent tells our own clients from the scheduler's where both are the same user.
	UserAgent  string
	RequestURI string
	ObjectRef  *struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	ResponseStatus *struct{ Code int }
}

func readAudit(file string, each func(line auditLine)) error {
	log, err := os.Open(file)
	if err != nil {
		return err
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line auditLine
		// An API server that is killed may leave half a line.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Stage == "ResponseComplete" && line.ResponseStatus != nil {
			each(line)
		}
	}
	return lines.Err()
}

// bindingsOf counts the bindings that the API server took, by pod.
func bindingsOf(file string) (map[string]int, error) {
	bindings := map[string]int{}
	err := readAudit(file, func(line auditLine) {
		if line.Verb == "create" && line.ObjectRef != nil && line.ObjectRef.Resource == "pods" &&
			line.ObjectRef.Subresource == "binding" && line.ResponseStatus.Code/100 == 2 {
			bindings[line.ObjectRef.Namespace+"/"+line.ObjectRef.Name]++
		}
	})
	return bindings, err
}

func judge(seen world, want expectation) []string {
	var problems []string
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	nodes := map[string]*v1.Node{}
	for i := range seen.nodes {
		nodes[seen.nodes[i].Name] = &seen.nodes[i]
	}
	events := map[string][]*v1.Event{}
	for i := range seen.events {
		uid := string(seen.events[i].InvolvedObject.UID)
		events[uid] = append(events[uid], &seen.events[i])
	}
	if len(seen.pods) != want.pods {
		report("%d pods, want %d", len(seen.pods), want.pods)
	}
	var waiting, withoutEvent []string
	rejected := 0
	for i := range seen.pods {
		pod := &seen.pods[i]
		name := pod.Namespace + "/" + pod.Name
		if pod.Spec.NodeName == "" {
			waiting = append(waiting, name)
			if len(events[string(pod.UID)]) > 0 {
				report("%s is not bound, but has the event %q", name, events[string(pod.UID)][0].Message)
			}
			continue
		}
		if nodes[pod.Spec.NodeName] == nil && !want.goneNodes {
			report("%s is bound to %s, which is not there", name, pod.Spec.NodeName)
		}
		if strings.HasPrefix(pod.Status.Reason, "OutOf") {
			rejected++
		}
		of := events[string(pod.UID)]
		if len(of) == 0 {
			if !want.excused[name] {
				withoutEvent = append(withoutEvent, name)
			}
		} else if len(of) > 1 || of[0].Series != nil || of[0].Count > 1 {
			report("%s was scheduled more than once: %d events, %q", name, len(of), of[0].Message)
		} else if text := "Successfully assigned " + name + " to " + pod.Spec.NodeName; of[0].Message != text {
			report("%s is on %s, but its event says %q", name, pod.Spec.NodeName, of[0].Message)
		}
		if seen.bindings[name] > 1 {
			report("%s was bound %d times", name, seen.bindings[name])
		}
	}
	if len(waiting) != want.pending {
		report("%d pods wait, want %d: %s", len(waiting), want.pending, some(waiting))
	}
	if len(withoutEvent) > 0 {
		report("%d bound pods have no Scheduled event: %s", len(withoutEvent), some(withoutEvent))
	}
	if rejected > want.rejected {
		report("%d pods were rejected by their kubelet, want at most %d", rejected, want.rejected)
	}
	return append(problems, overcommitted(seen.all, nodes)...)
}

func some(names []string) string {
	sort.Strings(names)
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// overcommitted adds up what the pods on each node ask for. Pods that have ended ask for nothing.
func overcommitted(pods []v1.Pod, nodes map[string]*v1.Node) []string {
	type sum struct{ cpu, memory, pods int64 }
	used := map[string]*sum{}
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || pod.Status.Phase == v1.PodFailed || pod.Status.Phase == v1.PodSucceeded {
			continue
		}
		if used[pod.Spec.NodeName] == nil {
			used[pod.Spec.NodeName] = &sum{}
		}
		on := used[pod.Spec.NodeName]
		on.pods++
		for _, container := range pod.Spec.Containers {
			on.cpu += container.Resources.Requests.Cpu().MilliValue()
			on.memory += container.Resources.Requests.Memory().Value()
		}
	}
	var problems []string
	for name, on := range used {
		node := nodes[name]
		if node == nil {
			continue
		}
		has := node.Status.Allocatable
		if on.cpu > has.Cpu().MilliValue() || on.memory > has.Memory().Value() || on.pods > has.Pods().Value() {
			problems = append(problems, fmt.Sprintf("%s has %s cpu, %s memory and room for %s pods, but %dm, %d and %d are on it", name,
				has.Cpu(), has.Memory(), has.Pods(), on.cpu, on.memory, on.pods))
		}
	}
	sort.Strings(problems)
	return problems
}

// audit looks for answers with a code that a user got. It fails if there are any, and if that user asked nothing at all.
func audit(args []string) error {
	f := newFlags("audit")
	file := f.String("file", "", "an audit log")
	user := f.String("user", "system:kube-scheduler", "whose requests")
	agent := f.String("agent", "", "and whose user agent begins so")
	code := f.Int("code", 403, "an answer that there must not be")
	if err := f.parse(args); err != nil {
		return err
	}
	asked := 0
	var wrong []string
	err := readAudit(*file, func(line auditLine) {
		if line.User.Username != *user || !strings.HasPrefix(line.UserAgent, *agent) {
			return
		}
		asked++
		if line.ResponseStatus.Code == *code {
			wrong = append(wrong, line.Verb+" "+line.RequestURI)
		}
	})
	if err != nil {
		return err
	}
	if asked == 0 {
		return fmt.Errorf("%s: %s (%s*) asked nothing", *file, *user, *agent)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d of %d requests of %s were answered with %d: %s", len(wrong), asked, *user, *code, some(wrong))
	}
	fmt.Printf("%d requests of %s, none answered with %d\n", asked, *user, *code)
	return nil
}
