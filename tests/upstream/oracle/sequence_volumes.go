// SPDX-License-Identifier: Apache-2.0

// Sequences about volumes: placings use up what nodes attach, and claims, volumes and limits change in between.
package main

import (
	"fmt"
	"slices"
	"strings"
)

// asTemplate makes a pod one that is nowhere. Most of its ephemeral volumes go: their claims are made for one pod by name.
func (s *sequencer) asTemplate(pod M) M {
	template := asTemplate(pod)
	spec := sub(template, "spec")
	if volumes, ok := spec["volumes"].([]any); ok && s.family.name == "volumes" {
		kept := []any{}
		for _, volume := range volumes {
			if volume.(M)["ephemeral"] == nil || s.r.chance(0.05) {
				kept = append(kept, volume)
			}
		}
		spec["volumes"] = kept
	}
	return template
}

// leanToVolumes lets most of what happens be about storage. Every node attaches some volumes of each driver, and what the pods
// to come want is mostly bound and mostly to be had.
func (s *sequencer) leanToVolumes() {
	r, c := s.r, s.c
	s.objects = 0.45
	s.kinds = []string{"PersistentVolume", "PersistentVolumeClaim", "CSINode", "CSINode", "VolumeAttachment", "StorageClass", "CSIStorageCapacity", "CSIDriver"}
	if !slices.ContainsFunc(c.others, func(obj M) bool { return obj["kind"] == "Namespace" }) {
		c.addNamespaces()
	}
	seen := map[string]bool{}
	c.others = slices.DeleteFunc(c.others, func(obj M) bool {
		again := seen[objectKey(obj)]
		seen[objectKey(obj)] = true
		return again
	})
	for _, obj := range c.others {
		if obj["kind"] != "CSINode" {
			continue
		}
		entries, _ := sub(obj, "spec")["drivers"].([]any)
		for _, entry := range entries {
			entry.(M)["allocatable"] = M{"count": pick(r, 1, 2, 2, 3, 4, 39)}
		}
	}
	for i := range r.between(2, 4) { // claims of their own, for templates that come again and again
		template := c.newPod("default", fmt.Sprintf("user-%d", i))
		request(template, M{"cpu": pick(r, "50m", "300m")})
		for j := range pick(r, 1, 1, 2) {
			if r.chance(0.2) {
				add(sub(template, "spec"), "volumes", M{"name": fmt.Sprintf("v%d", j), "gcePersistentDisk": M{"pdName": fmt.Sprintf("pd-%d", r.IntN(3)),
					"readOnly": r.chance(0.5)}})
				continue
			}
			name := fmt.Sprintf("often-%d-%d", i, j)
			volume := M{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": M{"name": "pv-" + name}, "status": M{"phase": "Bound"},
				"spec": M{"capacity": M{"storage": "1Gi"}, "accessModes": list("ReadWriteMany"),
					"csi": M{"driver": pick(r, drivers[:3]...), "volumeHandle": name}}}
			if r.chance(0.2) {
				delete(sub(volume, "spec"), "csi")
				sub(volume, "spec")["awsElasticBlockStore"] = M{"volumeID": "vol-" + name}
			}
			obj := claim(name, boundTo("pv-"+name))
			sub(obj, "metadata")["namespace"] = "default"
			if r.chance(0.15) {
				forOnePod(obj)
			}
			c.others = append(c.others, volume, obj)
			claimVolume(template, fmt.Sprintf("v%d", j), name)
		}
		priority(r, template, false, 0, 0, 10, 100)
		s.templates = append(s.templates, s.asTemplate(template), s.asTemplate(template))
	}
}

