// SPDX-License-Identifier: Apache-2.0
#include "bench/live_churn.h"

#include <algorithm>
#include <utility>

#include "bench/live_bodies.h"

namespace berth::bench {

LiveChurn::LiveChurn(World world, const WorkloadPlan::Step& step, std::string ns)
    : world_(std::move(world)), step_(step), ns_(std::move(ns)) {
  if (step.op.recreate) names_.resize(static_cast<size_t>(step.op.number) * step.templates.size());
}

void LiveChurn::Start() {
  due_ = world_.loop.Now() + Duration::Millis(step_.op.interval_ms);
  world_.loop.timers().At(due_, [this] { Tick(); });
}

void LiveChurn::Tick() {
  if (stopped_) return;
  const int64_t tick = tick_++;
  const size_t first = step_.op.recreate ? static_cast<size_t>(tick % step_.op.number) * step_.templates.size() : 0;
  open_ = step_.templates.size();
  for (size_t t = 0; t < step_.templates.size(); ++t) Recreate(first + t, step_.templates[t]);
}

void LiveChurn::Recreate(size_t slot, const ObjectTemplate& from) {
  const Kind kind = from.kind();
  const std::string scope = IsNamespaced(kind) ? ns_ : "";
  if (step_.op.recreate && !names_[slot].empty()) {
    const ObjectKey key{kind, scope, std::exchange(names_[slot], "")};
    if (kind == Kind::kPod) world_.pods.Deleting(key.ns, key.name);
    world_.objects.Remove(key, Finalizers::kRespect, [this](const Written& written) {
      Fail(written.error);
      Ended();
    });
    return;
  }
  Result<Value> made = from.MakeValue({tick_ - 1, 1, scope, "", world_.serial()});
  if (made.ok() && kind == Kind::kPod && !PriorityClassFor(*made).is_null()) made = WithPriorityClass(*made);
  const bool there = made.ok() && kind == Kind::kPod && !world_.pods.Expect(*made, false, false).ok();
  if (!made.ok() || there) {
    if (!made.ok()) Fail(made.error());
    world_.loop.inbox().Post([this] { Ended(); });
    return;
  }
  world_.objects.Create(kind, *made, [this, slot, key = KeyOf(kind, *made)](const Written& written) {
    if (!written.error.ok() && key.kind == Kind::kPod) world_.pods.Forget(key.ns, key.name);
    if (!written.exists) Fail(written.error);
    if (written.error.ok() && step_.op.recreate) names_[slot] = key.name;
    Ended();
  });
}

void LiveChurn::Ended() {
  if (--open_ > 0 || stopped_) return;
  if (!step_.op.recreate && step_.op.number > 0 && tick_ >= step_.op.number) return;
  due_ = std::max(due_ + Duration::Millis(step_.op.interval_ms), world_.loop.Now());
  world_.loop.timers().At(due_, [this] { Tick(); });
}

void LiveChurn::Fail(const Error& error) {
  if (!error.ok() && !stopped_) world_.failed(error.Wrap(step_.op.path));
}

}  // namespace berth::bench
