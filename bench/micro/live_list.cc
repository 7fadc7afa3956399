// SPDX-License-Identifier: Apache-2.0
// What it costs to list a cluster over HTTP and to have it ready: 5,000 nodes and 30,000 pods, in pages, out of a
// process of its own, into cluster state. The CPU time reported is ours alone, of all our threads.
#include <benchmark/benchmark.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/live_cluster.h"
#include "client/reflector.h"
#include "cluster/applier.h"
#include "cluster/cluster_state.h"
#include "net/http_server.h"
#include "util/system_clock.h"
#include "util/timer_queue.h"

namespace berth {
namespace {

constexpr int kNodes = 5000, kPods = 30000, kPage = 500;

// What API servers keep with every object and schedulers do not read: about a kilobyte.
std::string ManagedFields(const std::string& manager) {
  std::string fields = R"([{"manager":")" + manager +
                       R"(","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z",)"
                       R"("fieldsType":"FieldsV1","fieldsV1":{)";
  for (int i = 0; i < 24; ++i) fields += R"("f:field-)" + std::to_string(i) + R"(":{".":{},"f:value":{}},)";
  return fields + R"("f:last":{}}}])";
}

std::string Node(int i) {
  const std::string n = std::to_string(i);
  std::string text = R"({"metadata":{"name":"node-)" + n + R"(","uid":"00000000-0000-0000-0000-)" + n +
                     R"(","resourceVersion":")" + std::to_string(1000 + i) +
                     R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"kubernetes.io/hostname":"node-)" + n +
                     R"(","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",)"
                     R"("topology.kubernetes.io/zone":"zone-)" +
                     std::to_string(i % 3) +
                     R"(","topology.kubernetes.io/region":"region-1","node.kubernetes.io/instance-type":"m5.large")";
  for (int k = 0; k < 12; ++k)
    text += R"(,"example.com/label-)" + std::to_string(k) + R"(":"value-)" + std::to_string(i % 7) + "\"";
  text += R"(},"annotations":{"node.alpha.kubernetes.io/ttl":"0",)"
          R"("volumes.kubernetes.io/controller-managed-attach-detach":"true"},"managedFields":)" +
          ManagedFields("kubelet") + R"(},"spec":{"podCIDR":"10.0.0.0/24","providerID":"aws:///i-)" + n +
          R"("},"status":{"capacity":{"cpu":"32","memory":"131072Mi","pods":"110",)"
          R"("ephemeral-storage":"100Gi"},)"
          R"("allocatable":{"cpu":"31800m","memory":"129000Mi","pods":"110",)"
          R"("ephemeral-storage":"90Gi"},"conditions":[)";
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    if (text.back() != '[') text += ',';
    text += R"({"type":")" + std::string(type) +
            R"(","status":"False","lastHeartbeatTime":"2026-01-01T00:00:00Z",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z","reason":"KubeletHasSufficientMemory",)"
            R"("message":"kubelet has sufficient memory available"})";
  }
  text += R"(],"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname",)"
          R"("address":"node-)" +
          n +
          R"("}],"nodeInfo":{"kernelVersion":"6.1.0","osImage":"Linux",)"
          R"("containerRuntimeVersion":"containerd://2.0.0","kubeletVersion":"v1.36.4",)"
          R"("operatingSystem":"linux","architecture":"amd64"},"images":[)";
  for (int k = 0; k < 20; ++k) {
    const std::string image = "registry.example/library/image-" + std::to_string((i + k) % 200);
    text += (k == 0 ? "" : ",") + std::string(R"({"names":[")") + image +
            "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"" + image +
            R"(:v1.2.3"],"sizeBytes":)" + std::to_string(10'000'000 + k) + "}";
  }
  return text + "]}}";
}

std::string Pod(int i) {
  const std::string n = std::to_string(i), app = "app-" + std::to_string(i % 300);
  return R"({"metadata":{"name":")" + app + "-6d4cf56db6-" + n + R"(","generateName":")" + app +
         R"(-6d4cf56db6-","namespace":"ns-)" + std::to_string(i % 50) + R"(","uid":"11111111-0000-0000-0000-)" + n +
         R"(","resourceVersion":")" + std::to_string(10000 + i) +
         R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":")" + app +
         R"(","pod-template-hash":"6d4cf56db6","tier":"backend"},)"
         R"("annotations":{"prometheus.io/scrape":"true"},)"
         R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")" +
         app +
         R"(-6d4cf56db6","uid":"22222222-0000-0000-0000-000000000000","controller":true,)"
         R"("blockOwnerDeletion":true}],"managedFields":)" +
         ManagedFields("kube-controller-manager") +
         R"(},"spec":{"volumes":[{"name":"kube-api-access",)"
         R"("projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,)"
         R"("path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt",)"
         R"("path":"ca.crt"}]}}],"defaultMode":420}}],)"
         R"("containers":[{"name":"main","image":"registry.example/library/image-1:v1.2.3",)"
         R"("ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"A","value":"1"},)"
         R"({"name":"B","value":"2"}],)"
         R"("resources":{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"100m",)"
         R"("memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access","readOnly":true,)"
         R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],)"
         R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
         R"("imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",)"
         R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
         R"("serviceAccountName":"default","nodeName":"node-)" +
         std::to_string(i % kNodes) +
         R"(","securityContext":{},"schedulerName":"default-scheduler",)"
         R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",)"
         R"("effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable",)"
         R"("operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,)"
         R"("enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)"
         R"("status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True",)"
         R"("lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"Ready",)"
         R"("status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z"},)"
         R"({"type":"PodScheduled","status":"True","lastProbeTime":null,)"
         R"("lastTransitionTime":"2026-01-01T00:00:00Z"}],"hostIP":"10.0.0.1","podIP":"10.1.0.1",)"
         R"("startTime":"2026-01-01T00:00:00Z",)"
         R"("containerStatuses":[{"name":"main",)"
         R"("state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}},"lastState":{},"ready":true,)"
         R"("restartCount":0,"image":"registry.example/library/image-1:v1.2.3",)"
         R"("imageID":"registry.example/library/image-1@sha256:0123",)"
         R"("containerID":"containerd://0123456789abcdef","started":true}],"qosClass":"Burstable"}})";
}

