// SPDX-License-Identifier: Apache-2.0

// The recorded form: one case per line, and the answer in the form that offline explain prints.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// Case is a cluster, a question and upstream's answer.
type Case struct {
	ID       string            `json:"id"`
	Family   string            `json:"family"`
	Seed     uint64            `json:"seed"`
	Pod      string            `json:"pod"`
	Config   *string           `json:"config"`
	Objects  []json.RawMessage `json:"objects"`
	Expected *Explanation      `json:"expected"`
	Unstable []string          `json:"unstable"`
}

// Explanation is the whole answer about one pod.
type Explanation struct {
	Pod        string        `json:"pod"`
	Profile    string        `json:"profile"`
	PreFilter  *Rejection    `json:"preFilter"`
	Nodes      []NodeVerdict `json:"nodes"`
	Winners    []string      `json:"winners"`
	Message    string        `json:"message"`
	Preemption *Preemption   `json:"preemption"`

	failed    bool     // a plugin reported an error, which ends upstream's cycle: no scores, no winners
	undecided []string // fields that upstream leaves to chance
	nominated bool     // the pod has a node in mind
	mistaken  bool     // a mistake of upstream's that we do not make has a part in it
}

// Rejection says who turned the pod away as a whole.
type Rejection struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

// NodeVerdict is one row; the fields of the other outcome are absent.
type NodeVerdict struct {
	Name     string            `json:"name"`
	Feasible bool              `json:"feasible"`
	Scores   *map[string]Score `json:"scores,omitempty"`
	Total    *int64            `json:"total,omitempty"`
	Plugin   *string           `json:"plugin,omitempty"`
	Code     string            `json:"code,omitempty"`
	Reasons  *[]string         `json:"reasons,omitempty"`
}

// Score of one plugin on one node.
type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// Preemption lists what would have to go, and where.
type Preemption struct {
	Candidates    []Candidate `json:"candidates"`
	Selected      string      `json:"selected"`
	SelectedAnyOf []string    `json:"selectedAnyOf,omitempty"`
}

// Candidate is one node with its victims, most important first.
type Candidate struct {
	Node          string   `json:"node"`
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

// judge asks upstream twice, with the objects in file order and reversed, and notes what differs.
func (c *Case) judge() error {
	first, err := explain(c, false)
	if err != nil {
		return err
	}
	second, err := explain(c, true)
	if err != nil {
		return err
	}
	c.Expected = first
	c.Unstable = differences(first, second)
	for _, field := range append(first.undecided, second.undecided...) {
		if !slices.Contains(c.Unstable, field) {
			c.Unstable = append(c.Unstable, field)
		}
	}
	slices.Sort(c.Unstable)
	return nil
}

func writeCase(w io.Writer, c *Case) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}
