// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// newFiller fills every field of an object: with what schedulers know, with what they do not, and with nothing.
func newFiller(seed, i int64) *randfill.Filler {
	return randfill.NewWithSeed(seed*1_000_003+i).NilChance(0.6).NumElements(0, 2).Funcs(
		func(s *string, c randfill.Continue) { *s = text(c) },
		func(n *int32, c randfill.Continue) { *n = int32(number(c)) },
		func(n *int64, c randfill.Continue) { *n = number(c) },
		func(q *resource.Quantity, c randfill.Continue) { *q = quantity(c) },
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Time{Time: moment(c)} },
		func(t *metav1.MicroTime, c randfill.Continue) { *t = metav1.MicroTime{Time: moment(c)} },
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawBytes([]byte(`{"f:spec":{}}`)) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31n(70000))
			if c.Bool() {
				*v = intstr.FromString(text(c))
			}
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.FillNoCustom(m)
			if m.Name == "" {
				m.Name = "named" // what has no name is read by nobody
			}
		},
		func(m *metav1.TypeMeta, c randfill.Continue) {},
		func(v *corev1.VolumeSource, c randfill.Continue) { volumeSource(v, c) },
		func(s *corev1.PodSpec, c randfill.Continue) { podSpec(s, c) },
		func(v *corev1.Container, c randfill.Continue) { container(v, c) },
		func(t *corev1.PodAffinityTerm, c randfill.Continue) {
			c.FillNoCustom(t)
			t.LabelSelector, t.NamespaceSelector = selector(c), selector(c)
		},
		func(t *corev1.TopologySpreadConstraint, c randfill.Continue) {
			c.FillNoCustom(t)
			t.LabelSelector = selector(c)
		},
		func(t *corev1.NodeSelectorTerm, c randfill.Continue) {
			t.MatchExpressions = several[corev1.NodeSelectorRequirement](c, 2)
			t.MatchFields = several[corev1.NodeSelectorRequirement](c, 1)
		},
		func(s *corev1.NodeStatus, c randfill.Continue) {
			c.FillNoCustom(s)
			s.Images = several[corev1.ContainerImage](c, 3)
		},
		func(op *metav1.LabelSelectorOperator, c randfill.Continue) {
			*op = metav1.LabelSelectorOperator(oneOf(c, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "", "Odd"))
		},
		func(op *corev1.NodeSelectorOperator, c randfill.Continue) {
			*op = corev1.NodeSelectorOperator(oneOf(c, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "", "Odd"))
		},
		func(e *corev1.TaintEffect, c randfill.Continue) {
			*e = corev1.TaintEffect(oneOf(c, "", "NoSchedule", "PreferNoSchedule", "NoExecute", "Odd"))
		},
		func(op *corev1.TolerationOperator, c randfill.Continue) {
			*op = corev1.TolerationOperator(oneOf(c, "", "Equal", "Exists", "Lt", "Gt", "Odd"))
		},
		func(p *corev1.Protocol, c randfill.Continue) {
			*p = corev1.Protocol(oneOf(c, "", "TCP", "UDP", "SCTP", "Odd"))
		},
		func(p *corev1.PreemptionPolicy, c randfill.Continue) {
			*p = corev1.PreemptionPolicy(oneOf(c, "", "PreemptLowerPriority", "Never", "Odd"))
		},
		func(p *corev1.ContainerRestartPolicy, c randfill.Continue) {
			*p = corev1.ContainerRestartPolicy(oneOf(c, "Always", "Never", "OnFailure", ""))
		},
		func(a *corev1.ContainerRestartRuleAction, c randfill.Continue) {
			*a = corev1.ContainerRestartRuleAction(oneOf(c, "Restart", "RestartAllContainers", ""))
		},
		func(p *corev1.NodeInclusionPolicy, c randfill.Continue) {
			*p = corev1.NodeInclusionPolicy(oneOf(c, "Honor", "Ignore", "Odd", ""))
		},
		func(w *corev1.UnsatisfiableConstraintAction, c randfill.Continue) {
			*w = corev1.UnsatisfiableConstraintAction(oneOf(c, "DoNotSchedule", "ScheduleAnyway", "Odd", ""))
		},
		func(l *corev1.ResourceList, c randfill.Continue) { *l = resources(c) },
	)
}

func oneOf(c randfill.Continue, choices ...string) string { return choices[c.Intn(len(choices))] }

var words = []string{
	"", "a", "b", "kept", "web", "zone", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "example.com/x", "1", "-7",
	"10", "Ready", "True", "False", "Running", "registry/app:v1", "a b", "größe", "日本", "\u2028", "tab\t\"quoted\"\\", "<&>",
	"metadata.name",
}

func text(c randfill.Continue) string {
	switch c.Intn(40) {
	case 0:
		return "no\xffUTF\xe2\x82-8"
	case 1:
		return fmt.Sprintf("%s-%d", words[c.Intn(len(words))], c.Intn(1000))
	}
	return words[c.Intn(len(words))]
}

func number(c randfill.Continue) int64 {
	numbers := []int64{0, 1, 2, 80, 443, 65535, 2000000000, -1, -2147483648, 2147483647}
	return numbers[c.Intn(len(numbers))]
}

