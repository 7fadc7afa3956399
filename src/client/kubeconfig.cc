// SPDX-License-Identifier: Apache-2.0
#include "client/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base64.h"
#include "api/file_text.h"
#include "api/json_value.h"
#include "api/load_error.h"
#include "api/yaml.h"
#include "client/credentials.h"
#include "net/proxy.h"
#include "net/url.h"
#include "util/secret_file.h"
#include "util/secret_text.h"

namespace berth::client {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFile = uint64_t{16} << 20;

Result<Value> ReadFile(const std::string& path) {
  Result<FileText> file = FileText::Read(path, kMaxFile);
  if (!file.ok()) return file.error();
  Value config;
  bool found = false;
  Error error = ForEachDocument(file->text(), [&](const std::string& json) {
    if (found) return Error("has more than one document");
    found = true;
    std::vector<FieldError> errors;
    config = ParseJson(json, errors);
    return errors.empty() ? Error::Ok() : Error(errors.front().ToString());
  });
  if (!error.ok()) return error;
  if (!found) return Error("is empty");
  if (config.kind() != Value::Kind::kObject) return Error("must be an object with clusters, users and contexts");
  return config;
}

// Without a token the server would say that somebody nameless may not do this, and nobody would know why.
Error CheckTokenFile(const std::string& path) {
  const Result<std::string> token = ReadTokenFile(path);
  return token.ok() ? Error::Ok() : token.error();
}

// The members of one object of the file, with the path to name them by.
class Section {
 public:
  Section(const Value* value, std::string path) : value_(value), path_(std::move(path)) {}

