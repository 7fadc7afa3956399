// SPDX-License-Identifier: Apache-2.0
// metadata, string maps and resource lists: what most kinds have.
#include <algorithm>
#include <optional>
#include <string>

#include "api/decode_internal.h"
#include "api/peer_resources.h"

namespace berth {
namespace {

// A null value of a string map is an empty string, as upstream reads it. `wanted` null: every entry is.
template <class Value>
std::vector<Labels::Entry> DecodeEntries(Context& context, Value value, bool labels,
                                         const std::vector<std::string>* wanted = nullptr) {
  std::vector<Labels::Entry> entries;
  ForEachMember(
      context, value,
      [&](MemberName key, const Value& item) {
        const bool keep = !wanted || std::find(wanted->begin(), wanted->end(), key) != wanted->end();
        if (!keep && !context.strict()) return;
        const size_t before = context.error_count();
        std::string text;
        Read(context, item, text);
        if (context.error_count() != before) return;
        if (labels && context.strict()) {
          context.Invalid(key, CheckQualifiedName(key));
          context.Invalid(text, CheckLabelValue(text));
        }
        if (keep) entries.emplace_back(std::string(key), std::move(text));
      },
      /*bracketed=*/true);
  return entries;
}

template <class Value>
OwnerReference DecodeOwner(Context& context, Value value) {
  OwnerReference owner;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "apiVersion") {
      Read(context, item, owner.api_version);
    } else if (key == "kind") {
      Read(context, item, owner.kind);
    } else if (key == "name") {
      Read(context, item, owner.name);
    } else if (key == "uid") {
      Read(context, item, owner.uid);
    } else if (key == "controller") {
      Read(context, item, owner.controller);
    }
  });
  if (context.strict()) {
    auto not_empty = [&](std::string_view member, const std::string& text, std::string_view what) {
      At at(context, member);
      if (text.empty()) context.Invalid(text, what);
    };
    not_empty("apiVersion", owner.api_version, "version must not be empty");
    not_empty("kind", owner.kind, "must not be empty");
    not_empty("name", owner.name, "must not be empty");
    not_empty("uid", owner.uid, "must not be empty");
  }
  return owner;
}

void CheckOwners(Context& context, const std::vector<OwnerReference>& owners) {
  const OwnerReference* first = nullptr;
  for (const OwnerReference& owner : owners) {
    if (!owner.controller) continue;
    if (first) {
      context.InvalidRaw(owner.kind + "/" + owner.name,
                         "Only one reference can have Controller set to true. Found \"true\" in references for " +
                             first->kind + "/" + first->name + " and " + owner.kind + "/" + owner.name);
    } else {
      first = &owner;
    }
  }
}

}  // namespace

template <class Value>
Labels DecodeLabels(Context& context, Value value) {
  return Labels(DecodeEntries(context, value, true));
}
template <class Value>
Labels DecodeStringMap(Context& context, Value value) {
  return Labels(DecodeEntries(context, value, false));
}

namespace {

// `annotations` takes them.
template <class Value, class Fn>
void DecodeMembers(Context& context, const Value& value, ObjectMeta& meta, Fn&& annotations) {
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "name") {
      Read(context, item, meta.name);
    } else if (key == "namespace") {
      Read(context, item, meta.namespace_);
    } else if (key == "uid") {
      Read(context, item, meta.uid);
    } else if (key == "resourceVersion") {
      Read(context, item, meta.resource_version);
    } else if (key == "generation") {
      if (Read(context, item, meta.generation) && context.strict() && meta.generation < 0) {
        context.InvalidNumber(meta.generation, "must be greater than or equal to 0");
      }
    } else if (key == "labels") {
      meta.labels = ReadOnce(context, item, &PodParts::labels, [&] { return DecodeLabels(context, item); });
    } else if (key == "annotations") {
      meta.annotations = annotations(item);
    } else if (key == "creationTimestamp") {
      Read(context, item, meta.creation_time);
    } else if (key == "deletionTimestamp") {
      Read(context, item, meta.deletion_time);
    } else if (key == "ownerReferences") {
      meta.owners = ReadOnce(context, item, &PodParts::owners, [&] {
        List<OwnerReference> owners;
        ReadList(context, item, owners, DecodeOwner<Value>);
        return owners;
      });
      if (context.strict()) CheckOwners(context, meta.owners);
    }
  });
}

}  // namespace

