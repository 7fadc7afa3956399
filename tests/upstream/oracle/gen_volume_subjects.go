// SPDX-License-Identifier: Apache-2.0

// What a cluster of family volumes is about, where it is not about a bit of everything.
package main

import "fmt"

type subject int

const (
	aboutAll      subject = iota
	aboutAlone            // claims that one pod may use at a time, held by another
	aboutLimits           // nodes that attach no more
	aboutDisks            // disks that two pods cannot share
	aboutStatic           // volumes that are there, for claims that wait
	aboutCapacity         // storage that is left, for claims that wait
	aboutZones            // volumes that are in another zone
	aboutPlaces           // volumes that some nodes cannot reach
)

func chooseSubject(r rnd, want outcome) subject {
	switch want {
	case wantEarly:
		return aboutAll
	case wantCandidates:
		return pick(r, aboutAlone, aboutLimits, aboutDisks, aboutLimits, aboutAll)
	}
	return pick(r, aboutAll, aboutAll, aboutAll, aboutLimits, aboutDisks, aboutStatic, aboutStatic, aboutCapacity, aboutCapacity, aboutZones, aboutPlaces)
}

// play adds to cluster and pod what it is about.
func (s *stock) play(asked M, want outcome) {
	switch s.about {
	case aboutAll:
		s.askVolumes(asked, want)
		s.collide(asked, pick(s.r, 0.03, 0.1))
	case aboutAlone:
		s.askVolumes(asked, want)
		s.collide(asked, pick(s.r, 0.2, 0.7))
	case aboutLimits:
		s.fillNodes(asked)
	case aboutDisks:
		s.spreadDisks(asked)
	case aboutStatic:
		s.offerDisks(asked)
	case aboutCapacity:
		s.offerCapacity(asked)
	case aboutZones, aboutPlaces:
		s.scatter(asked)
	}
}

// fillNodes lets running pods use up what nodes attach of a driver, of which the pod wants more.
func (s *stock) fillNodes(asked M) {
	r := s.r
	volumes, driver := 0, pick(r, "csi.example.com", "disk.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io")
	attach := func(pod M) {
		name := fmt.Sprintf("f%d", volumes)
		volumes++
		if r.chance(0.15) { // under its old name
			add(sub(pod, "spec"), "volumes", M{"name": name, "awsElasticBlockStore": M{"volumeID": fmt.Sprintf("vol-%d", r.IntN(40))}})
			return
		}
		if r.chance(0.2) && len(s.filling) > 0 {
			name := pick(r, s.filling...)
			if s.find(podNamespace(pod), name) != nil {
				claimVolume(pod, fmt.Sprintf("shared-%d", volumes), name)
				return
			}
		}
		claim := s.newClaim(podNamespace(pod), pick(r, "fast", "wide", ""))
		if r.chance(0.15) { // no volume yet, but the class knows its driver
			s.setClass(claim, pick(r, "fast", "wide", "cloud"))
		} else {
			volume := s.newVolume("fast", 0)
			spec := sub(volume, "spec")
			for _, source := range volumeSources {
				delete(spec, source)
			}
			delete(spec, "nodeAffinity")
			delete(sub(volume, "metadata"), "labels")
			if r.chance(0.7) {
				spec["csi"] = M{"driver": driver, "volumeHandle": fmt.Sprintf("fill-%d", volumes)}
			} else {
				s.inTreeSource(spec, volumes)
			}
			delete(spec, "volumeAttributesClassName")
			s.bind(claim, volume)
		}
		sub(claim, "spec")["accessModes"] = list("ReadWriteMany")
		s.filling = append(s.filling, objectName(claim))
		claimVolume(pod, name, objectName(claim))
	}
	for i := range pick(r, 1, 2) * len(s.c.nodes) {
		pod := s.c.newPod("default", fmt.Sprintf("pod-%03d", len(s.c.pods)))
		s.c.bind(pod, nodeName(s.c.nodes[i%len(s.c.nodes)]))
		request(pod, M{"cpu": pick(r, "50m", "500m")})
		sub(pod, "spec")["priority"] = pick(r, -100, 0, 0, 5, 100000)
		attach(pod)
		if r.chance(0.3) {
			attach(pod)
		}
	}
	for range pick(r, 1, 1, 2) {
		attach(asked)
	}
}

var volumeSources = []string{"csi", "local", "hostPath", "nfs", "awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "azureFile", "cinder",
	"portworxVolume", "vsphereVolume"}

