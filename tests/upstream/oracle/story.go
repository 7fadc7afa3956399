// SPDX-License-Identifier: Apache-2.0

// Stories: steps that change a cluster, and what kube-scheduler's queue makes of each.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// Story is a line of a recording.
type Story struct {
	Name   string  `json:"name"`
	Seed   uint64  `json:"seed"`
	Config *string `json:"config"`
	// Bindings wait for a step that lets them through.
	SlowBindings bool `json:"slowBindings,omitempty"`
	// Evicted pods are terminating until a step deletes them.
	SlowEvictions bool   `json:"slowEvictions,omitempty"`
	Steps         []Step `json:"steps"`
}

// Step happens At milliseconds after the start. Ops: create and update take an object (an updated pod keeps its node and
// status), delete one that is named by kind and metadata; bind, nominate and terminate are done to Pod by somebody else; answer lets
// the binding of Pod through, in a story of slow bindings.
// With Hold nothing is scheduled before the next step, and nothing is expected of this one.
type Step struct {
	At     int             `json:"at"`
	Op     string          `json:"op"`
	Object json.RawMessage `json:"object,omitempty"`
	Pod    string          `json:"pod,omitempty"`
	Node   string          `json:"node,omitempty"`
	Hold   bool            `json:"hold,omitempty"`
	Expect *Expect         `json:"expect,omitempty"`
}

// Expect is what the queue looked like after the step's events, then the attempts until nothing was left to try, then
// the queue again.
type Expect struct {
	Queued        map[string]string   `json:"queued"`   // before the attempts: active or backoff
	Attempts      []StoryAttempt      `json:"attempts"` // in order
	Evicted       []string            `json:"evicted"`  // by preemption, sorted
	Unschedulable map[string][]string `json:"unschedulable"`
	Gated         map[string]string   `json:"gated"` // by whom
	Nominated     map[string]string   `json:"nominated"`
}

// StoryAttempt is one scheduling cycle.
type StoryAttempt struct {
	Pod       string `json:"pod"`
	Node      string `json:"node,omitempty"`
	Message   string `json:"message,omitempty"`
	Nominated string `json:"nominated,omitempty"`
	Skipped   bool   `json:"skipped,omitempty"`
}

// runStories is the command: hand-written stories, made-up ones, or given ones played again.
func runStories(args []string) error {
	fs := flag.NewFlagSet("stories", flag.ExitOnError)
	kind := fs.String("kind", "written", "written, volumes (written, too), generated, generated-volumes, or replay (stories from standard input)")
	seed := fs.Uint64("seed", 1, "seed of generated stories")
	count := fs.Int("count", 20, "how many generated stories")
	first := fs.Int("first", 0, "number of the first one")
	out := fs.String("o", "", "file to write (standard output without)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	w, err := openOutput(*out)
	if err != nil {
		return err
	}
	defer w.Close()
	buf := bufio.NewWriter(w)
	defer buf.Flush()
	switch *kind {
	case "written", "volumes":
		tales := slices.Concat(written, writtenSlow)
		if *kind == "volumes" {
			tales = volumeTales
		}
		for _, story := range toldTwice(tales...) {
			if err := record(story, 3); err != nil {
				return fmt.Errorf("%s: %w", story.Name, err)
			}
			if err := writeStory(buf, story); err != nil {
				return err
			}
		}
	case "generated", "generated-volumes":
		return generateStories(buf, *kind, *seed, *first, *count)
	case "replay":
		decoder := json.NewDecoder(os.Stdin)
		for {
			story := &Story{}
			if err := decoder.Decode(story); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := record(story, 1); err != nil {
				return fmt.Errorf("%s: %w", story.Name, err)
			}
			if err := writeStory(buf, story); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("no kind %q", *kind)
	}
	return nil
}

func writeStory(w io.Writer, story *Story) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(story)
}

// record plays a story `times` times, which must all end alike, and fills in what is expected. Steps that turn out to be
// about objects that are not there (any more) are dropped. Equal candidates of a preemption show only by chance, so a
// story with one is played three times as often.
func record(story *Story, times int) error {
	var first []byte
	for i := 0; i < times; i++ {
		if err := play(story); err != nil {
			return err
		}
		var text bytes.Buffer
		if err := writeStory(&text, story); err != nil {
			return err
		}
		if first == nil {
			first = text.Bytes()
			if times > 1 && bytes.Contains(first, []byte(`,"nominated":"`)) {
				times *= 3
			}
		} else if !bytes.Equal(first, text.Bytes()) {
			return fmt.Errorf("%w: two runs differ:\n%s\n%s", errUnfit, first, text.Bytes())
		}
	}
	return nil
}
