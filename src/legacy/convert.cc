// SPDX-License-Identifier: Apache-2.0
// Upstream: apis/config/v1alpha1 (1.18: defaults.go, conversion.go), v1alpha2, v1beta1 (1.22), v1beta2 (1.27), v1beta3
// (1.28).
#include "legacy/convert.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "api/json_value.h"
#include "berth/pod.h"
#include "config/decode.h"
#include "config/load.h"
#include "legacy/extenders.h"
#include "legacy/old_plugins.h"
#include "legacy/policy.h"
#include "util/read_file.h"

namespace berth::legacy {
namespace {

// A configuration is small; it does not need room for what aliases make of it.
constexpr size_t kBudget = size_t{4} << 20;
constexpr uint64_t kMaxPolicyBytes = uint64_t{16} << 20;

std::string Show(const Value& value) { return value.ToJson(); }
std::string Show(std::string_view text) { return Quote(text); }

Value WriteRefs(const std::vector<config::PluginRef>& refs) {
  Value list = Value::Array();
  for (const config::PluginRef& ref : refs) {
    Value one = Value::Object({{"name", Value::String(ref.name)}});
    if (ref.weight != 0) one.Set("weight", Value::Int(ref.weight));
    list.Append(std::move(one));
  }
  return list;
}

void WriteSet(Value& object, const char* key, const config::PluginSet& set) {
  if (set.enabled.empty() && set.disabled.empty()) return;
  Value made = Value::Object();
  if (!set.enabled.empty()) made.Set("enabled", WriteRefs(set.enabled));
  if (!set.disabled.empty()) made.Set("disabled", WriteRefs(set.disabled));
  object.Set(key, std::move(made));
}

// With what is in a Policy's place.
std::string WhatToDoWith(const std::string& kind) {
  if (kind == config::kKind) return "; a KubeSchedulerConfiguration is given with --config";
  if (kind != "ConfigMap") return "";
  return std::string("; this is a ConfigMap's manifest: give the text of its key ") + kPolicyKey +
         " as a file of its own, or name the ConfigMap (--policy-configmap, algorithmSource.policy.configMap)";
}

class Conversion {
 public:
  Conversion(const ConvertOptions& options, Draft& draft, std::unique_ptr<Source>& policy)
      : options_(options), draft_(draft), policy_(policy), main_(draft.source()), version_(draft.version()) {}

  Value Run() {
    document_.Set("apiVersion", Value::String(std::string(config::kApiVersion)));
    document_.Set("kind", Value::String(std::string(config::kKind)));
    context_.defaults = options_.defaults;
    if (version_ == Version::kPolicy) {
      RunPolicy();
    } else {
      RunConfiguration();
    }
    if (!extenders_.is_null()) document_.Set("extenders", std::move(extenders_));
    return std::move(document_);
  }

 private:
  bool Alpha() const { return IsAlpha1(version_) || version_ == Version::kV1alpha2; }

  void RunPolicy() {
    ProfileDraft profile{"", "profiles[0]", {}, {}};
    extenders_ = ConvertPolicy(draft_, profile).extenders;
    Value profiles = Value::Array();
    profiles.Append(WriteProfile(profile, kDefaultScheduler));
    document_.Set("profiles", std::move(profiles));
  }

  void RunConfiguration() {
    std::vector<FieldError> errors;
    ArgsReader in(&main_.document, "", &errors);
    if (!Alpha()) Copy(in, "parallelism");
    TakeLeaderElection(in);
    TakeObject(in, "clientConnection", {"kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"});
    for (const char* field : {"enableProfiling", "enableContentionProfiling", "percentageOfNodesToScore",
                              "podInitialBackoffSeconds", "podMaxBackoffSeconds"})
      Copy(in, field);
    if (version_ != Version::kV1beta3) TakeAddresses(in);
    if (Alpha()) {
      in.Bool("disablePreemption", context_.disable_preemption);
      if (const Value* timeout = in.Raw("bindTimeoutSeconds")) bind_timeout_ = *timeout;
    }
    if (IsAlpha1(version_)) {
      TakeOnlyProfile(in);
    } else {
      TakeProfiles(in);
      const Value* extenders = in.Raw("extenders");
      extenders_ = ConvertExtenders(extenders == nullptr ? Value() : *extenders, draft_);
    }
    in.Finish();
    draft_.Take(std::move(errors));
  }

