// SPDX-License-Identifier: Apache-2.0
#include "attacks.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "shapes.h"
#include "util/deadline.h"

namespace berth::hostile {
namespace {

using Clock = std::chrono::steady_clock;

// Sending to somebody who does not read may take for ever.
constexpr Duration kSendWithin = Duration::Seconds(5);

std::string Verdict(const Shape& shape, const Answer& answer) {
  if (!answer.problem.empty()) return answer.problem;
  const std::string got = answer.status == 0 ? "no answer" : std::to_string(answer.status);
  switch (shape.want) {
    case Shape::Want::kStatus:
      return answer.status == shape.status ? "" : got + " instead of " + std::to_string(shape.status);
    case Shape::Want::kRefused:
      return answer.status == 0 || answer.status >= 400 ? "" : got + " instead of a refusal";
    case Shape::Want::kAnswer:
      return answer.status != 0 ? "" : got;
    case Shape::Want::kNothing:
      break;
  }
  return "";
}

std::string Either(const std::string& first, const std::string& second) { return first.empty() ? second : first; }

std::string Node(size_t i, size_t filler) {
  return R"({"metadata":{"name":"node-)" + std::to_string(i) +
         R"(","labels":{"priority.lixueduan.com":"5","zone":"z1","filler":")" + std::string(filler, 'f') +
         R"("}},"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4",)"
         R"("memory":"8Gi","pods":"110"},"images":[{"names":["a/b:c"],"sizeBytes":1000}]}})";
}

constexpr char kPod[] =
    R"({"metadata":{"name":"p","namespace":"d","uid":"u","labels":{"app":"web"}},"spec":{"containers":[{"name":"c",)"
    R"("resources":{"requests":{"cpu":"100m","memory":"1Gi"}},"ports":[{"hostPort":80}]}],"tolerations":[{"key":"k",)"
    R"("operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
    R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["z1","z2"]}]}]}}}}})";

std::string WithNodes(size_t count, size_t filler) {
  std::string text = std::string(R"({"Pod":)") + kPod + R"(,"Nodes":{"items":[)";
  for (size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + Node(i, filler);
  return text + R"(]},"NodeNames":null})";
}

// Few bytes of which a filter by label makes many: a reason for each node but the first.
std::string WithBareNodes(size_t count) {
  std::string text = std::string(R"({"Pod":)") + kPod + R"(,"Nodes":{"items":[)" + Node(0, 4);
  for (size_t i = 1; i < count; ++i) text += R"(,{"metadata":{"name":"n)" + std::to_string(i) + R"("}})";
  return text + "]}}";
}

std::vector<std::string> GoodBodies() {
  const std::string pod = kPod;
  return {
      WithNodes(3, 4),
      R"({"Pod":)" + pod + R"(,"Nodes":null,"NodeNames":["a","b","c"]})",
      R"({"Pod":)" + pod +
          R"(,"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"x"}}],"NumPDBViolations":1}},)"
          R"("NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"y"}],"NumPDBViolations":0}}})",
      R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})",
  };
}

// One change that a careless or a malicious client would make.
void Mutate(std::string& body, util::Random& random) {
  static const std::vector<std::string> kPieces = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "\"",
                                                   ",",
                                                   ":",
                                                   "null",
                                                   "true",
                                                   "-0",
                                                   "1e999",
                                                   "18446744073709551616",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "\xff",
                                                   "\\",
                                                   "9999999999Ki",
                                                   "{}",
                                                   "[[[[",
                                                   "\"a\":",
                                                   "\xf0\x9f\x98\x80",
                                                   std::string(300, 'x')};
  const auto size = static_cast<int64_t>(body.size());
  const auto at = static_cast<size_t>(random.Below(size + 1));
  const auto length = static_cast<size_t>(random.Below(std::min<int64_t>(size - static_cast<int64_t>(at), 60) + 1));
  switch (random.Below(6)) {
    case 0:
      if (at < body.size()) body[at] = static_cast<char>(random.Below(256));
      return;
    case 1:
      body.erase(at, length);
      return;
    case 2:
      body.insert(at, kPieces[static_cast<size_t>(random.Below(static_cast<int64_t>(kPieces.size())))]);
      return;
    case 3:
      body.insert(static_cast<size_t>(random.Below(size + 1)), body.substr(at, length));
      return;
    case 4:
      body.resize(at);
      return;
    default: {
      std::string many;
      for (int64_t i = random.Below(200); i >= 0; --i) many += body.substr(at, length);
      body.insert(at, many);
    }
  }
}

