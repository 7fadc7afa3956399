// SPDX-License-Identifier: Apache-2.0
// When to ask again.
#include "cycle/binder.h"

#include <algorithm>
#include <utility>

namespace berth::cycle {
namespace {

constexpr int kMaxRefusals = 10;  // a minute, with the pauses between

}  // namespace

Binder::Binder(Core& core)
    : core_(core),
      binder_(core.api,
              {.watched = [this](const client::ObjectName& pod) { return core_.FindPod(pod.namespace_, pod.name); },
               .retry = [this](const client::PodBinder::Doubt& doubt,
                               std::function<void()> again) { return AskLater(doubt, std::move(again)); }}) {}

void Binder::Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) {
  binder_.Bind(client::NameOf(pod), node, util::kNoDeadline, std::move(done));
}

client::VersionAnswer Binder::Telling(Written done) {
  return core_.Counted([done = std::move(done)](const client::ApiStatus& status, const std::string& version) {
    if (status.ok()) return done(version);
    done(Error(client::TextOf(status)));
  });
}

void Binder::GiveVolume(const VolumeClaimPatch& patch, Written done) {
  if (core_.halted) return done(Error("the scheduler has stopped"));
  core_.api.PatchVolume(patch, Telling(std::move(done)));
}

void Binder::SelectNode(const ClaimNodePatch& patch, Written done) {
  if (core_.halted) return done(Error("the scheduler has stopped"));
  core_.api.PatchClaim(patch, Telling(std::move(done)));
}

bool Binder::AskLater(const client::PodBinder::Doubt& doubt, std::function<void()> again) {
  const client::ApiStatus& status = doubt.status;
  if (doubt.refusals >= kMaxRefusals) return false;
  if (doubt.tries == 1 && !doubt.early && !status.uncertain() && status.code != 429)
    core_.Complain("whether pod " + doubt.pod.namespace_ + "/" + doubt.pod.name + " was bound to " + doubt.node +
                   " is not known yet: " + std::to_string(status.code) + " " + status.message);
  const int64_t seconds = std::min(10, 1 << std::min(doubt.tries - 1, 4));
  core_.timers.At(core_.clock.Now() + Duration::Seconds(seconds), std::move(again));
  return true;
}

}  // namespace berth::cycle