  void Copy(ArgsReader& in, const char* field) {
    if (const Value* value = in.Raw(field)) document_.Set(field, *value);
  }

  // Those fields of an object that its version knows.
  Value Known(const Value& object, const std::vector<std::string_view>& fields, const std::string& path) {
    if (object.kind() != Value::Kind::kObject) return object;
    Value kept = Value::Object();
    for (const auto& [key, value] : object.members()) {
      if (std::ranges::find(fields, key) != fields.end()) {
        kept.Set(key, value);
      } else {
        draft_.Take({{Join(path, key), "unknown field " + Show(key)}});
      }
    }
    return kept;
  }

  void TakeObject(ArgsReader& in, const char* field, const std::vector<std::string_view>& fields) {
    if (const Value* value = in.Raw(field)) document_.Set(field, Known(*value, fields, field));
  }

  void TakeLeaderElection(ArgsReader& in) {
    const Value* given = in.Raw("leaderElection");
    std::vector<std::string_view> fields = {"leaderElect",  "leaseDuration", "renewDeadline",    "retryPeriod",
                                            "resourceLock", "resourceName",  "resourceNamespace"};
    if (IsAlpha1(version_)) fields.insert(fields.end(), {"lockObjectName", "lockObjectNamespace"});
    Value election = given == nullptr ? Value::Object() : Known(*given, fields, "leaderElection");
    if (election.kind() != Value::Kind::kObject) {
      document_.Set("leaderElection", std::move(election));  // v1 says what is wrong with it
      return;
    }
    TakeLock(election, "lockObjectName", "resourceName", "ResourceName and LockObjectName", "ResourceName",
             "LockObjectName");
    TakeLock(election, "lockObjectNamespace", "resourceNamespace", "ResourceNamespace and LockObjectNamespace",
             "ResourceNamespace", "LockObjectNamespace");
    const Value* lock = election.Find("resourceLock");
    const Value* elect = election.Find("leaderElect");
    const std::string text = lock != nullptr ? lock->text() : "";
    if (text == "endpoints" || text == "configmaps" || text == "endpointsleases" || text == "configmapsleases") {
      draft_.Remark(Fate::kChanged, "leaderElection.resourceLock", "leaderElection.resourceLock",
                    Show(text) + ". " + TextOf(RowKind::kField, "leaderElection.resourceLock"));
      election = With(election, "resourceLock", Value::String("leases"));
    } else if (Alpha() && text.empty() && (elect == nullptr || elect->bool_value() || elect->is_null())) {
      draft_.Remark(Fate::kChanged, "leaderElection", "leaderElection",
                    "the lock. " + TextOf(RowKind::kField, "leaderElection.resourceLock"));
    }
    if (!election.members().empty()) document_.Set("leaderElection", std::move(election));
  }

  void TakeLock(Value& election, const char* old_name, const char* new_name, const char* both, const char* first,
                const char* second) {
    const Value* old_value = election.Find(old_name);
    if (old_value == nullptr) return;
    const std::string path = std::string("leaderElection.") + old_name;
    const Value* given = election.Find(new_name);
    const Value moved = *old_value;
    const auto set = [](const Value* value) {
      return value != nullptr && value->kind() == Value::Kind::kString && !value->text().empty();
    };
    if (set(given) && set(&moved) && !(*given == moved)) {
      draft_.Refuse(path, std::string("Invalid value: ") + Show(moved) + ": " + both +
                              " are both set and do not match, " + first + ": " + given->text() + ", " + second + ": " +
                              moved.text());
    }
    draft_.ComesFrom(std::string("leaderElection.") + new_name, path);
    const bool use = !set(given);
    election = Without(election, old_name);
    if (use && !moved.is_null()) election = With(election, new_name, moved);
  }

  void TakeAddresses(ArgsReader& in) {
    for (const char* field : {"healthzBindAddress", "metricsBindAddress"}) {
      const Value* address = in.Raw(field);
      if (address == nullptr) continue;
      std::string text;
      in.String(field, text);
      if (text.empty()) continue;
      draft_.Remark(Fate::kDropped, field, "",
                    Show(text) + ". " + TextOf(RowKind::kField, "healthzBindAddress, metricsBindAddress"));
    }
  }

