// SPDX-License-Identifier: Apache-2.0

// The same for what volumes are made of.
package main

import (
	"k8s.io/client-go/informers/storage"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

func (f *mirroringFactory) Storage() storage.Interface {
	return mirroringStorage{f.SharedInformerFactory.Storage(), f}
}

type mirroringStorage struct {
	storage.Interface
	factory *mirroringFactory
}

func (s mirroringStorage) V1() storageinformers.Interface {
	return mirroringStorageV1{s.Interface.V1(), s.factory}
}

type mirroringStorageV1 struct {
	storageinformers.Interface
	factory *mirroringFactory
}

func (v mirroringStorageV1) StorageClasses() storageinformers.StorageClassInformer {
	return mirroringClasses{v.Interface.StorageClasses(), v.factory}
}

type mirroringClasses struct {
	storageinformers.StorageClassInformer
	factory *mirroringFactory
}

func (i mirroringClasses) Informer() cache.SharedIndexInformer {
	return i.factory.wrap("storageclasses", i.StorageClassInformer.Informer())
}

func (v mirroringStorageV1) CSINodes() storageinformers.CSINodeInformer {
	return mirroringCSINodes{v.Interface.CSINodes(), v.factory}
}

type mirroringCSINodes struct {
	storageinformers.CSINodeInformer
	factory *mirroringFactory
}

func (i mirroringCSINodes) Informer() cache.SharedIndexInformer {
	return i.factory.wrap("csinodes", i.CSINodeInformer.Informer())
}

func (v mirroringStorageV1) CSIDrivers() storageinformers.CSIDriverInformer {
	return mirroringCSIDrivers{v.Interface.CSIDrivers(), v.factory}
}

type mirroringCSIDrivers struct {
	storageinformers.CSIDriverInformer
	factory *mirroringFactory
}

func (i mirroringCSIDrivers) Informer() cache.SharedIndexInformer {
	return i.factory.wrap("csidrivers", i.CSIDriverInformer.Informer())
}

func (v mirroringStorageV1) CSIStorageCapacities() storageinformers.CSIStorageCapacityInformer {
	return mirroringCapacities{v.Interface.CSIStorageCapacities(), v.factory}
}

type mirroringCapacities struct {
	storageinformers.CSIStorageCapacityInformer
	factory *mirroringFactory
}

func (i mirroringCapacities) Informer() cache.SharedIndexInformer {
	return i.factory.wrap("csistoragecapacities", i.CSIStorageCapacityInformer.Informer())
}

func (v mirroringStorageV1) VolumeAttachments() storageinformers.VolumeAttachmentInformer {
	return mirroringAttachments{v.Interface.VolumeAttachments(), v.factory}
}

type mirroringAttachments struct {
	storageinformers.VolumeAttachmentInformer
	factory *mirroringFactory
}

func (i mirroringAttachments) Informer() cache.SharedIndexInformer {
	return i.factory.wrap("volumeattachments", i.VolumeAttachmentInformer.Informer())
}
