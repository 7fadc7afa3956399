// SPDX-License-Identifier: Apache-2.0

// Made-up claims and the volumes they are bound to, may be bound to, or hope for.
package main

import "fmt"

const (
	boundKey        = "pv.kubernetes.io/bind-completed"
	selectedNodeKey = "volume.kubernetes.io/selected-node"
	betaClassKey    = "volume.beta.kubernetes.io/storage-class"
)

// setClass gives a claim or volume its class, in either way; "-" is none at all.
func (s *stock) setClass(obj M, class string) {
	if class == "-" {
		return
	}
	if s.r.chance(0.08) {
		sub(obj, "metadata", "annotations")[betaClassKey] = class
		if s.r.chance(0.5) {
			sub(obj, "spec")["storageClassName"] = pick(s.r, "fast", "local", "missing")
		}
		return
	}
	sub(obj, "spec")["storageClassName"] = class
}

func (s *stock) claimModes() []any {
	return pick(s.r, list("ReadWriteOnce"), list("ReadWriteOnce"), list("ReadWriteOnce"), list("ReadWriteMany"), list("ReadOnlyMany"),
		list("ReadWriteOnce", "ReadOnlyMany"), list("ReadWriteOncePod"))
}

// newClaim makes a claim that is not bound.
func (s *stock) newClaim(namespace, class string) M {
	r := s.r
	n := s.number()
	claim := M{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": M{"name": fmt.Sprintf("data-%d", n), "namespace": namespace, "uid": fmt.Sprintf("00000000-0000-4000-a000-%012d", n)},
		"spec":     M{"accessModes": s.claimModes(), "resources": M{"requests": M{"storage": pick(r, storageSizes[:len(storageSizes)-1]...)}}}}
	s.setClass(claim, class)
	if r.chance(0.15) {
		sub(claim, "spec")["volumeMode"] = pick(r, "Filesystem", "Block")
	}
	if r.chance(0.05) {
		sub(claim, "spec")["volumeAttributesClassName"] = pick(r, "gold", "silver")
	}
	if r.chance(0.7) {
		sub(claim, "status")["phase"] = "Pending"
	}
	s.claims = append(s.claims, claim)
	return claim
}

func objectName(obj M) string { return sub(obj, "metadata")["name"].(string) }

// find returns the claim of that name, or nil.
func (s *stock) find(namespace, name string) M {
	for _, claim := range s.claims {
		if objectName(claim) == name && sub(claim, "metadata")["namespace"] == namespace {
			return claim
		}
	}
	return nil
}

