// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/scheduler.go: initPolicyFromFile, initPolicyFromConfigMap (1.18 to 1.22).
#include "cli/policy_sources.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "api/file_text.h"
#include "api/json_value.h"
#include "api/yaml.h"
#include "berth/value.h"
#include "berth/version.h"
#include "serving/api_link.h"
#include "util/steady_clock.h"
#include "util/text.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxObjectBytes = uint64_t{64} << 20;
constexpr Duration kPatienceWithServer = Duration::Seconds(30);

std::string FullNameOf(const legacy::PolicyReference& reference) { return reference.name_space + "/" + reference.name; }

Result<legacy::PolicyText> FromConfigMap(const Value& config_map, const legacy::PolicyReference& reference,
                                         const std::string& where) {
  const Value* data = config_map.Find("data");
  const Value* text = data == nullptr ? nullptr : data->Find(legacy::kPolicyKey);
  const std::string map = where + "ConfigMap " + FullNameOf(reference);
  if (text == nullptr || text->kind() != Value::Kind::kString) {
    std::string keys;
    for (const auto& [key, value] : data == nullptr ? std::vector<Value::Member>() : data->members())
      keys += (keys.empty() ? "" : ", ") + util::Quoted(key);
    return Error(map + ": missing policy config map value at key " + util::Quoted(legacy::kPolicyKey) +
                 (keys.empty() ? "; it has no data" : "; it has " + keys));
  }
  return legacy::PolicyText{map + ", key " + legacy::kPolicyKey, text->text()};
}

// The ConfigMap among a file's objects, alone or in lists.
void Search(const Value& object, const legacy::PolicyReference& reference, std::optional<Value>& found) {
  if (const Value* items = object.Find("items")) {
    for (const Value& item : items->items()) Search(item, reference, found);
    return;
  }
  if (object.TextAt("kind") != "ConfigMap") return;
  const Value* metadata = object.Find("metadata");
  if (metadata == nullptr) return;
  const std::string name_space = metadata->TextAt("namespace");
  if (metadata->TextAt("name") == reference.name &&
      (name_space.empty() ? "default" : name_space) == reference.name_space && !found)
    found = object;
}

std::vector<std::string> FilesIn(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<legacy::PolicyText> FindInFiles(const std::vector<std::string>& paths, const std::string& how,
                                       const legacy::PolicyReference& reference) {
  for (const std::string& path : paths) {
    if (path == "-") continue;
    for (const std::string& file : FilesIn(path)) {
      const Result<FileText> text = FileText::Read(file, kMaxObjectBytes);
      if (!text.ok()) return Error(file + ": " + text.error().text());
      std::optional<Value> found;
      const Error error = ForEachDocument(text->text(), [&](const std::string& json) {
        // Most objects are something else; only those that may be it are worth a tree.
        if (json.find("ConfigMap") == std::string::npos) return Error::Ok();
        std::vector<FieldError> ignored;
        Search(ParseJson(json, ignored), reference, found);
        return Error::Ok();
      });
      if (found) return FromConfigMap(*found, reference, file + ": ");
      if (!error.ok()) return Error(file + ": " + error.text());
    }
  }
  const std::string head = "couldn't get policy config map " + FullNameOf(reference) + ": ";
  if (paths.empty()) return Error(head + "there is no cluster to ask here; " + how);
  return Error(head + "it is not in the files of -f; " + how);
}

Result<legacy::PolicyText> AskServer(const client::Kubeconfig& server, const legacy::PolicyReference& reference) {
  const std::string head = "couldn't get policy config map " + FullNameOf(reference) + ": ";
  auto link = serving::ApiLink::Connect(server, std::string("berth-scheduler/") + kVersion, nullptr);
  if (!link.ok()) return link.error().Wrap("couldn't get policy config map " + FullNameOf(reference));
  auto answered = std::make_shared<std::promise<client::ApiReply>>();
  client::ApiRequest request;
  request.path = "/api/v1/namespaces/" + reference.name_space + "/configmaps/" + reference.name;
  request.timeout = kPatienceWithServer;
  request.send_by = request.answer_by = util::After(kPatienceWithServer);
  (*link)->Send(std::move(request), [answered](client::ApiReply reply) { answered->set_value(std::move(reply)); });
  const client::ApiReply reply = answered->get_future().get();
  if (!reply.status.ok()) {
    std::string text = head + client::TextOf(reply.status);
    if (reply.status.code == 403) text += " (the scheduler's account needs the right to get this ConfigMap)";
    return Error(std::move(text));
  }
  std::vector<FieldError> errors;
  const Value config_map = ParseJson(reply.body, errors);
  if (!errors.empty()) return Error(head + "the answer is no ConfigMap: " + errors.front().ToString());
  return FromConfigMap(config_map, reference, "");
}

// In a URL as it is: what the API server accepts for names of these objects.
bool IsObjectName(const std::string& name) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

legacy::PolicyReader PolicyFromFiles(std::vector<std::string> files, std::string how) {
  return [files = std::move(files), how = std::move(how)](const legacy::PolicyReference& reference) {
    return reference.file.empty() ? FindInFiles(files, how, reference) : legacy::ReadPolicyFile(reference.file);
  };
}

legacy::PolicyReader PolicyFromCluster(std::function<Result<client::Kubeconfig>()> find_server) {
  return [find_server =
              std::move(find_server)](const legacy::PolicyReference& reference) -> Result<legacy::PolicyText> {
    if (!reference.file.empty()) return legacy::ReadPolicyFile(reference.file);
    if (!IsObjectName(reference.name_space) || !IsObjectName(reference.name))
      return Error("couldn't get policy config map " + util::Quoted(FullNameOf(reference)) + ": that is not a name");
    const Result<client::Kubeconfig> server = find_server();
    if (!server.ok()) return server.error().Wrap("couldn't get policy config map " + FullNameOf(reference));
    return AskServer(*server, reference);
  };
}

}  // namespace berth::cli
