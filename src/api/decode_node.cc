// SPDX-License-Identifier: Apache-2.0
// Nodes.
#include <algorithm>

#include "api/decode_internal.h"
#include "api/decode_value.h"
#include "api/defaults.h"
#include "api/resource_rules.h"
#include "berth/host/share_lists.h"

namespace berth {
namespace {

template <class Value>
Taint DecodeTaint(Context& context, Value value) {
  Taint taint;
  std::string effect;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "key") {
      Read(context, item, taint.key);
    } else if (key == "value") {
      Read(context, item, taint.value);
    } else if (key == "effect") {
      Read(context, item, effect);
    }
  });
  taint.effect = TaintEffectFromText(effect);
  if (context.strict()) {
    CheckForm(context, "key", taint.key, CheckQualifiedName);
    CheckForm(context, "value", taint.value, CheckLabelValue);
    At at(context, "effect");
    if (effect.empty()) {
      context.Required();
    } else {
      context.CheckEnum(effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
  }
  return taint;
}

void CheckTaintsUnique(Context& context, const std::vector<Taint>& taints) {
  for (size_t i = 1; i < taints.size(); ++i) {
    const bool again =
        std::any_of(taints.begin(), taints.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Taint& t) { return t.key == taints[i].key && t.effect == taints[i].effect; });
    if (!again) continue;
    At at(context, i);
    context.Duplicate(taints[i].key + ":" + std::string(ToString(taints[i].effect)),
                      "taints must be unique by key and effect pair");
  }
}

template <class Value>
NodeImage DecodeImage(Context& context, Value value) {
  NodeImage image;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "names") {
      Read(context, item, image.names);
    } else if (key == "sizeBytes") {
      Read(context, item, image.size_bytes);
    }
  });
  return image;
}

template <class Value>
NodeCondition DecodeNodeCondition(Context& context, Value value) {
  NodeCondition condition;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "type") {
      Read(context, item, condition.type);
    } else if (key == "status") {
      Read(context, item, condition.status);
    }
  });
  return condition;
}

void CheckFeatures(Context& context, const std::vector<std::string>& features) {
  for (size_t i = 0; i < features.size(); ++i) {
    At at(context, i);
    CheckForm(context, features[i], CheckDeclaredFeature);
    if (i == 0) continue;
    if (features[i - 1] == features[i]) {
      context.Duplicate(features[i]);
    } else if (features[i - 1] > features[i]) {
      context.Invalid(features[i], "list must be sorted alphabetically");
    }
  }
}

template <class Value>
void DecodeStatus(Context& context, Value value, bool with_images, Node& node) {
  std::optional<ResourceList> capacity, allocatable;
  auto read_amounts = [&](Value item, std::optional<ResourceList>& list) {
    list.reset();
    if (IsNull(context, item)) return;
    list = DecodeResourceList(context, item);
    CheckAmounts(context, *list);
  };
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "allocatable") {
      read_amounts(item, allocatable);
    } else if (key == "capacity") {
      read_amounts(item, capacity);
    } else if (key == "images") {
      if (with_images) ReadList(context, item, node.images, DecodeImage<Value>);
    } else if (key == "conditions") {
      ReadList(context, item, node.conditions, DecodeNodeCondition<Value>);
    } else if (key == "declaredFeatures") {
      Read(context, item, node.declared_features);
      if (context.strict()) CheckFeatures(context, node.declared_features);
      std::vector<std::string>& features = node.declared_features.Edit();
      std::sort(features.begin(), features.end());
    }
  });
  DefaultAllocatable(allocatable, std::move(capacity));
  if (allocatable) node.allocatable = ToResources(*allocatable);
}

template <class Value>
Node DecodeNode(Context& context, Value value, bool with_images) {
  const ObjectScope scope(context);
  Node node;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "metadata") {
      node.meta = {};
      DecodeMeta(context, item, context.annotations().nodes, node.meta);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, Value part) {
        if (member == "unschedulable") {
          Read(context, part, node.unschedulable);
        } else if (member == "taints") {
          ReadList(context, part, node.taints, DecodeTaint<Value>);
          if (context.strict()) CheckTaintsUnique(context, node.taints);
        }
      });
    } else if (key == "status") {
      DecodeStatus(context, item, with_images, node);
    }
  });
  ShareLists(node);
  return node;
}

}  // namespace

TaintEffect TaintEffectFromText(std::string_view text) {
  if (text.empty()) return TaintEffect::kNone;
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

Node DecodeNodeValue(Context& context, JsonValue value, bool with_images) {
  return DecodeNode(context, value, with_images);
}
Node DecodeNodeValue(Context& context, const ProtoValue& value) {
  return DecodeNode(context, value, /*with_images=*/true);
}

template <>
Node DecodeAs<Node>(Context& context, JsonValue value) {
  return DecodeNodeValue(context, value);
}

}  // namespace berth
