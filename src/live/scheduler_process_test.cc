// SPDX-License-Identifier: Apache-2.0
// A scheduler's life against an API server that the test speaks for: the lease, a pod, the end.
#include "live/scheduler_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "berth/host/kinds.h"
#include "berth/node_plugin.h"
#include "berth/version.h"
#include "client/fake_api_server_test_util.h"
#include "config/load.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "plugins/builtin.h"

namespace berth::live {
namespace {

using client::FakeReply;
using client::FakeRequest;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNode[] =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"node","resourceVersion":"3"},)"
    R"("spec":{},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"100000"}}})";

// Counts the nodes that it is asked about.
class CountingPlugin final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Counting";
  explicit CountingPlugin(Handle& handle) : handle_(handle) {}
  Verdict FilterNode(const Pod&, NodeView node) const override {
    handle_.Count({"acme_nodes_total", "Nodes that were looked at", "node"}, std::string(node.name()));
    return kFits;
  }

 private:
  Handle& handle_;
};

class SchedulerProcessTest : public ::testing::Test {
 protected:
  SchedulerProcessTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    registry_.Add<CountingPlugin>();
  }
  ~SchedulerProcessTest() override { Join(); }

  // A cluster with one node and one pod that waits. A path that begins with one of `refused` is answered with that
  // code; where the test says so, not before there is an event about the pod.
  FakeReply Answer(const FakeRequest& request) {
    for (const auto& [start, code] : refused_)
      if ((told_ || !refuses_later_) && (request.method + " " + request.target).starts_with(start))
        return {code, client::StatusJson(code, "refused"), ""};
    if (json_only_ && request.Has("Content-Type: application/vnd.kubernetes.protobuf"))
      return {415, client::StatusJson(415, "JSON only"), ""};
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path.find("/leases") != std::string::npos) return AnswerLease(request);
    if (path.ends_with("/ns/events")) told_ = true;
    if (path.ends_with("/binding")) ++bound_;
    if (path.ends_with("/events")) return {201, request.body, ""};
    if (const size_t at = path.find("/events/"); at != std::string::npos)
      return {200, R"({"kind":"Event","metadata":{"namespace":"kube-system","name":")" + path.substr(at + 8) + "\"}}",
              ""};
    if (request.method == "POST") return {201, client::SuccessJson(), ""};
    if (request.method == "PATCH") return {200, "{}", ""};
    if (path == "/api/v1/nodes") return {200, client::ListJson("NodeList", "9", {kNode}), ""};
    if (path == "/api/v1/pods") return {200, client::ListJson("PodList", "9", {WaitingPod()}), ""};
    for (const KindInfo& info : kKinds)
      if (path.ends_with("/" + std::string(info.plural)))
        return {200, client::ListJson(std::string(info.name) + "List", "9", {}), ""};
    return {404, client::StatusJson(404, "not found"), ""};
  }
  static std::string WaitingPod(const std::string& name = "a", uint64_t version = 4) {
    std::string pod = client::PodJson(name, version, "uid-of-" + name);
    return pod.replace(pod.find("\"spec\":{"), 8, "\"spec\":{\"schedulerName\":\"default-scheduler\",");
  }
  FakeReply AnswerLease(const FakeRequest& request) {
    if (request.method == "GET" && lease_.empty()) return {404, client::StatusJson(404, "not found"), ""};
    if (request.method != "GET") {
      const std::string version = "\"resourceVersion\":\"";
      // Of two on their way at once, a renewal and giving it back, the later one must not be undone by the other.
      if (request.method == "PUT" &&
          request.body.find(version + std::to_string(lease_version_) + "\"") == std::string::npos)
        return {409, client::StatusJson(409, "the object has been modified"), ""};
      lease_ = request.body;
      if (const size_t old = lease_.find(version); old != std::string::npos)
        lease_.erase(old, lease_.find("\",", old) + 2 - old);
      const std::string at = "\"metadata\":{";
      lease_.insert(lease_.find(at) + at.size(), version + std::to_string(++lease_version_) + "\",");
    }
    return {request.method == "POST" ? 201 : 200, lease_, ""};
  }

  void Start(const std::string& config, int verbosity = 2, int port = 0) {
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + connection_ + config,
        registry_);
    ASSERT_TRUE(loaded.ok());
    SchedulerProcessOptions options;
    options.version = "v1.36.4";
    options.api_server = server_.config();
    options.gates = gates_;
    options.gather = gather_;
    options.serving.secure_port = port_ = port;
    options.serving.bind_address = "127.0.0.1";
    options.serving.authorization_always_allow_paths = {"/*"};
    log_ = std::make_unique<util::Log>(text_, util::LogOptions{.verbosity = verbosity}, clock_);
    auto process = SchedulerProcess::Make(loaded.config, registry_, std::move(options), *log_);
    ASSERT_TRUE(process.ok()) << process.error().text();
    process_ = std::move(process).value();
    thread_ = std::thread([this] { code_ = process_->Run(); });
  }
  void Join() {
    if (!thread_.joinable()) return;
    if (!process_->ended()) process_->Terminate();
    thread_.join();
  }
  int End() {
    Join();
    return code_;
  }
  // A port that nobody has at the moment.
  static int FreePort() {
    const auto socket = net::ListeningSocket::Open({.address = "127.0.0.1"});
    EXPECT_TRUE(socket.ok());
    return (*socket)->port();
  }
  // What the process answers on its port.
  net::HttpResponse Get(const std::string& path, const std::string& method = "GET") {
    net::ClientOptions options;
    options.url = "https://127.0.0.1:" + std::to_string(port_);
    options.tls.insecure = true;
    auto client = net::HttpClient::Create(options);
    EXPECT_TRUE(client.ok());
    net::ClientRequest request;
    request.method = method;
    request.path = path;
    std::promise<net::HttpResponse> answer;
    (*client)->Send(std::move(request), [&](Result<net::HttpResponse> got) {
      EXPECT_TRUE(got.ok()) << path << ": " << got.error().text();
      answer.set_value(got.ok() ? std::move(got).value() : net::HttpResponse());
    });
    return answer.get_future().get();
  }
  // Of the same cluster, those that have been asked for since the last call. REQUIRES: the server streams lists.
  void AnswerStreamedLists() {
    for (; lists_ < server_.watches(); ++lists_) {
      const auto watch = server_.WaitForWatch(lists_);
      const std::string& target = watch->request().target;
      EXPECT_THAT(target, HasSubstr("sendInitialEvents=true"));
      const std::string path = target.substr(0, target.find('?'));
      for (const KindInfo& info : kKinds) {
        if (!path.ends_with("/" + std::string(info.plural))) continue;
        if (path == "/api/v1/nodes") watch->Event("ADDED", kNode);
        if (path == "/api/v1/pods") (pods_ = watch)->Event("ADDED", WaitingPod());
        watch->Event("BOOKMARK", client::InitialEndJson(std::string(info.name), 9));
      }
    }
  }
  // A request that begins so has come.
  bool Asked(const std::string& start) const {
    const std::vector<FakeRequest> all = server_.requests();
    return std::any_of(all.begin(), all.end(), [&](const FakeRequest& request) {
      return (request.method + " " + request.target).starts_with(start);
    });
  }
  void Until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(done()) << "it does not come";
  }
  std::string Log() const { return text_.str(); }

  const util::SystemClock clock_;
  Registry registry_;
  std::vector<std::pair<std::string, int>> refused_;
  bool refuses_later_ = false, told_ = false;
  std::atomic<int> bound_ = 0;  // how often somebody has asked for it
  size_t lists_ = 0;            // streamed ones that were answered
  std::shared_ptr<client::FakeWatch> pods_;
  Duration gather_;
  config::FeatureGates gates_;
  std::string connection_ = "clientConnection: {contentType: application/json}\n";  // what the tests can read
  std::string lease_;                                                               // as it was last written
  uint64_t lease_version_ = 0;
  bool json_only_ = false;
  client::FakeApiServer server_{[this](const FakeRequest& request) { return Answer(request); }};
  std::ostringstream text_;
  std::unique_ptr<util::Log> log_;
  std::unique_ptr<SchedulerProcess> process_;
  std::thread thread_;
  int code_ = -1;
  int port_ = 0;
};

