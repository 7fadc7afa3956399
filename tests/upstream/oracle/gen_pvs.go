// SPDX-License-Identifier: Apache-2.0

// Made-up volumes: every source that counts, and node affinity of every shape.
package main

import "fmt"

// newVolume makes a volume that nobody has claimed. reach is how likely it is tied to some nodes.
func (s *stock) newVolume(class string, reach float64) M {
	r := s.r
	n := s.number()
	volume := M{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": M{"name": fmt.Sprintf("pv-%d", n)},
		"spec":   M{"capacity": M{"storage": pick(r, storageSizes...)}, "accessModes": s.volumeModes()},
		"status": M{"phase": "Available"}}
	spec := sub(volume, "spec")
	s.setClass(volume, class)
	if r.chance(0.12) {
		spec["volumeMode"] = pick(r, "Filesystem", "Block")
	}
	if r.chance(0.5) {
		setLabels(volume, M{"kind": pick(r, "ssd", "hdd")})
	}
	s.source(volume, n)
	_, local := spec["local"]
	if local || r.chance(reach) {
		spec["nodeAffinity"] = M{"required": s.volumeAffinity(local)}
	}
	if spec["csi"] != nil && r.chance(0.05) {
		spec["volumeAttributesClassName"] = pick(r, "gold", "silver")
	}
	s.volumes = append(s.volumes, volume)
	return volume
}

func (s *stock) volumeModes() []any {
	return pick(s.r, list("ReadWriteOnce"), list("ReadWriteOnce", "ReadOnlyMany"), list("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"),
		list("ReadWriteOnce", "ReadWriteMany"), list("ReadOnlyMany"), list("ReadWriteOncePod"))
}

