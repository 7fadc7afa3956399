// SPDX-License-Identifier: Apache-2.0
// ReportingApi: a door to a cluster that says when listing or watching fails. Whoever asks tries again by itself, and
// without a word the people who wait for it would not know why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "client/cluster_api.h"

namespace berth::extender {

// Thread safety: as the door behind it.
class ReportingApi final : public client::ClusterApi {
 public:
  using Report = std::function<void(const std::string& sentence)>;
  ReportingApi(std::unique_ptr<client::ClusterApi> api, Report report)
      : api_(std::move(api)), report_(std::make_shared<const Report>(std::move(report))) {}

  void KeepAnnotations(const AnnotationKeys& keys) override { api_->KeepAnnotations(keys); }
  void List(Kind kind, std::function<void(client::ListAnswer)> done) override {
    api_->List(kind, [report = report_, kind, done = std::move(done)](client::ListAnswer answer) {
      if (!answer.status.ok()) Say(*report, "list", kind, answer.status);
      done(std::move(answer));
    });
  }
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string& resource_version,
                                            client::WatchCallbacks callbacks) override {
    callbacks.closed = [report = report_, kind, closed = std::move(callbacks.closed)](const client::ApiStatus& status) {
      if (!status.ok() && !status.gone()) Say(*report, "watch", kind, status);
      closed(status);
    };
    return api_->StartWatch(kind, resource_version, std::move(callbacks));
  }
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override {
    api_->GetPod(ns, name, std::move(done));
  }
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override {
    api_->Bind(pod, node, std::move(done));
  }
  void GetPodBy(util::Deadline until, const std::string& ns, const std::string& name,
                std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override {
    api_->GetPodBy(until, ns, name, std::move(done));
  }
  void BindBy(util::Deadline until, const client::ObjectName& pod, const std::string& node,
              client::Answer done) override {
    api_->BindBy(until, pod, node, std::move(done));
  }
  void PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) override {
    api_->PatchPodStatus(patch, std::move(done));
  }
  void DeletePod(const client::ObjectName& pod, client::Answer done) override { api_->DeletePod(pod, std::move(done)); }
  void PostEvent(const client::EventRecord& event) override { api_->PostEvent(event); }
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override {
    api_->GetLease(ns, name, std::move(done));
  }
  void PutLease(const client::Lease& lease,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override {
    api_->PutLease(lease, std::move(done));
  }

 private:
  static void Say(const Report& report, const char* what, Kind kind, const client::ApiStatus& status) {
    report(std::string("cannot ") + what + " objects of kind " + std::string(ToString(kind)) +
           ", will try again: " + (status.code == 0 ? "" : std::to_string(status.code) + " ") +
           (status.message.empty() ? "no answer" : status.message));
  }

  const std::unique_ptr<client::ClusterApi> api_;
  const std::shared_ptr<const Report> report_;  // answers may come when this is gone
};

}  // namespace berth::extender
