// SPDX-License-Identifier: Apache-2.0
#include "client/wire.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/decode_value.h"
#include "api/json_scan.h"
#include "util/text.h"

namespace berth::client {
namespace {

using simdjson::ondemand::json_type;

constexpr size_t kMaxWarnings = 5;     // per page
constexpr size_t kMaxSentence = 1000;  // what a server writes may be of any length

std::string Shortened(std::string_view text) { return util::Shortened(text, kMaxSentence); }

// Hands the one object in `text` to fn(context, object). Errors stop at the first.
template <class Fn>
Error Walk(std::string& text, Fn&& fn) {
  // A parser keeps its buffers; those of a huge answer are given back.
  constexpr size_t kKeep = size_t{16} << 20;
  thread_local simdjson::ondemand::parser kept;
  std::unique_ptr<simdjson::ondemand::parser> large;
  simdjson::ondemand::parser* parser = &kept;
  if (text.size() > kKeep) {
    large = std::make_unique<simdjson::ondemand::parser>();
    parser = large.get();
  }
  const auto malformed = [](simdjson::error_code error) {
    return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  };
  if (text.capacity() < text.size() + simdjson::SIMDJSON_PADDING)
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::document document;
  if (auto error = parser->iterate(text.data(), text.size(), text.capacity()).get(document)) return malformed(error);
  json_type type;
  if (auto error = document.type().get(type)) return malformed(error);
  if (type != json_type::object) return Error("must be a JSON object");
  JsonValue root;
  if (auto error = document.get_value().get(root)) return malformed(error);
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  fn(context, root);
  if (!errors.empty()) return Error(Shortened(errors.front().Text()));
  return Error::Ok();
}

ClusterObject DecodeKind(Context& context, JsonValue value, Kind kind) {
  // The two that come in thousands, without the way through a variant of all kinds.
  if (kind == Kind::kPod) return Ptr<Pod>(std::make_shared<const Pod>(DecodePodValue(context, value)));
  if (kind == Kind::kNode) return Ptr<Node>(std::make_shared<const Node>(DecodeNodeValue(context, value)));
  return *ToClusterObject(DecodeAnyValue(context, value, kind));  // every kind has its decoder
}

struct Item {
  std::optional<ClusterObject> object;  // as far as it could be read
  std::string warning;                  // why that was not all of it; empty: all is well
  bool broken = false;                  // malformed: nothing behind it can be read either

