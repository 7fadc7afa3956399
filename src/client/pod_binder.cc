// SPDX-License-Identifier: Apache-2.0
// Binding, and finding out.
#include "client/pod_binder.h"

#include <utility>

namespace berth::client {
namespace {

// Asking again may bring the same: the server is there, but does not say what was asked.
bool IsRefusal(const ApiStatus& status) {
  return status.unreadable || (status.code != 0 && status.code != 429 && !status.uncertain());
}

}  // namespace

struct PodBinder::Question {
  Doubt doubt;
  std::string failure;  // what the lost answer looked like
  std::function<void(Verdict)> done;
};

PodBinder::PodBinder(ClusterApi& api, Hooks hooks) : api_(api), hooks_(std::move(hooks)) {}

PodBinder::~PodBinder() { owner_.Leave(); }

void PodBinder::Bind(ObjectName pod, const std::string& node, util::Deadline until, std::function<void(Verdict)> done) {
  auto question = std::make_shared<Question>();
  question->doubt.pod = std::move(pod);
  question->doubt.node = node;
  question->done = std::move(done);
  ++open_;
  const Doubt& asked = question->doubt;
  api_.BindBy(until, asked.pod, asked.node,
              owner_.link().Guard([this, question](const ApiStatus& status) { OnBound(question, status); }));
}

void PodBinder::OnBound(const QuestionPtr& question, const ApiStatus& status) {
  if (status.ok()) return Reply(question, {});
  question->failure = TextOf(status);
  if (!status.uncertain()) return Reply(question, Verdict::Fail(question->failure));
  LookUp(question);
}

void PodBinder::LookUp(const QuestionPtr& question) {
  const ObjectName& pod = question->doubt.pod;
  if (hooks_.watched)
    if (const Ptr<Pod> seen = hooks_.watched(pod); seen && Settle(question, *seen)) return;
  api_.GetPod(pod.namespace_, pod.name,
              owner_.link().Guard([this, question](const ApiStatus& status, const Ptr<Pod>& found) {
                OnRead(question, status, found);
              }));
}

void PodBinder::OnRead(const QuestionPtr& question, const ApiStatus& status, const Ptr<Pod>& pod) {
  // A server that answers with another pod has said nothing about this one.
  const ObjectName& asked = question->doubt.pod;
  const bool found = status.ok() && pod && pod->namespace_() == asked.namespace_ && pod->name() == asked.name;
  if (found && Settle(question, *pod)) return;
  Doubt& doubt = question->doubt;
  ++doubt.tries;
  // Neither a connection that breaks nor a server that answers 5xx takes back what was sent: this look may have
  // overtaken the binding.
  doubt.early = found && doubt.tries == 1;
  const bool known = status.not_found() || (found && !doubt.early);
  if (known || !hooks_.retry) return Reply(question, Verdict::Fail(question->failure));
  if (!found && IsRefusal(status)) ++doubt.refusals;
  doubt.status = status;
  if (!hooks_.retry(doubt, owner_.link().Guard([this, question] { LookUp(question); })))
    Reply(question,
          Verdict::Fail(question->failure + "; whether the pod was bound cannot be found out: " + TextOf(status)));
}

bool PodBinder::Settle(const QuestionPtr& question, const Pod& pod) {
  if (pod.uid() != question->doubt.pod.uid) {
    Reply(question, Verdict::Fail(question->failure + "; another pod has the name now"));
  } else if (pod.node_name == question->doubt.node) {
    Reply(question, {});
  } else if (!pod.node_name.empty()) {
    Reply(question, Verdict::Fail("pod " + FullName(pod) + " is already assigned to node \"" + pod.node_name + "\""));
  } else {
    return false;
  }
  return true;
}

void PodBinder::Reply(const QuestionPtr& question, Verdict verdict) {
  --open_;
  question->done(std::move(verdict));
}

}  // namespace berth::client