constexpr char kBinding[] = "POST /api/v1/namespaces/ns/pods/a/binding";
constexpr char kEvent[] = "POST /apis/events.k8s.io/v1/namespaces/ns/events";
constexpr char kLease[] = "PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

TEST_F(SchedulerProcessTest, ALeaderBindsAndGivesTheLeaseBack) {
  Start("");
  Until([&] { return Asked(kBinding) && Asked(kEvent); });
  EXPECT_EQ(End(), 0);
  EXPECT_TRUE(Asked("POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases"));
  EXPECT_TRUE(Asked(kLease));
  EXPECT_THAT(lease_, HasSubstr("\"holderIdentity\":\"\""));
  for (const char* line : {"\"Starting Kubernetes Scheduler\" version=\"v1.36.4\"",
                           "Attempting to acquire leader lease...", "Successfully acquired lease",
                           "\"Successfully bound pod to node\" pod=\"ns/a\" node=\"n1\" "
                           "evaluatedNodes=1 feasibleNodes=1",
                           "Requested to terminate, exiting"})
    EXPECT_THAT(Log(), HasSubstr(line));
}

// A server that has JSON only is served all the same.
TEST_F(SchedulerProcessTest, ProtobufIsSpokenUnlessTheConfigurationOrTheServerSaysOtherwise) {
  const std::string protobuf = "Content-Type: application/vnd.kubernetes.protobuf\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const auto written = [&](const std::string& start, const std::string& type) {
    const std::vector<FakeRequest> all = server_.requests();
    return std::any_of(all.begin(), all.end(), [&](const FakeRequest& request) {
      return (request.method + " " + request.target).starts_with(start) && request.Has(type);
    });
  };
  connection_.clear();
  json_only_ = true;
  Start("");
  Until([&] { return written(kBinding, json) && written(kLease, json); });
  EXPECT_TRUE(written(kBinding, protobuf));
  EXPECT_EQ(End(), 0);
  server_.Settle();
  EXPECT_THAT(lease_, HasSubstr("\"holderIdentity\":\"\""));
  EXPECT_THAT(Log(), HasSubstr("bindings go as JSON from now on: the API server does not do protobuf: 415 JSON only"));
}