// refer makes a volume's claimRef, with the claim's uid, without one, or with another's.
func refer(volume, claim M, uid any) {
	ref := M{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": objectName(claim), "namespace": sub(claim, "metadata")["namespace"]}
	if uid != nil {
		ref["uid"] = uid
	}
	sub(volume, "spec")["claimRef"] = ref
}

// boundClaim makes a claim with its volume, wherever that can be reached from.
func (s *stock) boundClaim(namespace string) string {
	r := s.r
	claim := s.newClaim(namespace, pick(r, "fast", "wide", "cloud", "now", "local", "missing", "", "-"))
	volume := s.newVolume(pick(r, "fast", "wide", "cloud", ""), 0.45)
	s.bind(claim, volume)
	return objectName(claim)
}

func (s *stock) bind(claim, volume M) {
	r := s.r
	sub(claim, "spec")["volumeName"] = objectName(volume)
	sub(claim, "metadata", "annotations")[boundKey] = pick(r, "yes", "yes", "", "true")
	sub(claim, "status")["phase"] = pick(r, "Bound", "Bound", "Bound", "Pending")
	sub(volume, "status")["phase"] = pick(r, "Bound", "Bound", "Bound", "Released", "Available")
	if r.chance(0.95) {
		refer(volume, claim, pick[any](r, sub(claim, "metadata")["uid"], sub(claim, "metadata")["uid"], nil, "00000000-0000-4000-b000-000000000000"))
	}
}

// delayedClaim makes a claim that waits for its pod, and now and then a volume that was made for it.
func (s *stock) delayedClaim(namespace string) string {
	r := s.r
	class := pick(r, s.waiting...)
	claim := s.newClaim(namespace, class)
	switch {
	case r.chance(0.05):
		sub(claim, "metadata", "annotations")[selectedNodeKey] = pick(r, nodeName(pick(r, s.c.nodes...)), nodeName(pick(r, s.c.nodes...)), "", "node-that-was")
	case r.chance(0.12):
		sub(claim, "spec")["selector"] = pick(r, M{"matchLabels": M{"kind": "ssd"}}, M{}, M{"matchExpressions": list(M{"key": "kind", "operator": "NotIn", "values": list("hdd")})},
			M{"matchExpressions": list(M{"key": "kind", "operator": "DoesNotExist"})})
	}
	if r.chance(0.12) { // bound beforehand, from the volume's side
		volume := s.newVolume(class, 0.8)
		refer(volume, claim, pick[any](r, nil, nil, sub(claim, "metadata")["uid"], "00000000-0000-4000-b000-000000000000"))
		if r.chance(0.7) {
			sub(volume, "spec", "capacity")["storage"] = "8Ti"
		}
	}
	return objectName(claim)
}

// spoiltClaim is one that stands in the way, for one reason or another.
func (s *stock) spoiltClaim(namespace string) string {
	r := s.r
	switch r.IntN(10) {
	case 0: // nobody has made it
		return fmt.Sprintf("data-none-%d", s.number())
	case 1: // waits for a volume that nobody is going to choose here
		return objectName(s.newClaim(namespace, pick(r, "now", "missing", "", "-")))
	case 2: // its volume was chosen, and is not confirmed
		name := s.boundClaim(namespace)
		delete(sub(s.find(namespace, name), "metadata"), "annotations")
		return name
	case 3:
		name := s.boundClaim(namespace)
		sub(s.find(namespace, name), "status")["phase"] = "Lost"
		return name
	case 4:
		name := pick(r, s.boundClaim, s.delayedClaim)(namespace)
		claim := s.find(namespace, name)
		sub(claim, "metadata")["deletionTimestamp"] = "2026-03-01T00:00:00Z"
		sub(claim, "metadata")["finalizers"] = list("kubernetes.io/pvc-protection")
		return name
	case 5, 6: // its volume is gone
		name := s.boundClaim(namespace)
		sub(s.find(namespace, name), "spec")["volumeName"] = "pv-that-was"
		return name
	case 7: // its volume is on its way out, which does not matter
		claim := s.newClaim(namespace, "fast")
		volume := s.newVolume("fast", 0.3)
		s.bind(claim, volume)
		sub(volume, "metadata")["deletionTimestamp"] = "2026-03-01T00:00:00Z"
		return objectName(claim)
	case 8: // in the other namespace
		other := "prod"
		if namespace == other {
			other = "default"
		}
		return s.boundClaim(other)
	default:
		name := s.delayedClaim(namespace)
		sub(s.find(namespace, name), "metadata", "annotations")[selectedNodeKey] = pick(r, nodeName(pick(r, s.c.nodes...)), "", "node-that-was")
		return name
	}
}

// addEphemeral gives a pod a volume whose claim is made for it. A spoilt one's claim is not there, somebody else's, or has lost
// its volume.
func (s *stock) addEphemeral(pod M, name string, spoilt bool) {
	r := s.r
	spec := M{"accessModes": list("ReadWriteOnce"), "resources": M{"requests": M{"storage": "1Gi"}}, "storageClassName": "fast"}
	add(sub(pod, "spec"), "volumes", M{"name": name, "ephemeral": M{"volumeClaimTemplate": M{"spec": spec}}})
	metadata := sub(pod, "metadata")
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("00000000-0000-4000-9000-%012d", 1000+s.number())
	}
	if spoilt && r.chance(0.3) { // nobody has made it yet
		return
	}
	namespace := podNamespace(pod)
	claim := s.find(namespace, pick(r, s.boundClaim, s.delayedClaim)(namespace))
	named := objectName(pod) + "-" + name
	if ref, ok := s.volumeOf(claim); ok {
		ref["name"] = named
	}
	sub(claim, "metadata")["name"] = named
	reference := M{"apiVersion": "v1", "kind": "Pod", "name": objectName(pod), "uid": metadata["uid"], "controller": true}
	if spoilt {
		switch r.IntN(4) {
		case 0, 1: // its volume is gone
			sub(claim, "metadata", "annotations")[boundKey] = "yes"
			sub(claim, "spec")["volumeName"] = "pv-that-was"
		case 2:
			reference["uid"] = "00000000-0000-4000-b000-000000000001"
		case 3: // the pod's, but not by the pod's control
			reference["controller"] = false
		}
	}
	if r.chance(0.1) {
		add(sub(claim, "metadata"), "ownerReferences", M{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "00000000-0000-4000-b000-000000000002"})
	}
	add(sub(claim, "metadata"), "ownerReferences", reference)
}

// volumeOf finds the claimRef of the volume that names the claim.
func (s *stock) volumeOf(claim M) (M, bool) {
	for _, volume := range s.volumes {
		ref, ok := sub(volume, "spec")["claimRef"].(M)
		if ok && ref["name"] == objectName(claim) && ref["namespace"] == sub(claim, "metadata")["namespace"] {
			return ref, true
		}
	}
	return nil, false
}

// addPool makes the claims that running pods share.
func (s *stock) addPool() {
	if s.r.chance(0.3) {
		return
	}
	for _, namespace := range []string{"default", "prod"} {
		for range s.r.between(0, 3) {
			make := s.boundClaim
			if s.r.chance(0.15) {
				make = s.delayedClaim
			}
			s.shared[namespace] = append(s.shared[namespace], make(namespace))
		}
	}
	if s.r.chance(0.1) { // claims of one name in two namespaces
		claim := s.find("default", s.boundClaim("default"))
		twin := clone(claim).(M)
		sub(twin, "metadata")["namespace"] = "prod"
		sub(twin, "metadata")["uid"] = fmt.Sprintf("00000000-0000-4000-a000-%012d", s.number())
		s.claims = append(s.claims, twin)
		s.shared["default"] = append(s.shared["default"], objectName(claim))
		s.shared["prod"] = append(s.shared["prod"], objectName(claim))
	}
}
