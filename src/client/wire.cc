// SPDX-License-Identifier: Apache-2.0
#include "client/wire.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/source_text.h"
#include "client/wire_walk.h"

namespace berth::client {
namespace {

using simdjson::ondemand::json_type;
using namespace wire;

// Whose texts are kept, and the text of the object; empty: it is not wanted. What is known of pods, if anybody keeps
// that.
struct Sources {
  SourceKinds kinds;
  std::string_view text;
  PodParts* parts = nullptr;
};

// The text of an object of which nothing was read yet; empty: it is not wanted, or malformed.
std::string_view SourceText(JsonValue value, std::string_view document, bool wanted) {
  const char* start = nullptr;
  if (!wanted) return {};
  if (value.current_location().get(start)) return {};
  const auto offset = static_cast<size_t>(start - document.data());
  if (offset >= document.size() || document[offset] != '{') return {};
  const Result<size_t> end = ScanJsonValue(document, offset);
  return end.ok() ? document.substr(offset, *end - offset) : std::string_view();
}

// Protobuf is not passed on.
std::string_view SourceText(const ProtoValue&, std::string_view, bool) { return {}; }

ClusterObject DecodeKind(Context& context, JsonValue value, Kind kind, const Sources& sources) {
  const std::string_view text = sources.text;
  // The two that come in thousands, without the way through a variant of all kinds.
  if (kind == Kind::kPod) {
    std::shared_ptr<Pod> pod = DecodeSharedPod(context, value);
    if (!text.empty() && (pod->node_name.empty() ? sources.kinds.pending_pods : sources.kinds.placed_pods))
      return WithSource(std::move(*pod), TrimmedSource(text, /*managed_fields=*/false));
    return Ptr<Pod>(std::move(pod));
  }
  if (kind == Kind::kNode) {
    Node node = DecodeNodeValue(context, value);
    if (!text.empty()) return WithSource(std::move(node), TrimmedSource(text, /*managed_fields=*/true));
    return Ptr<Node>(std::make_shared<const Node>(std::move(node)));
  }
  return *ToClusterObject(DecodeAnyValue(context, value, kind));  // every kind has its decoder
}

std::optional<ClusterObject> DecodeItem(Context& context, JsonValue value, Kind kind, const Sources& sources) {
  json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), std::nullopt;
  if (type != json_type::object) return context.WrongType("an object", value), std::nullopt;
  return DecodeKind(context, value, kind, sources);
}

std::optional<ClusterObject> DecodeItem(Context& context, const ProtoValue& value, Kind kind, const Sources&) {
  if (kind == Kind::kPod) return Ptr<Pod>(DecodeSharedPod(context, value));
  if (kind == Kind::kNode) return Ptr<Node>(std::make_shared<const Node>(DecodeNodeValue(context, value)));
  context.MustBe("JSON", "protobuf");  // nobody has asked for it
  return std::nullopt;
}

struct Item {
  std::optional<ClusterObject> object;  // as far as it could be read
  std::string warning;                  // why that was not all of it; empty: all is well
  bool broken = false;                  // malformed: nothing behind it can be read either