TEST_F(SchedulerProcessTest, AtThreeTheLogSaysWhatIsListedAndWatched) {
  Start("", 3);
  Until([&] { return Asked(kBinding); });
  EXPECT_EQ(End(), 0);
  for (const char* line : {"\"Starting reflector\" type=\"*v1.Pod\" resyncPeriod=\"0s\"\n",
                           "\"Listing and watching\" type=\"*v1.Node\"\n", "\"Caches populated\" type=\"*v1.Node\"\n"})
    EXPECT_THAT(Log(), HasSubstr(line));
}

TEST_F(SchedulerProcessTest, RequestsSayWhichClientTheyComeFrom) {
  Start("");
  Until([&] { return Asked(kBinding) && Asked(kEvent); });
  EXPECT_EQ(End(), 0);
  for (const FakeRequest& request : server_.requests()) {
    const bool lease = request.target.find("/leases") != std::string::npos;
    EXPECT_TRUE(request.Has("User-Agent: kube-scheduler/v1.36.4 (linux/")) << request.head;
    EXPECT_TRUE(request.Has(std::string(") berth/") + kVersion + (lease ? "/leader-election\r\n" : "/scheduler\r\n")))
        << request.head;
  }
}

TEST_F(SchedulerProcessTest, WithoutElectionThereIsNoLeaseAndTheEndIsAFailureAsUpstream) {
  Start("leaderElection: {leaderElect: false}\n");
  Until([&] { return Asked(kBinding) && Asked(kEvent); });
  EXPECT_EQ(End(), 1);
  EXPECT_THAT(Log(), HasSubstr("\"command failed\" err=\"finished without leader elect\""));
  for (const std::string& target : server_.targets()) EXPECT_THAT(target, Not(HasSubstr("leases")));
}

TEST_F(SchedulerProcessTest, WhoCannotRenewTheLeaseStops) {
  refused_ = {{kLease, 500}};
  refuses_later_ = true;  // binding takes a busy machine as long as it takes
  Start("leaderElection: {leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 200ms}\n");
  Until([&] { return process_->ended(); });
  EXPECT_EQ(End(), 1);
  EXPECT_TRUE(Asked(kBinding));
  EXPECT_THAT(Log(), HasSubstr("Leaderelection lost"));
  EXPECT_THAT(Log(), HasSubstr("Failed to renew lease"));
  EXPECT_THAT(Log(), Not(HasSubstr("Events are lost")));
}

