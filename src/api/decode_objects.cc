// SPDX-License-Identifier: Apache-2.0
// From a JSON document to decoded objects: which kind it is, lists unrolled, errors named.
#include <algorithm>
#include <array>

#include "api/decode_internal.h"
#include "api/decode_value.h"
#include "api/defaults.h"
#include "berth/host/share_lists.h"

namespace berth {
namespace {

using simdjson::ondemand::json_type;

template <class T>
AnyObject DecodeAny(Context& context, JsonValue value) {
  const ObjectScope scope(context);
  return DecodeAs<T>(context, value);
}

AnyObject DecodeKind(Context& context, JsonValue value, Kind kind) {
  using Decoder = AnyObject (*)(Context&, JsonValue);
  static constexpr auto kDecoders = []<class... Ts>(TypeList<Ts...>) {
    return std::array<Decoder, sizeof...(Ts)>{DecodeAny<Ts>...};
  }(KindTypes{});
  return kDecoders[static_cast<size_t>(kind)](context, value);
}

MetaRules RulesOf(Kind kind) {
  MetaRules rules{.namespaced = IsNamespaced(kind)};
  if (kind == Kind::kNamespace || kind == Kind::kService) rules.name = NameForm::kLabel;
  if (kind == Kind::kPodDisruptionBudget) rules.name = NameForm::kPathSegment;
  return rules;
}

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

const KindInfo* FindInGroup(std::string_view kind, std::string_view api_version) {
  for (const KindInfo& info : kKinds) {
    if (info.name == kind && info.group == GroupOf(api_version)) return &info;
  }
  return nullptr;
}

bool VersionKnown(const KindInfo& info, std::string_view api_version) {
  const size_t slash = api_version.find('/');
  const std::string_view version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  return !version.empty() && std::ranges::find(info.versions, version) != info.versions.end();
}

LoadError DocumentError(std::string message) {
  LoadError error;
  error.message = std::move(message);
  return error;
}

LoadError MalformedDocument(std::string_view what) {
  LoadError error = DocumentError("malformed JSON: " + std::string(what));
  error.malformed = true;
  return error;
}

// Walks one parsed document and appends what it holds.
class Walker {
 public:
  Walker(DecodeMode mode, const AnnotationKeys& keep, std::vector<DecodedObject>& out)
      : mode_(mode), keep_(keep), out_(out) {}

  // `inherited_*` apply to an object without kind: the items of a PodList. False: malformed JSON, nothing behind it
  // can be read.
  bool Object(JsonValue value, const std::string& inherited_kind, const std::string& inherited_version, int depth) {
    DecodedObject decoded;
    Context context(mode_, decoded.errors);
    context.KeepAnnotations(&keep_);
    // Items of a server's typed list do not say their kind, and looking for it would walk all of them twice.
    const bool known = mode_ == DecodeMode::kPeer && !inherited_kind.empty();
    if (!(known ? IsObject(context, value) : ReadTypeMeta(context, value, decoded))) {
      return Finish(context, std::move(decoded));
    }
    if (decoded.kind.empty() && !inherited_kind.empty()) decoded.kind = inherited_kind;
    if (decoded.api_version.empty() && !inherited_kind.empty()) decoded.api_version = inherited_version;
    if (decoded.kind.empty()) {
      At at(context, "kind");
      context.Required("Object 'Kind' is missing");
    }
    if (decoded.api_version.empty()) {
      At at(context, "apiVersion");
      context.Required("Object 'apiVersion' is missing");
    }
    if (!decoded.errors.empty()) return Finish(context, std::move(decoded));

    if (const std::string item_kind = ListOf(decoded); !item_kind.empty())
      return List(context, value, decoded, item_kind, depth);

    const KindInfo* info = FindInGroup(decoded.kind, decoded.api_version);
    if (!info) return Finish(context, std::move(decoded));  // a kind that is not read
    if (!VersionKnown(*info, decoded.api_version)) {
      At at(context, "apiVersion");
      context.Invalid(decoded.api_version,
                      "no kind " + Quoted(decoded.kind) + " is registered for version " + Quoted(decoded.api_version));
      return Finish(context, std::move(decoded));
    }
    decoded.object = DecodeKind(context, value, info->kind);
    CheckMeta(context, RulesOf(info->kind), MetaOf(decoded.object));
    if (auto* pod = std::get_if<DecodedPod>(&decoded.object)) FinishPod(context, *pod);
    return Finish(context, std::move(decoded));
  }