template <class Value>
ObjectMeta DecodeMeta(Context& context, Value value, bool keep_annotations) {
  ObjectMeta meta;
  DecodeMembers(context, value, meta,
                [&](const Value& item) { return keep_annotations ? DecodeStringMap(context, item) : Labels(); });
  return meta;
}

template <class Value>
void DecodeMeta(Context& context, const Value& value, const std::vector<std::string>& annotations, ObjectMeta& meta) {
  DecodeMembers(context, value, meta, [&](const Value& item) {
    // From a peer not even looked at where nobody reads one.
    if (annotations.empty() && !context.strict()) return Labels();
    return Labels(DecodeEntries(context, item, false, &annotations));
  });
}

void CheckMeta(Context& context, const MetaRules& rules, ObjectMeta& meta) {
  if (!context.strict()) return;
  At at(context, "metadata");
  {
    At name(context, "name");
    if (meta.name.empty()) {
      context.Required("name is required; generateName is not read");
    } else {
      CheckForm(context, meta.name,
                rules.name == NameForm::kLabel         ? CheckDnsLabel
                : rules.name == NameForm::kPathSegment ? CheckPathSegment
                                                       : CheckDnsSubdomain);
    }
  }
  At ns(context, "namespace");
  if (!rules.namespaced) {
    meta.namespace_.clear();
  } else if (meta.namespace_.empty()) {
    meta.namespace_ = "default";
  } else {
    CheckForm(context, meta.namespace_, CheckDnsLabel);
  }
}

namespace {

// The API server stores amounts in thousandths at the finest, rounded away from zero one by one
// (SetDefaults_ResourceList).
Quantity AsStored(Quantity quantity) {
  constexpr Quantity::Int128 kMilli = 1'000'000;
  const Quantity::Int128 rest = quantity.nano() % kMilli;
  if (rest == 0) return quantity;
  return Quantity::FromNano(quantity.nano() - rest + (rest > 0 ? kMilli : -kMilli));
}

// A peer's name for a resource; no value, and recorded, when it may not be kept.
std::optional<ResourceId> PeerResource(Context& context, std::string_view name) {
  if (name.size() > kMaxPeerResourceName) {
    context.Invalid(name, "must be no more than " + std::to_string(kMaxPeerResourceName) + " bytes");
    return std::nullopt;
  }
  const std::optional<ResourceId> id = InternPeerResource(name);
  if (!id) {
    context.Invalid(name, "at most " + std::to_string(kMaxPeerResourceNames) +
                              " different resource names are taken until the next start");
  }
  return id;
}

// By id; of equal ones the last stays.
void SortOnce(ResourceList& list) {
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto not_less = [](const auto& a, const auto& b) { return !(a.first < b.first); };
  if (std::adjacent_find(list.begin(), list.end(), not_less) == list.end()) return;
  std::stable_sort(list.begin(), list.end(), less);
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i + 1 < list.size() && list[i + 1].first == list[i].first) continue;
    list[kept++] = list[i];
  }
  list.resize(kept);
}

}  // namespace

template <class Value>
ResourceList DecodeResourceList(Context& context, Value value) {
  ResourceList list;
  size_t size = 0;
  ForEachMember(
      context, value,
      [&](MemberName key, const Value& item) {
        ++size;
        if (!context.strict() && size > kMaxPeerResources) {
          if (size > kMaxPeerResources + 1) return;  // said once
          context.InvalidRaw(std::to_string(size), "must have at most " + std::to_string(kMaxPeerResources) + " items");
          return;
        }
        Quantity quantity;
        if (!Read(context, item, quantity)) return;
        const std::optional<ResourceId> id = context.strict() ? InternResource(key) : PeerResource(context, key);
        if (id) list.emplace_back(*id, AsStored(quantity));
      },
      /*bracketed=*/true);
  SortOnce(list);
  return list;
}

// For either encoding.
template ObjectMeta DecodeMeta(Context&, JsonValue, bool);
template ObjectMeta DecodeMeta(Context&, ProtoValue, bool);
template void DecodeMeta(Context&, const JsonValue&, const std::vector<std::string>&, ObjectMeta&);
template void DecodeMeta(Context&, const ProtoValue&, const std::vector<std::string>&, ObjectMeta&);
template Labels DecodeLabels(Context&, JsonValue);
template Labels DecodeLabels(Context&, ProtoValue);
template Labels DecodeStringMap(Context&, JsonValue);
template Labels DecodeStringMap(Context&, ProtoValue);
template ResourceList DecodeResourceList(Context&, JsonValue);
template ResourceList DecodeResourceList(Context&, ProtoValue);

}  // namespace berth
