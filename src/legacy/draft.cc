// SPDX-License-Identifier: Apache-2.0
#include "legacy/draft.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace berth::legacy {
namespace {

std::string Located(const std::string& source, uint32_t line, const std::string& path, const std::string& text) {
  std::string where = source;
  if (line > 0) where += (where.empty() ? "line " : ":") + std::to_string(line);
  if (!where.empty()) where += ": ";
  return where + FieldError{path, text}.ToString();
}

struct Hint {
  std::string_view path;  // with * for what is between brackets; "~" in front: at the end of a path
  std::string_view text;
  bool firm = false;  // an error in versions that ignore unknown fields, too
};
constexpr auto kHints = std::to_array<Hint>({
    {"schedulerName", "a field of v1alpha1; it belongs into profiles[0] since v1alpha2"},
    {"algorithmSource", "a field of v1alpha1; what a Policy says is plugins of a profile since v1alpha2"},
    {"hardPodAffinitySymmetricWeight",
     "a field of v1alpha1 and of a Policy; it is hardPodAffinityWeight of InterPodAffinity's arguments"},
    {"plugins", "a field of v1alpha1; it belongs into a profile since v1alpha2"},
    {"pluginConfig", "a field of v1alpha1; it belongs into a profile since v1alpha2"},
    {"failureDomains", "a field of v1alpha1 that had no effect"},
    {"disablePreemption", "a field of v1alpha1 and v1alpha2; disable the plugin DefaultPreemption instead"},
    {"bindTimeoutSeconds", "a field of v1alpha1 and v1alpha2; it is one of VolumeBinding's arguments since v1beta1"},
    {"healthzBindAddress", "a field until v1beta2; --secure-port serves /healthz"},
    {"metricsBindAddress", "a field until v1beta2; --secure-port serves /metrics"},
    {"predicates", "a field of a Policy, not of a KubeSchedulerConfiguration", true},
    {"priorities", "a field of a Policy, not of a KubeSchedulerConfiguration", true},
    {"alwaysCheckAllPredicates", "a field of a Policy, not of a KubeSchedulerConfiguration", true},
    {"profiles", "a field since v1alpha2", true},
    {"extenders", "a field of a Policy, and of this kind since v1alpha2", true},
    {"parallelism", "a field since v1beta1", true},
    {"delayCacheUntilActive", "a field of v1", true},
    {"leaderElection.lockObjectName", "a field of v1alpha1; resourceName since v1alpha2"},
    {"leaderElection.lockObjectNamespace", "a field of v1alpha1; resourceNamespace since v1alpha2"},
    {"~.plugins.unreserve", "a point of v1alpha1 and v1alpha2; reserve has both since v1beta1"},
    {"~.plugins.normalizeScore", "a point of v1alpha1; part of score"},
    {"~.plugins.postFilter", "a point since v1beta1; v1alpha1's is called preScore"},
    {"~.plugins.preScore", "called postFilter in v1alpha1"},
    {"~.plugins.multiPoint", "a point since v1beta2"},
    {"~.plugins.preEnqueue", "a point since v1beta2"},
    {"~].enableHttps", "written enableHTTPS since v1beta1"},
});

const Hint* FindHint(std::string_view path) {
  for (const Hint& hint : kHints) {
    if (hint.path.starts_with('~')) {
      const std::string_view end = hint.path.substr(1);
      if (path.ends_with(end) || (end.starts_with('.') && path == end.substr(1))) return &hint;
    } else if (path == hint.path) {
      return &hint;
    }
  }
  return nullptr;
}

// Whether the version that has the field at `path` unknown ignored it.
bool Ignored(Version version, std::string_view path) {
  if (IsAlpha1(version)) {
    const Hint* hint = FindHint(path);
    return hint == nullptr || !hint->firm;
  }
  if (version == Version::kPolicy || version == Version::kV1alpha2)
    return path.starts_with("extenders[") && path.find("].") != std::string_view::npos;
  return false;
}

// One part of a path: a key, or an index between brackets.
struct Step {
  std::string_view key;
  std::optional<size_t> index;
};

// Takes the first part off.
Step NextStep(std::string_view& path) {
  if (path.front() == '.') path.remove_prefix(1);
  const size_t close = path.find(']');
  size_t index = 0;
  if (path.starts_with('[') && close != std::string_view::npos &&
      std::from_chars(path.data() + 1, path.data() + close, index).ptr == path.data() + close) {
    path.remove_prefix(close + 1);
    return {{}, index};
  }
  const size_t end = std::min(path.find_first_of(".[", 1), path.size());
  const Step step{path.substr(0, end), std::nullopt};
  path.remove_prefix(end);
  return step;
}

const Value* ItemOf(const Value& list, size_t index) {
  return index < list.items().size() ? &list.items()[index] : nullptr;
}

const Value::Member* MemberOf(const Value& object, std::string_view key) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const Value::Member* found = nullptr;
  for (const Value::Member& member : object.members()) {
    if (member.first == key) return &member;
    if (std::ranges::equal(member.first, key, {}, lower, lower)) found = &member;
  }
  return found;
}

}  // namespace