  // Fields of v1alpha1 and v1alpha2 that are arguments of plugins today.
  void AddOldFields(ProfileDraft& profile) {
    if (bind_timeout_.is_null() || bind_timeout_ == Value::Int(600)) return;
    ArgsList::Entry& entry = profile.args.Of("VolumeBinding", "bindTimeoutSeconds");
    entry.args = With(entry.args, "bindTimeoutSeconds", bind_timeout_);
    draft_.ComesFrom(profile.today + ".pluginConfig[" + std::to_string(profile.args.entries().size() - 1) +
                         "].args.bindTimeoutSeconds",
                     "bindTimeoutSeconds");
    draft_.Remark(Fate::kChanged, "bindTimeoutSeconds", profile.today + ".pluginConfig",
                  "an argument of VolumeBinding today");
  }

  void TakeOnlyProfile(ArgsReader& in) {
    ProfileDraft profile{"", "profiles[0]", {}, {}};
    std::string name = kDefaultScheduler;
    in.String("schedulerName", name);
    draft_.ComesFrom("profiles[0]", "");
    draft_.ComesFrom("profiles[0].schedulerName", "schedulerName");
    const Value* hard = in.Raw("hardPodAffinitySymmetricWeight");
    if (in.Raw("failureDomains") != nullptr)
      draft_.Remark(Fate::kDropped, "failureDomains", "", TextOf(RowKind::kField, "failureDomains"));
    std::optional<PolicyReference> policy;
    TakeAlgorithmSource(in, policy);
    const bool has_plugins = in.Has("plugins"), has_args = in.Has("pluginConfig");
    const OldPlugins plugins = ReadOldPlugins(in, draft_);
    const ArgsList args = ReadOldArgs(in, draft_);
    if (policy) {
      // Not merged by any release.
      const std::string policy_path = "algorithmSource.policy";
      if (has_plugins) {
        draft_.Refuse("plugins",
                      "using Plugins and Policy simultaneously is not supported: " + policy_path + " is given, too");
      }
      if (has_args) {
        draft_.Refuse("pluginConfig", "using PluginConfig and Policy simultaneously is not supported: " + policy_path +
                                          " is given, too");
      }
      if (hard != nullptr) {
        draft_.Refuse("hardPodAffinitySymmetricWeight",
                      "using PluginConfig and Policy simultaneously is not supported: the Policy has a "
                      "hardPodAffinitySymmetricWeight of its own");
      }
      TakePolicy(*policy, profile);
      if (context_.disable_preemption) {
        std::erase_if(profile.plugins.multi_point.enabled,
                      [](const config::PluginRef& ref) { return ref.name == "DefaultPreemption"; });
        draft_.Remark(Fate::kChanged, "disablePreemption", "profiles[0].plugins.multiPoint",
                      "true: the plugin DefaultPreemption is left out");
      }
    } else {
      ConvertPlugins(plugins, args, context_, draft_, profile);
      if (hard != nullptr) TakeHardWeight(*hard, args, profile);
    }
    AddOldFields(profile);
    Value profiles = Value::Array();
    profiles.Append(WriteProfile(profile, name));
    document_.Set("profiles", std::move(profiles));
  }

  void TakeHardWeight(const Value& hard, const ArgsList& args, ProfileDraft& profile) {
    const std::string path = "hardPodAffinitySymmetricWeight";
    if (args.Find("InterPodAffinity") != nullptr) {
      return draft_.Refuse(path, "repeated config for plugin InterPodAffinity: " + args.Find("InterPodAffinity")->path +
                                     " has its arguments, too");
    }
    ArgsList::Entry& entry = profile.args.Of("InterPodAffinity", path);
    entry.args = With(entry.args, "hardPodAffinityWeight", hard);
    draft_.ComesFrom(profile.today + ".pluginConfig[" + std::to_string(profile.args.entries().size() - 1) +
                         "].args.hardPodAffinityWeight",
                     path);
    draft_.Remark(Fate::kChanged, path, "profiles[0].pluginConfig",
                  hard.ToJson() == "0" ? "an argument of InterPodAffinity today. Until 1.16, 0 meant 1"
                                       : "an argument of InterPodAffinity today");
  }