std::string Shown(const std::string& text) {
  std::string shown;
  for (const char c : text.substr(0, 300)) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return shown;
}

}  // namespace

void Report::Add(const std::string& name, const std::string& problem) {
  if (problem.empty()) {
    ++passed_;
    return;
  }
  ++failed_;
  out_ << "FAILED " << name << ": " << problem << std::endl;
}

void AttackWithShapes(const Target& target, const Plan& plan, Report& report) {
  std::vector<Connection> unfinished;
  for (const Shape& shape : MalformedShapes(plan.paths.front())) {
    std::string problem;
    if (shape.want == Shape::Want::kNothing) {
      if (Connection connection = target.Connect()) {
        (void)connection->Send(shape.text, net::After(kSendWithin));
        unfinished.push_back(std::move(connection));
      }
    } else {
      problem = Verdict(shape, target.Ask(shape.text));
    }
    report.Add("shape \"" + shape.name + "\"", Either(problem, target.Unhealthy()));
  }
}

void AttackHandshakes(const Target& target, Report& report) {
  std::vector<Connection> unfinished;
  for (const Shape& shape : BrokenHandshakes()) {
    for (int i = 0; i < 5; ++i) {
      Connection connection = target.ConnectBare();
      if (connection == nullptr) continue;
      (void)connection->Send(shape.text, net::After(kSendWithin));
      if (i % 2 == 0) {
        connection->Vanish();
      } else {
        unfinished.push_back(std::move(connection));
      }
    }
    report.Add("handshake \"" + shape.name + "\"", target.Unhealthy());
  }
}

void AttackWithMutations(const Target& target, const Plan& plan, util::Random& random, Report& report) {
  const std::vector<std::string> good = GoodBodies();
  const auto any = [&](const auto& list) -> const auto& {
    return list[static_cast<size_t>(random.Below(static_cast<int64_t>(list.size())))];
  };
  Connection connection;
  const auto end = Clock::now() + plan.time;
  for (size_t i = 0; Clock::now() < end; ++i) {
    std::string body = any(good);
    for (int64_t changes = random.Below(6); changes >= 0; --changes) Mutate(body, random);
    const std::string& path = any(plan.paths);
    if (connection == nullptr) connection = target.Connect();
    std::string problem = "cannot connect";
    if (connection != nullptr) {
      (void)connection->Send(Post(path, body), net::After(kSendWithin));
      const Answer answer = Target::Receive(*connection, net::After(Duration::Seconds(30)));
      const bool fine = answer.status == 200 || (answer.status >= 400 && answer.status <= 599);
      problem = Either(answer.problem, fine ? "" : "status " + std::to_string(answer.status));
      if (!problem.empty() || answer.text.find("Connection: close") != std::string::npos) connection.reset();
    }
    if (problem.empty() && i % 200 == 0) problem = target.Unhealthy();
    report.Add("mutation " + std::to_string(i) + " at " + path,
               problem.empty() ? "" : problem + "; body " + Shown(body));
  }
  report.Add("after mutations", target.Unhealthy());
}

void AttackByNumber(const Target& target, const Plan& plan, util::Random& random, Report& report) {
  for (const char* kind : {"silent", "half a head", "idle after an answer", "gone"}) {
    const std::string_view how = kind;
    std::vector<Connection> crowd;
    // Handshakes take their time; beyond it the number is what it is.
    const auto end = Clock::now() + plan.time;
    const std::string head = Get("/healthz");
    while (crowd.size() < plan.connections && Clock::now() < end) {
      Connection connection = target.Connect();
      if (connection == nullptr) break;
      if (how == "half a head") (void)connection->Send(std::string_view(head).substr(0, 20), net::After(kSendWithin));
      if (how == "idle after an answer") {
        (void)connection->Send(head, net::After(kSendWithin));
        const Answer answer = Target::Receive(*connection, net::After(target.options().answer_within));
        if (answer.status != 200) {
          report.Add("connection " + std::to_string(crowd.size()), Either(answer.problem, "no answer"));
          break;
        }
      }
      if (how == "gone") {
        const auto size = static_cast<size_t>(random.Below(static_cast<int64_t>(head.size())));
        (void)connection->Send(std::string_view(head).substr(0, size), net::After(kSendWithin));
        connection->Vanish();
      }
      crowd.push_back(std::move(connection));
    }
    for (int i = 0; i < 3; ++i) {
      report.Add(std::to_string(crowd.size()) + " connections, " + kind, target.Unhealthy());
    }
  }
}

