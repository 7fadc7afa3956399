// SPDX-License-Identifier: Apache-2.0
// Where a volume's data is: the sources of pods' volumes and of PersistentVolumes.
#include <algorithm>
#include <type_traits>

#include "api/decode_internal.h"
#include "api/defaults.h"
#include "util/text.h"

namespace berth {
namespace {

struct SourceField {
  std::string_view name;
  bool of_pods, of_volumes;  // whether pods' volumes and PersistentVolumes have it
  VolumeKind kind = VolumeKind::kOther;
  std::string_view member = {};  // names the thing; required of whoever has the source
};

// Every source there is, and which member of those that a scheduler looks into names the thing.
constexpr SourceField kSources[] = {
    {"awsElasticBlockStore", true, true, VolumeKind::kAwsEbs, "volumeID"},
    {"azureDisk", true, true, VolumeKind::kAzureDisk, "diskURI"},
    {"azureFile", true, true, VolumeKind::kAzureFile},
    {"cephfs", true, true},
    {"cinder", true, true, VolumeKind::kCinder, "volumeID"},
    {"configMap", true, false},
    {"csi", true, true, VolumeKind::kCsi, "driver"},
    {"downwardAPI", true, false},
    {"emptyDir", true, false},
    {"ephemeral", true, false, VolumeKind::kEphemeral},
    {"fc", true, true},
    {"flexVolume", true, true},
    {"flocker", true, true},
    {"gcePersistentDisk", true, true, VolumeKind::kGcePd, "pdName"},
    {"gitRepo", true, false},
    {"glusterfs", true, true},
    {"hostPath", true, true},
    {"image", true, false, VolumeKind::kImage, "reference"},
    {"iscsi", true, true, VolumeKind::kIscsi, "iqn"},
    {"local", false, true},
    {"nfs", true, true},
    {"persistentVolumeClaim", true, false, VolumeKind::kClaim, "claimName"},
    {"photonPersistentDisk", true, true},
    {"portworxVolume", true, true, VolumeKind::kPortworx, "volumeID"},
    {"projected", true, false},
    {"quobyte", true, true},
    {"rbd", true, true, VolumeKind::kRbd, "image"},
    {"scaleIO", true, true},
    {"secret", true, false},
    {"storageos", true, true},
    {"vsphereVolume", true, true, VolumeKind::kVsphere},
};

bool AllAlnum(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

// iqn.2001-04.com.example:storage
bool IsQualifiedIscsiName(std::string_view text) {
  constexpr std::string_view kShape = "iqn.0000-00.";
  if (text.size() < kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return false;
  }
  text.remove_prefix(kShape.size());
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  auto in_authority = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; };
  auto in_name = [](unsigned char c) {
    return std::isspace(c) == 0 && std::string_view(",;*&$|").find(c) == std::string_view::npos;
  };
  return std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(colon), in_authority) &&
         std::all_of(text.begin() + static_cast<ptrdiff_t>(colon) + 1, text.end(), in_name);
}

void CheckIqn(Context& context, std::string_view iqn) {
  const std::string_view scheme = iqn.substr(0, 3);
  At at(context, "iqn");
  if (scheme != "iqn" && scheme != "eui" && scheme != "naa") {
    context.Invalid(iqn, "must be valid format starting with iqn, eui, or naa");
    return;
  }
  const size_t length = scheme == "eui" ? 16 : 32;
  const bool valid = scheme == "iqn" ? IsQualifiedIscsiName(iqn) : iqn.size() == length + 4 && AllAlnum(iqn.substr(4));
  if (!valid) context.Invalid(iqn, "must be valid format");
}

void CheckAzureDisk(Context& context, const VolumeSource& source) {
  {
    At at(context, "kind");
    context.CheckEnum(source.variant, {"Dedicated", "Managed", "Shared"});
  }
  if (source.id.empty()) return;
  At at(context, "diskURI");
  if (source.variant == "Managed") {
    if (source.id.rfind("/subscriptions/", 0) != 0) {
      context.Unsupported(source.id,
                          {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
                           "{disk-id}"});
    }
  } else if (source.id.rfind("https://", 0) != 0) {
    context.Unsupported(source.id, {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"});
  }
}

// At the path of the source, defaults applied.
void CheckSource(Context& context, const SourceField& field, VolumeOwner owner, const VolumeSource& source) {
  if (field.kind == VolumeKind::kCsi) {
    CheckDriverName(context, field.member, source.id);
  } else if (!field.member.empty() && field.kind != VolumeKind::kImage && source.id.empty()) {
    At at(context, field.member);
    context.Required();
  }
  if (field.kind == VolumeKind::kCsi && owner == VolumeOwner::kVolume && source.handle.empty()) {
    At at(context, "volumeHandle");
    context.Required();
  } else if (field.kind == VolumeKind::kRbd && source.hosts.empty()) {
    At at(context, "monitors");
    context.Required();
  } else if (field.kind == VolumeKind::kIscsi && !source.id.empty()) {
    CheckIqn(context, source.id);
  } else if (field.kind == VolumeKind::kAzureDisk) {
    CheckAzureDisk(context, source);
  } else if (field.kind == VolumeKind::kEphemeral && source.claim_template.empty()) {
    At at(context, "volumeClaimTemplate");
    context.Required();
  }
}

}  // namespace

void CheckDriverName(Context& context, std::string_view member, std::string_view name) {
  if (!context.strict()) return;
  At at(context, member);
  if (name.empty()) return context.Required();
  if (name.size() > 63) context.TooLong(63);
  context.Invalid(name, CheckDnsSubdomain(util::Lower(name)));
}

template <class Value>
bool ReadVolumeSource(Context& context, std::string_view key, Value value, VolumeOwner owner,
                      std::optional<VolumeSource>& out) {
  const auto* const field = std::find_if(std::begin(kSources), std::end(kSources), [&](const SourceField& one) {
    return one.name == key && (owner == VolumeOwner::kPod ? one.of_pods : one.of_volumes);
  });
  if (field == std::end(kSources)) return false;
  if (IsNull(context, value)) return true;
  if (out && context.strict()) context.Forbidden("may not specify more than 1 volume type");
  VolumeSource source;
  source.kind = field->kind;
  ForEachMember(context, value, [&](std::string_view member, Value part) {
    if (field->kind == VolumeKind::kOther) return;
    if constexpr (std::is_same_v<Value, JsonValue>) {
      if (field->kind == VolumeKind::kEphemeral && member == "volumeClaimTemplate" && context.strict()) {
        if (!IsNull(context, part)) source.claim_template = {DecodeAs<PersistentVolumeClaim>(context, part)};
        return;
      }
    }
    if (member == field->member) {
      Read(context, part, source.id);
    } else if (member == "readOnly") {
      Read(context, part, source.read_only);
    } else if (field->kind == VolumeKind::kCsi && member == "volumeHandle") {
      Read(context, part, source.handle);
    } else if ((field->kind == VolumeKind::kRbd && member == "pool") ||
               (field->kind == VolumeKind::kAzureDisk && member == "kind")) {
      Read(context, part, source.variant);
    } else if (field->kind == VolumeKind::kRbd && member == "monitors") {
      Read(context, part, source.hosts);
    }
  });
  if (context.strict()) {
    ApplyDefaults(source);
    CheckSource(context, *field, owner, source);
  }
  out = std::move(source);
  return true;
}

template <class Value>
PodVolume DecodeVolume(Context& context, Value value) {
  PodVolume volume;
  std::optional<VolumeSource> source;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "name") {
      Read(context, item, volume.name);
    } else {
      ReadVolumeSource(context, key, item, VolumeOwner::kPod, source);
    }
  });
  if (source) {
    volume.kind = source->kind;
    volume.source = std::move(source->id);
    volume.read_only = source->read_only;
    volume.variant = std::move(source->variant);
    volume.hosts = std::move(source->hosts);
    volume.claim_template = std::move(source->claim_template);
  }
  if (context.strict()) {
    At at(context, "name");
    if (volume.name.empty()) {
      context.Required();
    } else {
      CheckForm(context, volume.name, CheckDnsLabel);
    }
  }
  return volume;
}

// For either encoding; PersistentVolumes are read as JSON.
template bool ReadVolumeSource(Context&, std::string_view, JsonValue, VolumeOwner, std::optional<VolumeSource>&);
template PodVolume DecodeVolume(Context&, JsonValue);
template PodVolume DecodeVolume(Context&, ProtoValue);

}  // namespace berth
