// SPDX-License-Identifier: Apache-2.0

// What a made-up cluster's storage consists of beside claims and volumes: classes, drivers, what nodes can attach, capacities.
package main

import "fmt"

var (
	drivers = []string{"csi.example.com", "disk.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com",
		"cinder.csi.openstack.org", "pxd.portworx.com"}
	inTree = []string{"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder",
		"kubernetes.io/portworx-volume", "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}
	storageSizes = []string{"1Gi", "1Gi", "1500M", "2Gi", "2147483648", "5Gi", "10G", "10Gi", "1073741823500m", "1073741824", "1e9", "8Ti"}
	regions      = []string{"region-1", "region-2"}
)

const (
	betaZoneKey   = "failure-domain.beta.kubernetes.io/zone"
	regionKey     = "topology.kubernetes.io/region"
	betaRegionKey = "failure-domain.beta.kubernetes.io/region"
	segmentKey    = "topology.example.com/segment"
)

var csiZoneKeys = []string{"topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.cinder.csi.openstack.org/zone"}

// stock is what volumes are made of while a cluster is built.
type stock struct {
	c       *cluster
	r       rnd
	about   subject
	zones   []string            // three, in one region as clouds write them, or not
	waiting []string            // classes whose claims wait for a pod
	volumes []M                 // PersistentVolumes
	claims  []M                 // PersistentVolumeClaims
	shared  map[string][]string // claims by namespace that any pod may use
	filling []string            // claims that running pods fill nodes with
	serial  int
}

func newStock(c *cluster, about subject) *stock {
	s := &stock{c: c, r: c.r, about: about, zones: zones, shared: map[string][]string{}}
	if c.r.chance(0.4) {
		s.zones = []string{"us-east1-a", "us-east1-b", pick(c.r, "us-east1-c", "eu-west1-a")}
	}
	return s
}

func (s *stock) number() int {
	s.serial++
	return s.serial
}

// labelTopology adds what volumes go by: zones and regions under old and new keys, and drivers' own keys.
func (s *stock) labelTopology(node M) {
	r, labels := s.r, sub(node, "metadata", "labels")
	zone := pick(r, s.zones...)
	if labels[zoneKey] != nil {
		labels[zoneKey] = zone
	}
	if r.chance(0.3) {
		labels[betaZoneKey] = zone
		if r.chance(0.2) {
			delete(labels, zoneKey)
		}
	}
	if r.chance(0.6) {
		labels[regionKey] = pick(r, regions...)
	}
	if r.chance(0.2) {
		labels[betaRegionKey] = pick(r, regions...)
	}
	for _, key := range some(r, 0.55, csiZoneKeys...) {
		labels[key] = zone
	}
	if r.chance(0.6) {
		labels[segmentKey] = pick(r, "s1", "s2")
	}
}

// addClasses makes the classes of the catalogue, nearly all of them. The class "missing" is never there.
func (s *stock) addClasses() {
	r := s.r
	catalogue := []struct{ name, provisioner string }{{"local", "kubernetes.io/no-provisioner"}, {"fast", "csi.example.com"},
		{"wide", "disk.example.com"}, {"cloud", pick(r, inTree...)}, {"now", "csi.example.com"}, {"old", pick(r, inTree...)}}
	for _, entry := range catalogue {
		if r.chance(0.04) {
			continue
		}
		class := M{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": M{"name": entry.name}, "provisioner": entry.provisioner}
		if entry.name == "now" || r.chance(0.05) {
			if r.chance(0.5) {
				class["volumeBindingMode"] = "Immediate"
			}
		} else {
			class["volumeBindingMode"] = "WaitForFirstConsumer"
			s.waiting = append(s.waiting, entry.name)
		}
		if r.chance(0.25) {
			class["allowedTopologies"] = s.allowedTopologies()
		}
		s.c.others = append(s.c.others, class)
	}
	if len(s.waiting) == 0 {
		s.waiting = []string{"missing"}
	}
}

func (s *stock) allowedTopologies() []any {
	r := s.r
	var terms []any
	for range r.between(1, 2) {
		term, used := M{}, map[string]bool{}
		for range pick(r, 1, 1, 1, 2) { // a term without any is a duplicate to the API server
			key := pick(r, zoneKey, zoneKey, regionKey, segmentKey, betaZoneKey, csiZoneKeys[0])
			if used[key] {
				continue
			}
			used[key] = true
			values := s.zones
			switch key {
			case regionKey:
				values = regions
			case segmentKey:
				values = []string{"s1", "s2"}
			}
			add(term, "matchLabelExpressions", M{"key": key, "values": list(atLeastOne(r, 0.6, values...)...)})
		}
		terms = append(terms, term)
	}
	return terms
}

func (s *stock) addDrivers() {
	chance := 0.6
	if s.about == aboutCapacity {
		chance = 0.9
	}
	for _, name := range some(s.r, chance, drivers...) {
		spec := M{}
		if s.r.chance(0.9) {
			spec["storageCapacity"] = s.r.chance(0.8)
		}
		if s.r.chance(0.2) {
			spec["attachRequired"] = s.r.chance(0.5)
		}
		s.c.others = append(s.c.others, M{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": M{"name": name}, "spec": spec})
	}
}

// addCSINodes says what the nodes' drivers are and how much they attach.
func (s *stock) addCSINodes() {
	r := s.r
	present, tight := pick(r, 0.3, 0.8, 1), pick(r, 0, 0.3, 0.8)
	has := 0.7
	limits := []int{0, 1, 1, 2, 2, 3, 5, 39}
	if s.about == aboutLimits {
		present, tight = pick(r, 0.9, 1), pick(r, 0.8, 1)
		has = 0.95
		limits = []int{1, 1, 2, 2, 3}
	}
	migrated := some(r, 0.6, inTree...)
	for i := -1; i < len(s.c.nodes); i++ {
		name := "node-that-was"
		if i >= 0 {
			name = nodeName(s.c.nodes[i])
		}
		if !r.chance(present) {
			continue
		}
		node := M{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": M{"name": name}, "spec": M{"drivers": []any{}}}
		if r.chance(0.8) {
			text := ""
			for i, plugin := range some(r, 0.85, migrated...) {
				if i > 0 {
					text += pick(r, ",", ",", ",", ", ")
				}
				text += plugin
			}
			sub(node, "metadata", "annotations")["storage.alpha.kubernetes.io/migrated-plugins"] = text
		}
		for _, driver := range some(r, has, drivers...) {
			entry := M{"name": driver, "nodeID": name}
			if r.chance(tight) {
				entry["allocatable"] = M{"count": pick(r, limits...)}
			} else if r.chance(0.1) {
				entry["allocatable"] = M{}
			}
			if r.chance(0.4) {
				entry["topologyKeys"] = list(pick(r, zoneKey, segmentKey, csiZoneKeys[0]))
			}
			add(sub(node, "spec"), "drivers", entry)
		}
		s.c.others = append(s.c.others, node)
	}
}

// addCapacities says how much each class has left, and where.
func (s *stock) addCapacities() {
	for range pick(s.r, 0, 0, 2, 5) {
		s.addCapacity(pick(s.r, "fast", "fast", "wide", "wide", "now", "cloud", "missing"))
	}
}

func (s *stock) addCapacity(class string) {
	r := s.r
	capacity := M{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": class,
		"metadata": M{"name": fmt.Sprintf("capacity-%d", s.number()), "namespace": pick(r, "default", "kube-system")}}
	switch r.IntN(8) {
	case 0:
	case 1:
		capacity["nodeTopology"] = M{}
	case 2:
		capacity["nodeTopology"] = M{"matchLabels": M{segmentKey: pick(r, "s1", "s2")}}
	case 3:
		capacity["nodeTopology"] = M{"matchExpressions": list(M{"key": hostKey, "operator": pick(r, "In", "NotIn"),
			"values": list(nodeName(pick(r, s.c.nodes...)), "node-01")})}
	case 4:
		capacity["nodeTopology"] = M{"matchExpressions": list(M{"key": pick(r, segmentKey, "rack", "absent"), "operator": pick(r, "Exists", "DoesNotExist")})}
	default:
		capacity["nodeTopology"] = M{"matchLabels": M{zoneKey: pick(r, s.zones...)}}
	}
	if r.chance(0.85) {
		capacity["capacity"] = pick(r, append(storageSizes, "0")...)
	}
	if r.chance(0.35) {
		capacity["maximumVolumeSize"] = pick(r, append(storageSizes, "0")...)
	}
	s.c.others = append(s.c.others, capacity)
}

// addAttachments tells of volumes that are attached, to pods' nodes and elsewhere.
func (s *stock) addAttachments() {
	r := s.r
	if len(s.volumes) == 0 {
		return
	}
	for range pick(r, 0, 0, 2, 6) {
		volume := pick(r, s.volumes...)
		attacher := pick(r, drivers...)
		if source, ok := sub(volume, "spec")["csi"].(M); ok && r.chance(0.9) {
			attacher = source["driver"].(string)
		}
		source := M{"persistentVolumeName": sub(volume, "metadata")["name"]}
		if r.chance(0.05) {
			source["persistentVolumeName"] = "pv-that-was"
		}
		node := nodeName(pick(r, s.c.nodes...))
		if r.chance(0.05) {
			node = "node-that-was"
		}
		attachment := M{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": M{"name": fmt.Sprintf("attachment-%d", s.number())},
			"spec": M{"attacher": attacher, "nodeName": node, "source": source}}
		if r.chance(0.7) {
			attachment["status"] = M{"attached": r.chance(0.7)}
		}
		s.c.others = append(s.c.others, attachment)
	}
}
