// SPDX-License-Identifier: Apache-2.0
// HttpExtender: one extender of the configuration, asked over HTTP as kube-scheduler asks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "config/types.h"
#include "framework/extender.h"

namespace berth::extender_client {

// One call, when it is over.
struct CallReport {
  const std::string& extender;  // its urlPrefix
  const char* verb;             // a literal: filter, prioritize, preempt or bind
  const Error& error;           // Ok, or what is wrong with the answer; what it says under `Error` included
  Duration took;                // from when it was sent
};

struct HttpExtenderOptions {
  // Of filter, prioritize and preempt together: kube-scheduler's scheduling thread makes them one by one, and servers
  // may rely on it. Others wait: the one with the lowest turn is next. Bindings wait for nobody.
  size_t calls_at_a_time = 1;
  uint64_t max_reply_bytes = uint64_t{256} << 20;
  std::function<void(const CallReport&)> on_call;            // on any thread; may be null
  std::function<void(const std::string& sentence)> warning;  // files with certificates that cannot be used; may be null
  // The JSON of objects that do not carry it (SourceOf); empty, or a null function: as far as they are known. Called on
  // any thread.
  std::function<std::string(const Pod&)> pod_json;
  std::function<std::string(const Node&)> node_json;
};

// Error texts are kube-scheduler's, as events show them, for: a status other than 200, a time that is over, a server
// that refuses the connection or closes it, a name that was not asked about, and what the extender says itself. An
// answer is believed up to max_reply_bytes. Redirects are not followed: they are a status other than 200.
//
// A request is written when its turn comes, on the client's thread, so what waits costs little.
// Thread safety: any thread.
class HttpExtender final : public framework::Extender {
 public:
  // The error is what kube-scheduler says at start: wrong TLS files, or a URL that is none. Keys are never part of it.
  static Result<std::unique_ptr<HttpExtender>> Make(const config::Extender& config, HttpExtenderOptions options = {});
  // What is under way or waits is not answered any more. REQUIRES: not called by a `done`.
  ~HttpExtender() override;

  const framework::ExtenderTraits& traits() const override { return traits_; }
  // Upstream: IsInterested. Pod-level resources, overhead and ephemeral containers are not looked at.
  bool IsInterested(const Pod& pod) const override;
  void Filter(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Filtered>)> done) override;
  void Prioritize(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Scores>)> done) override;
  void Preempt(framework::PodInTurn asked, std::vector<PreemptionCandidate> candidates,
               std::function<void(Result<VictimMap>)> done) override;
  void Bind(std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done) override;

 private:
  struct Impl;
  HttpExtender(const config::Extender& config, HttpExtenderOptions options);
  framework::ExtenderTraits traits_;
  std::unordered_set<uint32_t> managed_;  // resources; empty: all pods are of interest
  std::shared_ptr<Impl> impl_;
};

// All of them in the configuration's order, with `couldn't build extenders: ` before the first error.
Result<std::vector<std::shared_ptr<framework::Extender>>> MakeExtenders(const std::vector<config::Extender>& configs,
                                                                        const HttpExtenderOptions& options);

}  // namespace berth::extender_client
