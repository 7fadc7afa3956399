// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.22.17 does, with its own code, and prints the plugins it would run.
package main

import (
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

func judge(c testCase) answer {
	client := clientset.NewForConfigOrDie(&restclient.Config{Host: "http://127.0.0.1:1"})
	factory := informers.NewSharedInformerFactory(client, 0)
	stop := make(chan struct{})
	defer close(stop)
	out := answer{ID: c.ID}
	options := []scheduler.Option{scheduler.WithBuildFrameworkCapturer(func(profile config.KubeSchedulerProfile) {
		one := profileAnswer{Name: profile.SchedulerName, Points: map[string][]string{}, Args: map[string]any{}}
		p := profile.Plugins
		for point, set := range map[string]config.PluginSet{"QueueSort": p.QueueSort, "PreFilter": p.PreFilter,
			"Filter": p.Filter, "PostFilter": p.PostFilter, "PreScore": p.PreScore, "Score": p.Score, "Reserve": p.Reserve,
			"Permit": p.Permit, "PreBind": p.PreBind, "Bind": p.Bind, "PostBind": p.PostBind} {
			one.add(point, set.Enabled)
		}
		for _, entry := range profile.PluginConfig {
			one.Args[entry.Name] = entry.Args
		}
		out.Profiles = append(out.Profiles, one)
	})}
	if c.Kind == "policy" {
		file, err := os.CreateTemp("", "policy")
		if err != nil {
			return refused(c, "%v", err)
		}
		defer os.Remove(file.Name())
		_, _ = file.WriteString(c.Text)
		_ = file.Close()
		options = append(options, scheduler.WithProfiles(), scheduler.WithLegacyPolicySource(&config.SchedulerPolicySource{
			File: &config.SchedulerPolicyFileSource{Path: file.Name()}}))
	} else {
		object, gvk, err := scheme.Codecs.UniversalDecoder().Decode([]byte(c.Text), nil, nil)
		if err != nil {
			return refused(c, "decode: %v", err)
		}
		cfg, ok := object.(*config.KubeSchedulerConfiguration)
		if !ok {
			return refused(c, "decode: %v", gvk)
		}
		cfg.TypeMeta.APIVersion = gvk.GroupVersion().String()
		if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
			return refused(c, "validate: %v", err)
		}
		out.addExtenders(cfg.Extenders)
		options = append(options, scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
			scheduler.WithProfiles(cfg.Profiles...), scheduler.WithExtenders(cfg.Extenders...))
	}
	if _, err := scheduler.New(client, factory, func(string) events.EventRecorder { return nil }, stop, options...); err != nil {
		return refused(c, "%v", err)
	}
	return out
}

func main() { serve(judge) }
