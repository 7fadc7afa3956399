// SPDX-License-Identifier: Apache-2.0
// Volume objects: claims, volumes, classes, CSI nodes, drivers, capacities, attachments.
#include <algorithm>

#include "api/decode_internal.h"
#include "api/defaults.h"
#include "api/resource_rules.h"
#include "util/text.h"

namespace berth {
namespace {

void CheckAccessModes(Context& context, const std::vector<std::string>& modes, std::string_view detail) {
  if (!context.strict()) return;
  At spec(context, "spec");
  At at(context, "accessModes");
  if (modes.empty()) context.Required(detail);
  bool exclusive = false, shared = false;
  for (const std::string& mode : modes) {
    if (!context.CheckEnum(mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"})) continue;
    (mode == "ReadWriteOncePod" ? exclusive : shared) = true;
  }
  if (exclusive && shared) context.Forbidden("may not use ReadWriteOncePod with other access modes");
}

void ReadVolumeMode(Context& context, JsonValue value, std::string& mode) {
  if (Read(context, value, mode)) context.CheckEnum(mode, {"Block", "Filesystem"});
}

// The storage entry of spec.resources.requests or spec.capacity.
std::optional<Quantity> ReadStorage(Context& context, JsonValue value) {
  const ResourceList list = DecodeResourceList(context, value);
  const Quantity* storage = FindResource(list, InternResource("storage"));
  if (!storage) return std::nullopt;
  if (context.strict() && (storage->IsNegative() || storage->IsZero())) {
    At at(context, "storage", /*bracketed=*/true);
    context.Invalid(storage->ToString(), "must be greater than zero");
  }
  return *storage;
}

std::optional<ClaimReference> DecodeClaimReference(Context& context, JsonValue value) {
  ClaimReference claim;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "namespace") {
      Read(context, item, claim.namespace_);
    } else if (key == "name") {
      Read(context, item, claim.name);
    } else if (key == "uid") {
      Read(context, item, claim.uid);
    }
  });
  if (!there) return std::nullopt;
  return claim;
}

void SetSource(VolumeSource source, PersistentVolume& volume) {
  volume.kind = source.kind;
  if (source.kind == VolumeKind::kCsi) {
    volume.csi_driver = std::move(source.id);
    volume.csi_handle = std::move(source.handle);
    return;
  }
  volume.disk = std::move(source.id);
  if (source.kind == VolumeKind::kAzureDisk) volume.disk_kind = std::move(source.variant);
}

// Terms that mean the same, whatever the order of their expressions.
void CheckTopologies(Context& context, const List<NodeSelectorTerm>& terms) {
  auto sorted = [](NodeSelectorTerm term) {
    std::sort(term.match_expressions.begin(), term.match_expressions.end(),
              [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
    return term;
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      if (sorted(terms[before]) != sorted(terms[i])) continue;
      At index(context, i);
      At at(context, "matchLabelExpressions");
      context.Duplicate("");
      break;
    }
  }
}

}  // namespace

template <>
PersistentVolumeClaim DecodeAs<PersistentVolumeClaim>(Context& context, JsonValue value) {
  PersistentVolumeClaim claim;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      claim.meta = DecodeMeta(context, item, /*keep_annotations=*/true);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "volumeName") {
          Read(context, part, claim.volume_name);
        } else if (member == "storageClassName") {
          if (Read(context, part, claim.storage_class) && !claim.storage_class->empty()) {
            CheckForm(context, *claim.storage_class, CheckDnsSubdomain);
          }
        } else if (member == "accessModes") {
          Read(context, part, claim.access_modes);
        } else if (member == "volumeAttributesClassName") {
          if (Read(context, part, claim.volume_attributes_class) && !claim.volume_attributes_class.empty()) {
            CheckForm(context, claim.volume_attributes_class, CheckDnsSubdomain);
          }
        } else if (member == "volumeMode") {
          ReadVolumeMode(context, part, claim.volume_mode);
        } else if (member == "selector") {
          claim.selector = DecodeSelector(context, part);
        } else if (member == "resources") {
          ForEachMember(context, part, [&](std::string_view list, JsonValue amounts) {
            if (list == "requests") claim.request = ReadStorage(context, amounts);
          });
        }
      });
    } else if (key == "status") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "phase") Read(context, part, claim.phase);
      });
    }
  });
  CheckAccessModes(context, claim.access_modes, "at least 1 access mode is required");
  if (context.strict()) {
    if (!claim.request) {
      At spec(context, "spec");
      At resources(context, "resources");
      At at(context, "storage", /*bracketed=*/true);
      context.Required();
    }
    ApplyDefaults(claim);
  }
  return claim;
}