func quantity(c randfill.Continue) resource.Quantity {
	switch c.Intn(6) {
	case 0:
		return resource.Quantity{}
	case 1:
		return *resource.NewMilliQuantity(c.Int63n(1e6)-1000, resource.DecimalSI)
	case 2:
		return *resource.NewQuantity(c.Int63()>>c.Intn(60), resource.BinarySI)
	case 3:
		return *resource.NewScaledQuantity(c.Int63n(1e9), resource.Nano)
	}
	suffixes := []string{"", "m", "u", "n", "k", "Ki", "M", "Mi", "G", "Gi", "Ti", "e3", "e-2", "E"}
	return resource.MustParse(fmt.Sprintf("%d.%d%s", c.Intn(1000), c.Intn(100), suffixes[c.Intn(len(suffixes))]))
}

func resources(c randfill.Continue) corev1.ResourceList {
	if c.Intn(3) == 0 {
		return nil
	}
	names := []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi", "example.com/gpu", "example.com/x"}
	list := corev1.ResourceList{}
	for range c.Intn(4) {
		list[names[c.Intn(len(names))]] = quantity(c)
	}
	return list
}

func moment(c randfill.Continue) time.Time {
	switch c.Intn(8) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(0, 0)
	case 2: // before and after what 64 bits of nanoseconds hold
		return time.Date(1+c.Intn(9998), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(c.Int63n(4e9)-1e9, c.Int63n(1e9))
}

// One source, as the API server wants it, or none; two are read in the order of their names or numbers, which differ.
func volumeSource(v *corev1.VolumeSource, c randfill.Continue) {
	switch c.Intn(16) {
	case 0:
	case 1, 2:
		v.PersistentVolumeClaim = made[corev1.PersistentVolumeClaimVolumeSource](c)
	case 3, 4:
		v.Ephemeral = &corev1.EphemeralVolumeSource{}
	case 5:
		v.Image = made[corev1.ImageVolumeSource](c)
	case 6:
		v.GCEPersistentDisk = made[corev1.GCEPersistentDiskVolumeSource](c)
	case 7:
		v.AWSElasticBlockStore = made[corev1.AWSElasticBlockStoreVolumeSource](c)
	case 8:
		v.RBD = made[corev1.RBDVolumeSource](c)
	case 9:
		v.ISCSI = made[corev1.ISCSIVolumeSource](c)
	case 10:
		v.AzureDisk = made[corev1.AzureDiskVolumeSource](c)
	case 11:
		v.CSI = made[corev1.CSIVolumeSource](c)
	case 12:
		v.Cinder = made[corev1.CinderVolumeSource](c)
	case 13:
		v.PortworxVolume = made[corev1.PortworxVolumeSource](c)
	case 14:
		v.EmptyDir = made[corev1.EmptyDirVolumeSource](c)
	case 15:
		v.Secret = made[corev1.SecretVolumeSource](c)
	}
}

func made[T any](c randfill.Continue) *T {
	value := new(T)
	c.Fill(value)
	return value
}

// several is a list of up to most items.
func several[T any](c randfill.Continue, most int) []T {
	var list []T
	for range c.Intn(most + 1) {
		list = append(list, *made[T](c))
	}
	return list
}

// podSpec has more of what schedulers look into, and less of the rest.
func podSpec(s *corev1.PodSpec, c randfill.Continue) {
	c.FillNoCustom(s)
	s.Volumes = several[corev1.Volume](c, 3)
	s.Tolerations = several[corev1.Toleration](c, 3)
	s.TopologySpreadConstraints = several[corev1.TopologySpreadConstraint](c, 2)
	if c.Intn(3) > 0 {
		s.SecurityContext, s.EphemeralContainers, s.DNSConfig, s.HostAliases = nil, nil, nil, nil
	}
	if c.Intn(2) == 0 {
		return
	}
	s.Affinity = &corev1.Affinity{}
	if c.Bool() {
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: several[corev1.PreferredSchedulingTerm](c, 2),
		}
		if c.Bool() {
			s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
				NodeSelectorTerms: several[corev1.NodeSelectorTerm](c, 2),
			}
		}
	}
	if c.Bool() {
		s.Affinity.PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  several[corev1.PodAffinityTerm](c, 2),
			PreferredDuringSchedulingIgnoredDuringExecution: several[corev1.WeightedPodAffinityTerm](c, 2),
		}
	}
	if c.Bool() {
		s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  several[corev1.PodAffinityTerm](c, 2),
			PreferredDuringSchedulingIgnoredDuringExecution: several[corev1.WeightedPodAffinityTerm](c, 2),
		}
	}
}

func container(v *corev1.Container, c randfill.Continue) {
	c.FillNoCustom(v)
	v.Ports = several[corev1.ContainerPort](c, 2)
	if c.Intn(4) > 0 {
		v.LivenessProbe, v.ReadinessProbe, v.StartupProbe, v.Lifecycle = nil, nil, nil, nil
		v.Env, v.EnvFrom, v.SecurityContext, v.VolumeMounts = nil, nil, nil, nil
	}
}

// selector is nothing, or matches something.
func selector(c randfill.Continue) *metav1.LabelSelector {
	if c.Intn(4) == 0 {
		return nil
	}
	s := &metav1.LabelSelector{MatchExpressions: several[metav1.LabelSelectorRequirement](c, 2)}
	if c.Bool() {
		s.MatchLabels = map[string]string{text(c): text(c), text(c): text(c)}
	}
	return s
}
