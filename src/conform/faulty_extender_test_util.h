// SPDX-License-Identifier: Apache-2.0
// An extender for tests that does everything right, or one thing wrong.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "berth/value.h"
#include "net/http.h"
#include "net/http_server.h"
#include "net/tls.h"

namespace berth::conform {

enum class Fault : uint8_t {
  kNone,
  // Any verb.
  kNotFound,
  kFails,
  kNotJson,
  kWrongTop,
  kSaysNothing,
  kNodesOnly,
  kGzip,        // which is none, for kube-scheduler asks for it
  kBrokenGzip,  // it is cut
  kOddCoding,   // names one that does not exist
  // Filter.
  kError,
  kInventsNode,
  kRepeatsNode,
  kOtherKind,
  kForgetsNode,
  kPassesAndFails,
  kGivesNoReason,
  kFailsStranger,
  kLatin1,
  kHalfCharacter,
  kStripsNode,
  // Prioritize.
  kTextScore,
  kFractionalScore,
  kForgetsHost,
  kRepeatsHost,
  kInventsHost,
  kHighScore,
  kHugeScore,
  // Preempt.
  kInventsCandidate,
  kNullCandidate,
  kOtherMap,
  kNullVictim,
  kNoVictims,
  kInventsVictim,
  kRepeatsVictim,
  kReordersVictims,
  kForgetsBudgets,
  kGetsWorse,  // some candidates lose their budgets, the last one its victims
  // Bind.
  kClaimsToBind,
  // Requests that are not plain.
  kDice,
  kFailsForOneNode,
  kFailsForNoNode,
  kInventsForNoNode,
  kFailsForNull,
  kFailsForUnsetTime,
  kFailsForNamelessImage,
  kLooksAtConditions,
  kExactKeys,
  kStrictFields,
  kFailsForUnknownNode,
  kFailsForMadeUpNames,
  kSmallBodies,
  kTires,
  // The server.
  kNoWayBack,
  kTakesAnything,
  kAnyMethod,
  kAnyPath,
  kFussyAboutTypes,
  kMixesUp,
  // The server, with one thread and a connection for every request.
  kOneAtATime,
  kDiesWithItsClient,
  kOldHttp,
  kShouts,   // "Connection: Close"
  kHangsUp,  // and does not say so
};

// Verbs: filter, prioritize, preempt, bind. Nodes whose names end in 3 fail, the last digit is the score, the second
// candidate is not kept.
class FaultyExtender {
 public:
  // A fault of any verb is one of `path`'s only, if that is not empty. REQUIRES: `tls` null for faults of a server with
  // one thread.
  explicit FaultyExtender(Fault fault, std::string path = "", const net::TlsOptions* tls = nullptr);
  ~FaultyExtender();
  FaultyExtender(const FaultyExtender&) = delete;
  FaultyExtender& operator=(const FaultyExtender&) = delete;

  std::string url() const;
  size_t requests() const { return requests_; }

 private:
  net::HttpResponse Answer(const net::HttpRequest& request);
  net::HttpResponse AnswerVerb(const std::string& verb, const net::HttpRequest& request);
  // Empty: nothing is wrong with the request.
  std::string Objection(const net::HttpRequest& request, const Value& args) const;
  Value Filter(const Value& args);
  Value Prioritize(const Value& args);
  Value Preempt(const Value& args) const;
  std::vector<std::string> NamesIn(const Value& args) const;
  // The value of the key, in any case unless that is the fault; null without it.
  const Value& Get(const Value& object, const std::string& key) const;
  // A server with one thread that reads one request after the other, as simple ones do.
  void ServeOneAtATime();

  const Fault fault_;
  const std::string path_;
  std::atomic<size_t> requests_ = 0;
  std::mutex mutex_;
  size_t plain_ = 0, slices_ = 0;   // under mutex_
  std::vector<std::string> slice_;  // under mutex_
  bool lost_ = false;               // under mutex_
  std::unique_ptr<net::HttpServer> server_;
  int listener_ = -1;
  uint16_t port_ = 0;
  bool tls_ = false;
  std::thread thread_;
};

}  // namespace berth::conform