TEST_F(SchedulerProcessTest, NothingButTheLeaseIsAskedForWhereTheCacheWaits) {
  // Somebody else leads.
  lease_ = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler",)"
           R"("namespace":"kube-system","uid":"l","resourceVersion":"7"},"spec":{"holderIdentity":"other",)"
           R"("leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})";
  Start("delayCacheUntilActive: true\n");
  Until([&] { return Asked("GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"); });
  EXPECT_EQ(End(), 0);
  for (const std::string& target : server_.targets()) EXPECT_THAT(target, HasSubstr("/leases/kube-scheduler"));
}

TEST_F(SchedulerProcessTest, AKindThatCannotBeListedIsToldAndEndsLikeAnyOther) {
  refused_ = {{"GET /apis/storage.k8s.io/v1/csidrivers", 403}};
  Start("");
  // When it is asked again, the first answer has been heard.
  Until([&] {
    const std::vector<std::string> targets = server_.targets();
    return std::count_if(targets.begin(), targets.end(), [](const std::string& target) {
             return target.starts_with("/apis/storage.k8s.io/v1/csidrivers");
           }) > 1;
  });
  EXPECT_EQ(End(), 0);
  EXPECT_FALSE(Asked(kBinding));
  EXPECT_THAT(Log(), HasSubstr("\"Failed to watch\" err=\"cannot list objects of kind CSIDriver, will try again: 403"));
}

TEST_F(SchedulerProcessTest, ListsAreStreamedUnlessTheGateSaysOtherwise) {
  Start("leaderElection: {leaderElect: false}\n");
  Until([&] { return Asked(kBinding); });
  EXPECT_EQ(End(), 1);
  const size_t asked = server_.refused_streams();
  EXPECT_GT(asked, 0u);
  const std::vector<std::string> values{"WatchListClient=false"};
  const Result<config::FeatureGates> gates = config::ReadFeatureGates(values);
  ASSERT_TRUE(gates.ok()) << gates.error().text();
  gates_ = *gates;
  const auto bindings = [this] {
    const std::vector<FakeRequest> all = server_.requests();
    return std::count_if(all.begin(), all.end(), [](const FakeRequest& request) {
      return (request.method + " " + request.target).starts_with(kBinding);
    });
  };
  const auto before = bindings();
  process_ = nullptr;
  Start("leaderElection: {leaderElect: false}\n");
  Until([&] { return bindings() > before; });
  EXPECT_EQ(End(), 1);
  EXPECT_EQ(server_.refused_streams(), asked);
}

TEST_F(SchedulerProcessTest, AClusterIsReadFromStreamedLists) {
  server_.StreamLists();
  Start("leaderElection: {leaderElect: false}\n");
  Until([&] {
    AnswerStreamedLists();
    return Asked(kBinding) && Asked(kEvent);
  });
  EXPECT_EQ(End(), 1);
  for (const FakeRequest& request : server_.requests()) {
    EXPECT_NE(request.method, "GET") << request.target;
  }
}

TEST_F(SchedulerProcessTest, PodsOfAStreamAreTakenSomeAtATime) {
  server_.StreamLists();
  connection_ = "clientConnection: {contentType: application/json, qps: 10000, burst: 10000}\n";
  gather_ = Gathering::kWindow;  // more than eight pods take to come, so that it is these that are waited for
  Start("leaderElection: {leaderElect: false}\n", 2, FreePort());
  int sent = 1;
  const auto all_bound = [&] {
    AnswerStreamedLists();
    return bound_ >= sent;
  };
  Until(all_bound);
  // Whoever reads at once what there is lets no crowd come together. Two seconds of a stream, and they all do.
  int crowds = 0, of_crowds = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (crowds < 5 && std::chrono::steady_clock::now() < end) {
    pods_->Event("ADDED", WaitingPod("pod-" + std::to_string(sent), 10 + static_cast<uint64_t>(sent)));
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (bound_ >= of_crowds && sent - bound_ >= 5) {  // another one
      ++crowds;
      of_crowds = sent;
    }
    if (sent - bound_ >= 30) Until(all_bound);  // a busy machine gets time to catch up
  }
  EXPECT_EQ(crowds, 5);
  Until(all_bound);
  Until([&] {
    const std::string name = "\nberth_gathered_pods_total ", text = Get("/metrics").body;
    return text.find(name) != std::string::npos && text.find(name + "0\n") == std::string::npos;
  });
  EXPECT_EQ(End(), 1);
  std::set<std::string> bindings;
  for (const std::string& target : server_.targets())
    if (target.ends_with("/binding")) bindings.insert(target);
  EXPECT_EQ(bindings.size(), static_cast<size_t>(sent));
}

