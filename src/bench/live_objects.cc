// SPDX-License-Identifier: Apache-2.0
#include "bench/live_objects.h"

#include <algorithm>
#include <utility>

#include "bench/value_edit.h"
#include "client/resource_path.h"

namespace berth::bench {
namespace {

constexpr Duration kWritePatience = Duration::Seconds(30);  // with a write that may succeed if it is asked again
constexpr Duration kPause = Duration::Millis(250);          // before it is
constexpr char kStrict[] = "?fieldValidation=Strict";       // a field that the server does not know would be left out

Value MetaWith(const Value& object, const std::string& key, Value value) {
  const Value& meta = At(object, "metadata");
  return With(object, "metadata", With(meta.is_null() ? Value::Object() : meta, key, std::move(value)));
}

std::string UidIn(const Value& object) { return At(At(object, "metadata"), "uid").text(); }

// A new namespace gets its service account a moment later, from a controller; until then admission refuses pods there.
bool WaitsForAccount(const client::ApiStatus& status) {
  return status.code == 403 && status.message.find("service account") != std::string::npos;
}

}  // namespace

std::string ObjectKey::Text() const {
  return std::string(ToString(kind)) + " " + (ns.empty() ? name : ns + "/" + name);
}

std::string ObjectKey::Path() const { return client::ObjectPath(kind, ns, name); }

ObjectKey KeyOf(Kind kind, const Value& body) {
  const Value& meta = At(body, "metadata");
  return {kind, IsNamespaced(kind) ? At(meta, "namespace").text() : "", At(meta, "name").text()};
}

// One write, however many requests it takes.
struct LiveObjects::Call {
  ObjectKey key;
  std::string uid;  // of the object that is meant; creating: of the one that was there before
  Value body;
  std::string path;  // of a change
  bool whole = false;
  Done done;
  Time until;  // it is not asked again after that
  Finalizers finalizers = Finalizers::kRespect;
  bool deletion = false;
};

LiveObjects::CallPtr LiveObjects::Begin(const ObjectKey& key, Done done) {
  auto call = std::make_shared<Call>();
  call->key = key;
  if (const auto found = made_.find(key); found != made_.end()) call->uid = found->second.uid;
  call->done = std::move(done);
  call->until = loop_.Now() + kWritePatience;
  ++under_way_;
  return call;
}

void LiveObjects::Finish(const CallPtr& call, const Written& written) {
  --under_way_;
  std::exchange(call->done, nullptr)(written);
}

void LiveObjects::Fail(const CallPtr& call, const client::ApiStatus& status) {
  Written written;
  written.error = Error(call->key.Text() + ": " + client::TextOf(status));
  Finish(call, written);
}

bool LiveObjects::TryAgain(const CallPtr& call, const client::ApiStatus& status, std::function<void()> again) {
  const bool may_help = status.uncertain() || status.unsent() || status.code == 429 || WaitsForAccount(status);
  if (!may_help || loop_.Now() >= call->until || (stopped_ && !call->deletion)) return false;
  loop_.After(kPause, std::move(again));
  return true;
}

bool LiveObjects::IsOurs(const Value& object) const {
  return At(At(At(object, "metadata"), "annotations"), kMark).text() == mark_;
}

Value LiveObjects::Marked(const Value& object) const {
  const Value& annotations = At(At(object, "metadata"), "annotations");
  return MetaWith(object, "annotations",
                  With(annotations.is_null() ? Value::Object() : annotations, kMark, Value::String(mark_)));
}

// Creating.

void LiveObjects::Create(Kind kind, const Value& body, Done done) {
  const CallPtr call = Begin(KeyOf(kind, body), std::move(done));
  // A path that ends before the name would mean all objects there.
  const std::string& name = call->key.name;
  if (name.empty() || name == "." || name == ".." || (IsNamespaced(kind) && call->key.ns.empty())) {
    Written written;
    written.error = Error(std::string(ToString(kind)) + ": metadata.name: must be a name, got " +
                          At(At(body, "metadata"), "name").ToJson());
    loop_.inbox().Post([this, call, written] { Finish(call, written); });
    return;
  }
  call->body = Marked(body);
  made_[call->key].sure = false;
  Post(call);
}

void LiveObjects::Post(const CallPtr& call) {
  const std::string path = client::CollectionPath(call->key.kind, call->key.ns) + kStrict;
  requests_.Post(path, call->body, [this, call](const LiveAnswer& answer) {
    if (answer.status.ok()) return Took(call, answer.body);
    if (answer.status.conflict()) return LookUp(call);
    if (TryAgain(call, answer.status, [this, call] { Post(call); })) return;
    // A refusal is certain: nothing was made. What it replaces, if anything, is as it was.
    if (!answer.status.uncertain() && call->uid.empty()) made_.erase(call->key);
    Fail(call, answer.status);
  });
}

void LiveObjects::Took(const CallPtr& call, const Value& object) {
  Written written;
  const std::string uid = UidIn(object);
  if (uid.empty()) {  // it may be there all the same
    written.error = Error(call->key.Text() + ": the API server answered with an object without a uid");
  } else {
    made_[call->key] = {uid, true};
    written.object = object;
  }
  Finish(call, written);
}

// Whose is what exists already: ours if an answer was lost.
void LiveObjects::LookUp(const CallPtr& call) {
  requests_.Get(call->key.Path(), [this, call](const LiveAnswer& answer) {
    const client::ApiStatus& status = answer.status;
    if (status.not_found() && loop_.Now() < call->until && !stopped_) {  // gone meanwhile
      loop_.After(kPause, [this, call] { Post(call); });
      return;
    }
    if (!status.ok()) {
      if (!TryAgain(call, status, [this, call] { LookUp(call); })) Fail(call, status);
      return;
    }
    const Made made = made_[call->key];  // by now; another Create may have had it
    if (IsOurs(answer.body) && UidIn(answer.body) != made.uid) return Took(call, answer.body);
    Written written;
    written.exists = IsOurs(answer.body);
    written.error = Error(call->key.Text() + " exists already" +
                          (written.exists ? "" : ", and was not made by this run: it is left as it is"));
    if (written.exists) {
      made_[call->key].sure = true;
    } else {
      made_.erase(call->key);
    }
    Finish(call, written);
  });
}

// Changing and reading.

void LiveObjects::Patch(const ObjectKey& key, const std::string& subresource, const Value& patch, Done done) {
  const CallPtr call = Begin(key, std::move(done));
  call->path = key.Path() + (subresource.empty() ? "" : "/" + subresource);
  call->body = MetaWith(patch, "uid", Value::String(call->uid));
  Change(call);
}

void LiveObjects::Replace(const ObjectKey& key, const std::string& subresource, const Value& body, Done done) {
  const CallPtr call = Begin(key, std::move(done));
  call->path = key.Path() + (subresource.empty() ? "" : "/" + subresource) + kStrict;
  call->whole = true;
  call->body = MetaWith(Marked(body), "uid", Value::String(call->uid));
  Change(call);
}

void LiveObjects::Change(const CallPtr& call) {
  const auto done = [this, call](const LiveAnswer& answer) {
    if (answer.status.ok()) return Finish(call, {Error::Ok(), false, answer.body});
    if (!TryAgain(call, answer.status, [this, call] { Change(call); })) Fail(call, answer.status);
  };
  if (call->whole) {
    requests_.Put(call->path, call->body, done);
  } else {
    requests_.Patch(call->path, call->body, done);
  }
}

void LiveObjects::Read(const ObjectKey& key, Done done) {
  const CallPtr call = Begin(key, std::move(done));
  requests_.Get(key.Path(), [this, call](const LiveAnswer& answer) {
    if (!answer.status.ok()) return Fail(call, answer.status);
    Finish(call, {Error::Ok(), false, answer.body});
  });
}

// Deleting.

void LiveObjects::Remove(const ObjectKey& key, Finalizers finalizers, Done done) {
  const CallPtr call = Begin(key, std::move(done));
  call->finalizers = finalizers;
  call->deletion = true;
  const auto found = made_.find(key);
  if (found == made_.end()) {  // by now it is gone
    loop_.inbox().Post([this, call] { Finish(call, {}); });
  } else if (found->second.sure) {
    Delete(call);
  } else {
    DeleteUnsure(call);
  }
}

void LiveObjects::Delete(const CallPtr& call) {
  Value options = Value::Object();
  options.Set("kind", Value::String("DeleteOptions")).Set("apiVersion", Value::String("v1"));
  options.Set("gracePeriodSeconds", Value::Int(0)).Set("propagationPolicy", Value::String("Background"));
  options.Set("preconditions", Value::Object({{"uid", Value::String(call->uid)}}));
  requests_.Delete(call->key.Path(), options, [this, call](const LiveAnswer& answer) {
    // With another uid it is not the one that we made: that one is gone.
    if (answer.status.not_found() || answer.status.conflict()) {
      const bool terminating_namespace = call->key.kind == Kind::kNamespace && answer.status.conflict();
      return terminating_namespace ? Finish(call, {}) : Gone(call);
    }
    if (!answer.status.ok()) {
      if (!TryAgain(call, answer.status, [this, call] { Delete(call); })) Fail(call, answer.status);
      return;
    }
    if (call->key.kind == Kind::kNamespace) return Finish(call, {});
    if (At(At(answer.body, "metadata"), "finalizers").items().empty()) return Gone(call);
    if (call->finalizers == Finalizers::kRespect) return Finish(call, {});
    Strip(call);
  });
}

// Whether it was made, and with which uid, nobody has told yet.
void LiveObjects::DeleteUnsure(const CallPtr& call) {
  requests_.Get(call->key.Path(), [this, call](const LiveAnswer& answer) {
    if (answer.status.not_found()) return Gone(call);
    if (!answer.status.ok()) {
      if (!TryAgain(call, answer.status, [this, call] { DeleteUnsure(call); })) Fail(call, answer.status);
      return;
    }
    if (!IsOurs(answer.body)) return Gone(call);
    call->uid = UidIn(answer.body);
    made_[call->key] = {call->uid, true};
    Delete(call);
  });
}

// The finalizers were the template's, or for whoever protects what is in use: nobody will come for this object.
void LiveObjects::Strip(const CallPtr& call) {
  Value meta = Value::Object();
  meta.Set("uid", Value::String(call->uid)).Set("finalizers", Value());
  requests_.Patch(call->key.Path(), Value::Object({{"metadata", std::move(meta)}}),
                  [this, call](const LiveAnswer& answer) {
                    const client::ApiStatus& status = answer.status;
                    if (status.ok() || status.not_found() || status.conflict()) return Gone(call);
                    if (!TryAgain(call, status, [this, call] { Strip(call); })) Fail(call, status);
                  });
}

void LiveObjects::Gone(const CallPtr& call) {
  made_.erase(call->key);
  Finish(call, {});
}

void LiveObjects::LookWhetherGone(const ObjectKey& key, std::function<void(bool, const Value&)> done) {
  ++under_way_;
  requests_.Get(key.Path(), [this, key, done = std::move(done)](const LiveAnswer& answer) {
    --under_way_;
    const bool gone = answer.status.not_found() || (answer.status.ok() && !IsOurs(answer.body));
    if (gone) made_.erase(key);
    done(gone, answer.body);
  });
}

void LiveObjects::ReleaseNamespace(const ObjectKey& key, Done done) {
  const CallPtr call = Begin(key, std::move(done));
  call->deletion = true;
  Value meta = Value::Object();
  meta.Set("name", Value::String(key.name)).Set("uid", Value::String(call->uid));
  call->body = Value::Object();
  call->body.Set("kind", Value::String("Namespace")).Set("apiVersion", Value::String("v1"));
  call->body.Set("metadata", std::move(meta)).Set("spec", Value::Object({{"finalizers", Value::Array()}}));
  // What the scheduler told people about pods there.
  requests_.Delete("/api/v1/namespaces/" + client::UrlEncode(key.name) + "/events", Value(),
                   [this, call](const LiveAnswer&) {
                     requests_.Put(call->key.Path() + "/finalize", call->body, [this, call](const LiveAnswer& answer) {
                       if (answer.status.ok() || answer.status.not_found()) return Gone(call);
                       Fail(call, answer.status);
                     });
                   });
}

size_t LiveObjects::Count(Kind kind) const {
  return static_cast<size_t>(
      std::count_if(made_.begin(), made_.end(), [kind](const auto& entry) { return entry.first.kind == kind; }));
}

std::vector<ObjectKey> LiveObjects::All() const {
  std::vector<ObjectKey> keys;
  keys.reserve(made_.size());
  for (const auto& [key, made] : made_) keys.push_back(key);
  return keys;
}

}  // namespace berth::bench
