// SPDX-License-Identifier: Apache-2.0

// Reads configurations as kube-scheduler v1.27.16 or v1.28.15 does, with its own code, and prints the plugins it would
// run, multiPoint expanded.
package main

import (
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

func judge(c testCase) answer {
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
	args := map[string]map[string]any{}
	stop := make(chan struct{})
	defer close(stop)
	made, err := newScheduler(clientset.NewForConfigOrDie(&restclient.Config{Host: "http://127.0.0.1:1"}), stop,
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion), scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithBuildFrameworkCapturer(func(profile config.KubeSchedulerProfile) {
			args[profile.SchedulerName] = map[string]any{}
			for _, entry := range profile.PluginConfig {
				args[profile.SchedulerName][entry.Name] = entry.Args
			}
		}))
	if err != nil {
		return refused(c, "%v", err)
	}
	out := answer{ID: c.ID}
	for _, profile := range cfg.Profiles {
		one := profileAnswer{Name: profile.SchedulerName, Points: map[string][]string{}, Args: args[profile.SchedulerName]}
		p := made.Profiles[profile.SchedulerName].ListPlugins()
		for point, set := range map[string]config.PluginSet{"PreEnqueue": p.PreEnqueue, "QueueSort": p.QueueSort,
			"PreFilter": p.PreFilter, "Filter": p.Filter, "PostFilter": p.PostFilter, "PreScore": p.PreScore,
			"Score": p.Score, "Reserve": p.Reserve, "Permit": p.Permit, "PreBind": p.PreBind, "Bind": p.Bind,
			"PostBind": p.PostBind} {
			one.add(point, set.Enabled)
		}
		out.Profiles = append(out.Profiles, one)
	}
	out.addExtenders(cfg.Extenders)
	return out
}

func main() { serve(judge) }