 private:
  static bool IsObject(Context& context, JsonValue value) {
    json_type type;
    if (auto error = value.type().get(type)) return context.Broken(error), false;
    if (type != json_type::object) context.WrongTypeUnseen("an object", value);
    return type == json_type::object;
  }

  static bool ReadTypeMeta(Context& context, JsonValue value, DecodedObject& decoded) {
    if (!IsObject(context, value)) return false;
    if (IsEmptyObject(context, value)) return true;
    if (context.broken()) return false;
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return context.Broken(error), false;
    auto read = [&](std::string_view key, std::string& out) {
      JsonValue text;
      const auto error = object.find_field_unordered(key).get(text);
      if (error == simdjson::NO_SUCH_FIELD) return;
      if (error) return context.Broken(error);
      At at(context, key);
      Read(context, text, out);
    };
    read("kind", decoded.kind);
    if (!context.broken()) read("apiVersion", decoded.api_version);
    if (context.broken()) return false;
    bool empty = false;
    if (auto error = object.reset().get(empty)) return context.Broken(error), false;
    return decoded.errors.empty();
  }

  // The kind of a list's items; " " for a plain List, empty when it is no list we unroll.
  static std::string ListOf(const DecodedObject& decoded) {
    constexpr std::string_view kSuffix = "List";
    const std::string& kind = decoded.kind;
    if (kind == kSuffix && GroupOf(decoded.api_version).empty()) return " ";
    if (kind.size() <= kSuffix.size() || kind.substr(kind.size() - kSuffix.size()) != kSuffix) return "";
    const std::string item = kind.substr(0, kind.size() - kSuffix.size());
    return FindInGroup(item, decoded.api_version) ? item : "";
  }

  bool List(Context& context, JsonValue value, DecodedObject& decoded, const std::string& item_kind, int depth) {
    if (depth >= 16) {
      context.Forbidden("lists nested too deeply");
      return Finish(context, std::move(decoded));
    }
    const bool typed = item_kind != " ";
    bool good = true;
    ForEachMember(context, value, [&](std::string_view key, JsonValue items) {
      if (key != "items") return;
      ForEachItem(context, items, [&](JsonValue item) {
        good = Object(item, typed ? item_kind : std::string(), typed ? decoded.api_version : std::string(), depth + 1);
        if (!good) context.Stop();
      });
    });
    if (!good) return false;
    if (decoded.errors.empty()) return true;
    return Finish(context, std::move(decoded));
  }

  void FinishPod(Context& context, DecodedPod& decoded) {
    if (context.strict()) {
      ApplyDefaults(decoded);
      CheckPod(context, decoded);
    } else {
      decoded.pod.resources = ComputePodResources(decoded.pod);
      ShareLists(decoded.pod);
    }
  }

  bool Finish(Context& context, DecodedObject decoded) {
    std::string name;
    if (decoded.known()) name = FullName(MetaOf(decoded.object));
    for (LoadError& error : decoded.errors) {
      error.kind = decoded.kind;
      error.name = name;
    }
    out_.push_back(std::move(decoded));
    return !context.broken();
  }

  DecodeMode mode_;
  const AnnotationKeys& keep_;
  std::vector<DecodedObject>& out_;
};

// Parses and hands the document to fn(document); appends an entry with the error when it is malformed.
template <class Fn>
void Parse(std::string_view json, std::vector<LoadError>& errors, Fn&& fn) {
  // A parser keeps its buffers; those of a huge document are given back.
  constexpr size_t kKeep = size_t{16} << 20;
  thread_local simdjson::ondemand::parser kept;
  std::unique_ptr<simdjson::ondemand::parser> large;
  simdjson::ondemand::parser* parser = &kept;
  if (json.size() > kKeep) {
    large = std::make_unique<simdjson::ondemand::parser>();
    parser = large.get();
  }
  const simdjson::padded_string padded(json);
  simdjson::ondemand::document document;
  if (auto error = parser->iterate(padded).get(document)) {
    errors.push_back(MalformedDocument(simdjson::error_message(error)));
    return;
  }
  fn(document);
}

bool IsContainer(simdjson::ondemand::document& document, bool& null, std::vector<LoadError>& errors) {
  json_type type;
  null = false;
  if (auto error = document.type().get(type)) {
    errors.push_back(MalformedDocument(simdjson::error_message(error)));
    return false;
  }
  null = type == json_type::null;
  if (type == json_type::object || type == json_type::array) return true;
  if (!null) errors.push_back(DocumentError("Invalid value: must be an object"));
  return false;
}

}  // namespace

const ObjectMeta& MetaOf(const AnyObject& object) {
  return std::visit(
      [](const auto& o) -> const ObjectMeta& {
        using T = std::decay_t<decltype(o)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          static const ObjectMeta kNone;
          return kNone;
        } else if constexpr (std::is_same_v<T, DecodedPod>) {
          return o.pod.meta;
        } else {
          return o.meta;
        }
      },
      object);
}

