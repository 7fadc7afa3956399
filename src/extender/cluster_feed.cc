// SPDX-License-Identifier: Apache-2.0
// The feed's thread, readers, and bindings.
#include "extender/cluster_feed.h"

#include <utility>

#include "util/crash_note.h"

namespace berth::extender {
namespace {

constexpr const char* kTooLate = "it took too long: whoever asked may have given up";

}  // namespace

ClusterFeed::ClusterFeed(const Clock& clock, util::Log& log) : clock_(clock), log_(log) {}

Result<std::unique_ptr<ClusterFeed>> ClusterFeed::Make(const Connect& connect, const Clock& clock, util::Log& log) {
  std::unique_ptr<ClusterFeed> feed(new ClusterFeed(clock, log));
  Result<std::unique_ptr<client::ClusterApi>> api = connect(*feed->inbox_);
  if (!api.ok()) return api.error();
  const auto warn = [&log](const std::string& text) { log.Say(LogSeverity::kWarning, text); };
  feed->api_ = std::move(api).value();
  feed->binder_ = std::make_unique<client::PodBinder>(*feed->api_);
  feed->mirror_ = std::make_unique<ClusterMirror>(*feed->api_, feed->timers_, clock, warn);
  return feed;
}

ClusterFeed::~ClusterFeed() { Stop(); }

void ClusterFeed::Start(const std::vector<Kind>& kinds, const std::vector<PluginIndex*>& indexes,
                        const AnnotationKeys& annotations) {
  {
    const std::lock_guard lock(mutex_);
    mirror_->Start(kinds, indexes, annotations);
    synced_ = mirror_->synced();
  }
  thread_ = std::thread([this] { Run(); });
}

void ClusterFeed::Stop() {
  {
    const std::lock_guard lock(door_);
    if (inbox_) loop_.Stop();
  }
  if (thread_.joinable()) thread_.join();
  {
    const std::lock_guard lock(mutex_);
    synced_ = false;
    mirror_.reset();
    binder_.reset();
    api_.reset();
    const std::lock_guard forget(heard_mutex_);
    heard_.clear();
  }
  // The API's end answers what was under way. Nobody reads that, but it holds callbacks of those who asked, whose
  // destructors may speak up.
  std::unique_ptr<util::Inbox> unread;
  {
    const std::lock_guard lock(door_);
    unread = std::move(inbox_);
  }
  later_.clear();
}

void ClusterFeed::Post(std::function<void()> letter) {
  const std::lock_guard lock(door_);
  if (inbox_) inbox_->Post(std::move(letter));
}

void ClusterFeed::Run() {
  const util::CrashStack stack;
  const auto round = [this] {
    {
      const std::lock_guard lock(mutex_);
      inbox_->Drain();
      while (timers_.RunOne(clock_.Now())) {
      }
      NoteAges();
      if (!synced_ && mirror_->synced()) {
        synced_ = true;
        const Snapshot snapshot = mirror_->state().snapshot();
        log_.Info("The cluster has been read",
                  {{"nodes", snapshot.node_count()}, {"podsOnThem", mirror_->state().pod_count()}});
      }
    }
    for (const std::function<void()>& call : std::exchange(later_, {})) call();
    return false;
  };
  loop_.Run(round, [this] { return timers_.Next(); });
}

Error ClusterFeed::NotReady() {
  return Error(mirror_ ? "the cluster has not been read yet: waiting for the list of " + mirror_->Missing()
                       : "this extender is being stopped");
}

void ClusterFeed::NoteAges() {
  const Time now = clock_.Now();
  std::vector<std::pair<Kind, Time>> heard;
  for (const auto& [kind, age] : mirror_->Ages()) heard.emplace_back(kind, Time{now.ns - age.ns});
  const std::lock_guard lock(heard_mutex_);
  heard_.swap(heard);
}

std::vector<std::pair<Kind, Duration>> ClusterFeed::Ages() const {
  const Time now = clock_.Now();
  std::vector<std::pair<Kind, Duration>> ages;
  const std::lock_guard lock(heard_mutex_);
  for (const auto& [kind, heard] : heard_) ages.emplace_back(kind, Duration{now.ns - heard.ns});
  return ages;
}

Error ClusterFeed::Read(const std::function<void(const Snapshot&)>& read) {
  const std::lock_guard lock(mutex_);
  if (!synced_) return NotReady();
  read(mirror_->state().snapshot());
  return Error::Ok();
}

Error ClusterFeed::ReadWith(std::span<const std::shared_ptr<const Node>> nodes, bool keep,
                            const std::function<void(const Snapshot&)>& read) {
  const std::lock_guard lock(mutex_);  // for the copy too: plugins may look at their index
  if (!synced_) return NotReady();
  if (mirror_->Has(nodes)) {
    read(mirror_->state().snapshot());
  } else {
    read(mirror_->With(nodes).snapshot());
    if (!keep) mirror_->DropCopy();
  }
  return Error::Ok();
}

void ClusterFeed::FindPod(const std::string& ns, const std::string& name, util::Deadline until,
                          std::function<void(Result<std::shared_ptr<const Pod>>)> done) {
  Post([this, ns, name, until, done = std::move(done)] {
    const auto answer = [this, ns, name, until, done](const client::ApiStatus& status, const Ptr<Pod>& pod) {
      if (status.not_found()) {
        const Error none("pod " + ns + "/" + name + " not found", ErrorKind::kNotFound);
        return Later([done, none] { done(none); });
      }
      const bool late = util::IsOver(until);
      if (status.ok() && pod && !late) return Later([done, pod] { done(pod); });
      const Error error =
          (status.ok() && late ? Error(kTooLate, ErrorKind::kTimedOut) : Error(client::TextOf(status), status.kind))
              .Wrap("pod " + ns + "/" + name + " cannot be read");
      Later([done, error] { done(error); });
    };
    if (util::IsOver(until)) return answer({}, nullptr);
    api_->GetPodBy(until, ns, name, answer);
  });
}

void ClusterFeed::Bind(const Pod& pod, const std::string& node, util::Deadline until,
                       std::function<void(Verdict)> done) {
  Post([this, pod = client::NameOf(pod), node, until, done = std::move(done)] {
    const auto answer = [this, done](const Verdict& verdict) { Later([done, verdict] { done(verdict); }); };
    if (util::IsOver(until)) return answer(Verdict::Fail(kTooLate));
    binder_->Bind(pod, node, until, answer);
  });
}

}  // namespace berth::extender