TEST_F(SchedulerProcessTest, CacheAndQueueAreShownOnDemand) {
  Start("leaderElection: {leaderElect: false}\n");
  Until([&] { return Asked(kBinding); });
  process_->Dump();
  EXPECT_EQ(End(), 1);
  EXPECT_THAT(Log(), HasSubstr("\"Dump of scheduling queue\""));
  EXPECT_THAT(Log(), HasSubstr("\"Cache comparer finished\" mismatch=\"none\""));
}

TEST_F(SchedulerProcessTest, ThePortTellsWhatHasHappened) {
  Start(
      "leaderElection: {leaderElect: false}\n"
      "profiles: [{schedulerName: default-scheduler, plugins: {filter: {enabled: [{name: Counting}]}}}]\n",
      2, FreePort());
  Until([&] { return Asked(kBinding) && Asked(kEvent); });
  const std::string scheduled =
      "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} 1\n";
  // What has begun and what is over is counted apart, and the end of a binding a little after its answer.
  const std::vector<std::string> lines = {
      scheduled,
      "scheduler_cache_size{type=\"nodes\"} 1\n",
      "scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"NodeResourcesFit\",profile="
      "\"default-scheduler\"} 1\n",
      "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 1\n",
      "scheduler_preemption_attempts_total 0\n",
      "scheduler_inflight_events{event=\"PodPopped\"} 0\n",
      "scheduler_goroutines{operation=\"binding\"} 0\n",
      "scheduler_pending_pods{queue=\"active\"} 0\n",
      "# HELP acme_nodes_total Nodes that were looked at\n",
      "acme_nodes_total{node=\"n1\"} 1\n",
      "authorization_attempts_total{result=\"allowed\"}",
      "method=\"POST\"} ",
      "rest_client_request_duration_seconds_bucket{",
  };
  std::string text;
  Until([&] {
    text = Get("/metrics").body;
    return std::all_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return text.find(line) != text.npos; });
  });
  for (const std::string& line : lines) EXPECT_THAT(text, HasSubstr(line));

  const net::HttpResponse decisions = Get("/debug/decisions?pod=ns/a");
  EXPECT_EQ(decisions.status, 200);
  EXPECT_THAT(decisions.body, HasSubstr("\"result\": \"fits\""));
  EXPECT_EQ(Get("/debug/decisions?pod=ns/b").status, 404);
  EXPECT_EQ(Get("/debug/decisions").status, 400);
  EXPECT_THAT(Get("/debug/decisions?pod=a").body, HasSubstr("the parameter pod is not NAMESPACE/NAME: \"a\""));
  EXPECT_EQ(Get("/debug/decisions?pod=ns/a", "POST").status, 405);

  const net::HttpResponse resources = Get("/metrics/resources");
  EXPECT_EQ(resources.status, 200);
  EXPECT_THAT(resources.content_type, HasSubstr("text/plain"));

  EXPECT_EQ(Get("/metrics", "DELETE").body, "metrics reset\n");
  const std::string after = Get("/metrics").body;
  EXPECT_THAT(after, Not(HasSubstr(scheduled)));
  EXPECT_THAT(after, HasSubstr("scheduler_pod_scheduling_attempts_count 1\n"));
}

TEST_F(SchedulerProcessTest, WhoStandsByHasNoResourceMetrics) {
  lease_ = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler",)"
           R"("namespace":"kube-system","uid":"l","resourceVersion":"7"},"spec":{"holderIdentity":"other",)"
           R"("leaseDurationSeconds":3600,"renewTime":"2026-01-01T00:00:00.000000Z"}})";
  Start("", 2, FreePort());
  Until([&] { return Asked("GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"); });
  const net::HttpResponse resources = Get("/metrics/resources");
  EXPECT_EQ(resources.status, 200);
  EXPECT_EQ(resources.body, "");
  EXPECT_EQ(resources.content_type, "");
  EXPECT_EQ(Get("/debug/decisions?pod=ns/a").status, 404);
  EXPECT_THAT(Get("/metrics").body, HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
}

TEST_F(SchedulerProcessTest, AConfigurationThatNobodyCanRunIsAnError) {
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "leaderElection: {leaderElect: true}\n",
      registry_);
  config::SchedulerConfiguration config = loaded.config;
  config.leader_election.lease_duration = Duration::Seconds(1);
  SchedulerProcessOptions options;
  options.version = "v1.36.4";
  options.api_server = server_.config();
  options.serving.secure_port = 0;
  util::Log log(text_, {}, clock_);
  const auto process = SchedulerProcess::Make(config, registry_, std::move(options), log);
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().text(), HasSubstr("leaseDuration must be greater than renewDeadline"));
}

