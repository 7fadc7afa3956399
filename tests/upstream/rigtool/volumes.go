// SPDX-License-Identifier: Apache-2.0

// Volumes: local disks of nodes, a provisioner that makes others, and what must be so of pods and their volumes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	selectedNode   = "volume.kubernetes.io/selected-node"
	provisionedBy  = "pv.kubernetes.io/provisioned-by"
	provisionerKey = "volume.kubernetes.io/storage-provisioner"
	bindCompleted  = "pv.kubernetes.io/bind-completed"
)

// onNode is the affinity of what only one node reaches.
func onNode(node string) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}}
}

// makeDisks makes local volumes as somebody would who has looked at the nodes' disks.
func makeDisks(args []string) error {
	f := newFlags("disks")
	nodes := f.String("nodes", "", "of nodes whose names begin so; empty: of all")
	count := f.Int("count", 1, "so many for each")
	first := f.Int("first", 1, "the number of the first")
	class := f.String("class", "local", "of this storage class")
	size := f.String("size", "1Gi", "of the first; each further one is one Gi larger")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	capacity, err := resource.ParseQuantity(*size)
	if err != nil {
		return fmt.Errorf("--size: %q is not a quantity: %w", *size, err)
	}
	all, err := nodeNames(client)
	if err != nil {
		return err
	}
	for _, node := range all {
		if !strings.HasPrefix(node, *nodes) {
			continue
		}
		for i := range *count {
			capacity := capacity.DeepCopy()
			capacity.Add(*resource.NewQuantity(int64(i)<<30, resource.BinarySI))
			name := fmt.Sprintf("disk-%s-%d", node, *first+i)
			volume := &v1.PersistentVolume{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: v1.PersistentVolumeSpec{
					Capacity:                      v1.ResourceList{v1.ResourceStorage: capacity},
					AccessModes:                   []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
					PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
					StorageClassName:              *class,
					PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/" + name}},
					NodeAffinity:                  onNode(node),
				},
			}
			if err := again(func() error {
				_, err := client.CoreV1().PersistentVolumes().Create(context.Background(), volume, metav1.CreateOptions{})
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// provisioner makes volumes for claims whose node a scheduler has selected, as an external provisioner does: each is reached
// from that node alone. It works until it gets SIGTERM and says then what it did.
type provisioner struct {
	client    kubernetes.Interface
	name      string
	delay     time.Duration
	failEvery int

	lock         sync.Mutex
	busy         map[types.UID]bool
	tried        int
	made, failed int
}

func provision(args []string) error {
	f := newFlags("provision")
	p := provisioner{busy: map[types.UID]bool{}}
	f.StringVar(&p.name, "name", "rig.berth.dev/disks", "of the provisioner")
	f.DurationVar(&p.delay, "delay", 200*time.Millisecond, "that it takes to make a volume")
	f.IntVar(&p.failEvery, "fail-every", 0, "so many-th attempt fails, and the claim loses its node; 0: none")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	p.client = client
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	var group sync.WaitGroup
	for stop.Err() == nil {
		claims, err := client.CoreV1().PersistentVolumeClaims(*f.namespace).List(stop, metav1.ListOptions{})
		for i := 0; err == nil && i < len(claims.Items); i++ {
			claim := &claims.Items[i]
			if p.isFor(claim) {
				group.Go(func() { p.provision(claim) })
			}
		}
		select { // lists that fail are repeated: scenarios kill the API server
		case <-stop.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	group.Wait()
	fmt.Printf("%d volumes made, %d could not be\n", p.made, p.failed)
	return nil
}

// isFor takes a claim on, if it is for this provisioner and nobody works at it.
func (p *provisioner) isFor(claim *v1.PersistentVolumeClaim) bool {
	if claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Annotations[provisionerKey] != p.name ||
		claim.Annotations[selectedNode] == "" {
		return false
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.busy[claim.UID] {
		return false
	}
	p.busy[claim.UID] = true
	return true
}

func (p *provisioner) provision(claim *v1.PersistentVolumeClaim) {
	time.Sleep(p.delay)
	p.lock.Lock()
	p.tried++
	fails := p.failEvery > 0 && p.tried%p.failEvery == 0
	p.lock.Unlock()
	work := p.create
	if fails {
		work = p.giveUp
	}
	err := work(claim)
	p.lock.Lock()
	defer p.lock.Unlock()
	switch {
	case err != nil: // somebody changed the claim: looked at again
	case fails:
		p.failed++
	default:
		p.made++
		return // the volume controller binds it: it stays busy for good
	}
	delete(p.busy, claim.UID)
}

// giveUp takes the node from the claim, for the scheduler to choose again.
func (p *provisioner) giveUp(claim *v1.PersistentVolumeClaim) error {
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"annotations":{%q:null}}}`, claim.ResourceVersion, selectedNode)
	return again(func() error {
		_, err := p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(context.Background(), claim.Name,
			types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

func (p *provisioner) create(claim *v1.PersistentVolumeClaim) error {
	node := claim.Annotations[selectedNode]
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID), Annotations: map[string]string{provisionedBy: p.name}},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      v1.ResourceList{v1.ResourceStorage: *claim.Spec.Resources.Requests.Storage()},
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			ClaimRef: &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID, ResourceVersion: claim.ResourceVersion},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{
				Driver: strings.ReplaceAll(p.name, "/", "-"), VolumeHandle: string(claim.UID)}},
			NodeAffinity: onNode(node),
		},
	}
	if claim.Spec.StorageClassName != nil {
		volume.Spec.StorageClassName = *claim.Spec.StorageClassName
	}
	return again(func() error {
		_, err := p.client.CoreV1().PersistentVolumes().Create(context.Background(), volume, metav1.CreateOptions{})
		return err
	})
}

// storage is what a fresh list shows of pods with claims.
type storage struct {
	pods    []v1.Pod // of the scenario
	claims  []v1.PersistentVolumeClaim
	volumes []v1.PersistentVolume
	nodes   []v1.Node
}

func checkVolumes(args []string) error {
	f := newFlags("check-volumes")
	label := f.String("label", "app=load", "pods of this selector")
	want := f.Int("want", 0, "so many pods there must be")
	waiting := f.Int("pending", 0, "so many of them wait, and no more")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	var seen storage
	for _, list := range []func() error{
		func() error {
			pods, err := client.CoreV1().Pods(*f.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: *label})
			if err == nil {
				seen.pods = pods.Items
			}
			return err
		},
		func() error {
			claims, err := client.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(context.Background(), metav1.ListOptions{})
			if err == nil {
				seen.claims = claims.Items
			}
			return err
		},
		func() error {
			volumes, err := client.CoreV1().PersistentVolumes().List(context.Background(), metav1.ListOptions{})
			if err == nil {
				seen.volumes = volumes.Items
			}
			return err
		},
		func() error {
			nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
			if err == nil {
				seen.nodes = nodes.Items
			}
			return err
		},
	} {
		if err := list(); err != nil {
			return err
		}
	}
	if problems := judgeVolumes(seen, *want, *waiting); len(problems) > 0 {
		sort.Strings(problems)
		if len(problems) > 10 {
			problems = append(problems[:10], fmt.Sprintf("and %d more", len(problems)-10))
		}
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Printf("%d pods, %d claims, %d volumes\n", len(seen.pods), len(seen.claims), len(seen.volumes))
	return nil
}

// judgeVolumes: who is bound has all of its claims bound, each to a volume that is that claim's and nobody else's and that the
// pod's node reaches.
func judgeVolumes(seen storage, want, waiting int) []string {
	var problems []string
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	volumes := map[string]*v1.PersistentVolume{}
	claimed := map[string]string{} // by namespace/name of a claim: the volume that is for it
	for i := range seen.volumes {
		volume := &seen.volumes[i]
		volumes[volume.Name] = volume
		if ref := volume.Spec.ClaimRef; ref != nil {
			claim := ref.Namespace + "/" + ref.Name + " " + string(ref.UID)
			if other := claimed[claim]; other != "" {
				report("both %s and %s are for the claim %s", other, volume.Name, claim)
			}
			claimed[claim] = volume.Name
		}
	}
	claims := map[string]*v1.PersistentVolumeClaim{}
	users := map[string]string{} // by volume: the claim
	for i := range seen.claims {
		claim := &seen.claims[i]
		name := claim.Namespace + "/" + claim.Name
		claims[name] = claim
		if claim.Spec.VolumeName == "" {
			continue
		}
		if other := users[claim.Spec.VolumeName]; other != "" {
			report("the volume %s is claimed twice, by %s and %s", claim.Spec.VolumeName, other, name)
		}
		users[claim.Spec.VolumeName] = name
	}
	nodes := map[string]*v1.Node{}
	for i := range seen.nodes {
		nodes[seen.nodes[i].Name] = &seen.nodes[i]
	}
	if len(seen.pods) != want {
		report("%d pods, want %d", len(seen.pods), want)
	}
	var unbound []string
	for i := range seen.pods {
		pod := &seen.pods[i]
		if pod.Spec.NodeName == "" {
			unbound = append(unbound, pod.Name)
			continue
		}
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			claim := claims[pod.Namespace+"/"+volume.PersistentVolumeClaim.ClaimName]
			if problem := judgeClaim(claim, volumes, nodes[pod.Spec.NodeName]); problem != "" {
				report("%s is on %s, but its claim %s %s", pod.Name, pod.Spec.NodeName, volume.PersistentVolumeClaim.ClaimName, problem)
			}
		}
	}
	if len(unbound) != waiting {
		report("%d pods wait, want %d: %s", len(unbound), waiting, some(unbound))
	}
	return problems
}

// judgeClaim says what is wrong with the claim of a pod on that node; nothing: "".
func judgeClaim(claim *v1.PersistentVolumeClaim, volumes map[string]*v1.PersistentVolume, node *v1.Node) string {
	if claim == nil {
		return "is not there"
	}
	if claim.Status.Phase != v1.ClaimBound || claim.Annotations[bindCompleted] == "" || claim.Spec.VolumeName == "" {
		return "is not bound"
	}
	volume := volumes[claim.Spec.VolumeName]
	if volume == nil {
		return "is bound to " + claim.Spec.VolumeName + ", which is not there"
	}
	if ref := volume.Spec.ClaimRef; ref == nil || ref.UID != claim.UID {
		given, _ := json.Marshal(ref)
		return "is bound to " + volume.Name + ", which is for " + string(given)
	}
	if node == nil {
		return "is bound, but the node is not there"
	}
	if affinity := volume.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
		host := affinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0] // as onNode has it
		if host != node.Labels[v1.LabelHostname] {
			return "is bound to " + volume.Name + ", which only " + host + " reaches"
		}
	}
	return ""
}

// clearVolumes takes away all claims of the namespace and all volumes, and waits until they are gone.
func clearVolumes(args []string) error {
	f := newFlags("clear-volumes")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	claims := client.CoreV1().PersistentVolumeClaims(*f.namespace)
	volumes := client.CoreV1().PersistentVolumes()
	for range 300 {
		left := 0
		list, err := claims.List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			left++
			if err := claims.Delete(context.Background(), list.Items[i].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		all, err := volumes.List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all.Items {
			left++
			if err := volumes.Delete(context.Background(), all.Items[i].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("claims and volumes do not go")
}
