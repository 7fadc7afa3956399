// SPDX-License-Identifier: Apache-2.0
// Kubeconfig: which API server, and as whom; out of a kubeconfig file or of what a pod finds in itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "net/tls.h"

namespace berth::client {

// As whom requests are made, by a user who may do that.
struct Impersonation {
  std::string user;  // empty: nobody but ourselves
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> extra = {};
};

enum class InteractiveMode : uint8_t { kNever, kIfAvailable, kAlways };

// A program that gives credentials.
struct ExecConfig {
  std::string command;  // empty: none. Looked for in PATH unless there is a slash in it
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // besides ours
  std::string api_version = {};                               // of the question and the answer
  std::string install_hint = {};
  InteractiveMode mode = InteractiveMode::kNever;  // whether it gets our terminal
  std::string cluster = {};                        // what it is told of the cluster, in JSON; empty: nothing
};

struct Kubeconfig {
  std::string source;        // what to call it in messages
  std::string file;          // where it was read; empty within a cluster
  std::string server;        // https://host:port/prefix
  std::string proxy;         // URL of the proxy in between; empty: none
  bool proxy_given = false;  // by the file, and not by the environment
  net::TlsClientOptions tls;
  std::string token;
  std::string token_file;  // goes before `token`; read again as it changes
  std::string username, password;
  ExecConfig exec;  // empty if there are other credentials: they go before it
  Impersonation impersonate;
  std::string namespace_;  // of the context; may be empty
};

// The context of that name, the file's current-context if it is empty. Paths in the file count from its folder.
// Errors name file, field and reason; they never show a secret. What would be needed and is not there (auth-provider)
// is refused by name. Nothing is run yet. Without a proxy-url the environment may name a proxy (HTTPS_PROXY,
// HTTP_PROXY, NO_PROXY).
Result<Kubeconfig> LoadKubeconfig(const std::string& path, const std::string& context = "");

// Another server instead, as whom and with what the file says. Without a proxy-url the environment's proxy is the one
// for that server; an Error is about it.
Error SetServer(Kubeconfig& config, const std::string& server);

// What is unwise about it, a sentence each, to be told at start: credentials that go over plain HTTP, a server that
// nobody checks, keys that others can read.
std::vector<std::string> WarningsOf(const Kubeconfig& config);

// The service account of the pod that we run in.
struct InCluster {
  std::string host, port;  // KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
// host and port as the environment has them.
InCluster InClusterFromEnvironment();
Result<Kubeconfig> LoadInCluster(const InCluster& place);

}  // namespace berth::client
