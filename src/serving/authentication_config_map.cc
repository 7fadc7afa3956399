// SPDX-License-Identifier: Apache-2.0
#include "serving/authentication_config_map.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "api/json_value.h"
#include "berth/args.h"
#include "client/resource_path.h"

namespace berth::serving {
namespace {

constexpr char kCollection[] = "/api/v1/namespaces/kube-system/configmaps";
constexpr char kWhere[] = "configmap/extension-apiserver-authentication in kube-system";
constexpr char kName[] = "extension-apiserver-authentication";
constexpr char kByName[] = "fieldSelector=metadata.name%3Dextension-apiserver-authentication";
constexpr size_t kMaxLine = size_t{4} << 20;
constexpr int kShortestWatch = 300, kLongestWatch = 600;  // seconds, as client-go draws them
constexpr int kGrace = 30;                                // for the server to end it
constexpr int kMostDoublings = 10;

int Between(int low, int high) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_int_distribution<int>(low, high)(generator);
}

std::string VersionOf(const Value& object) {
  const Value* metadata = object.Find("metadata");
  return metadata != nullptr ? metadata->TextAt("resourceVersion") : "";
}

bool IsOurs(const Value& object) {
  const Value* metadata = object.Find("metadata");
  return metadata != nullptr && metadata->TextAt("name") == kName;
}

Result<Value> Read(const std::string& text) {
  std::vector<FieldError> errors;
  Value value = ParseJson(text, errors);
  if (!errors.empty() || value.kind() != Value::Kind::kObject)
    return Error("the API server's answer is not a JSON object");
  return value;
}

// A list of texts as JSON; nothing is an empty list.
Error ReadTexts(const Value& data, std::string_view key, std::vector<std::string>& out) {
  out.clear();
  const std::string text = data.TextAt(key);
  if (text.empty()) return Error::Ok();
  std::vector<FieldError> errors;
  const Value list = ParseJson(text, errors);
  const bool good = errors.empty() && (list.is_null() || (list.kind() == Value::Kind::kArray &&
                                                          std::ranges::all_of(list.items(), [](const Value& item) {
                                                            return item.kind() == Value::Kind::kString;
                                                          })));
  if (!good) return Error(std::string(key) + ": must be a list of strings in JSON");
  for (const Value& item : list.items()) out.push_back(item.text());
  return Error::Ok();
}

}  // namespace

AuthenticationConfigMap::AuthenticationConfigMap(ApiLink& link, ConfigMapTargets targets, ConfigMapOptions options)
    : link_(link), targets_(std::move(targets)), options_(std::move(options)) {}

AuthenticationConfigMap::~AuthenticationConfigMap() { Stop(); }

Error AuthenticationConfigMap::ReadOnce() {
  auto answered = std::make_shared<std::promise<client::ApiReply>>();
  client::ApiRequest request;
  request.path = std::string(kCollection) + "/" + kName;
  request.timeout = options_.read_timeout;
  request.send_by = request.answer_by = util::After(options_.read_timeout);
  link_.Send(std::move(request), [answered](client::ApiReply reply) { answered->set_value(std::move(reply)); });
  client::ApiReply reply = answered->get_future().get();
  if (reply.status.not_found()) return Error::Ok();
  if (reply.status.code == 403) {
    Warn(
        "Unable to get configmap/extension-apiserver-authentication in kube-system.  Usually fixed by 'kubectl create "
        "rolebinding -n kube-system ROLEBINDING_NAME --role=extension-apiserver-authentication-reader "
        "--serviceaccount=YOUR_NS:YOUR_SA'");
  }
  if (!reply.status.ok()) return Error(client::TextOf(reply.status));
  const Result<Value> read = Read(reply.body);
  if (!read.ok()) return read.error();
  return Apply(*read);
}

void AuthenticationConfigMap::Start() {
  owner_.link().Call([](Self& self) { self.List(); });
}

void AuthenticationConfigMap::Stop() {
  owner_.Leave();
  stream_ = nullptr;
}

void AuthenticationConfigMap::Warn(const std::string& problem) const {
  if (options_.warn) options_.warn(problem);
}

void AuthenticationConfigMap::List() {
  client::ApiRequest request;
  request.path = std::string(kCollection) + "?" + kByName + "&limit=500&resourceVersion=0";
  link_.Send(std::move(request),
             [owner = owner_.link()](client::ApiReply reply) { owner.Call([&](Self& self) { self.OnList(reply); }); });
}

void AuthenticationConfigMap::OnList(client::ApiReply& reply) {
  if (!reply.status.ok()) {
    Warn(std::string("Failed to watch ") + kWhere + ": " + client::TextOf(reply.status));
    return Again(true, true);
  }
  const Result<Value> list = Read(reply.body);
  const std::string version = list.ok() ? VersionOf(*list) : "";
  const Value* items = list.ok() ? list->Find("items") : nullptr;
  if (version.empty() || items == nullptr) {
    Warn(std::string("Failed to watch ") + kWhere + ": the answer is not a list");
    return Again(true, true);
  }
  for (const Value& item : items->items()) {
    if (!IsOurs(item)) continue;
    if (Error error = Apply(item); !error.ok()) Warn(error.text());
  }
  version_ = version;
  Watch();
}

