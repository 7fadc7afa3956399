// SPDX-License-Identifier: Apache-2.0

// Requests as kube-scheduler sends them for a large cluster.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

const label = "priority.lixueduan.com"

var start = metav1.NewTime(time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC))

// body is a request whose nodes and pod can be changed in place, as heartbeats and the next pod do.
type body struct {
	bytes    []byte
	versions []int // where each node's resourceVersion is
	pod      int   // where the pod's number is
	next     int
}

const versionMark = "1000000000"

// touch makes it the request for the next pod, with so many nodes that have changed since the last.
func (b *body) touch(changed int) {
	b.next++
	if b.pod > 0 {
		copy(b.bytes[b.pod:], fmt.Sprintf("%06d", b.next%1_000_000))
	}
	for i := range changed {
		at := b.versions[(b.next*changed+i)%len(b.versions)]
		copy(b.bytes[at:at+len(versionMark)], fmt.Sprintf("2%09d", b.next))
	}
}

func newBody(args *extenderv1.ExtenderArgs) *body {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // of our own types
	}
	b := &body{bytes: text}
	mark := []byte(`"resourceVersion":"` + versionMark)
	for at := 0; ; {
		found := bytes.Index(text[at:], mark)
		if found < 0 {
			break
		}
		at += found + len(mark)
		b.versions = append(b.versions, at-len(versionMark))
	}
	b.pod = bytes.Index(text, []byte("web-000000")) + len("web-")
	return b
}

func fullNodes(count int) *body {
	list := &v1.NodeList{}
	for i := range count {
		list.Items = append(list.Items, node(i))
	}
	return newBody(&extenderv1.ExtenderArgs{Pod: pod(), Nodes: list})
}

func names(count int) *body {
	list := []string{}
	for i := range count {
		list = append(list, nodeName(i))
	}
	return newBody(&extenderv1.ExtenderArgs{Pod: pod(), NodeNames: &list})
}

func nodeName(i int) string {
	return fmt.Sprintf("ip-10-%d-%d-%d.eu-west-1.compute.internal", i/62500, i/250%250, i%250)
}

func pod() *v1.Pod {
	quantities := v1.ResourceList{v1.ResourceCPU: resource.MustParse("250m"), v1.ResourceMemory: resource.MustParse("512Mi")}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-000000", Namespace: "shop", UID: "0c9c3c9e-4d8a-4b7e-9a53-2b1f4f6f7a10", CreationTimestamp: start,
			Labels: map[string]string{"app": "web", "tier": "front", "pod-template-hash": "6d4cf56db6"},
		},
		Spec: v1.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []v1.Container{{Name: "web", Image: "registry.example.com/shop/web:1.27.3",
				Resources: v1.ResourceRequirements{Requests: quantities, Limits: quantities},
				Env:       []v1.EnvVar{{Name: "MODE", Value: "production"}}}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending, QOSClass: v1.PodQOSGuaranteed},
	}
}