  void TakeAlgorithmSource(ArgsReader& in, std::optional<PolicyReference>& policy) {
    bool has_provider = false;
    in.Object("algorithmSource", [&](ArgsReader& source) {
      std::string provider;
      source.String("provider", provider);
      has_provider = source.Has("provider");
      if (provider == "ClusterAutoscalerProvider") {
        context_.most_allocated = true;
      } else if (has_provider && provider != "DefaultProvider") {
        draft_.Invalid(source.PathOf("provider"), Show(provider),
                       "algorithm provider " + Show(provider) +
                           " is not registered: there are DefaultProvider and ClusterAutoscalerProvider");
      }
      source.Object("policy", [&](ArgsReader& where) { ReadPolicyReference(where, policy); });
    });
    if (has_provider && policy) {
      draft_.Refuse("algorithmSource",
                    "provider and policy are both given, of which kube-scheduler took the provider: remove one");
    }
  }

  void ReadPolicyReference(ArgsReader& where, std::optional<PolicyReference>& policy) {
    policy.emplace();
    const bool file = where.Has("file"), map = where.Has("configMap");
    where.Object("file", [&](ArgsReader& in) {
      in.String("path", policy->file);
      if (policy->file.empty()) in.Complain("path", "Required value: the Policy's file");
    });
    where.Object("configMap", [&](ArgsReader& in) {
      policy->name_space = "kube-system";
      in.String("namespace", policy->name_space);
      if (policy->name_space.empty()) policy->name_space = "kube-system";
      in.String("name", policy->name);
      if (policy->name.empty()) in.Complain("name", "Required value: the Policy's ConfigMap");
    });
    if (file && map) where.Complain("", "file and configMap are both given: a Policy comes from one of them");
    if (!file && !map) where.Complain("", "Required value: file or configMap");
  }

  void TakePolicy(const PolicyReference& reference, ProfileDraft& profile) {
    if (reference.file.empty() && reference.name.empty()) return;  // has been refused
    const std::string path =
        reference.file.empty() ? "algorithmSource.policy.configMap" : "algorithmSource.policy.file.path";
    const Result<PolicyText> text = options_.policy ? options_.policy(reference)
                                    : reference.file.empty()
                                        ? Result<PolicyText>(Error("there is no cluster to read the "
                                                                   "Policy's ConfigMap from"))
                                        : ReadPolicyFile(reference.file);
    if (!text.ok()) return draft_.Refuse(path, text.error().text());
    policy_ = std::make_unique<Source>();
    policy_->name = text->name;
    if (!ParseSource(text->text, "a Policy", *policy_, draft_.problems())) return;
    if (VersionOf(policy_->document) != Version::kPolicy) {
      const std::string what = policy_->document.TextAt("kind");
      const bool empty = policy_->document.kind() == Value::Kind::kObject && what.empty();
      if (!empty) {
        draft_.Turn(*policy_, Version::kPolicy);
        draft_.Refuse("kind", what.empty() ? "invalid policy: not an object"
                                           : "invalid policy: Invalid value: " + Show(what) + ": must be \"Policy\"" +
                                                 WhatToDoWith(what));
        draft_.Turn(main_, version_);
        return;
      }
    }
    draft_.Remark(Fate::kChanged, path, "profiles[0].plugins", "the Policy of " + policy_->name);
    draft_.Turn(*policy_, Version::kPolicy);
    draft_.ComesFrom("profiles[0]", "");
    extenders_ = ConvertPolicy(draft_, profile).extenders;
    for (size_t i = 0; i < profile.args.entries().size(); ++i) {
      draft_.ComesFrom("profiles[0].pluginConfig[" + std::to_string(i) + "]", profile.args.entries()[i].path);
    }
    from_policy_ = profile.args.entries().size();
    draft_.Turn(main_, version_);
  }

