// SPDX-License-Identifier: Apache-2.0
// Binding: whoever reaches the port asks with our rights, so the pod is looked at first.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "api/validate_names.h"
#include "berth/value.h"
#include "extender/extender_service.h"
#include "framework/binding_stages.h"

namespace berth::extender {
namespace {

constexpr char kNoBinder[] = "cannot bind: no API server is configured";

// kube-scheduler waits for a bind for the extender's httpTimeout, 5 s unless told otherwise; then it gives the pod's
// place to others, and a Binding posted after that would put the pod where its room is taken. This is less: from the
// request, over reading the pod and what plugins do, until the Binding is sent. Its answer may take longer; it changes
// nothing any more.
constexpr Duration kBindWithin = Duration::Millis(4500);
static_assert(kBindWithin < Duration::Seconds(5));

constexpr size_t kMaxUid = 253;

// Of a text that somebody else chose, as much as a sentence bears.
std::string Shown(const std::string& text) {
  return text.size() <= 64 ? Quote(text)
                           : Quote(text.substr(0, 64)) + "... (" + std::to_string(text.size()) + " bytes)";
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

std::string Objection(const ExtenderBindingArgs& args, const Pod& pod, const std::vector<std::string>& schedulers) {
  const std::string name = "pod " + args.pod_namespace + "/" + args.pod_name;
  if (pod.meta.namespace_ != args.pod_namespace || pod.name() != args.pod_name) {
    return name + " was asked for, but the API server answered with pod " + Shown(FullName(pod));
  }
  if (pod.uid() != args.pod_uid) return name + " has uid " + Quote(pod.uid()) + ", not " + Quote(args.pod_uid);
  // The API server's own rules (upstream: pkg/registry/core/pod/storage/storage.go, BindingREST, v1.36.4), in its
  // order.
  if (pod.terminating()) return name + " is being deleted, cannot be assigned to a host";
  if (!pod.node_name.empty()) return name + " is already assigned to node " + Quote(pod.node_name);
  if (!pod.scheduling_gates.empty()) return name + " has non-empty .spec.schedulingGates";
  if (!schedulers.empty() && std::find(schedulers.begin(), schedulers.end(), pod.scheduler_name) == schedulers.end()) {
    return name + " belongs to scheduler " + Quote(pod.scheduler_name) + ", for which this extender does not bind";
  }
  return "";
}

// The reply's Error.
std::string ErrorOf(const Verdict& verdict) {
  if (verdict.fits()) return "";
  if (verdict.code() == Code::kSkip) return "no Bind plugin took the pod";
  std::string text = verdict.message();
  return text.empty() ? "binding was refused without a reason" : text;
}

}  // namespace

std::shared_ptr<void> ExtenderService::BindWriter::Expect(const Pod& pod, const std::string& node,
                                                          util::Deadline until) {
  const std::lock_guard lock(expected_->mutex);
  const auto entry = expected_->by_uid_and_node.emplace(std::pair(pod.uid(), node), until);
  return {nullptr, [expected = expected_, entry](void*) {
            const std::lock_guard end(expected->mutex);
            expected->by_uid_and_node.erase(entry);
          }};
}

void ExtenderService::BindWriter::Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) {
  if (binder_ == nullptr) return done(Verdict::Fail(kNoBinder));
  std::optional<util::Deadline> until;
  {
    const std::lock_guard lock(expected_->mutex);
    const auto [from, to] = expected_->by_uid_and_node.equal_range({pod.uid(), node});
    for (auto entry = from; entry != to; ++entry) until = std::max(until.value_or(entry->second), entry->second);
  }
  binder_->Bind(pod, node, until.value_or(util::After(kBindWithin)), std::move(done));
}

void ExtenderService::Bind(const ExtenderBindingArgs& args, std::function<void(std::string)> done,
                           std::chrono::steady_clock::time_point came) {
  if (!options_.bind_refusal.empty()) return done(options_.bind_refusal);
  if (std::string wrong = Wrong(args); !wrong.empty()) return done(std::move(wrong));
  if (binder_ == nullptr) return done(kNoBinder);
  const util::Deadline until = came + std::chrono::nanoseconds(kBindWithin.ns);
  binder_->FindPod(args.pod_namespace, args.pod_name, until,
                   [this, args, until, done = std::move(done)](const Result<std::shared_ptr<const Pod>>& found) {
                     if (!found.ok()) return done(found.error().text());
                     std::string objection = Objection(args, **found, options_.scheduler_names);
                     if (!objection.empty()) return done(std::move(objection));
                     BindPod(found.value(), args.node, until, done);
                   });
}

void ExtenderService::BindPod(std::shared_ptr<const Pod> pod, const std::string& node, util::Deadline until,
                              std::function<void(std::string)> done) {
  if (profile_->bind.empty()) {
    return binder_->Bind(*pod, node, until,
                         [done = std::move(done)](const Verdict& verdict) { done(ErrorOf(verdict)); });
  }
  const std::shared_ptr<void> expected = writer_.Expect(*pod, node, until);
  std::make_shared<framework::BindingStages>(*profile_, Placement{std::move(pod), node}, std::vector<StateSlot>(),
                                             &judging_)
      ->Bind([done = std::move(done), expected](const framework::Ruling& ruling) { done(ErrorOf(ruling.verdict)); });
}

}  // namespace berth::extender