  const std::string& name() const { return MetaOf(*object).name; }
};

Item ReadItem(JsonValue value, Kind kind, const AnnotationKeys& keep) {
  Item item;
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.KeepAnnotations(&keep);
  context.StopAtFirstError();
  json_type type;
  if (auto error = value.type().get(type)) {
    context.Broken(error);
  } else if (type != json_type::object) {
    context.WrongType("an object", value);
  } else {
    item.object = DecodeKind(context, value, kind);
  }
  if (errors.empty() && item.name().empty()) {
    At metadata(context, "metadata");
    At name(context, "name");
    context.Required();
  }
  if (errors.empty()) return item;
  item.broken = errors.front().malformed;
  errors.front().kind = ToString(kind);
  if (item.object) errors.front().name = FullName(MetaOf(*item.object));
  item.warning = Shortened(errors.front().Text());
  return item;
}

// kind and apiVersion need not be there.
bool HasKind(Context& context, JsonValue value, std::string_view kind) {
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type != json_type::object) return context.WrongType("an object", value), false;
  if (IsEmptyObject(context, value)) return true;
  if (context.broken()) return false;
  simdjson::ondemand::object object;
  if (auto error = value.get_object().get(object)) return context.Broken(error), false;
  std::string found;
  JsonValue text;
  const auto error = object.find_field_unordered("kind").get(text);
  if (error != simdjson::NO_SUCH_FIELD) {
    if (error) return context.Broken(error), false;
    At at(context, "kind");
    Read(context, text, found);
    if (!found.empty() && found != kind) context.Invalid(found, "must be " + std::string(kind));
  }
  bool filled = false;
  if (context.broken()) return false;
  if (auto failed = object.reset().get(filled)) return context.Broken(failed), false;
  return true;
}

struct StatusBody {
  std::string kind, message, reason;
  int32_t code = 0;
  bool version_too_large = false, invalid_uid = false;
};

void ReadStatus(Context& context, JsonValue value, StatusBody& status) {
  ForEachMember(context, value, [&](std::string_view key, JsonValue member) {
    if (key == "kind") {
      Read(context, member, status.kind);
    } else if (key == "message") {
      Read(context, member, status.message);
    } else if (key == "reason") {
      Read(context, member, status.reason);
    } else if (key == "code") {
      Read(context, member, status.code);
    } else if (key == "details") {
      ForEachMember(context, member, [&](std::string_view detail, JsonValue causes) {
        if (detail != "causes") return;
        ForEachItem(context, causes, [&](JsonValue cause) {
          std::string reason, field;
          ForEachMember(context, cause, [&](std::string_view part, JsonValue text) {
            if (part == "reason") Read(context, text, reason);
            if (part == "field") Read(context, text, field);
          });
          if (reason == "ResourceVersionTooLarge") status.version_too_large = true;
          if (reason == "FieldValueInvalid" && field == "metadata.uid") status.invalid_uid = true;
        });
      });
    }
  });
  // Servers before 1.17 say it in no other way (client-go: tools/cache/reflector.go, v0.36.4).
  if (status.message.starts_with("Too large resource version")) status.version_too_large = true;
}

std::optional<WatchEvent::Type> EventType(std::string_view text) {
  if (text == "ADDED") return WatchEvent::Type::kAdded;
  if (text == "MODIFIED") return WatchEvent::Type::kModified;
  if (text == "DELETED") return WatchEvent::Type::kDeleted;
  if (text == "BOOKMARK") return WatchEvent::Type::kBookmark;
  return std::nullopt;
}

// Version, and whether the initial events end here, out of a bookmark's object.
void ReadBookmark(Context& context, JsonValue value, WatchEvent& event) {
  ForEachMember(context, value, [&](std::string_view key, JsonValue metadata) {
    if (key != "metadata") return;
    ForEachMember(context, metadata, [&](std::string_view part, JsonValue member) {
      if (part == "resourceVersion") Read(context, member, event.resource_version);
      if (part != "annotations") return;
      ForEachMember(context, member, [&](std::string_view name, JsonValue text) {
        std::string said;
        if (name == "k8s.io/initial-events-end" && Read(context, text, said)) event.initial_end = said == "true";
      });
    });
  });
}

void ReadEvent(Context& context, WatchEvent::Type type, JsonValue object, Kind kind, const AnnotationKeys& keep,
               WatchLine& line) {
  WatchEvent& event = line.event.emplace();
  event.type = type;
  if (type == WatchEvent::Type::kBookmark) {
    return ReadBookmark(context, object, event);
  }
  if (!HasKind(context, object, ToString(kind))) return;
  Item item = ReadItem(object, kind, keep);
  if (item.broken) return context.Malformed(item.warning);
  line.warning = std::move(item.warning);
  if (item.object) event.resource_version = MetaOf(*item.object).resource_version;
  // Of what could not be read one thing is known, that its version has passed. That something is gone needs no more
  // than its name.
  const bool named = item.object && !item.name().empty();
  if (line.warning.empty() || (type == WatchEvent::Type::kDeleted && named)) {
    event.object = std::move(item.object);
  } else {
    event.type = WatchEvent::Type::kBookmark;
  }
}

}  // namespace

Result<ListPage> ReadListPage(std::string& body, Kind kind, const AnnotationKeys& keep) {
  ListPage page;
  const std::string list_kind = std::string(ToString(kind)) + "List";
  std::string found;
  size_t unreadable = 0;
  const Error error = Walk(body, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (key == "kind") {
        Read(context, value, found);
      } else if (key == "metadata") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue text) {
          if (part == "resourceVersion") Read(context, text, page.resource_version);
          if (part == "continue") Read(context, text, page.next);
        });
      } else if (key == "items") {
        ForEachItem(context, value, [&](JsonValue element) {
          Item item = ReadItem(element, kind, keep);
          if (item.warning.empty()) return page.objects.push_back(*std::move(item.object));
          if (item.broken) return context.Malformed(item.warning);
          if (++unreadable <= kMaxWarnings) page.warnings.push_back(std::move(item.warning));
        });
      }
    });
    if (found != list_kind) {
      At at(context, "kind");
      context.Invalid(found, "must be " + list_kind);
    }
  });
  if (!error.ok()) return error;
  if (unreadable > kMaxWarnings) {
    page.warnings.push_back("and " + std::to_string(unreadable - kMaxWarnings) + " more objects of kind " +
                            std::string(ToString(kind)) + " in this answer");
  }
  return page;
}

Result<WatchLine> ReadWatchLine(std::string& text, Kind kind, const AnnotationKeys& keep) {
  WatchLine line;
  const Error error = Walk(text, [&](Context& context, JsonValue root) {
    simdjson::ondemand::object members;
    if (auto failed = root.get_object().get(members)) return context.Broken(failed);
    JsonValue value;
    std::string type;
    if (auto failed = members.find_field_unordered("type").get(value)) return context.Broken(failed);
    {
      At at(context, "type");
      Read(context, value, type);
    }
    if (context.broken()) return;
    const std::optional<WatchEvent::Type> known = EventType(type);
    if (!known && type != "ERROR") {
      At at(context, "type");
      return context.Invalid(type, "is no type of event");
    }
    if (auto failed = members.find_field_unordered("object").get(value)) return context.Broken(failed);
    At at(context, "object");
    if (known) return ReadEvent(context, *known, value, kind, keep, line);
    StatusBody status;
    ReadStatus(context, value, status);
    // A code is always there; were it not, the watch is over all the same.
    line.failure = {status.code >= 300 ? status.code : 500, Shortened(status.message)};
    line.version_too_large = status.version_too_large;
  });
  if (!error.ok()) return error;
  return line;
}

