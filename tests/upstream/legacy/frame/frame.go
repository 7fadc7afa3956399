// SPDX-License-Identifier: Apache-2.0

// What the programs of the old releases share; legacy-build.sh compiles it into each of them. One JSON case per line on
// standard input: {"id", "kind": "policy" or "config", "text"}; one answer per line on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

type testCase struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type profileAnswer struct {
	Name   string              `json:"name"`
	Points map[string][]string `json:"points"`
	Args   map[string]any      `json:"args,omitempty"`
}

// add puts what serves a point into the answer.
func (p profileAnswer) add(point string, plugins []config.Plugin) {
	for _, plugin := range plugins {
		name := plugin.Name
		if point == "Score" {
			name = fmt.Sprintf("%s=%d", name, max(plugin.Weight, 1)) // none is one
		}
		p.Points[point] = append(p.Points[point], name)
	}
}

type answer struct {
	ID        string          `json:"id"`
	Error     string          `json:"error,omitempty"`
	Profiles  []profileAnswer `json:"profiles,omitempty"`
	Extenders []any           `json:"extenders,omitempty"`
}

// refused is the answer to a case that the release does not take.
func refused(c testCase, format string, args ...any) answer {
	return answer{ID: c.ID, Error: fmt.Sprintf(format, args...)}
}

func (a *answer) addExtenders(extenders []config.Extender) {
	for _, extender := range extenders {
		a.Extenders = append(a.Extenders, extender)
	}
}

// serve answers every case on standard input. What panics in the release is an answer, too.
func serve(judge func(testCase) answer) {
	encoder := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var c testCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = encoder.Encode(func() (out answer) {
			defer func() {
				if problem := recover(); problem != nil {
					out = refused(c, "PANIC: %v", problem)
				}
			}()
			return judge(c)
		}())
	}
}