std::string Change::ToString() const { return Located(source, line, path, text); }
std::string Problem::ToString() const { return Located(source, line, path, text); }

std::string HintFor(Version version, std::string_view path) {
  const Hint* hint = FindHint(path);
  if (hint == nullptr || version == Version::kPolicy) return "";
  return " (" + std::string(hint->text) + ")";
}

void Draft::Turn(const Source& source, Version version) {
  source_ = &source;
  version_ = version;
}

void Draft::Remark(Fate fate, std::string path, std::string today, std::string text) {
  path = AsWritten(source_->document, path);
  const uint32_t line = source_->lines.Of(path);
  changes_.push_back({fate, source_->name, line, std::move(path), std::move(today), std::move(text)});
}

void Draft::Refuse(std::string path, std::string text) {
  path = AsWritten(source_->document, path);
  const uint32_t line = source_->lines.Of(path);
  problems_.push_back({source_->name, line, std::move(path), std::move(text)});
}

void Draft::Invalid(std::string path, const std::string& value, const std::string& text) {
  Refuse(std::move(path), "Invalid value: " + value + ": " + text);
}

void Draft::Take(std::vector<FieldError> errors) {
  for (FieldError& error : errors) {
    if (!error.text.starts_with("unknown field \"")) {
      Refuse(std::move(error.path), std::move(error.text));
    } else if (Ignored(version_, error.path)) {
      std::string text = error.text + ", which " + std::string(legacy::ToString(version_)) + " ignored" +
                         HintFor(version_, error.path);
      Remark(Fate::kDropped, std::move(error.path), "", std::move(text));
    } else {
      std::string text = error.text + HintFor(version_, error.path);
      Refuse(std::move(error.path), std::move(text));
    }
  }
}

void Draft::ComesFrom(std::string today, std::string path) {
  origins_.insert_or_assign(std::move(today), Origin{source_, std::move(path)});
}

void Draft::TakeTodays(const std::vector<FieldError>& errors) {
  for (const FieldError& error : errors) problems_.push_back(FromToday(error));
}

Problem Draft::FromToday(const FieldError& error) const {
  Origin origin{source_, error.path};
  // The longest path in front of this one that is known to come from somewhere.
  for (std::string head = error.path;;) {
    if (const auto at = origins_.find(head); at != origins_.end()) {
      std::string rest = error.path.substr(head.size());
      if (at->second.path.empty() && rest.starts_with('.')) rest.erase(0, 1);
      origin = {at->second.source, at->second.path + rest};
      break;
    }
    const size_t end = head.find_last_of(".[");
    if (end == std::string::npos) break;
    head.resize(end);
  }
  const std::string path = AsWritten(origin.source->document, origin.path);
  return {origin.source->name, origin.source->lines.Of(path), path, error.text};
}

ArgsList::Entry& ArgsList::Of(std::string_view name, const std::string& path) {
  for (Entry& entry : entries_)
    if (entry.name == name) return entry;
  return entries_.emplace_back(Entry{std::string(name), Value::Object(), path});
}

const ArgsList::Entry* ArgsList::Find(std::string_view name) const {
  const auto at = std::ranges::find(entries_, name, &Entry::name);
  return at == entries_.end() ? nullptr : &*at;
}

bool Exists(const Value& document, std::string_view path) {
  const Value* at = &document;
  for (std::string_view rest = path; !rest.empty() && at != nullptr;) {
    const Step step = NextStep(rest);
    at = step.index ? ItemOf(*at, *step.index) : at->Find(step.key);
  }
  return at != nullptr;
}

std::string AsWritten(const Value& document, std::string_view path) {
  const Value* at = &document;
  std::string written;
  for (std::string_view rest = path; !rest.empty();) {
    const Step step = NextStep(rest);
    if (step.index) {
      at = ItemOf(*at, *step.index);
      if (at == nullptr) return written;
      written += "[" + std::to_string(*step.index) + "]";
      continue;
    }
    const Value::Member* member = MemberOf(*at, step.key);
    if (member == nullptr) return rest.empty() ? Join(written, step.key) : written;
    written = Join(written, member->first);
    at = &member->second;
  }
  return written;
}

Value With(const Value& object, std::string_view key, Value value) {
  Value made = Value::Object();
  bool there = false;
  for (const auto& [name, member] : object.members()) {
    there |= name == key;
    made.Set(name, name == key ? value : member);
  }
  if (!there) made.Set(std::string(key), std::move(value));
  return made;
}

Value Without(const Value& object, std::string_view key) {
  Value made = Value::Object();
  for (const auto& [name, member] : object.members())
    if (name != key) made.Set(name, member);
  return made;
}

std::string Join(const std::string& path, std::string_view field) {
  return path.empty() ? std::string(field) : path + "." + std::string(field);
}

}  // namespace berth::legacy
