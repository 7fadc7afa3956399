// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.27.16 or v1.28.15 does, with its own code, and prints the lists of plugins
// that it has after defaulting; multiPoint is not expanded. Cases and answers as the other programs have them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

type testCase struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type profileAnswer struct {
	Name     string              `json:"name"`
	Points   map[string][]string `json:"points"`
	Disabled map[string][]string `json:"disabled,omitempty"`
	Args     map[string]any      `json:"args,omitempty"`
}

type answer struct {
	ID        string          `json:"id"`
	Error     string          `json:"error,omitempty"`
	Profiles  []profileAnswer `json:"profiles,omitempty"`
	Extenders []any           `json:"extenders,omitempty"`
}

func judge(c testCase) answer {
	object, gvk, err := scheme.Codecs.UniversalDecoder().Decode([]byte(c.Text), nil, nil)
	if err != nil {
		return answer{ID: c.ID, Error: "decode: " + err.Error()}
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return answer{ID: c.ID, Error: "decode: " + gvk.String()}
	}
	cfg.TypeMeta.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return answer{ID: c.ID, Error: "validate: " + err.Error()}
	}
	out := answer{ID: c.ID}
	for _, profile := range cfg.Profiles {
		made := profileAnswer{Name: profile.SchedulerName, Points: map[string][]string{}, Disabled: map[string][]string{},
			Args: map[string]any{}}
		p := profile.Plugins
		for point, set := range map[string]config.PluginSet{"PreEnqueue": p.PreEnqueue, "QueueSort": p.QueueSort,
			"PreFilter": p.PreFilter, "Filter": p.Filter, "PostFilter": p.PostFilter, "PreScore": p.PreScore,
			"Score": p.Score, "Reserve": p.Reserve, "Permit": p.Permit, "PreBind": p.PreBind, "Bind": p.Bind,
			"PostBind": p.PostBind, "MultiPoint": p.MultiPoint} {
			for _, plugin := range set.Enabled {
				name := plugin.Name
				if point == "Score" || point == "MultiPoint" {
					name = fmt.Sprintf("%s=%d", name, plugin.Weight)
				}
				made.Points[point] = append(made.Points[point], name)
			}
			for _, plugin := range set.Disabled {
				made.Disabled[point] = append(made.Disabled[point], plugin.Name)
			}
		}
		for _, entry := range profile.PluginConfig {
			made.Args[entry.Name] = entry.Args
		}
		out.Profiles = append(out.Profiles, made)
	}
	for _, extender := range cfg.Extenders {
		out.Extenders = append(out.Extenders, extender)
	}
	return out
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var c testCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = encoder.Encode(judge(c))
	}
}