Result<Ptr<Pod>> ReadPod(std::string& body, const AnnotationKeys& keep) {
  Item item;
  Error error = Walk(body, [&](Context& context, JsonValue root) {
    if (HasKind(context, root, "Pod")) item = ReadItem(root, Kind::kPod, keep);
  });
  if (!error.ok()) return error;
  if (!item.warning.empty()) return Error(item.warning);
  return std::get<Ptr<Pod>>(*item.object);
}

namespace {

// Adds the member to others, as the server wrote it.
void Keep(Context& context, std::string_view key, JsonValue value, std::string& members) {
  std::string_view text;
  if (auto error = simdjson::to_json_string(value).get(text)) return context.Broken(error);
  if (!members.empty()) members += ',';
  AppendJsonString(key, members);
  members += ':';
  members += text;
}

}  // namespace

Result<Lease> ReadLease(std::string& body) {
  Lease lease;
  Error error = Walk(body, [&](Context& context, JsonValue root) {
    if (!HasKind(context, root, "Lease")) return;
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (key == "metadata") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue text) {
          if (part == "name") {
            Read(context, text, lease.name);
          } else if (part == "namespace") {
            Read(context, text, lease.namespace_);
          } else if (part == "resourceVersion") {
            Read(context, text, lease.resource_version);
          } else if (part == "uid") {
            Read(context, text, lease.uid);
          } else if (part != "managedFields") {  // the server keeps these by itself
            Keep(context, part, text, lease.other_metadata);
          }
        });
      } else if (key == "spec") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue member) {
          std::optional<Time> time;
          if (part == "holderIdentity") {
            Read(context, member, lease.holder);
          } else if (part == "leaseDurationSeconds") {
            int32_t seconds = 0;
            if (Read(context, member, seconds)) lease.duration = Duration::Seconds(seconds);
          } else if (part == "acquireTime") {
            if (Read(context, member, time)) lease.acquired = *time;
          } else if (part == "renewTime") {
            if (Read(context, member, time)) lease.renewed = *time;
          } else if (part == "leaseTransitions") {
            Read(context, member, lease.transitions);
          } else {
            Keep(context, part, member, lease.other_spec);
          }
        });
      }
    });
  });
  if (!error.ok()) return error;
  return lease;
}

Error CheckSuccess(std::string& body, const Success& wanted) {
  if (body.empty()) return Error("the answer is empty");
  std::string kind, status, message, ns, name, uid;
  Error error = Walk(body, [&](Context& context, JsonValue root) {
    ForEachMember(context, root, [&](std::string_view key, JsonValue value) {
      if (key == "kind") {
        Read(context, value, kind);
      } else if (key == "metadata") {
        ForEachMember(context, value, [&](std::string_view part, JsonValue text) {
          if (part == "namespace") Read(context, text, ns);
          if (part == "name") Read(context, text, name);
          if (part == "uid") Read(context, text, uid);
        });
      } else if (kind == "Status" || kind.empty()) {  // the status of a pod is an object
        json_type type;
        if (auto failed = value.type().get(type)) return context.Broken(failed);
        if (type != json_type::string) return;
        if (key == "status") Read(context, value, status);
        if (key == "message") Read(context, value, message);
      }
    });
  });
  if (!error.ok()) return error;
  if (std::find(wanted.kinds.begin(), wanted.kinds.end(), kind) == wanted.kinds.end()) {
    std::string all;
    for (const std::string_view one : wanted.kinds) all += (all.empty() ? "" : " or ") + std::string(one);
    return Error(Shortened("kind: " + Quoted(kind) + ": must be " + all + (message.empty() ? "" : ": " + message)));
  }
  if (kind == "Status") {
    if (status == "Success") return Error::Ok();
    return Error(
        Shortened("status: " + Quoted(status) + ": must be Success" + (message.empty() ? "" : ": " + message)));
  }
  if (ns != wanted.namespace_ || name != wanted.name)
    return Error(
        Shortened("it is " + kind + " " + Quoted(ns + "/" + name) + ", not " + wanted.namespace_ + "/" + wanted.name));
  if (kind == "Pod" && !wanted.uid.empty() && uid != wanted.uid)
    return Error(Shortened("it is a pod of uid " + Quoted(uid) + ", not " + wanted.uid));
  return Error::Ok();
}

Refusal ReadRefusal(std::string& body) {
  StatusBody status;
  const Error error = Walk(body, [&](Context& context, JsonValue root) { ReadStatus(context, root, status); });
  if (error.ok() && status.kind == "Status" && !status.message.empty())
    return {Shortened(status.message), status.version_too_large, status.invalid_uid};
  std::string text = Shortened(body);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return {std::move(text), false};
}

}  // namespace berth::client
