// SPDX-License-Identifier: Apache-2.0

// Words for volumes, and the stories written by hand about them. Pods are bound with claims that are bound already: what the
// scheduler writes itself is not told here.
package main

// claim is one that is not bound.
func claim(name string, edits ...func(M)) M {
	c := M{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": M{"name": name},
		"spec":   M{"accessModes": list("ReadWriteOnce"), "resources": M{"requests": M{"storage": "1Gi"}}},
		"status": M{"phase": "Pending"}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func boundTo(volume string) func(M) {
	return func(c M) {
		sub(c, "spec")["volumeName"] = volume
		annotation(boundKey, "yes")(c)
		sub(c, "status")["phase"] = "Bound"
	}
}

func forOnePod(c M) { sub(c, "spec")["accessModes"] = list("ReadWriteOncePod") }

func inClass(name string) func(M) { return spec("storageClassName", name) }

// volume is a driver's, and reachable from everywhere.
func volume(name string, edits ...func(M)) M {
	v := M{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": M{"name": name},
		"spec": M{"accessModes": list("ReadWriteOnce", "ReadOnlyMany"), "capacity": M{"storage": "1Gi"},
			"csi": M{"driver": "csi.example.com", "volumeHandle": name}},
		"status": M{"phase": "Available"}}
	for _, edit := range edits {
		edit(v)
	}
	return v
}

// reachableBy ties a volume to nodes with a label.
func reachableBy(key string, values ...string) func(M) {
	return func(v M) {
		sub(v, "spec", "nodeAffinity", "required")["nodeSelectorTerms"] = list(M{"matchExpressions": list(
			M{"key": key, "operator": "In", "values": list(values...)})})
	}
}

func blockStore(id string) func(M) {
	return func(v M) {
		delete(sub(v, "spec"), "csi")
		sub(v, "spec")["awsElasticBlockStore"] = M{"volumeID": id}
	}
}

// storageClass is one whose claims wait for a pod.
func storageClass(name, provisioner string, edits ...func(M)) M {
	c := M{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": M{"name": name}, "provisioner": provisioner,
		"volumeBindingMode": "WaitForFirstConsumer"}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func allowedIn(zones ...string) func(M) {
	return func(c M) {
		c["allowedTopologies"] = list(M{"matchLabelExpressions": list(M{"key": zoneKey, "values": list(zones...)})})
	}
}

// csiNode attaches count volumes of a driver; below zero: any number.
func csiNode(name, driver string, count int) M {
	entry := M{"name": driver, "nodeID": name}
	if count >= 0 {
		entry["allocatable"] = M{"count": count}
	}
	return M{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": M{"name": name}, "spec": M{"drivers": list(entry)}}
}

func attaches(count int) func(M) {
	return func(n M) { sub(n, "spec")["drivers"].([]any)[0].(M)["allocatable"] = M{"count": count} }
}

func migrated(plugins string) func(M) {
	return annotation("storage.alpha.kubernetes.io/migrated-plugins", plugins)
}

func csiDriver(name string, capacity bool) M {
	return M{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": M{"name": name}, "spec": M{"storageCapacity": capacity}}
}

func capacity(name, class, amount string) M {
	return M{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": M{"name": name}, "storageClassName": class,
		"nodeTopology": M{}, "capacity": amount}
}

func attachment(name, driver, node, volume string) M {
	return M{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": M{"name": name},
		"spec": M{"attacher": driver, "nodeName": node, "source": M{"persistentVolumeName": volume}}}
}

// using gives a pod claims.
func using(claims ...string) func(M) {
	return func(p M) {
		for _, name := range claims {
			claimVolume(p, name, name)
		}
	}
}

// with gives a pod a volume of its own.
func with(name, kind string, source M) func(M) {
	return func(p M) { add(sub(p, "spec"), "volumes", M{"name": name, kind: source}) }
}

func elsewhere(obj M) { sub(obj, "metadata")["namespace"] = "other" }

const driver = "csi.example.com"

// ready makes a claim with its volume.
func (s *scribe) ready(name string, edits ...func(M)) (M, M) {
	v := s.create(volume("pv-" + name))
	return s.create(claim(name, append([]func(M){boundTo("pv-" + name)}, edits...)...)), v
}

var volumeTales = []tale{
	{"claim-comes-after-its-pod", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(pod("p", "", using("data")))
		s.create(claim("other", boundTo("pv-data")))
		s.create(claim("data", boundTo("pv-data"), elsewhere))
		s.create(volume("pv-data"))
		s.create(claim("data", boundTo("pv-data")))
	}},
	{"claim-is-bound-by-somebody", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(storageClass("now", driver, func(c M) { c["volumeBindingMode"] = "Immediate" }))
		c := s.create(claim("data", inClass("now")))
		s.create(pod("p", "", using("data")))
		s.create(volume("pv-data"))
		c = s.update(c, annotation("note", "1"))
		c = s.update(c, spec("volumeName", "pv-data"))
		s.update(c, boundTo("pv-data"))
	}},
	{"lost-claim-comes-back", func(s *scribe) {
		s.create(node("n", "4"))
		c, _ := s.ready("data")
		c = s.update(c, func(c M) { sub(c, "status")["phase"] = "Lost" })
		s.create(pod("p", "", using("data")))
		s.create(volume("pv-other"))
		s.update(c, func(c M) { sub(c, "status")["phase"] = "Bound" })
	}},
	{"bound-claim-waits-for-its-volume", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(claim("data", boundTo("pv-data")))
		s.create(pod("p", "", using("data")))
		s.create(storageClass("fast", driver))
		s.create(volume("pv-other"))
		s.create(volume("pv-data"))
	}},
	{"ephemeral-claim-comes-and-is-not-the-pods", func(s *scribe) {
		s.create(node("n", "4"))
		template := M{"volumeClaimTemplate": M{"spec": M{"accessModes": list("ReadWriteOnce"), "resources": M{"requests": M{"storage": "1Gi"}}}}}
		s.create(pod("p", "", with("own", "ephemeral", template)))
		s.create(claim("own"))
		c := s.create(claim("p-own"))
		s.update(c, annotation("note", "1"))
		s.delete(c)
		s.create(volume("pv"))
	}},
	{"volume-that-nodes-cannot-reach", func(s *scribe) {
		n := s.create(node("n", "4"))
		s.create(node("m", "2", "rack", "r1"))
		v := s.create(volume("pv-data", reachableBy("rack", "r2")))
		s.create(claim("data", boundTo("pv-data")))
		s.create(pod("p", "", using("data")))
		v = s.update(v, annotation("note", "1"))
		s.create(node("o", "3", "rack", "r1"))
		s.update(v, reachableBy("rack", "r2", "r3"))
		s.update(n, label("rack", "r3"))
	}},
	{"volume-in-another-zone", func(s *scribe) {
		n := s.create(node("n", "4", zoneKey, "zone-a"))
		v := s.create(volume("pv-data", label(zoneKey, "zone-b")))
		s.create(claim("data", boundTo("pv-data")))
		s.create(pod("p", "", using("data")))
		v = s.update(v, label("note", "1"))
		v = s.update(v, label(zoneKey, "zone-c__zone-b"))
		v = s.update(v, label(zoneKey, "zone-b__zone-c")) // the same set
		n = s.update(n, label("rack", "r1"))
		s.update(v, label(zoneKey, "zone-b__zone-a"))
		s.update(n, label(zoneKey, "zone-b"))
	}},
	{"zone-and-new-node", func(s *scribe) {
		s.create(node("n", "4", zoneKey, "zone-a"))
		s.create(volume("pv-data", label(zoneKey, "zone-b")))
		c := s.create(claim("data", boundTo("pv-data")))
		s.create(pod("p", "", using("data")))
		s.create(storageClass("fast", driver))
		s.create(storageClass("now", driver, func(c M) { c["volumeBindingMode"] = "Immediate" }))
		s.update(c, annotation("note", "1"))
		s.create(node("m", "2", zoneKey, "zone-b"))
	}},
	{"claim-for-one-pod", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(node("m", "2"))
		s.ready("data", forOnePod)
		s.ready("more")
		a := s.create(pod("a", "100m", using("data")))
		b := s.create(pod("b", "100m", using("more")))
		s.create(pod("p", "", using("data", "more")))
		s.delete(b)
		s.create(node("o", "1"))
		s.delete(a)
	}},
	{"claim-for-one-pod-is-taken-away", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(node("m", "2"))
		s.ready("data", forOnePod)
		s.create(pod("a", "100m", using("data")))
		s.create(pod("p", "", using("data"), ranked(10)))
	}},
	{"claims-for-one-pod-on-two-nodes", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(node("m", "2"))
		s.ready("one", forOnePod)
		s.ready("two", forOnePod)
		a := s.create(pod("a", "100m", using("one"), on("n")))
		s.create(pod("b", "100m", using("two"), on("m")))
		s.create(pod("p", "", using("one", "two"), ranked(10))) // no node where taking one away would do
		s.delete(a)
	}},
	{"disk-in-use", func(s *scribe) {
		s.create(node("n", "4"))
		disk := M{"pdName": "disk-1"}
		a := s.create(pod("a", "", with("v", "gcePersistentDisk", disk)))
		b := s.create(pod("b", "", with("v", "gcePersistentDisk", M{"pdName": "disk-2"})))
		s.create(pod("p", "", with("v", "gcePersistentDisk", disk)))
		s.delete(b)
		s.delete(a)
	}},
	{"disk-in-use-elsewhere", func(s *scribe) {
		s.create(node("n", "4"))
		disk := M{"volumeID": "vol-1", "readOnly": true}
		a := s.create(pod("a", "", with("v", "awsElasticBlockStore", disk), elsewhere))
		s.create(pod("p", "", with("v", "awsElasticBlockStore", disk)))
		s.delete(a) // of another namespace: the hint looks no further
		s.create(node("m", "2"))
	}},
	{"disks-shared-for-reading", func(s *scribe) {
		s.create(node("n", "4"))
		disk := M{"iqn": "iqn.2026-01.com.example:disk", "targetPortal": "10.0.0.1:3260", "lun": 0, "readOnly": true}
		s.create(pod("a", "", with("v", "iscsi", disk)))
		s.create(pod("p", "", with("v", "iscsi", disk)))
		image := M{"monitors": list("mon-a", "mon-b"), "image": "one"}
		b := s.create(pod("b", "", with("v", "rbd", image)))
		s.create(pod("q", "", with("v", "rbd", M{"monitors": list("mon-b"), "image": "one", "readOnly": true})))
		s.delete(b)
	}},
	{"disk-is-taken-away", func(s *scribe) {
		s.create(node("n", "4"))
		disk := M{"pdName": "disk-1"}
		s.create(pod("a", "100m", with("v", "gcePersistentDisk", disk)))
		s.create(pod("p", "", with("v", "gcePersistentDisk", disk), ranked(10)))
	}},
	{"node-attaches-no-more", func(s *scribe) {
		s.create(node("n", "4"))
		n := s.create(csiNode("n", driver, 1))
		s.ready("one")
		s.ready("two")
		a := s.create(pod("a", "", using("one")))
		b := s.create(pod("b", "", using("one")))
		s.create(pod("p", "", using("two")))
		n = s.update(n, migrated("kubernetes.io/aws-ebs"))
		n = s.update(n, attaches(0))
		s.update(n, attaches(1))
		s.delete(a)
		s.delete(b)
	}},
	{"limit-grows", func(s *scribe) {
		s.create(node("n", "4"))
		n := s.create(csiNode("n", driver, 0))
		s.ready("one")
		s.create(pod("p", "", using("one")))
		s.create(csiNode("m", driver, 5))
		n = s.update(n, func(n M) { add(sub(n, "spec"), "drivers", M{"name": "disk.example.com", "nodeID": "n"}) })
		s.update(n, attaches(2))
	}},
	{"limit-goes-away-unheard", func(s *scribe) {
		s.create(node("n", "4"))
		n := s.create(csiNode("n", driver, 0))
		s.ready("one")
		s.create(pod("p", "", using("one")))
		s.update(n, func(n M) { delete(sub(n, "spec")["drivers"].([]any)[0].(M), "allocatable") })
		s.create(node("m", "1"))
	}},
	{"attachment-goes", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(csiNode("n", driver, 1))
		s.ready("one")
		s.create(volume("pv-old"))
		a := s.create(attachment("va", driver, "n", "pv-old"))
		s.create(pod("p", "", using("one")))
		s.create(pod("q", "8"))
		s.create(attachment("elsewhere", driver, "m", "pv-old"))
		s.update(a, annotation("note", "1"))
		s.delete(a)
	}},
	{"attachments-of-volumes-that-moved", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(csiNode("n", "ebs.csi.aws.com", 0))
		s.create(pod("p", "", with("v", "awsElasticBlockStore", M{"volumeID": "vol-1"})))
		s.create(volume("pv"))
		a := s.create(attachment("va", driver, "n", "pv"))
		b := s.create(attachment("vb", "ebs.csi.aws.com", "n", "pv"))
		s.delete(a)
		s.delete(b)
	}},
	{"claim-of-a-class-counts", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(storageClass("fast", driver))
		n := s.create(csiNode("n", driver, 0))
		s.create(claim("data", inClass("fast")))
		s.create(pod("p", "", using("data")))
		s.create(pod("q", "9"))
		s.update(n, migrated("kubernetes.io/aws-ebs"))
	}},
	{"pods-with-volumes-go", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(csiNode("n", driver, 1))
		s.ready("one")
		s.ready("two")
		a := s.create(pod("a", "", using("one")))
		b := s.create(pod("b", ""))
		c := s.create(pod("c", "", with("v", "emptyDir", M{})))
		d := s.create(pod("d", "", with("v", "cinder", M{"volumeID": "c-1"})))
		s.create(pod("p", "", using("two")))
		s.delete(b)
		s.delete(c)
		s.delete(d)
		s.delete(a)
	}},
	{"nothing-to-bind", func(s *scribe) {
		n := s.create(node("n", "4", zoneKey, "zone-a"))
		s.create(storageClass("local", "kubernetes.io/no-provisioner"))
		c := s.create(claim("data", inClass("local")))
		s.create(pod("p", "", using("data")))
		s.create(volume("pv-1", inClass("other")))
		v := s.create(volume("pv-2", inClass("local"), reachableBy(hostKey, "m")))
		s.update(v, annotation("note", "1"))
		s.update(n, label("rack", "r1"))
		s.create(csiNode("n", driver, 1))
		s.delete(v)
		s.create(volume("pv-data"))
		s.update(c, boundTo("pv-data"))
	}},
	{"class-comes-and-changes", func(s *scribe) {
		s.create(node("n", "4", zoneKey, "zone-a"))
		s.create(claim("data", inClass("fast")))
		s.create(pod("p", "", using("data")))
		s.create(storageClass("other", driver))
		c := s.create(storageClass("fast", driver, allowedIn("zone-b")))
		c = s.update(c, annotation("note", "1"))
		s.update(c, allowedIn("zone-b", "zone-c"))
		s.create(storageClass("late", driver, func(c M) { c["volumeBindingMode"] = "Immediate" }))
	}},
	{"storage-runs-out", func(s *scribe) {
		s.create(node("n", "4"))
		s.create(csiDriver(driver, true))
		s.create(storageClass("fast", driver))
		s.create(claim("data", inClass("fast")))
		s.create(pod("p", "", using("data")))
		c := s.create(capacity("c", "fast", "100Mi"))
		s.create(capacity("d", "other", "100Gi"))
		c = s.update(c, func(c M) { c["capacity"] = "200Mi" })
		c = s.update(c, func(c M) { c["capacity"] = "150Mi" })
		c = s.update(c, func(c M) { c["maximumVolumeSize"] = "150Mi" })
		c = s.update(c, func(c M) { c["maximumVolumeSize"] = "160Mi" })
		c = s.update(c, func(c M) { delete(c, "maximumVolumeSize"); delete(c, "capacity") })
		c = s.update(c, func(c M) { c["capacity"] = "1Mi" })
		s.delete(c)
	}},
	{"driver-stops-counting", func(s *scribe) {
		s.create(node("n", "4"))
		d := s.create(csiDriver(driver, true))
		s.create(storageClass("fast", driver))
		s.create(claim("data", inClass("fast")))
		s.create(pod("p", "", using("data"), with("v", "csi", M{"driver": "inline.example.com"})))
		s.create(pod("q", "", using("data"), with("v", "csi", M{"driver": "inline.example.com"})))
		e := s.create(csiDriver("inline.example.com", true))
		s.update(d, annotation("note", "1"))
		e = s.update(e, annotation("note", "1"))
		e = s.update(e, func(d M) { sub(d, "spec")["storageCapacity"] = false })
		s.update(e, func(d M) { sub(d, "spec")["storageCapacity"] = true })
	}},
	{"plugins-move-to-drivers", func(s *scribe) {
		s.create(node("n", "4", "topology.ebs.csi.aws.com/zone", "zone-a"))
		n := s.create(csiNode("n", "ebs.csi.aws.com", -1))
		s.create(volume("pv-data", blockStore("vol-1"), reachableBy(zoneKey, "zone-a")))
		s.create(claim("data", boundTo("pv-data")))
		s.create(pod("p", "", using("data")))
		n = s.update(n, annotation("note", "1"))
		n = s.update(n, migrated(""))
		n = s.update(n, migrated("kubernetes.io/gce-pd"))
		s.update(n, migrated("kubernetes.io/gce-pd,kubernetes.io/aws-ebs"))
	}},
	{"claim-goes-while-its-pod-waits", func(s *scribe) {
		s.create(node("n", "1"))
		c, v := s.ready("data")
		s.create(pod("p", "2", using("data")))
		s.delete(c)
		s.delete(v)
		s.create(node("m", "4"))
		s.create(claim("data", boundTo("pv-data")))
		s.create(volume("pv-data"))
	}},
	{"pods-of-one-claim", func(s *scribe) {
		s.create(node("n", "1"))
		s.create(node("m", "2", "rack", "r1"))
		s.create(volume("pv-data", reachableBy("rack", "r1")))
		s.create(claim("data", boundTo("pv-data")))
		s.create(pod("a", "1500m", using("data")))
		b := s.create(pod("b", "1", using("data")))
		s.create(pod("c", "1"))
		s.delete(b)
		s.create(node("o", "4", "rack", "r1"))
	}},
}