  const std::string& name() const { return MetaOf(*object).name; }
};

template <class Value>
Item ReadItem(Value value, Kind kind, const AnnotationKeys& keep, const Sources& sources) {
  Item item;
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.KeepAnnotations(&keep);
  context.UseParts(sources.parts);
  context.StopAtFirstError();
  item.object = DecodeItem(context, value, kind, sources);
  if (errors.empty() && item.name().empty()) {
    At metadata(context, "metadata");
    At name(context, "name");
    context.Required();
  }
  if (errors.empty()) return item;
  // Where an object of protobuf ends is known without reading it.
  item.broken = errors.front().malformed && std::is_same_v<Value, JsonValue>;
  errors.front().kind = ToString(kind);
  if (item.object) errors.front().name = FullName(MetaOf(*item.object));
  item.warning = Shortened(errors.front().Text());
  return item;
}

struct StatusBody {
  std::string kind, message, reason;
  int32_t code = 0;
  bool version_too_large = false, invalid_uid = false;
};

template <class Value>
void ReadStatus(Context& context, Value value, StatusBody& status) {
  ForEachMember(context, value, [&](std::string_view key, Value member) {
    if (key == "kind") {
      Read(context, member, status.kind);
    } else if (key == "message") {
      Read(context, member, status.message);
    } else if (key == "reason") {
      Read(context, member, status.reason);
    } else if (key == "code") {
      Read(context, member, status.code);
    } else if (key == "details") {
      ForEachMember(context, member, [&](std::string_view detail, Value causes) {
        if (detail != "causes") return;
        ForEachItem(context, causes, [&](Value cause) {
          std::string reason, field;
          ForEachMember(context, cause, [&](std::string_view part, Value text) {
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
template <class Value>
void ReadBookmark(Context& context, Value value, WatchEvent& event) {
  ForEachMember(context, value, [&](std::string_view key, Value metadata) {
    if (key != "metadata") return;
    ForEachMember(context, metadata, [&](std::string_view part, Value member) {
      if (part == "resourceVersion") Read(context, member, event.resource_version);
      if (part != "annotations") return;
      ForEachMember(context, member, [&](std::string_view name, Value text) {
        std::string said;
        if (name == "k8s.io/initial-events-end" && Read(context, text, said)) event.initial_end = said == "true";
      });
    });
  });
}

// `envelope`: the object's kind, if it has one. The text of `sources` is the whole document.
template <class Value>
void ReadEvent(Context& context, WatchEvent::Type type, Value object, std::string_view envelope, Kind kind,
               const AnnotationKeys& keep, const Sources& sources, WatchLine& line) {
  WatchEvent& event = line.event.emplace();
  event.type = type;
  if (type == WatchEvent::Type::kBookmark) {
    return ReadBookmark(context, object, event);
  }
  // Before anybody looks into it: from then on the reader does not know where it began.
  const std::string_view source = SourceText(object, sources.text, sources.kinds.any(kind));
  if (!HasKind(context, object, envelope, ToString(kind))) return;
  Item item = ReadItem(object, kind, keep, {sources.kinds, source, sources.parts});
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

// No value, and recorded: nobody knows such an event. Else whether it is one of objects; the other one is ERROR.
std::optional<bool> IsOfObjects(Context& context, std::string_view type) {
  if (EventType(type)) return true;
  if (type == "ERROR") return false;
  At at(context, "type");
  context.Invalid(type, "is no type of event");
  return std::nullopt;
}

template <class Value>
void ReadFailure(Context& context, Value value, WatchLine& line) {
  StatusBody status;
  ReadStatus(context, value, status);
  // A code is always there; were it not, the watch is over all the same.
  line.failure = {status.code >= 300 ? status.code : 500, Shortened(status.message)};
  line.version_too_large = status.version_too_large;
}

}  // namespace

Result<ListPage> ReadListPage(std::string& body, Encoding encoding, Kind kind, const AnnotationKeys& keep,
                              const SourceKinds& sources) {
  ListPage page;
  const std::string list_kind = std::string(ToString(kind)) + "List";
  size_t unreadable = 0;
  const Error error = Walk(body, encoding, [&]<class Value>(Context& context, Value root, std::string_view envelope) {
    std::string found(envelope);
    ForEachMember(context, root, [&](std::string_view key, Value value) {
      if (key == "kind") {
        Read(context, value, found);
      } else if (key == "metadata") {
        ForEachMember(context, value, [&](std::string_view part, Value text) {
          if (part == "resourceVersion") Read(context, text, page.resource_version);
          if (part == "continue") Read(context, text, page.next);
        });
      } else if (key == "items") {
        ForEachItem(context, value, [&](Value element) {
          const std::string_view source = SourceText(element, body, sources.any(kind));
          Item item = ReadItem(element, kind, keep, {sources, source});
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

Result<WatchLine> ReadWatchLine(std::string& text, Kind kind, const AnnotationKeys& keep, const SourceKinds& sources) {
  WatchLine line;
  const Error error = WalkJson(text, [&](Context& context, JsonValue root, std::string_view) {
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
    const std::optional<bool> objects = IsOfObjects(context, type);
    if (!objects) return;
    if (auto failed = members.find_field_unordered("object").get(value)) return context.Broken(failed);
    At at(context, "object");
    if (*objects) return ReadEvent(context, *EventType(type), value, "", kind, keep, {sources, text}, line);
    ReadFailure(context, value, line);
  });
  if (!error.ok()) return error;
  return line;
}

namespace {

Error ReadFrame(std::string_view frame, Kind kind, const AnnotationKeys& keep, PodParts* parts, WatchLine& line) {
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  const std::optional<ProtoWatchEvent> event = OpenWatchEvent(context, frame);
  if (!event || !IsOfObjects(context, event->type)) return FirstError(errors);
  const std::optional<WatchEvent::Type> type = EventType(event->type);
  const std::optional<ProtoEnvelope> envelope = OpenEnvelope(context, event->object);
  if (!envelope) return FirstError(errors);
  std::string repaired;
  const std::string_view found = Repaired(envelope->kind, repaired);
  // A bookmark's object has metadata and nothing else.
  const ProtoMessage& schema = type == WatchEvent::Type::kBookmark
                                   ? ProtoMetadata()
                                   : ProtoMessageOf(envelope->kind.empty() ? ToString(kind) : envelope->kind);
  const ProtoValue object = ProtoValue::Of(envelope->raw, schema);
  At at(context, "object");
  if (type) {
    ReadEvent(context, *type, object, found, kind, keep, {{}, {}, parts}, line);
  } else {
    ReadFailure(context, object, line);
  }
  return FirstError(errors);
}

}  // namespace

Result<WatchLine> ReadWatchFrame(std::string_view frame, Kind kind, const AnnotationKeys& keep, PodParts* parts) {
  Result<WatchLine> line = WatchLine();
  Error error = ReadFrame(frame, kind, keep, parts, line.value());
  if (!error.ok()) line = std::move(error);
  return line;
}

Result<Ptr<Pod>> ReadPod(std::string& body, Encoding encoding, const AnnotationKeys& keep) {
  Item item;
  Error error = Walk(body, encoding, [&]<class Value>(Context& context, Value root, std::string_view found) {
    if (HasKind(context, root, found, "Pod")) item = ReadItem(root, Kind::kPod, keep, {{}, {}});
  });
  if (!error.ok()) return error;
  if (!item.warning.empty()) return Error(item.warning);
  return std::get<Ptr<Pod>>(*item.object);
}

namespace {

bool IsString(Context& context, JsonValue value) {
  json_type type;
  if (auto failed = value.type().get(type)) return context.Broken(failed), false;
  return type == json_type::string;
}
bool IsString(Context&, const ProtoValue& value) { return value.wire == ProtoWire::kBytes && value.message == nullptr; }

// A text of an answer. Of protobuf it is not copied, unless it has to be repaired. REQUIRES: the answer outlives it.
class AnswerText {
 public:
  AnswerText() = default;
  AnswerText(const AnswerText&) = delete;
  AnswerText& operator=(const AnswerText&) = delete;

  std::string_view view() const { return view_; }
  void Copy(std::string_view text) { view_ = store_ = text; }
  // Left alone if the value is none, which is recorded.
  void Read(Context& context, JsonValue value) {
    if (berth::Read(context, value, store_)) view_ = store_;
  }
  void Read(Context& context, const ProtoValue& value) {
    if (ReadBytes(context, value, view_)) view_ = Repaired(view_, store_);
  }

 private:
  std::string_view view_;
  std::string store_;
};

}  // namespace

Error CheckSuccess(std::string& body, Encoding encoding, const Success& wanted, Said* said) {
  if (body.empty()) return Error("the answer is empty");
  AnswerText kind_text, status_text, message_text, ns_text, name_text, uid_text, version_text;
  const auto look = [&]<class Value>(Context& context, Value root, std::string_view found) {
    kind_text.Copy(found);
    ForEachMember(context, root, [&](MemberName key, const Value& value) {
      if (key == "kind") {
        kind_text.Read(context, value);
      } else if (key == "metadata") {
        ForEachMember(context, value, [&](MemberName part, const Value& text) {
          if (part == "namespace") {
            ns_text.Read(context, text);
          } else if (part == "name") {
            name_text.Read(context, text);
          } else if (part == "uid") {
            uid_text.Read(context, text);
          } else if (part == "resourceVersion") {
            version_text.Read(context, text);
          }
        });
      } else if (kind_text.view() == "Status" || kind_text.view().empty()) {  // the status of a pod is an object
        if (!IsString(context, value)) return;
        if (key == "status") status_text.Read(context, value);
        if (key == "message") message_text.Read(context, value);
      }
    });
  };
  // Of an object the metadata is enough.
  const auto schema = [](std::string_view found) -> const ProtoMessage& {
    return found == "Status" ? ProtoMessageOf(found) : ProtoMetadata();
  };
  Error error = encoding == Encoding::kJson ? WalkJson(body, look) : WalkProtobuf(body, schema, look);
  if (!error.ok()) return error;
  const std::string_view kind = kind_text.view(), ns = ns_text.view(), name = name_text.view(), uid = uid_text.view();
  const auto with_message = [&](std::string text) {
    const std::string_view message = message_text.view();
    if (!message.empty()) text.append(": ").append(message);
    return Error(Shortened(text));
  };
  if (std::find(wanted.kinds.begin(), wanted.kinds.end(), kind) == wanted.kinds.end()) {
    std::string all;
    for (const std::string_view one : wanted.kinds) all += (all.empty() ? "" : " or ") + std::string(one);
    return with_message("kind: " + Quoted(kind) + ": must be " + all);
  }
  if (kind == "Status") {
    const std::string_view status = status_text.view();
    if (status != "Success") return with_message("status: " + Quoted(status) + ": must be Success");
    if (said != nullptr) said->status = true;
    return Error::Ok();
  }
  if (ns != wanted.namespace_ || name != wanted.name) {
    const std::string full_name = std::string(ns).append("/").append(name);
    const std::string wanted_name = std::string(wanted.namespace_).append("/").append(wanted.name);
    return Error(Shortened("it is " + std::string(kind) + " " + Quoted(full_name) + ", not " + wanted_name));
  }
  if (kind == "Pod" && !wanted.uid.empty() && uid != wanted.uid)
    return Error(Shortened("it is a pod of uid " + Quoted(uid) + ", not " + std::string(wanted.uid)));
  if (said != nullptr) said->version = version_text.view();
  return Error::Ok();
}

Refusal ReadRefusal(std::string& body, Encoding encoding) {
  StatusBody status;
  const Error error = Walk(body, encoding, [&]<class Value>(Context& context, Value root, std::string_view found) {
    status.kind = found;
    ReadStatus(context, root, status);
  });
  if (error.ok() && status.kind == "Status" && !status.message.empty())
    return {Shortened(status.message), status.version_too_large, status.invalid_uid};
  std::string text = Shortened(body);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return {std::move(text), false};
}

}  // namespace berth::client