using Pages = std::vector<std::string>;

Pages MakePages(const char* kind, int count, const std::function<std::string(int)>& item, size_t* bytes) {
  Pages pages;
  for (int i = 0; i < count; i += kPage) {
    std::string page =
        std::string(R"({"kind":")") + kind + R"(List","apiVersion":"v1","metadata":{"resourceVersion":"99999")";
    if (i + kPage < count) page += R"(,"continue":")" + std::to_string(i / kPage + 1) + "\"";
    page += "},\"items\":[";
    for (int k = i; k < i + kPage && k < count; ++k) page += (k == i ? "" : ",") + item(k);
    page += "]}";
    *bytes += page.size();
    pages.push_back(std::move(page));
  }
  return pages;
}

// Serves the pages until it is killed; its port comes out of the pipe.
[[noreturn]] void Serve(const Pages& nodes, const Pages& pods, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto server = net::HttpServer::Start({}, [&](const net::HttpRequest& request, const net::Respond& respond) {
    const Pages& pages = request.path.ends_with("/nodes") ? nodes : pods;
    net::HttpResponse response;
    const size_t at = request.query.find("continue=");
    if (request.query.find("watch=true") != std::string::npos) {
      response.status = 503;
    } else {
      response.body = pages[at == std::string::npos ? 0 : std::stoul(request.query.substr(at + 9))];
    }
    respond(std::move(response));
  });
  const uint16_t port = server.ok() ? server.value()->port() : 0;
  if (::write(out, &port, sizeof(port)) != sizeof(port)) ::_exit(1);
  for (;;) ::pause();
}

// What a scheduler does first with what it hears.
class Keeper final : public client::ObjectHandler {
 public:
  explicit Keeper(cluster::ClusterState& state) : applier_(state) {}
  void OnAdd(const ClusterObject& after) override { failures += applier_.Add(after).ok() ? 0 : 1; }
  void OnUpdate(const ClusterObject&, const ClusterObject&) override {}
  void OnDelete(const ClusterObject&) override {}
  int failures = 0;

 private:
  cluster::Applier applier_;
};

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void ListCluster(benchmark::State& bench) {
  size_t bytes = 0;
  const Pages nodes = MakePages("Node", kNodes, Node, &bytes);
  const Pages pods = MakePages("Pod", kPods, Pod, &bytes);
  int ends[2] = {};
  if (::pipe(ends) != 0) return bench.SkipWithError("no pipe");
  const pid_t child = ::fork();
  if (child == 0) Serve(nodes, pods, ends[1]);
  uint16_t port = 0;
  if (child < 0 || ::read(ends[0], &port, sizeof(port)) != sizeof(port) || port == 0)
    return bench.SkipWithError("no server");

  client::Kubeconfig config;
  config.server = "http://127.0.0.1:" + std::to_string(port);
  double cpu = 0;
  for (auto _ : bench) {
    util::Inbox inbox;
    util::TimerQueue timers;
    const util::SystemClock clock;
    cluster::ClusterState state;
    Keeper keeper(state);
    const double before = CpuSeconds();
    auto api = client::LiveCluster::Connect(config, inbox, clock);
    if (!api.ok()) return bench.SkipWithError(api.error().text().c_str());
    const auto random = [] { return uint64_t{1}; };
    client::Reflector node_reflector(Kind::kNode, *api.value(), keeper, timers, clock, random);
    client::Reflector pod_reflector(Kind::kPod, *api.value(), keeper, timers, clock, random);
    node_reflector.Start();
    pod_reflector.Start();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!node_reflector.synced() || !pod_reflector.synced()) {
      if (std::chrono::steady_clock::now() > end) return bench.SkipWithError("the lists do not come");
      inbox.WaitFor(std::chrono::seconds(1));
      inbox.Drain();
    }
    cpu += CpuSeconds() - before;
    if (node_reflector.size() != kNodes || pod_reflector.size() != kPods || keeper.failures != 0)
      return bench.SkipWithError("objects are missing");
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  bench.counters["cpu_s"] = benchmark::Counter(cpu / static_cast<double>(bench.iterations()));
  bench.counters["MB"] = benchmark::Counter(static_cast<double>(bytes) / 1e6);
}
BENCHMARK(ListCluster)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace berth
