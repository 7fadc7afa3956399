// SPDX-License-Identifier: Apache-2.0

// Sequences: one cluster, pods placed one after another, changes in between, and upstream's verdict at every placing.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
)

// Sequence is a line of a recording.
type Sequence struct {
	Name    string            `json:"name"`
	Seed    uint64            `json:"seed"`
	Config  *string           `json:"config"`
	Objects []json.RawMessage `json:"objects"` // what is there at first
	Steps   []SequenceStep    `json:"steps"`
}

// SequenceStep is one change or one question. Ops:
//
//	put      Object comes or changes; a pod that is there keeps its node, its nomination and its end
//	remove   Object, by kind, namespace and name, goes
//	place    Object, a pod, or Pod, one that is there without a node, is decided about; Placed says what came of it
//	confirm  the cluster says that Pod is where we have put it
//	forget   it says that it is not: Pod has no node again
//
// Steps that make no sense where they stand change nothing, and nothing is expected of them.
type SequenceStep struct {
	Op       string          `json:"op"`
	Object   json.RawMessage `json:"object,omitempty"`
	Pod      string          `json:"pod,omitempty"`
	Linger   bool            `json:"linger,omitempty"` // victims are terminating from then on, and not gone at once
	Placed   *Placement      `json:"placed,omitempty"`
	Expected *Explanation    `json:"expected,omitempty"`
	Unstable []string        `json:"unstable,omitempty"`
}

// Placement is what Berth did with a pod: all fields are empty when it fits nowhere.
type Placement struct {
	Node      string   `json:"node,omitempty"`
	Nominated string   `json:"nominated,omitempty"`
	Victims   []string `json:"victims,omitempty"`
}

// runSequences is the command: making sequences up, or judging those whose placements are known.
func runSequences(args []string) error {
	fs := flag.NewFlagSet("sequences", flag.ExitOnError)
	judge := fs.Bool("judge", false, "read sequences with placements from standard input and fill in what is expected")
	seed := fs.Uint64("seed", 1, "seed of the whole run")
	count := fs.Int("count", 16, "how many sequences")
	family := fs.String("family", "", "make sequences of this family alone")
	first := fs.Int("first", 0, "number of the first one: with --count 1 this makes one sequence of a run again")
	out := fs.String("o", "", "file to write (standard output without)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var sequences []*Sequence
	work := func(i int) (err error) {
		sequences[i], err = makeSequence(*family, *seed, *first+i)
		return err
	}
	if *judge {
		decoder := json.NewDecoder(os.Stdin)
		for {
			s := &Sequence{}
			if err := decoder.Decode(s); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			sequences = append(sequences, s)
		}
		work = func(i int) error { return judgeSequence(sequences[i]) }
	} else {
		sequences = make([]*Sequence, *count)
	}
	if err := inParallel(len(sequences), work); err != nil {
		return err
	}
	w, err := openOutput(*out)
	if err != nil {
		return err
	}
	defer w.Close()
	buf := bufio.NewWriter(w)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	for _, s := range sequences {
		if err := encoder.Encode(s); err != nil {
			return err
		}
	}
	return buf.Flush()
}
