// SPDX-License-Identifier: Apache-2.0
#include "conform/faulty_extender_test_util.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "api/json_value.h"
#include "conform/gzip_test_util.h"
#include "util/text.h"

namespace berth::conform {
namespace {

constexpr size_t kSmallBody = size_t{1} << 20;
constexpr size_t kPatience = 2;  // one question in either shape
constexpr char kReason[] = "ends in 3";

const Value& Null() {
  static const Value null;
  return null;
}

void Replace(std::string& text, std::string_view what, std::string_view by) {
  if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
}

Value Text(std::string text) { return Value::String(std::move(text)); }

net::HttpResponse Plain(int status, std::string text) { return {status, "text/plain", std::move(text), {}}; }

int64_t ScoreOf(const std::string& name) { return name.empty() ? 0 : name.back() - '0'; }
bool Passes(const std::string& name) { return !name.ends_with('3'); }

std::string NameOf(const Value& node) {
  const Value* metadata = node.Find("metadata");
  const Value* name = metadata == nullptr ? nullptr : metadata->Find("name");
  return name == nullptr ? "" : name->text();
}

Value NamedNode(const std::string& name) {
  return Value::Object({{"metadata", Value::Object({{"name", Text(name)}})}});
}

std::optional<std::string> ReadRequest(int client) {
  std::string text;
  for (;;) {
    const size_t head = text.find("\r\n\r\n");
    if (head != std::string::npos) {
      const size_t length = text.find("Content-Length: ");
      const size_t body = length < head ? std::stoul(text.substr(length + 16)) : 0;
      if (text.size() >= head + 4 + body) return text;
    }
    char data[4096];
    const ssize_t count = ::recv(client, data, sizeof(data), 0);
    if (count < 0) return std::nullopt;
    if (count == 0) return "";
    text.append(data, static_cast<size_t>(count));
  }
}

}  // namespace

FaultyExtender::FaultyExtender(Fault fault, std::string path, const net::TlsOptions* tls)
    : fault_(fault), path_(std::move(path)), tls_(tls != nullptr) {
  if (fault >= Fault::kOneAtATime) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 128), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { ServeOneAtATime(); });
    return;
  }
  net::ServerOptions options;
  options.tls = tls;
  options.threads = 2;
  Result<std::unique_ptr<net::HttpServer>> server = net::HttpServer::Start(
      options, [this](const net::HttpRequest& request, const net::Respond& respond) { respond(Answer(request)); });
  EXPECT_TRUE(server.ok()) << (server.ok() ? "" : server.error().text());
  if (server.ok()) server_ = std::move(server).value();
  port_ = server_ == nullptr ? 0 : server_->port();
}