// node is as cloud providers' nodes are: a dozen and a half labels, thirty names of images, five conditions, managed fields of
// two managers; about 8 kB.
func node(i int) v1.Node {
	zone := fmt.Sprintf("eu-west-1%c", 'a'+i%3)
	amounts := func(cpu, memory string) v1.ResourceList {
		return v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory), v1.ResourcePods: resource.MustParse("110"),
			v1.ResourceEphemeralStorage: resource.MustParse("83873772Ki"), "hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
		}
	}
	n := v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: nodeName(i), UID: types.UID(fmt.Sprintf("5d9e1f3a-77aa-4c1b-8f00-%012d", i)), ResourceVersion: versionMark, CreationTimestamp: start,
			Labels: map[string]string{
				"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/instance-type": "m5.2xlarge", "beta.kubernetes.io/os": "linux",
				"failure-domain.beta.kubernetes.io/region": "eu-west-1", "failure-domain.beta.kubernetes.io/zone": zone,
				"k8s.io/cloud-provider-aws": "7d0c1f5a9c2b4e8f", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": nodeName(i),
				"kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m5.2xlarge", "eks.amazonaws.com/nodegroup": fmt.Sprintf("group-%d", i%7),
				"eks.amazonaws.com/capacityType": "ON_DEMAND", "eks.amazonaws.com/nodegroup-image": "ami-0a1b2c3d4e5f60718",
				"topology.ebs.csi.aws.com/zone": zone, "topology.kubernetes.io/region": "eu-west-1", "topology.kubernetes.io/zone": zone,
			},
			Annotations: map[string]string{
				"alpha.kubernetes.io/provided-node-ip":                   fmt.Sprintf("10.%d.%d.%d", i/62500, i/250%250, i%250),
				"csi.volume.kubernetes.io/nodeid":                        fmt.Sprintf(`{"ebs.csi.aws.com":"i-%017x"}`, i),
				"node.alpha.kubernetes.io/ttl":                           "300",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
			},
			ManagedFields: []metav1.ManagedFieldsEntry{managed("kube-controller-manager", "", metaFields), managed("kubelet", "status", statusFields)},
		},
		Spec: v1.NodeSpec{PodCIDR: fmt.Sprintf("100.%d.%d.0/24", i/250, i%250), ProviderID: fmt.Sprintf("aws:///%s/i-%017x", zone, i)},
		Status: v1.NodeStatus{
			Capacity: amounts("8", "32459444Ki"), Allocatable: amounts("7910m", "31442612Ki"),
			Addresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}, {Type: v1.NodeHostName, Address: nodeName(i)}},
			NodeInfo: v1.NodeSystemInfo{MachineID: fmt.Sprintf("ec2%029x", i), SystemUUID: fmt.Sprintf("ec2%029x", i), KernelVersion: "6.1.115-126.197.amzn2023.x86_64",
				OSImage: "Amazon Linux 2023.6.20241121", ContainerRuntimeVersion: "containerd://1.7.23", KubeletVersion: "v1.36.4", OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
	if i%10 != 0 {
		n.Labels[label] = fmt.Sprint(i % 97)
	}
	for k, name := range []v1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready"} {
		status := v1.ConditionFalse
		if name == v1.NodeReady {
			status = v1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions, v1.NodeCondition{Type: name, Status: status, LastHeartbeatTime: start, LastTransitionTime: start,
			Reason: "KubeletHas" + string(name), Message: fmt.Sprintf("kubelet has sufficient room for %s, looked at it %d times", name, i%50+k)})
	}
	for k := range 16 {
		image := (i + k*k) % 400
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{SizeBytes: int64(image)*1_713_131 + 900_000, Names: []string{
			fmt.Sprintf("registry.example.com/team-%d/service-%d@sha256:%064x", image%20, image, image*7919),
			fmt.Sprintf("registry.example.com/team-%d/service-%d:1.%d.0", image%20, image, image%30)}})
	}
	return n
}

func managed(manager, part, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &start, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}, Subresource: part}
}

const (
	metaFields = `{"f:metadata":{"f:annotations":{".":{},"f:node.alpha.kubernetes.io/ttl":{},"f:volumes.kubernetes.io/controller-managed-attach-detach":{}},` +
		`"f:labels":{".":{},"f:beta.kubernetes.io/arch":{},"f:beta.kubernetes.io/os":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/hostname":{},"f:kubernetes.io/os":{}}},` +
		`"f:spec":{"f:podCIDR":{},"f:podCIDRs":{".":{},"v:\"100.0.0.0/24\"":{}},"f:providerID":{}}}`
	statusFields = `{"f:status":{"f:addresses":{".":{},"k:{\"type\":\"Hostname\"}":{".":{},"f:address":{},"f:type":{}},"k:{\"type\":\"InternalIP\"}":{".":{},"f:address":{},"f:type":{}}},` +
		`"f:allocatable":{".":{},"f:cpu":{},"f:ephemeral-storage":{},"f:hugepages-1Gi":{},"f:hugepages-2Mi":{},"f:memory":{},"f:pods":{}},` +
		`"f:conditions":{".":{},"k:{\"type\":\"DiskPressure\"}":{".":{},"f:lastHeartbeatTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Ready\"}":{".":{},"f:lastHeartbeatTime":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},` +
		`"f:images":{},"f:nodeInfo":{"f:kernelVersion":{},"f:kubeletVersion":{},"f:machineID":{},"f:osImage":{},"f:systemUUID":{}}}}`
)
