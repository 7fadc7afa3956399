// SPDX-License-Identifier: Apache-2.0
// Binding: whoever reaches the port asks with our rights, so the pod is looked at first.
#include <algorithm>
#include <atomic>
#include <utility>

#include "extender/extender_service.h"
#include "framework/guard.h"

namespace berth::extender {
namespace {

using Reply = std::function<void(std::string)>;

constexpr char kNoBinder[] = "cannot bind: no API server is configured";

std::string Quoted(const std::string& text) { return Value::String(text).ToJson(); }

// What is wrong with the request itself; empty: nothing.
std::string Missing(const ExtenderBindingArgs& args) {
  if (args.pod_name.empty()) return "PodName: Required value";
  if (args.pod_namespace.empty()) return "PodNamespace: Required value";
  if (args.pod_uid.empty()) return "PodUID: Required value";
  if (args.node.empty()) return "Node: Required value";
  return "";
}

std::string Objection(const ExtenderBindingArgs& args, const Pod* pod, const std::vector<std::string>& schedulers) {
  const std::string name = "pod " + args.pod_namespace + "/" + args.pod_name;
  if (pod == nullptr) return name + " not found";
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
  BindRun(const framework::Profile& profile, Placement placement, Reply done)
      : profile_(profile), placement_(std::move(placement)), done_(std::move(done)), states_(profile.plugins.size()) {}
  ~BindRun() {
    if (!answered_.exchange(true)) done_("the Bind plugin gave no answer");
  }
  BindRun(const BindRun&) = delete;
  BindRun& operator=(const BindRun&) = delete;

  void Next(size_t position) {
    if (position == profile_.bind.size()) return Answer("no Bind plugin took the pod");
    const auto& entry = profile_.bind[position];
    auto once = std::make_shared<std::atomic<bool>>(false);
    const Done done = [self = shared_from_this(), once, position](const Verdict& verdict) {
      if (once->exchange(true)) return;
      if (verdict.code() == Code::kSkip) return self->Next(position + 1);
      if (verdict.fits()) return self->Answer("");
      const std::string text = verdict.message();
      self->Answer(text.empty() ? "binding was refused without a reason" : text);
    };
    const Error error = framework::GuardError([&] {
      entry.plugin->Bind(placement_, states_[entry.index], done);
      return Error::Ok();
    });
    if (!error.ok() && !once->exchange(true)) Answer(error.text());
  }

 private:
  void Answer(std::string error) {
    if (!answered_.exchange(true)) done_(std::move(error));
  }

  const framework::Profile& profile_;
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
  if (std::string missing = Missing(args); !missing.empty()) return done(std::move(missing));
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
    return std::make_shared<BindRun>(*profile_, Placement{std::move(pod), node}, std::move(done))->Next(0);
  }
  writer_.Bind(*pod, node, [pod, done = std::move(done)](const Verdict& verdict) {
    const std::string text = verdict.message();
    done(verdict.fits() ? "" : text.empty() ? "binding was refused without a reason" : text);
  });
}

}  // namespace berth::extender