FaultyExtender::~FaultyExtender() {
  if (listener_ >= 0) ::shutdown(listener_, SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
  if (listener_ >= 0) ::close(listener_);
}

std::string FaultyExtender::url() const {
  return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

void FaultyExtender::ServeOneAtATime() {
  for (;;) {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    // A test that ends must not wait for a client that never comes back.
    const timeval patience = {20, 0};
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    const std::optional<std::string> text = ReadRequest(client);
    if (!text && fault_ == Fault::kDiesWithItsClient) {
      ::close(client);
      ::shutdown(listener_, SHUT_RDWR);
      return;
    }
    if (text && !text->empty()) {
      net::HttpRequest request;
      const size_t blank = text->find(' ');
      request.method = text->substr(0, blank);
      request.path = text->substr(blank + 1, text->find(' ', blank + 1) - blank - 1);
      request.headers.Add("Content-Type", "application/json");
      request.body = text->substr(text->find("\r\n\r\n") + 4);
      const net::HttpResponse answer = Answer(request);
      const bool quiet = fault_ == Fault::kOldHttp || fault_ == Fault::kHangsUp;
      const std::string bytes = (fault_ == Fault::kOldHttp ? "HTTP/1.0 " : "HTTP/1.1 ") +
                                std::to_string(answer.status) + " X\r\n" +
                                (quiet                      ? ""
                                 : fault_ == Fault::kShouts ? "Connection: Close\r\n"
                                                            : "Connection: close\r\n") +
                                "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
      // Whoever hangs up without a word does so in one packet with the end of the answer, unless 200 ms pass in
      // between: a client that has read it can know.
      const int flags = MSG_NOSIGNAL | (fault_ == Fault::kHangsUp ? MSG_MORE : 0);
      for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = ::send(client, bytes.data() + sent, bytes.size() - sent, flags);
        if (count <= 0) break;
        sent += static_cast<size_t>(count);
      }
    }
    ::close(client);
  }
}

net::HttpResponse FaultyExtender::Answer(const net::HttpRequest& request) {
  ++requests_;
  const std::string verb = request.path.substr(std::min<size_t>(1, request.path.size()));
  const bool known = verb == "filter" || verb == "prioritize" || verb == "preempt" || verb == "bind";
  if (!known && fault_ == Fault::kAnyPath) return AnswerVerb("filter", request);
  if (!known) return Plain(404, "no such verb");
  if (request.method != "POST") {
    return fault_ == Fault::kAnyMethod ? Plain(200, "hello") : Plain(405, "only POST");
  }
  if (path_.empty() || path_ == verb) {
    switch (fault_) {
      case Fault::kNotFound:
        return Plain(404, "gone");
      case Fault::kFails:
        return Plain(500, "no");
      case Fault::kNotJson:
        return Plain(200, "<html>hello</html>");
      case Fault::kWrongTop:
        return Plain(200, verb == "prioritize" ? "{}" : "[]");
      case Fault::kSaysNothing:
        return Plain(200, verb == "prioritize" ? "[]" : "{}");
      default:
        break;
    }
  }
  return AnswerVerb(verb, request);
}

net::HttpResponse FaultyExtender::AnswerVerb(const std::string& verb, const net::HttpRequest& request) {
  std::vector<FieldError> errors;
  const Value args = ParseJson(request.body, errors);
  if (!errors.empty() || args.kind() != Value::Kind::kObject) {
    if (fault_ == Fault::kTakesAnything) return Plain(200, verb == "prioritize" ? "[]" : "{}");
    const std::lock_guard lock(mutex_);
    lost_ = fault_ == Fault::kNoWayBack;
    return Plain(400, "malformed");
  }
  {
    const std::lock_guard lock(mutex_);
    if (lost_) return Plain(500, "lost");
  }
  if (const std::string objection = Objection(request, args); !objection.empty()) return Plain(500, objection);
  if (verb == "bind") {
    return {
        200, "application/json", fault_ == Fault::kClaimsToBind ? R"({"Error":""})" : R"({"Error":"no such pod"})", {}};
  }
  const Value reply = verb == "filter" ? Filter(args) : verb == "prioritize" ? Prioritize(args) : Preempt(args);
  if (fault_ == Fault::kTires && verb == "filter" && NamesIn(args).size() == 12) {
    const std::lock_guard lock(mutex_);
    if (++plain_ > kPatience) return Plain(503, "tired");
  }
  std::string body = reply.ToJson();
  if (fault_ == Fault::kLatin1) Replace(body, kReason, "endet auf 3 f\xfcr immer");
  if (fault_ == Fault::kHalfCharacter) Replace(body, kReason, R"(ends in \ud83d)");
  net::HttpResponse response{200, "application/json", std::move(body), {}};
  const std::string* accepted = request.headers.Find("Accept-Encoding");
  const bool asked = accepted != nullptr && *accepted == "gzip";
  if (fault_ == Fault::kBrokenGzip || (fault_ == Fault::kGzip && asked)) {
    response.headers.Add("Content-Encoding", "GZip");
    response.body = Gzipped(response.body);
    if (fault_ == Fault::kBrokenGzip) response.body.pop_back();
  }
  if (fault_ == Fault::kOddCoding) response.headers.Add("Content-Encoding", "utf-8");
  return response;
}

const Value& FaultyExtender::Get(const Value& object, const std::string& key) const {
  for (const auto& [name, value] : object.members()) {
    if (fault_ == Fault::kExactKeys ? name == key : util::Lower(name) == util::Lower(key)) return value;
  }
  return Null();
}

std::vector<std::string> FaultyExtender::NamesIn(const Value& args) const {
  std::vector<std::string> names;
  for (const Value& name : Get(args, "NodeNames").items()) names.push_back(name.text());
  for (const Value& node : Get(Get(args, "Nodes"), "items").items()) names.push_back(NameOf(node));
  return names;
}

std::string FaultyExtender::Objection(const net::HttpRequest& request, const Value& args) const {
  const std::string* type = request.headers.Find("Content-Type");
  const std::vector<std::string> names = NamesIn(args);
  const bool preempts = request.path == "/preempt";
  switch (fault_) {
    case Fault::kNodesOnly:
      return Get(args, "Nodes").is_null() && Get(args, "NodeNameToVictims").is_null() && request.path != "/bind"
                 ? "nil pointer"
                 : "";
    case Fault::kFussyAboutTypes:
      return type == nullptr || *type != "application/json" ? "what is this?" : "";
    case Fault::kSmallBodies:
      return request.body.size() > kSmallBody ? "too large" : "";
    case Fault::kFailsForOneNode:
      return names.size() == 1 ? "one is none" : "";
    case Fault::kFailsForNoNode:
      return names.empty() && !preempts ? "index out of range" : "";
    case Fault::kFailsForNull:
      return request.body.find(R"("finalizers":null)") != std::string::npos ? "nil pointer" : "";
    case Fault::kFailsForUnsetTime:
      return request.body.find(R"("lastProbeTime":null)") != std::string::npos ? "nil pointer" : "";
    case Fault::kFailsForNamelessImage:
      return request.body.find(R"("names":null)") != std::string::npos ? "nil pointer" : "";
    case Fault::kStrictFields:
      return util::Lower(request.body).find("berthconformunknown") != std::string::npos ? "unknown field" : "";
    case Fault::kFailsForUnknownNode:
      return std::ranges::find(names, "berth-conform-no-such-node") != names.end() ? "no such node" : "";
    case Fault::kFailsForMadeUpNames:
      return std::ranges::any_of(Get(args, "NodeNames").items(),
                                 [](const Value& name) { return name.text().starts_with("berth-conform-"); })
                 ? "no such node"
                 : "";
    default:
      return "";
  }
}

Value FaultyExtender::Filter(const Value& args) {
  if (fault_ == Fault::kError) return Value::Object({{"Error", Text("not today")}});
  std::vector<std::string> names = NamesIn(args);
  if (fault_ == Fault::kMixesUp && names.size() == 8) {
    const std::lock_guard lock(mutex_);
    if (slice_.empty()) slice_ = names;
    if (++slices_ > 8) names = slice_;  // every question is the first one
  }
  const bool whole = !Get(args, "Nodes").is_null();
  std::vector<std::string> passed;
  Value failed = Value::Object();
  const size_t turn = requests_;
  const bool tried = !Get(Get(Get(args, "Pod"), "status"), "conditions").items().empty();
  for (const std::string& name : names) {
    if (Passes(name) && !(fault_ == Fault::kDice && turn % 2 == 0 && name.ends_with('5')) &&
        !(fault_ == Fault::kLooksAtConditions && tried && name.ends_with('5'))) {
      passed.push_back(name);
    } else if (fault_ != Fault::kForgetsNode) {
      failed.Set(name, Text(fault_ == Fault::kGivesNoReason ? "" : kReason));
    }
  }
  if (fault_ == Fault::kInventsNode) passed.emplace_back("a-node-of-mine");
  if (fault_ == Fault::kInventsForNoNode && names.empty()) passed.emplace_back("a-node-of-mine");
  if (fault_ == Fault::kRepeatsNode && !passed.empty()) passed.push_back(passed.front());
  if (fault_ == Fault::kPassesAndFails && !passed.empty()) failed.Set(passed.front(), Text("or not"));
  if (fault_ == Fault::kFailsStranger) failed.Set("a-node-of-mine", Text("mine"));

  Value nodes, list;
  if (whole != (fault_ == Fault::kOtherKind)) {
    Value items = Value::Array();
    for (const std::string& name : passed) {
      const std::vector<Value>& sent = Get(Get(args, "Nodes"), "items").items();
      const auto found = std::ranges::find_if(sent, [&](const Value& node) { return NameOf(node) == name; });
      items.Append(found == sent.end() || fault_ == Fault::kStripsNode ? NamedNode(name) : *found);
    }
    nodes = Value::Object({{"metadata", Value::Object()}, {"items", std::move(items)}});
  } else {
    list = Value::Array();
    for (const std::string& name : passed) list.Append(Text(name));
  }
  return Value::Object({{"Nodes", nodes},
                        {"NodeNames", list},
                        {"FailedNodes", failed},
                        {"FailedAndUnresolvableNodes", Value::Object()},
                        {"Error", Text("")}});
}

Value FaultyExtender::Prioritize(const Value& args) {
  Value list = Value::Array();
  const auto add = [&](const std::string& name) {
    Value score = Value::Int(ScoreOf(name));
    if (fault_ == Fault::kTextScore) score = Text("7");
    if (fault_ == Fault::kFractionalScore) score = Value::Number("7.5");
    if (fault_ == Fault::kHighScore) score = Value::Int(100);
    if (fault_ == Fault::kHugeScore) score = Value::Int(INT64_MAX);
    list.Append(Value::Object({{"Host", Text(name)}, {"Score", std::move(score)}}));
  };
  const std::vector<std::string> names = NamesIn(args);
  for (const std::string& name : names) {
    if (fault_ == Fault::kForgetsHost && name == names.back()) continue;
    add(name);
    if (fault_ == Fault::kRepeatsHost && name == names.front()) add(name);
  }
  if (fault_ == Fault::kInventsHost) add("a-node-of-mine0");
  return list;
}

Value FaultyExtender::Preempt(const Value& args) const {
  Value kept = Value::Object();
  const bool meta = !Get(args, "NodeNameToMetaVictims").is_null();
  const Value& candidates = Get(args, meta ? "NodeNameToMetaVictims" : "NodeNameToVictims");
  for (size_t i = 0; i < candidates.members().size(); ++i) {
    const auto& [name, victims] = candidates.members()[i];
    if (i == 1) continue;
    if (fault_ == Fault::kNullCandidate) {
      kept.Set(name, Value());
      continue;
    }
    std::vector<Value> pods;
    for (const Value& pod : Get(victims, "Pods").items()) {
      const Value& uid = meta ? Get(pod, "UID") : Get(Get(pod, "metadata"), "uid");
      pods.push_back(Value::Object({{"UID", uid}}));
    }
    if (fault_ == Fault::kReordersVictims) std::ranges::reverse(pods);
    if (fault_ == Fault::kRepeatsVictim) pods.push_back(pods.front());
    if (fault_ == Fault::kInventsVictim) pods.push_back(Value::Object({{"UID", Text("mine")}}));
    if (fault_ == Fault::kNullVictim) pods.emplace_back();
    const bool last = i + 1 == candidates.members().size(), worse = fault_ == Fault::kGetsWorse;
    if (fault_ == Fault::kNoVictims || (worse && last)) pods.clear();
    const bool forgets = fault_ == Fault::kForgetsBudgets || (worse && !last);
    const Value violations = forgets ? Value::Int(0) : Get(victims, "NumPDBViolations");
    kept.Set(name, Value::Object({{"Pods", Value::Array(std::move(pods))}, {"NumPDBViolations", violations}}));
  }
  if (fault_ == Fault::kInventsCandidate && !kept.members().empty()) {
    kept.Set("a-node-of-mine", kept.members().front().second);
  }
  return Value::Object({{fault_ == Fault::kOtherMap ? "NodeNameToVictims" : "NodeNameToMetaVictims", std::move(kept)}});
}

}  // namespace berth::conform