template <>
PersistentVolume DecodeAs<PersistentVolume>(Context& context, JsonValue value) {
  PersistentVolume volume;
  std::optional<Quantity> capacity;
  std::optional<std::string> attributes_class;
  std::optional<VolumeSource> source;
  bool affinity = false, local = false;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      volume.meta = DecodeMeta(context, item, /*keep_annotations=*/true);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "storageClassName") {
          if (Read(context, part, volume.storage_class) && !volume.storage_class.empty()) {
            CheckForm(context, volume.storage_class, CheckDnsSubdomain);
          }
        } else if (member == "volumeMode") {
          ReadVolumeMode(context, part, volume.volume_mode);
        } else if (member == "accessModes") {
          Read(context, part, volume.access_modes);
        } else if (member == "capacity") {
          capacity = ReadStorage(context, part);
        } else if (member == "claimRef") {
          volume.claim_ref = DecodeClaimReference(context, part);
        } else if (member == "nodeAffinity") {
          affinity = ForEachMember(context, part, [&](std::string_view when, JsonValue selector) {
            if (when == "required" && !IsNull(context, selector)) {
              volume.node_affinity = DecodeNodeSelector(context, selector);
            }
          });
        } else if (member == "volumeAttributesClassName") {
          if (Read(context, part, attributes_class)) {
            if (attributes_class->empty() && context.strict()) context.Required("an empty string is disallowed");
            if (!attributes_class->empty()) CheckForm(context, *attributes_class, CheckDnsSubdomain);
          }
        } else {
          local = (member == "local" && !IsNull(context, part)) || local;
          ReadVolumeSource(context, member, part, VolumeOwner::kVolume, source);
        }
      });
    } else if (key == "status") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "phase") Read(context, part, volume.phase);
      });
    }
  });
  volume.capacity = capacity.value_or(Quantity());
  volume.volume_attributes_class = attributes_class.value_or("");
  if (source) SetSource(std::move(*source), volume);
  CheckAccessModes(context, volume.access_modes, "");
  if (context.strict()) {
    At spec(context, "spec");
    if (!capacity) {
      At at(context, "capacity");
      context.Required();
    }
    if (!source) context.Required("must specify a volume type");
    if (affinity && !volume.node_affinity) {
      At at(context, "nodeAffinity");
      At required(context, "required");
      context.Required("must specify required node constraints");
    } else if (local && !affinity) {
      At at(context, "nodeAffinity");
      context.Required("Local volume requires node affinity");
    }
    if (attributes_class && volume.kind != VolumeKind::kCsi) {
      At at(context, "csi");
      context.Required("has to be specified when using volumeAttributesClassName");
    }
    ApplyDefaults(volume);
  }
  return volume;
}