TEST_F(SchedulerProcessTest, ExtendersAreAskedWithWholeObjectsAndBindInItsPlace) {
  std::mutex mutex;
  std::vector<std::string> heard;
  const auto extender = net::HttpServer::Start({}, [&](net::HttpRequest request, const net::Respond& respond) {
    const std::lock_guard lock(mutex);
    heard.push_back(request.path + " " + request.body);
    respond({200,
             "application/json",
             request.path == "/filter" ? R"({"Nodes":{"items":[{"metadata":{"name":"n1"}}]}})" : "{}",
             {}});
  });
  ASSERT_TRUE(extender.ok());
  Start("leaderElection: {leaderElect: false}\nextenders: [{urlPrefix: \"http://127.0.0.1:" +
            std::to_string((*extender)->port()) + "\", filterVerb: filter, bindVerb: bind}]\n",
        2, FreePort());
  Until([&] {
    const std::lock_guard lock(mutex);
    return heard.size() >= 2;
  });
  // The call is counted a little after its answer.
  std::string metrics;
  Until([&] {
    metrics = Get("/metrics").body;
    return metrics.find("result=\"success\",verb=\"bind\"") != std::string::npos;
  });
  EXPECT_THAT(metrics, HasSubstr("berth_extender_calls_total"));
  EXPECT_THAT(Get("/readyz?verbose").body, Not(HasSubstr("extenders")));
  End();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(heard[0], HasSubstr("/filter {\"Pod\":{\"metadata\":{"));
  EXPECT_THAT(heard[0], HasSubstr(R"("items":[{"metadata":{"name":"n1","uid":"node","resourceVersion":"3"},)"));
  EXPECT_THAT(heard[0], Not(HasSubstr("\"kind\"")));
  EXPECT_THAT(heard[1], HasSubstr("/bind {\"PodName\":\"a\""));
  EXPECT_FALSE(Asked("POST /api/v1/namespaces/ns/pods/a/binding"));
  EXPECT_THAT(Log(), HasSubstr("Creating extender"));
}

TEST_F(SchedulerProcessTest, AnExtenderThatFailsIsALineAMetricAndANoteAndNotUnreadiness) {
  Start(
      "leaderElection: {leaderElect: false}\n"
      "extenders: [{urlPrefix: \"http://127.0.0.1:1\", filterVerb: filter, nodeCacheCapable: true}]\n",
      2, FreePort());
  Until([&] { return Get("/readyz?verbose").body.find("[~]extenders[0]") != std::string::npos; });
  const net::HttpResponse ready = Get("/readyz?verbose");
  EXPECT_EQ(ready.status, 200);
  EXPECT_THAT(ready.body, HasSubstr("[~]extenders[0] failing: reason withheld\nreadyz check passed\n"));
  EXPECT_THAT(Get("/metrics").body,
              HasSubstr(R"(berth_extender_calls_total{extender="http://127.0.0.1:1",result="error",verb="filter"})"));
  Until([&] { return Asked("POST /apis/events.k8s.io/v1/namespaces/ns/events"); });
  End();
  EXPECT_THAT(Log(), HasSubstr("Extender failed"));
  EXPECT_THAT(Log(), HasSubstr("connection refused"));
}

TEST_F(SchedulerProcessTest, AnExtenderThatCannotBeMadeIsAnErrorAtTheStart) {
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "extenders: [{urlPrefix: \"https://h\", filterVerb: f, tlsConfig: {insecure: true, caFile: /none}}]\n",
      registry_);
  ASSERT_TRUE(loaded.ok());
  SchedulerProcessOptions options;
  options.version = "v1.36.4";
  options.api_server = server_.config();
  options.serving.secure_port = FreePort();
  options.serving.bind_address = "127.0.0.1";
  log_ = std::make_unique<util::Log>(text_, util::LogOptions{}, clock_);
  const auto process = SchedulerProcess::Make(loaded.config, registry_, std::move(options), *log_);
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().text(),
            "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed");
}

}  // namespace
}  // namespace berth::live
