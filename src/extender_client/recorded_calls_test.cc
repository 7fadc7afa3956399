// SPDX-License-Identifier: Apache-2.0
// The calls that kube-scheduler's own HTTPExtender made before a scripted extender (tests/upstream/extendercalls), made
// again by ours before the same script: what is sent, and what comes of the answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/json_value.h"
#include "api/load.h"
#include "api/source_text.h"
#include "berth/testing.h"
#include "extender_client/http_extender.h"
#include "framework/extender_calls.h"
#include "net/http_client_test_util.h"

namespace berth::extender_client {
namespace {

using framework::Extender;

std::string TextAt(const Value& value, const char* key) {
  const Value* member = value.Find(key);
  return member && member->kind() != Value::Kind::kNull ? member->text() : "";
}
bool BoolAt(const Value& value, const char* key) {
  const Value* member = value.Find(key);
  return member && member->bool_value();
}
int64_t IntAt(const Value& value, const char* key) {
  const std::string text = TextAt(value, key);
  return text.empty() ? 0 : std::stoll(text);
}
const Value& At(const Value& value, const char* key) {
  static const Value none;
  const Value* member = value.Find(key);
  return member ? *member : none;
}

Value Parsed(const std::string& json) {
  std::vector<FieldError> errors;
  Value value = ParseJson(json, errors);
  EXPECT_TRUE(errors.empty()) << json;
  return value;
}

// Members by name: their order says nothing.
Value Canonical(const Value& value) {
  if (value.kind() == Value::Kind::kArray) {
    Value out = Value::Array();
    for (const Value& item : value.items()) out.Append(Canonical(item));
    return out;
  }
  if (value.kind() != Value::Kind::kObject) return value;
  std::map<std::string, Value> sorted;
  for (const auto& [name, member] : value.members()) sorted[name] = Canonical(member);
  Value out = Value::Object();
  for (auto& [name, member] : sorted) out.Set(name, std::move(member));
  return out;
}

// Does to one connection what the case says.
class ScriptedServer {
 public:
  explicit ScriptedServer(const Value& script) {
    std::tie(fd_, port_) = net::ListenAnywhere();
    thread_ = std::thread([this, &script] {
      for (;;) {
        const int client = ::accept(fd_, nullptr, nullptr);
        if (client < 0) return;
        Serve(client, script);
        kept_.push_back(client);
      }
    });
  }
  ~ScriptedServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
    for (const int client : kept_) ::close(client);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  uint16_t port() const { return port_; }
  // Method, target, content type and body.
  std::vector<std::array<std::string, 4>> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  static std::string HeaderOf(const std::string& head, const std::string& name) {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t start = at + name.size() + 4;
    return head.substr(start, head.find("\r\n", start) - start);
  }
  void Serve(int client, const Value& script) {
    std::string text;
    char data[65536];
    size_t end = std::string::npos, wanted = 0;
    while (end == std::string::npos || text.size() < wanted) {
      const ssize_t got = ::recv(client, data, sizeof(data), 0);
      if (got <= 0) return;
      text.append(data, static_cast<size_t>(got));
      if (end == std::string::npos) end = text.find("\r\n\r\n");
      if (end != std::string::npos) wanted = end + 4 + std::stoul("0" + HeaderOf(text, "Content-Length"));
    }
    {
      const std::lock_guard lock(mutex_);
      const size_t space = text.find(' '), second = text.find(' ', space + 1);
      heard_.push_back({text.substr(0, space), text.substr(space + 1, second - space - 1),
                        HeaderOf(text.substr(0, end + 2), "Content-Type"), text.substr(end + 4)});
    }
    if (BoolAt(script, "close")) {
      ::shutdown(client, SHUT_RDWR);
      return;
    }
    std::string body;
    for (int64_t i = 0; i < std::max<int64_t>(IntAt(script, "repeat"), 1); ++i) body += TextAt(script, "body");
    const int64_t status = IntAt(script, "status");
    const std::string head = "HTTP/1.1 " + std::to_string(status == 0 ? 200 : status) +
                             " X\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\nConnection: close\r\n\r\n";
    const std::string hang = TextAt(script, "hang");
    if (hang == "head") return;
    if (hang == "body") body.resize(body.size() / 2);
    const auto cut = static_cast<size_t>(IntAt(script, "cut"));
    if (cut > 0) body.resize(cut);
    const std::string all = head + body;
    for (size_t sent = 0; sent < all.size();) {
      const ssize_t done = ::send(client, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
      if (done <= 0) break;
      sent += static_cast<size_t>(done);
    }
    if (hang.empty()) ::shutdown(client, SHUT_WR);
  }

  int fd_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::array<std::string, 4>> heard_;
  std::vector<int> kept_;
  std::thread thread_;
};

template <class T>
T WaitFor(const std::function<void(std::function<void(T)>)>& ask) {
  auto promise = std::make_shared<std::promise<std::optional<T>>>();
  ask([promise](T answer) { promise->set_value(std::move(answer)); });
  return *promise->get_future().get();
}

Ptr<Pod> PodOf(const Value& json) {
  Value whole = json;
  whole.Set("kind", Value::String("Pod"));
  whole.Set("apiVersion", Value::String("v1"));
  const LoadResult read = LoadObjectsFromText(whole.ToJson());
  EXPECT_TRUE(read.ok()) << read.errors.front().Text();
  return WithSource(Pod(*read.objects.of<Pod>().front()), json.ToJson());
}

std::map<std::string, std::string> TextsOf(const Value& object) {
  std::map<std::string, std::string> all;
  for (const auto& [name, text] : object.members()) all[name] = text.text();
  return all;
}
std::vector<std::string> ListOf(const Value& array) {
  std::vector<std::string> all;
  for (const Value& item : array.items()) all.push_back(item.text());
  return all;
}

void Compare(const Value& c, const Value& upstream) {
  const std::string verb = TextAt(c, "verb");
  auto server = std::make_unique<ScriptedServer>(At(c, "answer"));
  const std::string at = "127.0.0.1:" + std::to_string(server->port());
  if (BoolAt(c, "nobody")) server.reset();
  config::Extender config;
  config.url_prefix = "http://" + at + TextAt(c, "prefix");
  config.weight = 3;
  config.node_cache_capable = BoolAt(c, "capable");
  config.ignorable = BoolAt(c, "ignorable");
  // Those that wait for it are few; what comes before it must have its time on a busy machine, too.
  config.http_timeout = Duration::Millis(std::max<int64_t>(IntAt(c, "timeoutMs"), 1000));
  for (const std::string& name : ListOf(At(c, "managed"))) config.managed_resources.push_back({name, false});
  std::string action = TextAt(c, "action");
  if (action.empty()) action = verb;
  (verb == "filter"       ? config.filter_verb
   : verb == "prioritize" ? config.prioritize_verb
   : verb == "preempt"    ? config.preempt_verb
                          : config.bind_verb) = action;
  auto made = HttpExtender::Make(config);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const std::shared_ptr<HttpExtender> extender = std::move(made).value();

  const Ptr<Pod> pod = PodOf(At(c, "pod"));
  EXPECT_EQ(extender->IsInterested(*pod), BoolAt(upstream, "interested"));
  std::vector<Ptr<Node>> list;
  for (const Value& node : At(c, "nodes").items())
    list.push_back(WithSource<Node>(MakeNode(TextAt(At(node, "metadata"), "name")), node.ToJson()));
  const Extender::Nodes nodes = std::move(list);
  std::vector<PreemptionCandidate> candidates;
  for (const auto& [node, victims] : At(c, "victims").members()) {
    PreemptionCandidate& candidate = candidates.emplace_back();
    candidate.node = node;
    candidate.pdb_violations = IntAt(victims, "NumPDBViolations");
    for (const Value& victim : At(victims, "Pods").items()) {
      const Value& meta = At(victim, "metadata");
      candidate.victims.push_back(
          WithSource(MakePod(TextAt(meta, "name")).Uid(TextAt(meta, "uid")).OnNode(node).Build(), victim.ToJson()));
    }
  }

  std::string error;
  if (verb == "filter") {
    const auto answer =
        WaitFor<Result<Extender::Filtered>>([&](auto done) { extender->Filter(pod, nodes, std::move(done)); });
    if (!answer.ok()) error = answer.error().text();
    if (answer.ok()) {
      std::vector<std::string> passed;
      for (const size_t place : answer->passed) passed.push_back(nodes[place]->name());
      EXPECT_EQ(passed, ListOf(At(upstream, "passed")));
      EXPECT_EQ((std::map<std::string, std::string>(answer->failed.begin(), answer->failed.end())),
                TextsOf(At(upstream, "failed")));
      EXPECT_EQ((std::map<std::string, std::string>(answer->unresolvable.begin(), answer->unresolvable.end())),
                TextsOf(At(upstream, "unresolvable")));
    }
  } else if (verb == "prioritize") {
    const auto answer =
        WaitFor<Result<Extender::Scores>>([&](auto done) { extender->Prioritize(pod, nodes, std::move(done)); });
    if (!answer.ok()) error = answer.error().text();
    if (answer.ok()) {
      Extender::Scores wanted;  // nobody looks at what is said of other nodes
      for (const Value& score : At(upstream, "scores").items())
        for (size_t place = 0; place < nodes.size(); ++place)
          if (nodes[place]->name() == TextAt(score, "Host")) wanted.emplace_back(place, IntAt(score, "Score"));
      EXPECT_EQ(*answer, wanted);
      EXPECT_EQ(extender->traits().weight, IntAt(upstream, "weight"));
    }
  } else if (verb == "preempt") {
    const auto answer =
        WaitFor<Result<Extender::VictimMap>>([&](auto done) { extender->Preempt(pod, candidates, std::move(done)); });
    if (!answer.ok()) {
      error = answer.error().text();
    } else if (TextAt(upstream, "error").empty()) {
      Extender::VictimMap wanted;
      for (const auto& [node, victims] : At(upstream, "victims").members())
        wanted[node] = {ListOf(At(victims, "uids")), IntAt(victims, "pdbViolations")};
      EXPECT_EQ(*answer, wanted);
    } else {
      // Pods and nodes are looked up by who knows the cluster.
      framework::ExtenderCalls calls({extender}, [](const std::function<void()>& letter) { letter(); });
      const auto left = WaitFor<Result<framework::ExtenderCalls::Candidates>>([&](auto done) {
        calls.Preempt(
            pod, candidates,
            [&](const std::string& node) -> std::optional<std::vector<Ptr<Pod>>> {
              for (const auto& candidate : candidates)
                if (candidate.node == node) return candidate.victims;
              return std::nullopt;
            },
            std::move(done));
      });
      if (!left.ok()) error = left.error().text();
    }
  } else {
    const Error answer = WaitFor<Error>([&](auto done) { extender->Bind(pod, TextAt(c, "node"), std::move(done)); });
    if (!answer.ok()) error = answer.text();
  }
  for (size_t i = error.find(at); i != std::string::npos; i = error.find(at))
    error.replace(i, at.size(), "127.0.0.1:PORT");
  const std::string wanted = TextAt(upstream, "error");
  // What Go says of JSON is its own.
  if (wanted.starts_with("json: ") || wanted.starts_with("invalid character")) {
    EXPECT_NE(error, "") << wanted;
  } else {
    EXPECT_EQ(error, wanted);
  }

  if (!server) return;
  // A call that timed out may be over before its server has read it.
  for (int i = 0; i < 2000 && server->heard().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto heard = server->heard();
  const Value& requests = At(upstream, "heard");
  ASSERT_FALSE(heard.empty());
  ASSERT_EQ(requests.items().size(), 1u);
  const Value& request = requests.items().front();
  EXPECT_EQ(heard[0][0], TextAt(request, "method"));
  EXPECT_EQ(heard[0][1], TextAt(request, "target"));
  EXPECT_EQ(heard[0][2], TextAt(request, "contentType"));
  EXPECT_EQ(Canonical(Parsed(heard[0][3])).ToJson(1), Canonical(At(request, "body")).ToJson(1));
}

// Those of the tree, or fresh ones (tests/upstream/fresh-extender-calls.sh).
TEST(RecordedCallsTest, OursAreKubeSchedulers) {
  const char* fresh = std::getenv("BERTH_FRESH_EXTENDER_CALLS");
  const char* path = fresh ? fresh : BERTH_EXTENDER_CALLS;
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path;
  const auto complaints = [] {
    return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  };
  size_t cases = 0, failed = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Value read = Parsed(line);
    const Value& c = At(read, "case");
    SCOPED_TRACE(TextAt(c, "name"));
    const int before = complaints();
    Compare(c, At(read, "upstream"));
    failed += complaints() > before;
  }
  EXPECT_GT(cases, 80u);
  if (fresh) std::printf("%zu passed, %zu failed\n", cases - failed, failed);
}

}  // namespace
}  // namespace berth::extender_client