  bool present() const { return value_ != nullptr; }
  std::string PathOf(std::string_view field) const {
    return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
  }
  // Whether it says anything: empty strings, lists and objects are what programs write that fill in every field.
  bool Has(std::string_view field) const {
    const Value* found = Find(field);
    if (found == nullptr) return false;
    switch (found->kind()) {
      case Value::Kind::kString:
        return !found->text().empty();
      case Value::Kind::kArray:
        return !found->items().empty();
      case Value::Kind::kObject:
        return !found->members().empty();
      default:
        return true;
    }
  }
  // Empty and absent are the same. The first problem is kept in `error`; no value is shown, it may be a secret.
  std::string Text(std::string_view field, Error& error) const {
    const Value* found = Find(field);
    if (found == nullptr) return "";
    if (found->kind() == Value::Kind::kString) return found->text();
    if (error.ok()) error = Error(PathOf(field) + ": must be a string");
    return "";
  }
  bool Bool(std::string_view field, Error& error) const {
    const Value* found = Find(field);
    if (found == nullptr) return false;
    if (found->kind() == Value::Kind::kBool) return found->bool_value();
    if (error.ok()) error = Error(PathOf(field) + ": must be true or false");
    return false;
  }
  std::vector<std::string> Texts(std::string_view field, Error& error) const {
    const Value* found = Find(field);
    return found == nullptr ? std::vector<std::string>() : TextsOf(*found, PathOf(field), error);
  }
  // The object's members, each a list of strings.
  std::vector<std::pair<std::string, std::vector<std::string>>> TextLists(std::string_view field, Error& error) const {
    std::vector<std::pair<std::string, std::vector<std::string>>> lists;
    const Value* found = Find(field);
    if (found == nullptr) return lists;
    if (found->kind() != Value::Kind::kObject && error.ok()) error = Error(PathOf(field) + ": must be an object");
    for (const auto& [key, list] : found->members())
      lists.emplace_back(key, TextsOf(list, PathOf(field) + "[" + key + "]", error));
    return lists;
  }
  // An object within it.
  Section Inner(std::string_view field, Error& error) const {
    const Value* found = Find(field);
    if (found != nullptr && found->kind() != Value::Kind::kObject) {
      if (error.ok()) error = Error(PathOf(field) + ": must be an object");
      found = nullptr;
    }
    return {found, PathOf(field)};
  }
  const Value* Find(std::string_view field) const {
    const Value* found = value_ == nullptr ? nullptr : value_->Find(field);
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  // Bytes written in base64.
  std::string Data(std::string_view field, Error& error) const {
    const std::string text = Text(field, error);
    Result<std::string> data = DecodeBase64(text);
    if (data.ok()) return std::move(data).value();
    if (error.ok()) error = data.error().Wrap(PathOf(field));
    return "";
  }
  // A path that counts from `folder`.
  std::string File(std::string_view field, const fs::path& folder, Error& error) const {
    const std::string text = Text(field, error);
    return text.empty() ? "" : (folder / text).lexically_normal().string();
  }

 private:
  static std::vector<std::string> TextsOf(const Value& list, const std::string& path, Error& error) {
    std::vector<std::string> texts;
    if (list.is_null()) return texts;
    const bool good = list.kind() == Value::Kind::kArray && std::ranges::all_of(list.items(), [](const Value& item) {
                        return item.kind() == Value::Kind::kString;
                      });
    if (!good && error.ok()) error = Error(path + ": must be a list of strings");
    if (!good) return texts;
    for (const Value& item : list.items()) texts.push_back(item.text());
    return texts;
  }

  const Value* value_;
  std::string path_;
};

// What a program that gives credentials is told of the cluster.
constexpr char kExecExtension[] = "client.authentication.k8s.io/exec";

// The extension of that name, as it is written.
Value ExtensionOf(const Section& cluster, std::string_view name, Error& error) {
  const Value* extensions = cluster.Find("extensions");
  if (extensions == nullptr) return {};
  if (extensions->kind() != Value::Kind::kArray && error.ok())
    error = Error(cluster.PathOf("extensions") + ": must be a list");
  for (const Value& entry : extensions->items()) {
    const Value* found = entry.Find("name");
    const Value* extension = entry.Find("extension");
    if (found != nullptr && found->text() == name && extension != nullptr) return *extension;
  }
  return {};
}

// As client-go's rest.ConfigToExecCluster and its encoder have it.
Result<std::string> ExecClusterJson(const Section& cluster, const Kubeconfig& config) {
  Error error = Error::Ok();
  std::string authorities = config.tls.ca_data;
  if (authorities.empty() && !config.tls.ca_file.empty()) {
    Result<FileText> file = FileText::Read(config.tls.ca_file, kMaxFile);
    if (!file.ok()) return file.error().Wrap(cluster.PathOf("certificate-authority"));
    authorities = file->text();
  }
  Value info = Value::Object();
  info.Set("server", Value::String(config.server));
  if (!config.tls.server_name.empty()) info.Set("tls-server-name", Value::String(config.tls.server_name));
  if (config.tls.insecure) info.Set("insecure-skip-tls-verify", Value::Bool(true));
  if (!authorities.empty()) info.Set("certificate-authority-data", Value::String(EncodeBase64(authorities)));
  if (const std::string proxy = cluster.Text("proxy-url", error); !proxy.empty())
    info.Set("proxy-url", Value::String(proxy));
  if (cluster.Bool("disable-compression", error)) info.Set("disable-compression", Value::Bool(true));
  info.Set("config", ExtensionOf(cluster, kExecExtension, error));
  if (!error.ok()) return error;
  return info.ToJson();
}

Error ReadEnvironment(const Section& exec, const std::string& user, ExecConfig& out) {
  const Value* list = exec.Find("env");
  if (list == nullptr) return Error::Ok();
  const std::string path = exec.PathOf("env");
  if (list->kind() != Value::Kind::kArray) return Error(path + ": must be a list");
  for (size_t i = 0; i < list->items().size(); ++i) {
    const Section variable(&list->items()[i], path + "[" + std::to_string(i) + "]");
    Error error = Error::Ok();
    std::string name = variable.Text("name", error), value = variable.Text("value", error);
    if (!error.ok()) return error;
    if (name.empty()) {
      return Error(variable.PathOf("name") + ": env variable name must be specified for " + user +
                   " to use exec authentication plugin");
    }
    if (name.find_first_of(std::string_view("=\0", 2)) != std::string::npos || value.find('\0') != std::string::npos)
      return Error(path + "[" + std::to_string(i) + "]: no variable can have such a name or value");
    out.env.emplace_back(std::move(name), std::move(value));
  }
  return Error::Ok();
}

// The sentences are client-go's.
Error ReadMode(const Section& exec, const std::string& user, ExecConfig& out) {
  Error error = Error::Ok();
  const std::string mode = exec.Text("interactiveMode", error);
  if (!error.ok()) return error;
  const std::string path = exec.PathOf("interactiveMode") + ": ";
  if (mode.empty() && out.api_version.ends_with("/v1"))
    return Error(path + "interactiveMode must be specified for " + user + " to use exec authentication plugin");
  if (mode.empty() || mode == "IfAvailable") {
    out.mode = InteractiveMode::kIfAvailable;
  } else if (mode == "Always") {
    out.mode = InteractiveMode::kAlways;
  } else if (mode == "Never") {
    out.mode = InteractiveMode::kNever;
  } else {
    return Error(path + "invalid interactiveMode for " + user + ": " + Quoted(mode));
  }
  return Error::Ok();
}

Error ReadExec(const Section& exec, const Section& cluster, const fs::path& folder, const std::string& user,
               Kubeconfig& config) {
  Error error = Error::Ok();
  ExecConfig& out = config.exec;
  out.command = exec.Text("command", error);
  out.args = exec.Texts("args", error);
  out.api_version = exec.Text("apiVersion", error);
  out.install_hint = exec.Text("installHint", error);
  std::ranges::replace_if(
      out.install_hint, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
  const bool provide = exec.Bool("provideClusterInfo", error);
  if (!error.ok()) return error;
  for (const auto& [text, field] : {std::pair(&out.command, "command"), std::pair(&out.api_version, "apiVersion")}) {
    if (text->empty()) {
      return Error(exec.PathOf(field) + ": " + field + " must be specified for " + user +
                   " to use exec authentication plugin");
    }
  }
  if (out.api_version != "client.authentication.k8s.io/v1" && out.api_version != "client.authentication.k8s.io/v1beta1")
    return Error(exec.PathOf("apiVersion") + ": exec plugin: invalid apiVersion " + Quoted(out.api_version));
  if (error = ReadEnvironment(exec, user, out); !error.ok()) return error;
  if (error = ReadMode(exec, user, out); !error.ok()) return error;
  if (out.command.find('/') != std::string::npos) out.command = (folder / out.command).lexically_normal().string();
  if (!provide) return Error::Ok();
  Result<std::string> info = ExecClusterJson(cluster, config);
  if (!info.ok()) return info.error();
  out.cluster = std::move(info).value();
  return Error::Ok();
}

// The `inner` object of the entry of `list` that has this name.
Result<Section> FindNamed(const Value& config, const std::string& list, const std::string& inner,
                          const std::string& name) {
  const Value* entries = config.Find(list);
  if (entries == nullptr || entries->is_null()) return Error(list + ": there are none, " + name + " is asked for");
  if (entries->kind() != Value::Kind::kArray) return Error(list + ": must be an array");
  std::string known;
  for (const Value& entry : entries->items()) {
    const Value* entry_name = entry.Find("name");
    if (entry_name == nullptr || entry_name->kind() != Value::Kind::kString) continue;
    if (entry_name->text() != name) {
      known += (known.empty() ? "" : ", ") + entry_name->text();
      continue;
    }
    const Value* object = entry.Find(inner);
    std::string path = list;
    path.append("[").append(name).append("].").append(inner);
    if (object != nullptr && object->is_null()) object = nullptr;
    if (object != nullptr && object->kind() != Value::Kind::kObject) return Error(path + ": must be an object");
    return Section(object, std::move(path));
  }
  return Error(list + ": no " + inner + " is named \"" + name + "\"" + (known.empty() ? "" : "; there are " + known));
}

Error Refuse(const Section& section, std::string_view field, std::string_view why) {
  return section.Has(field) ? Error(section.PathOf(field) + ": " + std::string(why)) : Error::Ok();
}

// The proxy that the environment names for the server, if any.
Error ReadProxyEnvironment(const net::Url& server, Kubeconfig& config) {
  config.proxy = net::ProxyEnvironment::Read().For(server);
  if (config.proxy.empty()) return Error::Ok();
  const Result<net::Proxy> proxy = net::ParseProxy(config.proxy);
  return proxy.ok()
             ? Error::Ok()
             : proxy.error().Wrap(std::string("environment variable ") + (server.tls ? "HTTPS" : "HTTP") + "_PROXY");
}

Error ReadCluster(const Section& cluster, const fs::path& folder, Kubeconfig& config) {
  Error error = Error::Ok();
  config.server = cluster.Text("server", error);
  config.tls.ca_file = cluster.File("certificate-authority", folder, error);
  config.tls.ca_data = cluster.Data("certificate-authority-data", error);
  config.tls.insecure = cluster.Bool("insecure-skip-tls-verify", error);
  config.tls.server_name = cluster.Text("tls-server-name", error);
  if (!error.ok()) return error;
  if (config.server.empty()) return Error(cluster.PathOf("server") + ": is missing");
  // Not shown with the rest: a query is where a token may be.
  if (config.server.find_first_of("?#") != std::string::npos)
    return Error(cluster.PathOf("server") + ": a query or fragment has no place in this URL");
  const Result<net::Url> url = net::ParseUrl(config.server);
  if (!url.ok()) return url.error().Wrap(cluster.PathOf("server"));
  config.proxy = cluster.Text("proxy-url", error);
  if (!error.ok()) return error;
  if (config.proxy.empty()) {
    if (error = ReadProxyEnvironment(*url, config); !error.ok()) return error;
  } else if (const Result<net::Proxy> proxy = net::ParseProxy(config.proxy); !proxy.ok()) {
    return proxy.error().Wrap(cluster.PathOf("proxy-url"));
  } else {
    config.proxy_given = true;
  }
  const bool has_ca = !config.tls.ca_file.empty() || !config.tls.ca_data.empty();
  if (has_ca && config.tls.insecure) {
    return Error(cluster.PathOf("insecure-skip-tls-verify") +
                 ": a certificate authority is named as well; only one of them can be meant");
  }
  if (has_ca) {
    net::TlsClientOptions ca;
    ca.ca_file = config.tls.ca_file;
    ca.ca_data = config.tls.ca_data;
    if (auto tls = net::TlsContext::Client(ca); !tls.ok()) {
      return tls.error().Wrap(
          cluster.PathOf(ca.ca_data.empty() ? "certificate-authority" : "certificate-authority-data"));
    }
  }
  return Error::Ok();
}

// What cannot be the value of a header cannot be sent.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

Error ReadImpersonation(const Section& user, Impersonation& as) {
  Error error = Error::Ok();
  as.user = user.Text("as", error);
  as.uid = user.Text("as-uid", error);
  as.groups = user.Texts("as-groups", error);
  as.extra = user.TextLists("as-user-extra", error);
  if (!error.ok()) return error;
  for (const char* field : {"as-uid", "as-groups", "as-user-extra"}) {
    if (as.user.empty() && user.Has(field))
      return Error(user.PathOf(field) + ": there is no user to impersonate: as is missing");
  }
  const auto wrong = [&user](const std::string& field) {
    return Error(user.PathOf(field) + ": there is a line break or another control character in it");
  };
  if (!IsPlain(as.user)) return wrong("as");
  if (!IsPlain(as.uid)) return wrong("as-uid");
  if (!std::ranges::all_of(as.groups, IsPlain)) return wrong("as-groups");
  for (const auto& [key, values] : as.extra) {
    if (key.empty()) return Error(user.PathOf("as-user-extra") + ": a key is empty");
    if (!std::ranges::all_of(values, IsPlain)) return wrong("as-user-extra[" + key + "]");
  }
  return Error::Ok();
}

Error ReadUser(const Section& user, const std::string& name, const Section& cluster, const fs::path& folder,
               Kubeconfig& config) {
  Error error = Error::Ok();
  config.token = user.Text("token", error);
  config.token_file = user.File("tokenFile", folder, error);
  config.username = user.Text("username", error);
  config.password = user.Text("password", error);
  config.tls.certificate_file = user.File("client-certificate", folder, error);
  config.tls.certificate_data = user.Data("client-certificate-data", error);
  config.tls.key_file = user.File("client-key", folder, error);
  config.tls.key_data = user.Data("client-key-data", error);
  if (!error.ok()) return error;
  error = Refuse(user, "auth-provider",
                 "auth providers are not supported; use exec, a token, tokenFile or client certificate");
  if (!error.ok()) return error;
  if (error = ReadImpersonation(user, config.impersonate); !error.ok()) return error;
  const bool has_token = !config.token.empty() || !config.token_file.empty();
  if (has_token && !config.username.empty())
    return Error(user.PathOf("username") + ": a token is given as well; only one of them can be meant");
  if (error = CheckToken(config.token); !error.ok()) return error.Wrap(user.PathOf("token"));
  if (!config.token_file.empty()) {
    if (error = CheckTokenFile(config.token_file); !error.ok())
      return error.Wrap(user.PathOf("tokenFile") + ": " + config.token_file);
  }
  const Section exec = user.Inner("exec", error);
  if (!error.ok()) return error;
  if (exec.present()) {
    if (error = ReadExec(exec, cluster, folder, name, config); !error.ok()) return error;
  }
  const bool has_certificate = !config.tls.certificate_file.empty() || !config.tls.certificate_data.empty();
  if (has_token || !config.username.empty() || has_certificate) config.exec = {};
  const net::IdentityErrors wrong = net::CheckIdentity(config.tls);
  const auto field = [&user](const char* name, const std::string& data) {
    return user.PathOf(data.empty() ? std::string(name) : std::string(name) + "-data");
  };
  if (!wrong.certificate.ok()) return wrong.certificate.Wrap(field("client-certificate", config.tls.certificate_data));
  return wrong.key.Wrap(field("client-key", config.tls.key_data));
}

Error Read(const std::string& path, const std::string& wanted, Kubeconfig& config) {
  Result<Value> file = ReadFile(path);
  if (!file.ok()) return file.error();
  const fs::path folder = fs::path(path).parent_path();
  Error error = Error::Ok();

  std::string context_name = wanted;
  if (context_name.empty()) context_name = Section(&*file, "").Text("current-context", error);
  if (!error.ok()) return error;
  if (context_name.empty()) return Error("current-context: is missing, and no context was named");
  Result<Section> context = FindNamed(*file, "contexts", "context", context_name);
  if (!context.ok()) return context.error();
  const std::string cluster_name = context->Text("cluster", error);
  const std::string user_name = context->Text("user", error);
  config.namespace_ = context->Text("namespace", error);
  if (!error.ok()) return error;

  if (cluster_name.empty()) return Error(context->PathOf("cluster") + ": is missing");
  Result<Section> cluster = FindNamed(*file, "clusters", "cluster", cluster_name);
  if (!cluster.ok()) return cluster.error();
  error = ReadCluster(*cluster, folder, config);
  if (!error.ok() || user_name.empty()) return error;
  Result<Section> user = FindNamed(*file, "users", "user", user_name);
  if (!user.ok()) return user.error();
  return ReadUser(*user, user_name, *cluster, folder, config);
}

}  // namespace

Result<Kubeconfig> LoadKubeconfig(const std::string& path, const std::string& context) {
  Kubeconfig config;
  config.source = "kubeconfig " + path;
  config.file = path;
  if (const Error error = Read(path, context, config); !error.ok()) {
    return Error(util::WithoutSecrets(error.text()), error.kind()).Wrap(config.source);
  }
  return config;
}

Error SetServer(Kubeconfig& config, const std::string& server) {
  config.server = server;
  if (!config.exec.cluster.empty()) {
    std::vector<FieldError> errors;
    const Value before = ParseJson(config.exec.cluster, errors);  // ours
    Value info = Value::Object();
    for (const auto& [name, value] : before.members()) info.Set(name, name == "server" ? Value::String(server) : value);
    config.exec.cluster = info.ToJson();
  }
  const Result<net::Url> url = net::ParseUrl(server);
  if (config.proxy_given || !url.ok()) return Error::Ok();  // who connects says what is wrong with it
  return ReadProxyEnvironment(*url, config);
}

std::vector<std::string> WarningsOf(const Kubeconfig& config) {
  std::vector<std::string> warnings;
  const bool https = config.server.starts_with("https://");
  const bool token = !config.token.empty() || !config.token_file.empty() || !config.exec.command.empty();
  if (!https && (token || !config.username.empty())) {
    warnings.push_back(config.source + ": the " + (token ? "bearer token" : "password") + " is sent to " +
                       config.server + " without TLS: whoever is on the way can read and use it");
  }
  if (https && config.tls.insecure) {
    warnings.push_back(config.source + ": insecure-skip-tls-verify: the certificate of " + config.server +
                       " is not checked: whoever answers there gets our credentials");
  }
  const auto look = [&warnings](const std::string& what, const std::string& path) {
    const std::string who = path.empty() ? "" : util::WhoElseReads(path);
    if (!who.empty()) warnings.push_back(what + ": " + who);
  };
  look(config.source + ": client-key " + config.tls.key_file, config.tls.key_file);
  if (!config.token.empty() || !config.password.empty() || !config.tls.key_data.empty()) {
    look(config.source + ", which holds credentials", config.file);
  }
  return warnings;
}

InCluster InClusterFromEnvironment() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  InCluster place;
  place.host = get("KUBERNETES_SERVICE_HOST");
  place.port = get("KUBERNETES_SERVICE_PORT");
  return place;
}

Result<Kubeconfig> LoadInCluster(const InCluster& place) {
  Kubeconfig config;
  config.source = "in-cluster configuration";
  const auto wrong = [&](const std::string& what) { return Error(what).Wrap(config.source); };
  for (const auto& [value, name] :
       {std::pair(&place.host, "KUBERNETES_SERVICE_HOST"), std::pair(&place.port, "KUBERNETES_SERVICE_PORT")}) {
    if (value->empty()) return wrong(std::string(name) + " is not set: this is no pod of a cluster");
  }
  const bool six = place.host.find(':') != std::string::npos;
  config.server = "https://" + (six ? "[" + place.host + "]" : place.host) + ":" + place.port;
  const Result<net::Url> url = net::ParseUrl(config.server);
  if (!url.ok()) return url.error().Wrap(config.source + ": KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT");
  if (const Error error = ReadProxyEnvironment(*url, config); !error.ok()) return error.Wrap(config.source);

  const fs::path folder = place.folder;
  config.token_file = (folder / "token").string();
  config.tls.ca_file = (folder / "ca.crt").string();
  if (const Error error = CheckTokenFile(config.token_file); !error.ok())
    return wrong(config.token_file + ": " + error.text());
  if (auto tls = net::TlsContext::Client(config.tls); !tls.ok()) return tls.error().Wrap(config.source);
  if (Result<FileText> text = FileText::Read((folder / "namespace").string(), kMaxFile); text.ok()) {
    config.namespace_ = text->text();
    while (!config.namespace_.empty() && static_cast<unsigned char>(config.namespace_.back()) <= ' ')
      config.namespace_.pop_back();
  }
  return config;
}

}  // namespace berth::client