// REQUIRES: no stream is left.
void AuthenticationConfigMap::Watch() {
  const int seconds = Between(kShortestWatch, kLongestWatch);
  over_ = false;
  status_ = 0;
  rest_.clear();
  const util::OwnerLink<Self> owner = owner_.link();
  stream_ = link_.Stream(
      std::string(kCollection) + "?allowWatchBookmarks=true&" + kByName + "&resourceVersion=" +
          client::UrlEncode(version_) + "&timeoutSeconds=" + std::to_string(seconds) + "&watch=true",
      Duration::Seconds(seconds + kGrace),
      [owner](int status, const net::Headers&) { owner.Call([&](Self& self) { self.status_ = status; }); },
      [owner](std::string_view piece) { owner.Call([&](Self& self) { self.OnPiece(piece); }); },
      [owner](const Error& error) { owner.Call([&](Self& self) { self.OnEnd(error); }); });
}

void AuthenticationConfigMap::OnPiece(std::string_view piece) {
  if (over_ || status_ != 200) return;
  rest_.append(piece);
  bool bad = false;
  for (size_t end = 0; !bad && (end = rest_.find('\n')) != std::string::npos;) {
    const std::string line = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    bad = !line.empty() && !OnLine(line);
  }
  if (!bad && rest_.size() <= kMaxLine) return;
  over_ = true;  // whatever else it says, and its end
  Again(true, true);
}

bool AuthenticationConfigMap::OnLine(const std::string& line) {
  const Result<Value> event = Read(line);
  if (!event.ok()) return false;
  const std::string type = event->TextAt("type");
  const Value* object = event->Find("object");
  if (type == "ERROR" || object == nullptr) return false;
  if ((type == "ADDED" || type == "MODIFIED") && IsOurs(*object)) {
    if (Error error = Apply(*object); !error.ok()) Warn(error.text());
  }
  failures_ = 0;
  if (std::string version = VersionOf(*object); !version.empty()) version_ = std::move(version);
  return true;
}

void AuthenticationConfigMap::OnEnd(const Error& error) {
  if (over_) return;
  over_ = true;
  const bool refused = status_ != 200;
  Again(refused || !error.ok(), refused);
}

// Never at once: a server that ends every watch must not be asked in a circle.
void AuthenticationConfigMap::Again(bool failed, bool from_scratch) {
  failures_ = failed ? std::min(failures_ + 1, kMostDoublings) : 0;
  int64_t wait = options_.first_wait.ns;
  for (int i = 1; i < failures_; ++i) wait = std::min(wait * 2, options_.longest_wait.ns);
  wait += wait / 100 * Between(0, 20);
  link_.Later(std::chrono::nanoseconds(wait), [owner = owner_.link(), from_scratch] {
    // Goes outside of a Call: it waits for its own callbacks, which may wait for a Call.
    std::unique_ptr<net::ResponseStream> before;
    owner.Call([&](Self& self) { before = std::move(self.stream_); });
    before = nullptr;
    owner.Call([&](Self& self) {
      if (from_scratch)
        self.List();
      else
        self.Watch();
    });
  });
}

Error AuthenticationConfigMap::Apply(const Value& config_map) {
  const Value* data = config_map.Find("data");
  static const Value kNothing = Value::Object();
  if (data == nullptr) data = &kNothing;
  const auto set = [&](TrustedAuthorities& authorities, std::string_view key) {
    const std::string pem = data->TextAt(key);
    const Error error = pem.empty() ? Error("missing content for CA bundle " + std::string(key)) : authorities.Set(pem);
    if (!error.ok()) Warn(error.Wrap(kWhere).text());
  };
  if (targets_.client_authorities) set(*targets_.client_authorities, "client-ca-file");
  if (!targets_.request_headers) return Error::Ok();
  RequestHeaderNames names;
  for (const auto& [key, out] :
       {std::pair("requestheader-username-headers", &names.user), std::pair("requestheader-uid-headers", &names.uid),
        std::pair("requestheader-group-headers", &names.group),
        std::pair("requestheader-extra-headers-prefix", &names.extra_prefixes),
        std::pair("requestheader-allowed-names", &names.allowed_clients)}) {
    if (Error error = ReadTexts(*data, key, *out); !error.ok()) return error.Wrap(kWhere);
  }
  // New names before a new authority: nobody is believed under rules that are not there yet.
  targets_.request_headers->SetNames(std::move(names));
  set(targets_.request_headers->authorities(), "requestheader-client-ca-file");
  return Error::Ok();
}

}  // namespace berth::serving