// source says what a volume is: a driver's, an in-tree one that drivers have taken over, or one that nobody counts.
func (s *stock) source(volume M, n int) {
	r, spec := s.r, sub(volume, "spec")
	if spec["storageClassName"] == "local" && r.chance(0.8) {
		spec["local"] = M{"path": "/mnt/disk"}
		return
	}
	switch p := r.Float64(); {
	case p < 0.45:
		handle := fmt.Sprintf("handle-%d", n)
		if r.chance(0.12) {
			handle = pick(r, "handle-shared", "vol-1", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/pd-1")
		}
		spec["csi"] = M{"driver": pick(r, append(drivers, "csi.example.com", "csi.example.com")...), "volumeHandle": handle}
	case p < 0.85:
		s.inTreeSource(spec, n)
		if r.chance(0.35) {
			s.zoneLabels(volume)
		}
		return
	default:
		spec[pick(r, "hostPath", "nfs")] = M{"path": "/data"}
		if nfs, ok := spec["nfs"].(M); ok {
			nfs["server"] = "nfs.example"
		}
	}
	if r.chance(0.15) {
		s.zoneLabels(volume)
	}
}

// inTreeSource adds one of the sources that were once built in; numbers that repeat make disks that are shared.
func (s *stock) inTreeSource(spec M, n int) {
	r := s.r
	if r.chance(0.2) {
		n = r.IntN(3)
	}
	switch r.IntN(9) {
	case 0, 1:
		spec["awsElasticBlockStore"] = M{"volumeID": s.ebs(n)}
	case 2, 3:
		spec["gcePersistentDisk"] = M{"pdName": fmt.Sprintf("pd-%d", n)}
	case 4:
		spec["azureDisk"] = s.azureDisk(n)
	case 5:
		spec["cinder"] = M{"volumeID": fmt.Sprintf("cinder-%d", n)}
	case 6:
		spec["portworxVolume"] = M{"volumeID": fmt.Sprintf("px-%d", n)}
	case 7:
		spec["azureFile"] = M{"secretName": "azure", "shareName": fmt.Sprintf("share-%d", n)}
	default:
		spec["vsphereVolume"] = M{"volumePath": fmt.Sprintf("[store] disk-%d", n)}
	}
}

func (s *stock) ebs(n int) string {
	if s.r.chance(0.15) {
		return fmt.Sprintf(pick(s.r, "aws://zone-a/vol-%d", "aws:///vol-%d", "aws://zone-a/disk-%d", "aws://vol-%d", "disk-%d"), n)
	}
	return fmt.Sprintf("vol-%d", n)
}

func (s *stock) azureDisk(n int) M {
	disk := M{"diskName": "disk", "kind": pick(s.r, "Managed", "Managed", "Managed", "Managed", "Managed", "Dedicated", ""),
		"diskURI": fmt.Sprintf("/subscriptions/a/resourceGroups/b/providers/Microsoft.Compute/disks/disk-%d", n)}
	if disk["kind"] != "Managed" {
		disk["diskURI"] = fmt.Sprintf("https://account.blob.core.windows.net/vhds/disk-%d.vhd", n)
	}
	if disk["kind"] == "" {
		delete(disk, "kind")
	}
	return disk
}

// inline is a volume that a pod brings along, of a kind that somebody looks at.
func (s *stock) inline(name string) M {
	r, n := s.r, s.r.IntN(3)
	volume := M{"name": name}
	switch r.IntN(12) {
	case 0, 1:
		volume["gcePersistentDisk"] = M{"pdName": fmt.Sprintf("pd-%d", n), "readOnly": r.chance(0.6)}
	case 2, 3:
		volume["awsElasticBlockStore"] = M{"volumeID": s.ebs(n), "readOnly": r.chance(0.5)}
	case 4, 5:
		volume["iscsi"] = M{"targetPortal": fmt.Sprintf("10.0.0.%d:3260", r.IntN(2)), "iqn": fmt.Sprintf("iqn.2026-01.com.example:disk-%d", n),
			"lun": r.IntN(2), "readOnly": r.chance(0.6)}
	case 6, 7:
		rbd := M{"monitors": list(atLeastOne(r, 0.5, "mon-a", "mon-b", "mon-c")...), "image": pick(r, "one", "two"), "readOnly": r.chance(0.6)}
		if r.chance(0.6) {
			rbd["pool"] = pick(r, "rbd", "fast")
		}
		volume["rbd"] = rbd
	default:
		s.inTreeSource(volume, n)
	}
	return volume
}

// zoneLabels puts a volume into zones and regions by its labels, sensibly or not.
func (s *stock) zoneLabels(volume M) {
	r := s.r
	labels := M{}
	if old, ok := sub(volume, "metadata")["labels"].(M); ok {
		labels = old
	}
	value := func(from []string) string {
		switch p := r.Float64(); {
		case p < 0.55:
			return pick(r, from...)
		case p < 0.85:
			return from[0] + "__" + from[1]
		case p < 0.9:
			return from[0] + "____" + from[1]
		case p < 0.95:
			return ""
		default:
			return from[0] + "_" + from[1]
		}
	}
	if r.chance(0.7) {
		labels[zoneKey] = value(s.zones)
	}
	if r.chance(0.35) {
		labels[betaZoneKey] = value(s.zones)
	}
	if r.chance(0.25) {
		labels[regionKey] = value(regions)
	}
	if r.chance(0.15) {
		labels[betaRegionKey] = value(regions)
	}
	setLabels(volume, labels)
}

// volumeAffinity is where a volume can be reached from.
func (s *stock) volumeAffinity(local bool) M {
	r := s.r
	one := func() string {
		node := pick(r, s.c.nodes...)
		if name, ok := sub(node, "metadata", "labels")[hostKey].(string); ok {
			return name
		}
		return nodeName(node)
	}
	terms := func(expressions ...any) M { return M{"nodeSelectorTerms": list(M{"matchExpressions": expressions})} }
	in := func(key string, values ...string) M {
		return M{"key": key, "operator": "In", "values": list(values...)}
	}
	if local && r.chance(0.85) {
		return terms(in(hostKey, one()))
	}
	switch r.IntN(9) {
	case 0:
		return terms(in(hostKey, one(), one(), one()))
	case 1, 2:
		return terms(in(pick(r, zoneKey, zoneKey, betaZoneKey), atLeastOne(r, 0.5, s.zones...)...))
	case 3:
		return terms(in(pick(r, csiZoneKeys...), atLeastOne(r, 0.5, s.zones...)...))
	case 4:
		return terms(in(pick(r, zoneKey, betaZoneKey), pick(r, s.zones...)), in(pick(r, regionKey, betaRegionKey), pick(r, regions...)))
	case 5: // fields are read and not compared
		return M{"nodeSelectorTerms": list(M{"matchFields": list(M{"key": "metadata.name", "operator": "In", "values": list(one())})})}
	case 6: // two terms, of which one may be about drivers that have moved
		return M{"nodeSelectorTerms": list(M{"matchExpressions": list(in(zoneKey, pick(r, s.zones...)))},
			M{"matchExpressions": list(pick(r, in(betaZoneKey, pick(r, s.zones...)), in(hostKey, one()), M{"key": segmentKey, "operator": "Exists"}))})}
	default:
		return nodeSelector(r)
	}
}

// addVolumes makes what claims that wait may be bound to: disks in the nodes, and volumes that several can reach.
func (s *stock) addVolumes() {
	r := s.r
	for _, node := range s.c.nodes {
		if s.about != aboutAll || !r.chance(0.55) {
			continue
		}
		for range pick(r, 1, 1, 1, 2) {
			volume := s.newVolume("local", 0)
			s.tie(volume, node)
			s.age(volume)
		}
	}
	for range r.IntN(5) {
		s.age(s.newVolume(pick(r, "fast", "wide", "cloud", "local", "now", ""), 0.7))
	}
}

// tie lets a volume be one of a node's, by the name that the node's label gives it.
func (s *stock) tie(volume, node M) {
	if host, ok := sub(node, "metadata", "labels")[hostKey].(string); ok && s.r.chance(0.93) {
		sub(volume, "spec")["nodeAffinity"] = M{"required": M{"nodeSelectorTerms": list(M{"matchExpressions": list(
			M{"key": hostKey, "operator": "In", "values": list(host)})})}}
	}
}

// age leaves traces of an earlier life on a volume, now and then.
func (s *stock) age(volume M) {
	r := s.r
	switch r.IntN(14) {
	case 0:
		sub(volume, "status")["phase"] = pick(r, "Pending", "Released", "Failed", "Bound")
	case 1:
		delete(volume, "status")
	case 2:
		sub(volume, "metadata")["deletionTimestamp"] = "2026-03-01T00:00:00Z"
	case 3, 4:
		sub(volume, "spec")["claimRef"] = M{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": pick(r, "somebody", "data-1", "data-2"),
			"namespace": pick(r, "default", "prod"), "uid": "00000000-0000-4000-b000-000000000003"}
	}
}