// spreadDisks puts pods with disks of their own on most nodes, of which the pod wants some.
func (s *stock) spreadDisks(asked M) {
	r := s.r
	var disks []M
	for i := range r.between(1, 3) {
		disks = append(disks, s.inline(fmt.Sprintf("disk-%d", i)))
	}
	for _, node := range s.c.nodes {
		if !r.chance(0.8) {
			continue
		}
		pod := s.c.newPod(pick(r, "default", "prod"), fmt.Sprintf("pod-%03d", len(s.c.pods)))
		s.c.bind(pod, nodeName(node))
		request(pod, M{"cpu": pick(r, "50m", "500m")})
		sub(pod, "spec")["priority"] = pick(r, -100, 0, 0, 5, 100000)
		for _, disk := range atLeastOne(r, 0.5, disks...) {
			held := clone(disk).(M)
			s.alter(held)
			add(sub(pod, "spec"), "volumes", held)
		}
	}
	for _, disk := range disks {
		add(sub(asked, "spec"), "volumes", clone(disk))
	}
	if r.chance(0.2) {
		claimVolume(asked, "data", s.boundClaim(podNamespace(asked)))
	}
}

// alter changes a detail of a disk, which may or may not make it another disk.
func (s *stock) alter(volume M) {
	r := s.r
	for _, source := range []string{"gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"} {
		disk, ok := volume[source].(M)
		if !ok {
			continue
		}
		switch r.IntN(6) {
		case 0, 1:
			disk["readOnly"] = r.chance(0.5)
		case 2:
			switch source {
			case "iscsi":
				disk["lun"], disk["targetPortal"] = 7, "10.0.0.9:3260"
			case "rbd":
				disk[pick(r, "pool", "image")] = "other"
			case "awsElasticBlockStore":
				disk["volumeID"] = "aws://zone-b/vol-1"
			}
		case 3:
			if source == "rbd" {
				disk["monitors"] = list(atLeastOne(r, 0.5, "mon-c", "mon-d", "mon-e")...)
			}
		}
	}
}

// offerDisks puts local volumes into nodes for a pod with several claims that all want one.
func (s *stock) offerDisks(asked M) {
	r := s.r
	class := "local"
	sizes := some(r, 0.5, "1Gi", "1500M", "2Gi", "5Gi", "1073741823500m")
	if len(sizes) == 0 {
		sizes = []string{"1Gi"}
	}
	plain := r.chance(0.5)
	for range pick(r, 1, 2, 2, 3, 4) {
		claim := s.find(podNamespace(asked), s.delayedClaim(podNamespace(asked)))
		delete(sub(claim, "metadata"), "annotations")
		sub(claim, "spec")["storageClassName"] = class
		sub(claim, "spec", "resources", "requests")["storage"] = pick(r, sizes...)
		if plain {
			sub(claim, "spec")["accessModes"] = list("ReadWriteOnce")
			delete(sub(claim, "spec"), "volumeMode")
			delete(sub(claim, "spec"), "selector")
		}
		claimVolume(asked, fmt.Sprintf("d%d", s.number()), objectName(claim))
	}
	for _, node := range s.c.nodes {
		for range r.IntN(5) {
			volume := s.newVolume(class, 0)
			delete(sub(volume, "metadata"), "annotations")
			sub(volume, "spec")["storageClassName"] = class
			sub(volume, "spec", "capacity")["storage"] = pick(r, sizes...)
			if plain {
				sub(volume, "spec")["accessModes"] = list("ReadWriteOnce")
				delete(sub(volume, "spec"), "volumeMode")
			}
			s.tie(volume, node)
			s.age(volume)
		}
	}
}

// offerCapacity lets claims wait for volumes that a driver has yet to make, where it has the room.
func (s *stock) offerCapacity(asked M) {
	r := s.r
	for range pick(r, 1, 1, 2, 3) {
		claim := s.find(podNamespace(asked), s.delayedClaim(podNamespace(asked)))
		if annotations, ok := sub(claim, "metadata")["annotations"].(M); ok {
			delete(annotations, betaClassKey)
		}
		sub(claim, "spec")["storageClassName"] = pick(r, "fast", "fast", "wide")
		claimVolume(asked, fmt.Sprintf("c%d", s.number()), objectName(claim))
	}
	for range r.between(2, 6) {
		s.addCapacity(pick(r, "fast", "wide"))
	}
}

// scatter gives the pod volumes that are bound and not everywhere.
func (s *stock) scatter(asked M) {
	r := s.r
	for range pick(r, 1, 1, 2) {
		claim := s.newClaim(podNamespace(asked), pick(r, "fast", "cloud", "-"))
		reach := 0.2
		if s.about == aboutPlaces {
			reach = 1
		}
		volume := s.newVolume("fast", reach)
		if s.about == aboutZones || r.chance(0.4) {
			s.zoneLabels(volume)
		}
		s.bind(claim, volume)
		claimVolume(asked, fmt.Sprintf("s%d", s.number()), objectName(claim))
	}
	if r.chance(0.35) {
		claimVolume(asked, "later", s.delayedClaim(podNamespace(asked)))
	}
	if r.chance(0.2) {
		s.addEphemeral(asked, "own", false)
		if claim := s.find(podNamespace(asked), objectName(asked)+"-own"); r.chance(0.6) { // its volume is gone
			sub(claim, "metadata", "annotations")[boundKey] = "yes"
			sub(claim, "spec")["volumeName"] = "pv-that-was"
		}
	}
}