// ownClaims gives a pod claims and volumes of its own instead of its template's, as a StatefulSet does.
func (s *sequencer) ownClaims(pod M) {
	volumes, _ := sub(pod, "spec")["volumes"].([]any)
	for _, volume := range volumes {
		reference, ok := volume.(M)["persistentVolumeClaim"].(M)
		if !ok || !strings.HasPrefix(reference["claimName"].(string), "often-") {
			continue
		}
		for _, kind := range []string{"PersistentVolume", "PersistentVolumeClaim"} {
			i := slices.IndexFunc(s.c.others, func(obj M) bool {
				return obj["kind"] == kind && strings.TrimPrefix(objectName(obj), "pv-") == reference["claimName"]
			})
			own := clone(s.c.others[i]).(M)
			delete(sub(own, "metadata"), "uid")
			delete(sub(own, "metadata"), "creationTimestamp")
			sub(own, "metadata")["name"] = fmt.Sprintf("%s-%d", objectName(own), len(s.placed))
			if kind == "PersistentVolume" {
				for _, source := range []string{"csi", "awsElasticBlockStore"} {
					if of, ok := sub(own, "spec")[source].(M); ok {
						id := map[string]string{"csi": "volumeHandle", "awsElasticBlockStore": "volumeID"}[source]
						of[id] = fmt.Sprintf("%s-%d", of[id], len(s.placed))
					}
				}
			} else {
				sub(own, "spec")["volumeName"] = fmt.Sprintf("%s-%d", sub(own, "spec")["volumeName"], len(s.placed))
			}
			s.put(own)
		}
		reference["claimName"] = fmt.Sprintf("%s-%d", reference["claimName"], len(s.placed))
	}
}

// changeStored edits an object of storage.
func (s *sequencer) changeStored(obj M) {
	r := s.r
	metadata := sub(obj, "metadata")
	switch obj["kind"] {
	case "PersistentVolume":
		switch r.IntN(5) {
		case 0:
			sub(obj, "status")["phase"] = pick(r, "Available", "Released", "Bound")
		case 1:
			sub(obj, "metadata", "labels")[zoneKey] = pick(r, "zone-a", "zone-b", "zone-a__zone-b")
		case 2:
			delete(metadata, "labels")
		case 3:
			sub(obj, "spec")["nodeAffinity"] = M{"required": M{"nodeSelectorTerms": list(M{"matchExpressions": list(
				M{"key": zoneKey, "operator": pick(r, "In", "NotIn"), "values": list(pick(r, zones...))})})}}
		case 4:
			if sub(obj, "spec")["local"] == nil {
				delete(sub(obj, "spec"), "nodeAffinity")
			}
		}
	case "PersistentVolumeClaim":
		switch r.IntN(6) {
		case 0:
			sub(obj, "status")["phase"] = pick(r, "Lost", "Bound", "Bound")
		case 1:
			sub(obj, "metadata", "annotations")[boundKey] = "yes"
		case 2:
			sub(obj, "spec")["accessModes"] = list(pick(r, "ReadWriteOncePod", "ReadWriteOnce", "ReadWriteMany"))
		case 3:
			sub(obj, "metadata", "annotations")[selectedNodeKey] = nodeName(pick(r, s.c.nodes...))
		case 4:
			delete(sub(obj, "metadata", "annotations"), selectedNodeKey)
		case 5:
			if name := sub(obj, "spec")["volumeName"]; name == nil && r.chance(0.6) {
				sub(obj, "spec")["volumeName"] = fmt.Sprintf("pv-%d", r.between(1, 30))
				sub(obj, "metadata", "annotations")[boundKey] = "yes"
			}
		}
	case "CSINode":
		driversOf, _ := sub(obj, "spec")["drivers"].([]any)
		for _, entry := range driversOf {
			if r.chance(0.5) {
				entry.(M)["allocatable"] = M{"count": pick(r, 0, 1, 2, 3, 5, 39)}
			}
		}
		if r.chance(0.3) {
			sub(obj, "metadata", "annotations")["storage.alpha.kubernetes.io/migrated-plugins"] = strings.Join(some(r, 0.6, inTree...), ",")
		}
	case "VolumeAttachment":
		sub(obj, "spec")["nodeName"] = nodeName(pick(r, s.c.nodes...))
	case "CSIStorageCapacity":
		obj["capacity"] = pick(r, storageSizes...)
	case "CSIDriver":
		sub(obj, "spec")["storageCapacity"] = r.chance(0.6)
	case "StorageClass":
		if r.chance(0.5) {
			delete(obj, "allowedTopologies")
		} else {
			obj["allowedTopologies"] = list(M{"matchLabelExpressions": list(M{"key": zoneKey, "values": list(pick(r, zones...))})})
		}
	}
}
