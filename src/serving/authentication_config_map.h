// SPDX-License-Identifier: Apache-2.0
// AuthenticationConfigMap: whom the cluster believes, as its API server publishes it in
// kube-system/extension-apiserver-authentication.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/value.h"
#include "net/http_client.h"
#include "serving/api_link.h"
#include "serving/request_headers.h"
#include "serving/trusted_authorities.h"
#include "util/owner_link.h"

namespace berth::serving {

// Where what is read goes. Both may be null.
struct ConfigMapTargets {
  std::shared_ptr<TrustedAuthorities> client_authorities;
  std::shared_ptr<RequestHeaderRules> request_headers;
};

struct ConfigMapOptions {
  Duration read_timeout = Duration::Seconds(10);                                     // of ReadOnce
  Duration first_wait = Duration::Seconds(1), longest_wait = Duration::Seconds(30);  // after a failure
  // Told what is wrong, on any thread.
  std::function<void(const std::string& sentence)> warn;
};

// Read by name, then listed and watched by name, as long as it lives. A key that is missing, or that makes no sense,
// leaves what was there before; so does the end of the ConfigMap.
//
// Thread safety: the owner's thread.
class AuthenticationConfigMap {
 public:
  // REQUIRES: `link` is not closed before Stop.
  AuthenticationConfigMap(ApiLink& link, ConfigMapTargets targets, ConfigMapOptions options);
  ~AuthenticationConfigMap();
  AuthenticationConfigMap(const AuthenticationConfigMap&) = delete;
  AuthenticationConfigMap& operator=(const AuthenticationConfigMap&) = delete;

  // Waits for the answer. No such ConfigMap is no Error, nor are authorities that are not in it yet.
  Error ReadOnce();
  // Follows it from here on, without waiting.
  void Start();
  // Nothing changes any more.
  void Stop();

 private:
  using Self = AuthenticationConfigMap;
  // Called through owner_'s links, one at a time, on the client's thread or the link's.
  void List();
  void OnList(client::ApiReply& reply);
  void Watch();
  void OnPiece(std::string_view piece);
  void OnEnd(const Error& error);
  bool OnLine(const std::string& line);  // false: the watch is of no use any more
  void Again(bool failed, bool from_scratch);
  // Ok, or what is wrong with the names of headers; with authorities, it is only told.
  Error Apply(const Value& config_map);
  void Warn(const std::string& problem) const;

  ApiLink& link_;
  const ConfigMapTargets targets_;
  const ConfigMapOptions options_;

  bool over_ = true;  // nothing more is taken from the stream
  int status_ = 0;    // of the watch's head
  int failures_ = 0;  // in a row
  std::string version_, rest_;
  std::unique_ptr<net::ResponseStream> stream_;
  util::Owner<Self> owner_{this};
};

}  // namespace berth::serving