template <>
StorageClass DecodeAs<StorageClass>(Context& context, JsonValue value) {
  StorageClass storage_class;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      storage_class.meta = DecodeMeta(context, item, /*keep_annotations=*/true);
    } else if (key == "provisioner") {
      Read(context, item, storage_class.provisioner);
    } else if (key == "volumeBindingMode") {
      if (Read(context, item, storage_class.volume_binding_mode)) {
        context.CheckEnum(*storage_class.volume_binding_mode, {"Immediate", "WaitForFirstConsumer"});
      }
    } else if (key == "allowedTopologies") {
      ReadList(context, item, storage_class.allowed_topologies, DecodeTopologyTerm);
      if (context.strict()) CheckTopologies(context, storage_class.allowed_topologies);
    }
  });
  if (context.strict()) {
    At at(context, "provisioner");
    if (storage_class.provisioner.empty()) {
      context.Required();
    } else {
      CheckForm(context, util::Lower(storage_class.provisioner), CheckQualifiedName);
    }
    ApplyDefaults(storage_class);
  }
  return storage_class;
}

template <>
CsiNode DecodeAs<CsiNode>(Context& context, JsonValue value) {
  CsiNode node;
  auto decode_driver = [&](JsonValue driver) {
    std::string name;
    std::optional<int32_t> count;
    ForEachMember(context, driver, [&](std::string_view key, JsonValue item) {
      if (key == "name") {
        Read(context, item, name);
      } else if (key == "allocatable") {
        ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
          if (member != "count") return;
          Read(context, part, count);
          if (context.strict() && count && *count < 0) {
            context.InvalidNumber(*count, "must be greater than or equal to 0");
          }
        });
      }
    });
    if (context.strict()) {
      CheckDriverName(context, "name", name);
      At at(context, "name");
      if (!name.empty() && node.driver_limits.count(name)) context.Duplicate(name);
    }
    node.driver_limits[name] = count;
  };
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      node.meta = DecodeMeta(context, item, /*keep_annotations=*/true);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member != "drivers") return;
        node.driver_limits.clear();
        ForEachItem(context, part, decode_driver);
      });
    }
  });
  return node;
}

template <>
CsiDriver DecodeAs<CsiDriver>(Context& context, JsonValue value) {
  CsiDriver driver;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      driver.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "storageCapacity") Read(context, part, driver.storage_capacity);
      });
    }
  });
  return driver;
}

template <>
CsiStorageCapacity DecodeAs<CsiStorageCapacity>(Context& context, JsonValue value) {
  CsiStorageCapacity capacity;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      capacity.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "storageClassName") {
      Read(context, item, capacity.storage_class);
    } else if (key == "nodeTopology") {
      capacity.node_topology = DecodeSelector(context, item);
    } else if (key == "capacity") {
      Read(context, item, capacity.capacity);
      if (context.strict() && capacity.capacity && capacity.capacity->IsNegative()) {
        context.Invalid(capacity.capacity->ToString(), "must be greater than or equal to 0");
      }
    } else if (key == "maximumVolumeSize") {
      Read(context, item, capacity.maximum_volume_size);
    }
  });
  CheckForm(context, "storageClassName", capacity.storage_class, CheckDnsSubdomain);
  return capacity;
}

template <>
VolumeAttachment DecodeAs<VolumeAttachment>(Context& context, JsonValue value) {
  VolumeAttachment attachment;
  bool inline_volume = false;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      attachment.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "attacher") {
          Read(context, part, attachment.attacher);
        } else if (member == "nodeName") {
          Read(context, part, attachment.node_name);
        } else if (member == "source") {
          ForEachMember(context, part, [&](std::string_view source, JsonValue text) {
            if (source == "persistentVolumeName") {
              Read(context, text, attachment.volume_name);
            } else if (source == "inlineVolumeSpec") {
              inline_volume = !IsNull(context, text);
            }
          });
        }
      });
    }
  });
  if (context.strict()) {
    At spec(context, "spec");
    CheckDriverName(context, "attacher", attachment.attacher);
    CheckForm(context, "nodeName", attachment.node_name, CheckDnsSubdomain);
    if (attachment.volume_name.empty() && !inline_volume) {
      At at(context, "source");
      context.Required("must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    }
  }
  return attachment;
}

}  // namespace berth
