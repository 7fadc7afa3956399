// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.18.20 does, with its own code, and prints the plugins it would run.
package main

import (
	"encoding/json"
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

func decode(text string) (*config.KubeSchedulerConfiguration, string, error) {
	object, gvk, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		// As loadConfig of cmd/kube-scheduler: leniently, for this version alone.
		if !strings.Contains(text, "kubescheduler.config.k8s.io/v1alpha1") {
			return nil, "", err
		}
		lenient := serializer.NewCodecFactory(scheme.Scheme)
		object, gvk, err = lenient.UniversalDecoder().Decode([]byte(text), nil, nil)
		if err != nil {
			return nil, "", err
		}
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, "couldn't decode as KubeSchedulerConfiguration, got " + gvk.String(), nil
	}
	return cfg, "", nil
}

func judge(c testCase) answer {
	client := clientset.NewForConfigOrDie(&restclient.Config{Host: "http://127.0.0.1:1"})
	factory := informers.NewSharedInformerFactory(client, 0)
	stop := make(chan struct{})
	defer close(stop)
	var options []scheduler.Option
	var extenders []config.Extender
	if c.Kind == "policy" {
		file, err := ioutil.TempFile("", "policy")
		if err != nil {
			return refused(c, "%v", err)
		}
		defer os.Remove(file.Name())
		_, _ = file.WriteString(c.Text)
		_ = file.Close()
		options = append(options, scheduler.WithAlgorithmSource(config.SchedulerAlgorithmSource{
			Policy: &config.SchedulerPolicySource{File: &config.SchedulerPolicyFileSource{Path: file.Name()}}}))
	} else {
		cfg, other, err := decode(c.Text)
		if err != nil {
			return refused(c, "decode: %v", err)
		}
		if cfg == nil {
			return refused(c, "decode: %s", other)
		}
		if errs := validation.ValidateKubeSchedulerConfiguration(cfg); len(errs) > 0 {
			return refused(c, "validate: %v", errs.ToAggregate())
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
		return refused(c, "%v", err)
	}
	out := answer{ID: c.ID}
	for name, profile := range made.Profiles {
		one := profileAnswer{Name: name, Points: map[string][]string{}}
		for point, plugins := range profile.Framework.ListPlugins() {
			one.add(strings.TrimSuffix(point, "Plugin"), plugins)
		}
		out.Profiles = append(out.Profiles, one)
	}
	out.addExtenders(extenders)
	return out
}

// judgeApart asks a process of its own: what is wrong with names in a Policy ends it.
func judgeApart(c testCase) (out answer) {
	line, err := json.Marshal(c)
	if err != nil {
		return refused(c, "%v", err)
	}
	child := exec.Command(os.Args[0], "one")
	child.Stdin = strings.NewReader(string(line) + "\n")
	var said strings.Builder
	child.Stderr = &said
	printed, err := child.Output()
	if err == nil {
		err = json.Unmarshal(printed, &out)
	}
	if err == nil {
		return out
	}
	for _, line := range strings.Split(said.String(), "\n") {
		if strings.HasPrefix(line, "F") && strings.Contains(line, "] ") {
			return refused(c, "%s", line[strings.Index(line, "] ")+2:])
		}
	}
	return refused(c, "process ends")
}

func main() {
	one := len(os.Args) > 1
	serve(func(c testCase) answer {
		if c.Kind == "policy" && !one {
			return judgeApart(c)
		}
		return judge(c)
	})
}
