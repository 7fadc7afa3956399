// SPDX-License-Identifier: Apache-2.0

// Made-up stories about volumes: claims, volumes, classes, drivers' limits, attachments and capacities come, change and go while
// pods want them.
package main

import (
	"fmt"
	"slices"
)

// storeTeller tells a story in which objects of these kinds are there beside nodes and pods.
type storeTeller struct {
	*teller
	about subject
	store map[string]M // by kind and name, as last written; keys keeps the order
	keys  []string
}

func (t *storeTeller) put(obj M) {
	key := objectKey(obj)
	if t.store[key] == nil {
		t.keys = append(t.keys, key)
		t.store[key] = t.create(obj)
	}
}

// pickOf takes an object of a kind, or nil.
func (t *storeTeller) pickOf(kind string) M {
	var all []M
	for _, key := range t.keys {
		if obj := t.store[key]; obj != nil && obj["kind"] == kind {
			all = append(all, obj)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(t.r, all...)
}

func (t *storeTeller) namespace(obj M) {
	if t.r.chance(0.1) {
		elsewhere(obj)
	}
}

var storyDrivers = []string{driver, "ebs.csi.aws.com", "disk.example.com"}

// createStored brings one more object of some kind. Names are few, so that what comes is often what somebody waits for.
func (t *storeTeller) createStored() {
	r := t.r
	n := r.IntN(4)
	switch r.IntN(12) {
	case 0, 1, 2:
		t.put(t.someVolume(n))
	case 3, 4, 5:
		c := claim(fmt.Sprintf("data-%d", n))
		if r.chance(0.7) {
			boundTo(fmt.Sprintf("pv-%d", n))(c)
		} else if r.chance(0.3) {
			spec("volumeName", fmt.Sprintf("pv-%d", n))(c)
		}
		if r.chance(0.8) {
			inClass(pick(r, "local", "fast", "now", "absent"))(c)
		}
		if r.chance(0.3) {
			forOnePod(c)
		}
		if r.chance(0.2) {
			sub(c, "spec", "resources", "requests")["storage"] = pick(r, "100Mi", "5Gi")
		}
		t.namespace(c)
		t.put(c)
	case 6:
		t.put(pick(r, storageClass("local", "kubernetes.io/no-provisioner"), storageClass("fast", driver, allowedIn("zone-d")),
			storageClass("fast", driver), storageClass("now", driver, func(c M) { c["volumeBindingMode"] = "Immediate" })))
	case 7, 8:
		name := fmt.Sprintf("n%d", r.between(1, t.serial+1))
		node := csiNode(name, pick(r, storyDrivers...), pick(r, 0, 1, 1, 2, 3))
		if r.chance(0.5) {
			migrated(pick(r, "kubernetes.io/aws-ebs", "", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"))(node)
		}
		t.put(node)
	case 9:
		t.put(csiDriver(pick(r, storyDrivers...), r.chance(0.7)))
	case 10:
		t.put(capacity(fmt.Sprintf("capacity-%d", n), pick(r, "fast", "fast", "now"), pick(r, "10Mi", "100Mi", "500Mi")))
	case 11:
		if len(t.nodes) > 0 {
			t.put(attachment(fmt.Sprintf("attachment-%d", n), pick(r, storyDrivers...), pick(r, t.names(t.nodes)...), fmt.Sprintf("pv-%d", r.IntN(4))))
		}
	}
}

// stockUp lets most of what pods ask for be there from the beginning.
func (t *storeTeller) stockUp() {
	r := t.r
	if t.about == aboutStatic {
		t.put(storageClass("local", "kubernetes.io/no-provisioner"))
		t.put(pick(r, storageClass("fast", driver, allowedIn("zone-d")), storageClass("fast", driver)))
		t.put(csiDriver(driver, true))
	}
	for n := range 4 {
		if r.chance(0.7) {
			t.put(t.someVolume(n))
		}
		if !r.chance(0.75) {
			continue
		}
		c := claim(fmt.Sprintf("data-%d", n))
		if t.about == aboutStatic && r.chance(0.6) {
			inClass(pick(r, "local", "fast"))(c)
		} else {
			boundTo(fmt.Sprintf("pv-%d", n))(c)
		}
		if t.about == aboutAlone {
			forOnePod(c)
		}
		t.put(c)
	}
	if t.about == aboutLimits {
		for _, name := range t.names(t.nodes) {
			t.put(csiNode(name, pick(r, driver, driver, "ebs.csi.aws.com"), pick(r, 0, 1, 1, 2)))
		}
	}
}

func (t *storeTeller) someVolume(n int) M {
	r := t.r
	v := volume(fmt.Sprintf("pv-%d", n))
	if r.chance(0.25) {
		blockStore(fmt.Sprintf("vol-%d", r.IntN(4)))(v)
	} else if r.chance(0.2) {
		sub(v, "spec", "csi")["driver"] = "ebs.csi.aws.com"
	}
	if r.chance(0.3) {
		inClass(pick(r, "local", "fast"))(v)
	}
	if t.about == aboutAll || t.about == aboutPlaces {
		t.moveVolume(v)
	}
	return v
}

// moveVolume changes where a volume can be reached from.
func (t *storeTeller) moveVolume(v M) {
	r := t.r
	switch r.IntN(5) {
	case 0:
		reachableBy(zoneKey, atLeastOne(r, 0.5, zones...)...)(v)
	case 1:
		reachableBy("disk", pick(r, storyDisks...))(v)
	case 2:
		label(zoneKey, pick(r, "zone-a", "zone-b", "zone-a__zone-b", "zone-c"))(v)
	}
}

// changeStored edits an object that is there, or takes it away.
func (t *storeTeller) changeStored() {
	r := t.r
	obj := t.pickOf(pick(r, "PersistentVolume", "PersistentVolume", "PersistentVolumeClaim", "PersistentVolumeClaim", "CSINode", "CSINode", "StorageClass",
		"CSIStorageCapacity", "VolumeAttachment", "CSIDriver"))
	if obj == nil {
		return
	}
	key := objectKey(obj)
	if r.chance(0.2) || obj["kind"] == "VolumeAttachment" && r.chance(0.6) {
		t.delete(obj)
		delete(t.store, key)
		t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == key })
		return
	}
	t.store[key] = t.update(obj, func(obj M) {
		if r.chance(0.15) {
			annotation("note", fmt.Sprint(r.IntN(1000)))(obj)
			return
		}
		switch obj["kind"] {
		case "PersistentVolume":
			t.moveVolume(obj)
			if r.chance(0.2) {
				sub(obj, "status")["phase"] = pick(r, "Available", "Bound", "Released")
			}
		case "PersistentVolumeClaim":
			switch r.IntN(3) {
			case 0:
				sub(obj, "status")["phase"] = pick(r, "Lost", "Bound", "Pending")
			default:
				if sub(obj, "spec")["volumeName"] == nil {
					boundTo(fmt.Sprintf("pv-%d", r.IntN(4)))(obj)
				} else {
					annotation(boundKey, "yes")(obj)
				}
			}
		case "CSINode":
			if r.chance(0.7) {
				attaches(pick(r, 0, 1, 2, 3))(obj)
			} else {
				migrated(pick(r, "kubernetes.io/aws-ebs", "", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"))(obj)
			}
		case "StorageClass":
			allowedIn(atLeastOne(r, 0.5, "zone-d", "zone-e")...)(obj)
		case "CSIStorageCapacity":
			obj[pick(r, "capacity", "maximumVolumeSize")] = pick(r, "10Mi", "200Mi", "300Mi")
		case "CSIDriver":
			sub(obj, "spec")["storageCapacity"] = r.chance(0.5)
		}
	})
}

func (t *storeTeller) createPod() {
	t.serial++
	r, name := t.r, fmt.Sprintf("p%d", t.serial)
	p := pod(name, pick(r, "", "", "100m", "300m", "900m"))
	if r.chance(0.1) {
		elsewhere(p)
	}
	if r.chance(0.9) {
		t.useVolumes(p)
	}
	if r.chance(0.1) {
		t.wish(p)
	}
	if r.chance(0.15) {
		ranked(pick(r, 0, 10, 100))(p)
	}
	if r.chance(0.1) {
		on(pick(r, t.names(t.nodes)...))(p)
	}
	t.pods[name] = t.create(p)
}

// useVolumes gives a pod what the story is about.
func (t *storeTeller) useVolumes(p M) {
	r := t.r
	often := 0.85
	if t.about == aboutDisks {
		often = 0.2
	}
	for i := range pick(r, 1, 1, 1, 2) {
		name := fmt.Sprintf("v%d", i)
		if r.chance(often) {
			claimVolume(p, name, fmt.Sprintf("data-%d", r.IntN(4)))
			continue
		}
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			with(name, "gcePersistentDisk", M{"pdName": fmt.Sprintf("disk-%d", r.IntN(2)), "readOnly": r.chance(0.3)})(p)
		case 4, 5, 6, 7:
			with(name, "awsElasticBlockStore", M{"volumeID": fmt.Sprintf("vol-%d", r.IntN(2))})(p)
		case 8:
			with(name, "csi", M{"driver": pick(r, storyDrivers...)})(p)
		default:
			with(name, "ephemeral", M{"volumeClaimTemplate": M{"spec": M{"accessModes": list("ReadWriteOnce"),
				"resources": M{"requests": M{"storage": "1Gi"}}}}})(p)
		}
	}
	if t.about == aboutAlone && r.chance(0.5) {
		ranked(pick(r, 0, 10, 100))(p)
	}
}

func (t *storeTeller) tell() {
	t.create(M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "default"}})
	t.create(M{"apiVersion": "v1", "kind": "Namespace", "metadata": M{"name": "other"}})
	r := t.r
	t.theme = ofPorts // quiet nodes
	for range r.between(1, 3) {
		t.createNode()
	}
	t.about = pick(r, aboutAll, aboutAlone, aboutLimits, aboutStatic, aboutPlaces, aboutDisks)
	t.stockUp()
	for range r.between(1, 4) {
		t.createPod()
	}
	for range r.between(12, 24) {
		switch p := r.Float64(); {
		case p < 0.32:
			t.createPod()
		case p < 0.45:
			t.createStored()
		case p < 0.72:
			t.changeStored()
		case p < 0.77:
			t.createNode()
		case p < 0.84:
			t.updateNode()
		case p < 0.87:
			t.updatePod()
		case p < 0.97 && len(t.pods) > 0:
			t.deletePod()
		case len(t.nodes) > 1:
			name := pick(r, t.names(t.nodes)...)
			t.delete(t.nodes[name])
			delete(t.nodes, name)
		}
		t.pace = pick(r, soon, soon, 1_500, later)
		if t.at > 20*later {
			t.pace = soon
		}
	}
}

// namesakes finds a claim for one pod alone that has a namesake in another namespace: upstream counts users by name.
func (t *storeTeller) namesakes() bool {
	alone := map[string]bool{}
	for _, step := range t.story.Steps {
		obj, err := decodeMap(step.Object)
		if err != nil || obj["kind"] != "PersistentVolumeClaim" {
			continue
		}
		if modes, ok := sub(obj, "spec")["accessModes"].([]any); ok && modes[0] == "ReadWriteOncePod" {
			alone[objectName(obj)] = true
		}
	}
	for _, step := range t.story.Steps {
		obj, err := decodeMap(step.Object)
		if err != nil || obj["kind"] != "Pod" || sub(obj, "metadata")["namespace"] == nil {
			continue
		}
		volumes, _ := sub(obj, "spec")["volumes"].([]any)
		for _, volume := range volumes {
			if name, ok := sub(volume.(M), "persistentVolumeClaim")["claimName"].(string); ok && alone[name] {
				return true
			}
		}
	}
	return false
}

// tellVolumes makes up one such story; false when it is not one to be told.
func tellVolumes(t *teller) bool {
	s := &storeTeller{teller: t, store: map[string]M{}}
	s.tell()
	return !s.namesakes()
}
