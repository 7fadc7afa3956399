// SPDX-License-Identifier: Apache-2.0
// Binding, and finding out.
#include "cycle/binder.h"

#include <algorithm>
#include <utility>

namespace berth::cycle {

void Binder::Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) {
  auto question = std::make_shared<Question>();
  question->pod = client::NameOf(pod);
  question->node = node;
  question->done = std::move(done);
  core_.api.Bind(question->pod, node, core_.Counted([this, question](const client::ApiStatus& status) {
    if (status.ok()) return question->done({});
    question->failure = status.message.empty() ? "no answer" : status.message;
    if (!status.uncertain()) return question->done(Verdict::Fail(question->failure));
    Verify(question);
  }));
}

bool Binder::Settle(const Question& question, const Ptr<Pod>& pod) const {
  if (pod->uid() != question.pod.uid) {
    question.done(Verdict::Fail(question.failure + "; another pod has the name now"));
  } else if (pod->node_name == question.node) {
    question.done({});
  } else if (!pod->node_name.empty()) {
    question.done(Verdict::Fail("pod " + FullName(*pod) + " is already assigned to node \"" + pod->node_name + "\""));
  } else {
    return false;
  }
  return true;
}

void Binder::Verify(const std::shared_ptr<Question>& question) {
  // The watch may know already.
  const Ptr<Pod> seen = core_.FindPod(question->pod.namespace_, question->pod.name);
  if (seen && Settle(*question, seen)) return;
  core_.api.GetPod(
      question->pod.namespace_, question->pod.name,
      core_.Counted([this, question](const client::ApiStatus& status, const Ptr<Pod>& pod) {
        if (status.not_found()) return question->done(Verdict::Fail(question->failure));
        if (status.ok() && pod) {
          if (!Settle(*question, pod)) question->done(Verdict::Fail(question->failure));
          return;
        }
        if (question->tries == 0 && !status.uncertain() && status.code != 429)
          core_.Complain("whether pod " + question->pod.namespace_ + "/" + question->pod.name + " was bound to " +
                         question->node + " is not known yet: " + std::to_string(status.code) + " " + status.message);
        const int64_t seconds = std::min(10, 1 << std::min(question->tries++, 4));
        core_.timers.At(core_.clock.Now() + Duration::Seconds(seconds), [this, question] { Verify(question); });
      }));
}

}  // namespace berth::cycle