void AttackUnread(const Target& target, const Plan& plan, Report& report) {
  const std::optional<uint64_t> before = target.Memory();
  const std::string requests[] = {Post(plan.paths.front(), WithNodes(2'000, 300)),
                                  Post(plan.paths.front(), WithBareNodes(10'000))};
  {
    std::vector<Connection> deaf;
    const auto end = Clock::now() + plan.time;
    for (size_t i = 0; deaf.size() < plan.connections && Clock::now() < end; ++i) {
      Connection connection = target.Connect();
      if (connection == nullptr) continue;
      (void)connection->Send(requests[i % 2], net::After(kSendWithin));
      if (i % 10 == 0) report.Add(std::to_string(i) + " unread replies", target.Unhealthy());
      deaf.push_back(std::move(connection));
    }
    report.Add(std::to_string(deaf.size()) + " unread replies", target.Unhealthy());
  }
  if (!before) return;
  // Generous: what a server keeps for the next large request, and what the first one made it learn.
  const uint64_t bound = *before + target.options().max_memory / 8;
  std::optional<uint64_t> after;
  for (int i = 0; i < 100; ++i) {
    after = target.Memory();
    if (after && *after <= bound) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  report.Add("memory after unread replies",
             after && *after <= bound
                 ? ""
                 : std::to_string(*before >> 20) + " MiB became " + std::to_string(after.value_or(0) >> 20) + " MiB");
}

void AttackSlowly(const Target& target, const Plan& plan, Report& report) {
  const std::string body = WithNodes(3, 4);
  const std::string request = Post(plan.paths.front(), body);
  std::vector<std::pair<Connection, size_t>> slow;  // and how much of it is sent
  for (size_t i = 0; i < 64; ++i) {
    if (Connection connection = target.Connect()) slow.emplace_back(std::move(connection), 0);
  }
  // Half of them begin within the body.
  for (size_t i = 0; i < slow.size(); i += 2) {
    slow[i].second = request.size() - body.size();
    (void)slow[i].first->Send(std::string_view(request).substr(0, slow[i].second), net::After(kSendWithin));
  }
  const auto end = Clock::now() + plan.time;
  while (Clock::now() < end) {
    for (auto& [connection, sent] : slow) {
      if (sent + 1 < request.size()) {
        (void)connection->Send(std::string_view(request).substr(sent++, 1), net::After(kSendWithin));
      }
    }
    report.Add("slow senders", target.Unhealthy());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void AttackInARow(const Target& target, const Plan& plan, Report& report) {
  constexpr int kRequests = 2'000;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += i % 2 == 0 ? Get("/healthz") : Post(plan.paths.front(), "{");
  for (const bool read : {false, true}) {
    const Connection connection = target.Connect();
    if (connection == nullptr) {
      report.Add("requests in a row", "cannot connect");
      continue;
    }
    // Somebody has to read, or both would wait for each other.
    std::thread sender;
    if (read) sender = std::thread([&] { (void)connection->Send(requests, net::After(Duration::Seconds(30))); });
    if (!read) {
      (void)connection->Send(requests, net::After(Duration::Seconds(1)));
      report.Add("requests in a row, unread", target.Unhealthy());
      continue;
    }
    sender.join();
    std::string text;
    int answers = 0;
    while (answers < kRequests) {
      const Result<std::string> piece = connection->Receive(net::After(Duration::Seconds(30)));
      if (!piece.ok() || piece->empty()) break;
      text += *piece;
      size_t at = 0;
      for (size_t next = text.find("HTTP/1.1 ", at); next != std::string::npos; next = text.find("HTTP/1.1 ", at)) {
        ++answers;
        at = next + 9;
      }
      text.erase(0, std::max(at, text.size() < 9 ? 0 : text.size() - 8));
    }
    report.Add("requests in a row", answers == kRequests ? target.Unhealthy()
                                                         : std::to_string(answers) + " answers to " +
                                                               std::to_string(kRequests) + " requests");
  }
}

}  // namespace berth::hostile