  void TakeProfiles(ArgsReader& in) {
    Value profiles = Value::Array();
    const Value* given = in.Raw("profiles");
    const size_t count = given == nullptr ? 0 : given->items().size();
    const auto take = [&](ArgsReader& item) {
      const size_t index = profiles.items().size();
      ProfileDraft profile{item.path(), "profiles[" + std::to_string(index) + "]", {}, {}};
      if (count == 0) profile.path = "";
      std::optional<std::string> name;
      if (item.Has("schedulerName")) item.String("schedulerName", name.emplace());
      const OldPlugins plugins = ReadOldPlugins(item, draft_);
      const ArgsList args = ReadOldArgs(item, draft_);
      ConvertPlugins(plugins, args, context_, draft_, profile);
      AddOldFields(profile);
      if (!name && count <= 1) name = kDefaultScheduler;
      profiles.Append(WriteProfile(profile, name));
    };
    in.Objects("profiles", take);
    if (count == 0) {
      std::vector<FieldError> none;
      ArgsReader nothing(nullptr, "", &none);
      take(nothing);
    }
    document_.Set("profiles", std::move(profiles));
  }

  Value WriteProfile(const ProfileDraft& profile, const std::optional<std::string>& name) {
    Value object = Value::Object();
    if (name) object.Set("schedulerName", Value::String(*name));
    Value plugins = Value::Object();
    WriteSet(plugins, "multiPoint", profile.plugins.multi_point);
    for (size_t i = 0; i < kPointCount; ++i)
      WriteSet(plugins, config::PluginsKey(static_cast<Point>(i)), profile.plugins.at[i]);
    if (!plugins.members().empty()) object.Set("plugins", std::move(plugins));
    Value list = Value::Array();
    for (const ArgsList::Entry& entry : profile.args.entries()) {
      const std::string at = profile.today + ".pluginConfig[" + std::to_string(list.items().size()) + "]";
      if (list.items().size() >= from_policy_) draft_.ComesFrom(at, entry.path);
      Value one = Value::Object({{"name", Value::String(entry.name)}});
      if (!entry.args.is_null()) one.Set("args", entry.args);
      list.Append(std::move(one));
    }
    if (!list.items().empty()) object.Set("pluginConfig", std::move(list));
    return object;
  }

  const ConvertOptions& options_;
  Draft& draft_;
  std::unique_ptr<Source>& policy_;
  const Source& main_;
  const Version version_;
  Value document_ = Value::Object();
  Value extenders_, bind_timeout_;
  ProfileContext context_;
  size_t from_policy_ = 0;  // so many arguments come from the Policy
};

}  // namespace

Value Convert(const ConvertOptions& options, Draft& draft, std::unique_ptr<Source>& policy) {
  return Conversion(options, draft, policy).Run();
}

bool ParseSource(std::string_view text, std::string_view what, Source& source, std::vector<Problem>& problems) {
  std::vector<SourceDocument> documents;
  const Error error = ReadSource(text, kBudget, 2, documents);
  if (!error.ok()) {
    problems.push_back({source.name, 0, "", error.text()});
    return false;
  }
  if (documents.empty()) {
    problems.push_back({source.name, 0, "", "empty: " + std::string(what) + " is expected"});
    return false;
  }
  if (documents.size() > 1) {
    problems.push_back({source.name, documents[1].lines.Of(""), "",
                        "more than one document; " + std::string(what) + " stands alone in its file"});
    return false;
  }
  std::vector<FieldError> errors;
  source.lines = std::move(documents[0].lines);
  source.document = ParseJson(documents[0].json, errors);
  for (const FieldError& one : errors) problems.push_back({source.name, source.lines.Of(one.path), one.path, one.text});
  if (source.document.kind() != Value::Kind::kObject) {
    problems.push_back({source.name, source.lines.Of(""), "", std::string(what) + " must be an object"});
    return false;
  }
  return true;
}

Result<PolicyText> ReadPolicyFile(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return Error("missing policy config file " + path);
  if (std::filesystem::is_directory(path, failure))
    return Error("couldn't read policy config: read " + path + ": is a directory");
  util::FileContent file = util::ReadFile(path, {.max_bytes = kMaxPolicyBytes});
  if (!file.ok()) return Error("couldn't read policy config: " + file.problem);
  return PolicyText{path, std::move(file.text)};
}

}  // namespace berth::legacy
