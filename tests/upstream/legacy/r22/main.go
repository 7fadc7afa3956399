// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.22.17 does, with its own code, and prints the plugins it would run.
// One JSON case per line on standard input: {"id", "kind": "policy" or "config", "text"}; one answer per line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
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
	Name   string              `json:"name"`
	Points map[string][]string `json:"points"`
	Args   map[string]any      `json:"args,omitempty"`
}

type answer struct {
	ID        string          `json:"id"`
	Error     string          `json:"error,omitempty"`
	Profiles  []profileAnswer `json:"profiles,omitempty"`
	Extenders []any           `json:"extenders,omitempty"`
}

func points(plugins *config.Plugins) map[string][]string {
	out := map[string][]string{}
	for point, set := range map[string]config.PluginSet{
		"QueueSort": plugins.QueueSort, "PreFilter": plugins.PreFilter, "Filter": plugins.Filter,
		"PostFilter": plugins.PostFilter, "PreScore": plugins.PreScore, "Score": plugins.Score,
		"Reserve": plugins.Reserve, "Permit": plugins.Permit, "PreBind": plugins.PreBind, "Bind": plugins.Bind,
		"PostBind": plugins.PostBind} {
		for _, plugin := range set.Enabled {
			name := plugin.Name
			if point == "Score" {
				weight := plugin.Weight
				if weight == 0 {
					weight = 1
				}
				name = fmt.Sprintf("%s=%d", name, weight)
			}
			out[point] = append(out[point], name)
		}
	}
	return out
}

func judge(c testCase) (out answer) {
	out.ID = c.ID
	defer func() {
		if problem := recover(); problem != nil {
			out = answer{ID: c.ID, Error: fmt.Sprintf("PANIC: %v", problem)}
		}
	}()
	client := clientset.NewForConfigOrDie(&restclient.Config{Host: "http://127.0.0.1:1"})
	factory := informers.NewSharedInformerFactory(client, 0)
	stop := make(chan struct{})
	defer close(stop)
	var profiles []profileAnswer
	options := []scheduler.Option{scheduler.WithBuildFrameworkCapturer(func(profile config.KubeSchedulerProfile) {
		args := map[string]any{}
		for _, entry := range profile.PluginConfig {
			args[entry.Name] = entry.Args
		}
		profiles = append(profiles, profileAnswer{Name: profile.SchedulerName, Points: points(profile.Plugins), Args: args})
	})}
	var extenders []config.Extender
	if c.Kind == "policy" {
		file, err := os.CreateTemp("", "policy")
		if err != nil {
			return answer{ID: c.ID, Error: err.Error()}
		}
		defer os.Remove(file.Name())
		_, _ = file.WriteString(c.Text)
		_ = file.Close()
		options = append(options, scheduler.WithProfiles(), scheduler.WithLegacyPolicySource(&config.SchedulerPolicySource{
			File: &config.SchedulerPolicyFileSource{Path: file.Name()}}))
	} else {
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
		extenders = cfg.Extenders
		options = append(options, scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
			scheduler.WithProfiles(cfg.Profiles...), scheduler.WithExtenders(cfg.Extenders...))
	}
	if _, err := scheduler.New(client, factory, func(string) events.EventRecorder { return nil }, stop, options...); err != nil {
		return answer{ID: c.ID, Error: err.Error()}
	}
	out.Profiles = profiles
	for _, extender := range extenders {
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