ObjectMeta& MetaOf(AnyObject& object) { return const_cast<ObjectMeta&>(MetaOf(std::as_const(object))); }

std::optional<ClusterObject> ToClusterObject(AnyObject object) {
  return std::visit(
      []<class T>(T& plain) -> std::optional<ClusterObject> {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return std::nullopt;
        } else if constexpr (std::is_same_v<T, DecodedPod>) {
          return ClusterObject(std::make_shared<const Pod>(std::move(plain.pod)));
        } else {
          return ClusterObject(std::make_shared<const T>(std::move(plain)));
        }
      },
      object);
}

std::vector<DecodedObject> DecodeDocument(std::string_view json, DecodeMode mode, const AnnotationKeys& keep) {
  std::vector<DecodedObject> out;
  std::vector<LoadError> errors;
  Parse(json, errors, [&](simdjson::ondemand::document& document) {
    bool null = false;
    if (!IsContainer(document, null, errors)) return;
    Walker walker(mode, keep, out);
    JsonValue root;
    if (auto error = document.get_value().get(root)) {
      errors.push_back(MalformedDocument(simdjson::error_message(error)));
      return;
    }
    bool whole = true;
    json_type type;
    if (root.type().get(type) == simdjson::SUCCESS && type == json_type::array) {
      Context context(mode, errors);
      ForEachItem(context, root, [&](JsonValue item) {
        whole = walker.Object(item, "", "", 0);
        if (!whole) context.Stop();
      });
    } else {
      whole = walker.Object(root, "", "", 0);
    }
    if (whole && errors.empty() && out.size() == 1 && out[0].errors.empty() && out[0].known() &&
        document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      errors.push_back(MalformedDocument("content after the document"));
    }
  });
  if (!errors.empty()) {
    DecodedObject failed;
    failed.errors = std::move(errors);
    out.push_back(std::move(failed));
  }
  return out;
}

DecodedObject DecodeObject(std::string_view json, DecodeMode mode, const AnnotationKeys& keep) {
  std::vector<DecodedObject> all = DecodeDocument(json, mode, keep);
  for (DecodedObject& object : all) {
    if (!object.errors.empty()) return std::move(object);
  }
  if (all.size() == 1) return std::move(all[0]);
  DecodedObject failed;
  failed.errors.push_back(DocumentError("Invalid value: must be one object"));
  return failed;
}

AnyObject DecodeAnyValue(Context& context, JsonValue value, Kind kind) {
  AnyObject object = DecodeKind(context, value, kind);
  if (auto* decoded = std::get_if<DecodedPod>(&object)) {
    decoded->pod.resources = ComputePodResources(decoded->pod);
    ShareLists(decoded->pod);
  }
  return object;
}

NodeAffinity DecodeNodeAffinity(std::string_view json, DecodeMode mode, std::vector<LoadError>& errors) {
  NodeAffinity affinity;
  Parse(json, errors, [&](simdjson::ondemand::document& document) {
    bool null = false;
    if (!IsContainer(document, null, errors)) return;
    JsonValue root;
    if (auto error = document.get_value().get(root)) {
      errors.push_back(MalformedDocument(simdjson::error_message(error)));
      return;
    }
    Context context(mode, errors);
    const ObjectScope scope(context);
    affinity = DecodeNodeAffinityValue(context, root);
  });
  return affinity;
}

}  // namespace berth
