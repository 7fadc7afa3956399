// SPDX-License-Identifier: Apache-2.0
// HTTP messages, as server and client see them. The libraries behind are seen in src/net/*.cc alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::net {

class PeerCertificates;

// Names are compared without regard to case; order and repetitions are kept.
class Headers {
 public:
  void Add(std::string name, std::string value) { list_.emplace_back(std::move(name), std::move(value)); }
  // The first of that name, null without one.
  const std::string* Find(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& list() const { return list_; }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

// Whoever sent a request. Thread safety: any thread.
class Asker {
 public:
  virtual ~Asker() = default;
  // Whether he sends no more, and so most likely waits for no answer: a client that gives up closes its connection. One
  // that closes its half only, which HTTP allows, cannot be told from that; so ask before work that may be in vain, and
  // not instead of an answer that is there.
  virtual bool Gone() const = 0;
};

struct HttpRequest {
  std::string method;
  std::string path;   // without the query, not decoded
  std::string query;  // behind the question mark
  Headers headers;
  std::string body;                              // its capacity exceeds its size by at least simdjson's padding
  std::string client_name;                       // common name of a verified client certificate; empty without one
  std::shared_ptr<const Asker> asker = nullptr;  // null: nobody knows
  // The certificates that the client showed, verified or not; null: none.
  std::shared_ptr<const PeerCertificates> peer = nullptr;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers;          // further ones
  bool usual_type = false;  // of a client: as ClientRequest::usual_type
  // The request's body, if it is needed no more: a server reads the next large one into its memory.
  std::string spare = {};
};

// To be called once, from any thread; dropping it without a call answers 500.
using Respond = std::function<void(HttpResponse)>;
using Handler = std::function<void(HttpRequest, Respond)>;

}  // namespace berth::net
