// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.18.20 does, with its own code, and prints the plugins it would run.
// One JSON case per line on standard input: {"id", "kind": "policy" or "config", "text"}; one answer per line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"os/exec"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
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

func points(listed map[string][]config.Plugin) map[string][]string {
	out := map[string][]string{}
	for point, plugins := range listed {
		point = strings.TrimSuffix(point, "Plugin")
		for _, plugin := range plugins {
			name := plugin.Name
			if point == "Score" {
				name = fmt.Sprintf("%s=%d", name, plugin.Weight)
			}
			out[point] = append(out[point], name)
		}
	}
	return out
}

func decode(text string) (*config.KubeSchedulerConfiguration, error) {
	object, gvk, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		// As loadConfig of cmd/kube-scheduler: leniently, for this version alone.
		if !strings.Contains(text, "kubescheduler.config.k8s.io/v1alpha1") {
			return nil, err
		}
		lenient := serializer.NewCodecFactory(scheme.Scheme)
		object, gvk, err = lenient.UniversalDecoder().Decode([]byte(text), nil, nil)
		if err != nil {
			return nil, err
		}
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s", gvk)
	}
	return cfg, nil
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
	var options []scheduler.Option
	var extenders []config.Extender
	if c.Kind == "policy" {
		file, err := ioutil.TempFile("", "policy")
		if err != nil {
			return answer{ID: c.ID, Error: err.Error()}
		}
		defer os.Remove(file.Name())
		_, _ = file.WriteString(c.Text)
		_ = file.Close()
		options = append(options, scheduler.WithAlgorithmSource(config.SchedulerAlgorithmSource{
			Policy: &config.SchedulerPolicySource{File: &config.SchedulerPolicyFileSource{Path: file.Name()}}}))
	} else {
		cfg, err := decode(c.Text)
		if err != nil {
			return answer{ID: c.ID, Error: "decode: " + err.Error()}
		}
		if errs := validation.ValidateKubeSchedulerConfiguration(cfg); len(errs) > 0 {
			return answer{ID: c.ID, Error: "validate: " + errs.ToAggregate().Error()}
		}
		extenders = cfg.Extenders
		source := cfg.AlgorithmSource
		if source.Provider == nil && source.Policy == nil {
			name := config.SchedulerDefaultProviderName
			source.Provider = &name
		}
		options = append(options, scheduler.WithProfiles(cfg.Profiles...), scheduler.WithAlgorithmSource(source),
			scheduler.WithPreemptionDisabled(cfg.DisablePreemption), scheduler.WithExtenders(cfg.Extenders...))
	}
	made, err := scheduler.New(client, factory, scheduler.NewPodInformer(client, 0),
		func(string) events.EventRecorder { return nil }, stop, options...)
	if err != nil {
		return answer{ID: c.ID, Error: err.Error()}
	}
	for name, profile := range made.Profiles {
		out.Profiles = append(out.Profiles, profileAnswer{Name: name, Points: points(profile.Framework.ListPlugins())})
	}
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
		if c.Kind != "policy" || len(os.Args) > 1 {
			_ = encoder.Encode(judge(c))
			continue
		}
		// What is wrong with names in a Policy ends the process.
		child := exec.Command(os.Args[0], "one")
		child.Stdin = strings.NewReader(in.Text() + "\n")
		var said strings.Builder
		child.Stderr = &said
		printed, err := child.Output()
		if err == nil {
			_, _ = os.Stdout.Write(printed)
			continue
		}
		reason := "process ends"
		for _, line := range strings.Split(said.String(), "\n") {
			if strings.HasPrefix(line, "F") && strings.Contains(line, "] ") {
				reason = line[strings.Index(line, "] ")+2:]
				break
			}
		}
		_ = encoder.Encode(answer{ID: c.ID, Error: reason})
	}
}
