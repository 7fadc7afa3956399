// SPDX-License-Identifier: Apache-2.0
// Binding: whoever reaches the port asks with our rights, so the pod is looked at first.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "api/validate_names.h"
#include "extender/extender_service.h"
#include "framework/guard.h"

namespace berth::extender {
namespace {

using Reply = std::function<void(std::string)>;

constexpr char kNoBinder[] = "cannot bind: no API server is configured";

std::string Quoted(const std::string& text) { return Value::String(text).ToJson(); }

constexpr size_t kMaxUid = 253;

// Of a text that somebody else chose, as much as a sentence bears.
std::string Shown(const std::string& text) {
  return text.size() <= 64 ? Quoted(text)
                           : Quoted(text.substr(0, 64)) + "... (" + std::to_string(text.size()) + " bytes)";
}

// What is wrong with the request itself; empty: nothing. Names become part of the API server's URL, and of sentences.
std::string Wrong(const ExtenderBindingArgs& args) {
  for (const auto& [field, text, check] : {std::tuple{"PodName", &args.pod_name, &CheckDnsSubdomain},
                                           std::tuple{"PodNamespace", &args.pod_namespace, &CheckDnsLabel},
                                           std::tuple{"Node", &args.node, &CheckDnsSubdomain}}) {
    if (text->empty()) return std::string(field) + ": Required value";
    const Complaints complaints = check(*text);
    if (!complaints.empty()) {
      return std::string(field) + ": Invalid value: " + Shown(*text) + ": " + Join(complaints, ", ");
    }
  }
  if (args.pod_uid.empty()) return "PodUID: Required value";
  if (args.pod_uid.size() > kMaxUid) {
    return "PodUID: Invalid value: " + Shown(args.pod_uid) + ": must be no more than " + std::to_string(kMaxUid) +
           " bytes";
  }
  return "";
}

std::string Objection(const ExtenderBindingArgs& args, const Pod* pod, const std::vector<std::string>& schedulers) {
  const std::string name = "pod " + args.pod_namespace + "/" + args.pod_name;
  if (pod == nullptr) return name + " not found";
  if (pod->meta.namespace_ != args.pod_namespace || pod->name() != args.pod_name) {
    return name + " was asked for, but the API server answered with pod " + Shown(FullName(*pod));
  }
  if (pod->uid() != args.pod_uid) return name + " has uid " + Quoted(pod->uid()) + ", not " + Quoted(args.pod_uid);
  if (!pod->node_name.empty()) return name + " is already assigned to node " + Quoted(pod->node_name);
  if (!schedulers.empty() && std::find(schedulers.begin(), schedulers.end(), pod->scheduler_name) == schedulers.end()) {
    return name + " belongs to scheduler " + Quoted(pod->scheduler_name) + ", for which this extender does not bind";
  }
  return "";
}

// Asks the Bind plugins in turn until one does not skip. Kept alive by the callbacks it hands out.
class BindRun : public std::enable_shared_from_this<BindRun> {
 public:
  // `judging` is held while a plugin is asked.
  BindRun(const framework::Profile& profile, std::mutex& judging, Placement placement, Reply done)
      : profile_(profile),
        judging_(judging),
        placement_(std::move(placement)),
        done_(std::move(done)),
        states_(profile.plugins.size()) {}
  ~BindRun() {
    if (!answered_.exchange(true)) done_("the Bind plugin gave no answer");
  }
  BindRun(const BindRun&) = delete;
  BindRun& operator=(const BindRun&) = delete;

  // Asks from this one on.
  void Ask(size_t position) {
    for (; position < profile_.bind.size(); ++position) {
      const std::optional<Verdict> verdict = Call(position);
      if (!verdict) return;  // the answer will come
      if (verdict->code() != Code::kSkip) return Take(*verdict);
    }
    Answer("no Bind plugin took the pod");
  }

 private:
  // One plugin's answer. One that comes while the plugin is still being called waits for the end of the call: then
  // `judging_` is free again.
  struct Attempt {
    std::mutex mutex;
    bool calling = true, answered = false;
    std::optional<Verdict> verdict;
  };

  std::optional<Verdict> Call(size_t position) {
    const auto& entry = profile_.bind[position];
    const auto attempt = std::make_shared<Attempt>();
    const Done done = [self = shared_from_this(), attempt, position](const Verdict& verdict) {
      {
        const std::lock_guard lock(attempt->mutex);
        if (std::exchange(attempt->answered, true)) return;
        attempt->verdict = verdict;
        if (attempt->calling) return;
      }
      if (verdict.code() == Code::kSkip) return self->Ask(position + 1);
      self->Take(verdict);
    };
    const Error error = framework::GuardError([&] {
      const std::lock_guard lock(judging_);
      entry.plugin->Bind(placement_, states_[entry.index], done);
      return Error::Ok();
    });
    const std::lock_guard lock(attempt->mutex);
    attempt->calling = false;
    if (!error.ok() && !std::exchange(attempt->answered, true)) attempt->verdict = Verdict::Fail(error.text());
    return attempt->verdict;
  }
  void Take(const Verdict& verdict) {
    const std::string text = verdict.message();
    Answer(verdict.fits() ? "" : text.empty() ? "binding was refused without a reason" : text);
  }
  void Answer(std::string error) {
    if (!answered_.exchange(true)) done_(std::move(error));
  }

  const framework::Profile& profile_;
  std::mutex& judging_;
  const Placement placement_;
  const Reply done_;
  std::vector<StateSlot> states_;
  std::atomic<bool> answered_ = false;
};

}  // namespace

void ExtenderService::BindWriter::Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) {
  if (binder_ == nullptr) return done(Verdict::Fail(kNoBinder));
  binder_->Bind(pod, node, std::move(done));
}

void ExtenderService::Bind(const ExtenderBindingArgs& args, std::function<void(std::string)> done) {
  if (!options_.bind_refusal.empty()) return done(options_.bind_refusal);
  if (std::string wrong = Wrong(args); !wrong.empty()) return done(std::move(wrong));
  if (binder_ == nullptr) return done(kNoBinder);
  binder_->FindPod(args.pod_namespace, args.pod_name,
                   [this, args, done = std::move(done)](const Result<std::shared_ptr<const Pod>>& found) {
                     if (!found.ok()) return done(found.error().text());
                     std::string objection = Objection(args, found->get(), options_.scheduler_names);
                     if (!objection.empty()) return done(std::move(objection));
                     BindPod(found.value(), args.node, done);
                   });
}

void ExtenderService::BindPod(std::shared_ptr<const Pod> pod, const std::string& node,
                              std::function<void(std::string)> done) {
  if (!profile_->bind.empty()) {
    return std::make_shared<BindRun>(*profile_, judging_, Placement{std::move(pod), node}, std::move(done))->Ask(0);
  }
  writer_.Bind(*pod, node, [pod, done = std::move(done)](const Verdict& verdict) {
    const std::string text = verdict.message();
    done(verdict.fits() ? "" : text.empty() ? "binding was refused without a reason" : text);
  });
}

}  // namespace berth::extender
