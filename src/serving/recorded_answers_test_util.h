// SPDX-License-Identifier: Apache-2.0
// What a kube-scheduler v1.36.4 answered, recorded over HTTP/2 with curl: a line with two equals signs says what was
// asked, then status, headers but for dates, and the body, of content-length bytes unless it says "shortened".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::serving {

inline constexpr std::string_view kRecordedAnswers = R"recorded(== GET /metrics, anonymous
HTTP/2 403
cache-control: no-cache, private
content-type: application/json
x-content-type-options: nosniff
content-length: 224

{
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"",
  "reason": "Forbidden",
  "details": {},
  "code": 403
}
== GET /healthz with a bad bearer token
HTTP/2 401
cache-control: no-cache, private
content-type: application/json
content-length: 157

{
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "Unauthorized",
  "reason": "Unauthorized",
  "code": 401
}
== GET /nosuch, admin
HTTP/2 404
cache-control: no-cache, private
content-type: text/plain; charset=utf-8
x-content-type-options: nosniff
content-length: 19

404 page not found

== GET /configz while SubjectAccessReview fails
HTTP/2 500
cache-control: no-cache, private
content-type: text/plain; charset=utf-8
x-content-type-options: nosniff
content-length: 44

Internal Server Error: "/configz": injected

== GET /statusz, admin (text; the delimiter is drawn per request from ':', ': ', '=', ' ')
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain; charset=utf-8
content-length: 350


kube-scheduler statusz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.

Started: Sun Nov 15 22:45:13 UTC 2026
Up: 0 hr 00 min 29 sec
Go version: go1.26.8
Binary version: 1.36.4
Emulation version: 1.36
Paths: /configz /flagz /healthz /livez /metrics /readyz

== GET /statusz, Accept: application/json;v=v1beta1;g=config.k8s.io;as=Statusz
HTTP/2 200
cache-control: no-cache, private
content-type: application/json;g=config.k8s.io;v=v1beta1;as=Statusz
content-length: 370

{
  "kind": "Statusz",
  "apiVersion": "config.k8s.io/v1beta1",
  "metadata": {
    "name": "kube-scheduler"
  },
  "startTime": "2026-11-15T22:45:13Z",
  "uptimeSeconds": 29,
  "goVersion": "go1.26.8",
  "binaryVersion": "1.36.4",
  "emulationVersion": "1.36",
  "paths": [
    "/configz",
    "/flagz",
    "/healthz",
    "/livez",
    "/metrics",
    "/readyz"
  ]
}
== GET /statusz, same with application/yaml and v1alpha1
HTTP/2 200
cache-control: no-cache, private
content-type: application/yaml;g=config.k8s.io;v=v1alpha1;as=Statusz
warning: 299 - "This version of the statusz endpoint is deprecated. Please use a newer version."
content-length: 269

apiVersion: config.k8s.io/v1alpha1
binaryVersion: 1.36.4
emulationVersion: "1.36"
goVersion: go1.26.8
kind: Statusz
metadata:
  name: kube-scheduler
paths:
- /configz
- /flagz
- /healthz
- /livez
- /metrics
- /readyz
startTime: "2026-11-15T22:45:13Z"
uptimeSeconds: 29

== GET /statusz, Accept: application/json
HTTP/2 406
cache-control: no-cache, private
content-type: application/json
content-length: 237

{
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "only the following media types are accepted: application/json, application/yaml, text/plain",
  "reason": "NotAcceptable",
  "code": 406
}
== GET /flagz, admin (text, sorted; shortened)
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain; charset=utf-8
content-length: 1919


kube-scheduler flagz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.
allow-metric-labels=[]
allow-metric-labels-manifest=
authentication-kubeconfig=KUBECONFIG
authentication-skip-lookup=false
authentication-token-webhook-cache-ttl=10s
authentication-tolerate-lookup-failure=true
secure-port=10259
v=2
write-config-to=
== GET /flagz, Accept: application/json;v=v1beta1;g=config.k8s.io;as=Flagz (shortened)
HTTP/2 200
cache-control: no-cache, private
content-type: application/json;g=config.k8s.io;v=v1beta1;as=Flagz
content-length: 2506

{
  "kind": "Flagz",
  "apiVersion": "config.k8s.io/v1beta1",
  "metadata": {
    "name": "kube-scheduler"
  },
  "flags": {
    "allow-metric-labels": "[]",
    "allow-metric-labels-manifest": "",
    …
  }
}
== GET /metrics/resources, admin, leader
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain; version=0.0.4; charset=utf-8; escaping=underscores
process-start-time-unix: 1794782714
content-length: 576

# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit for the resource if any.
# TYPE kube_pod_resource_request gauge
kube_pod_resource_request{namespace="default",node="n1",pod="web",priority="0",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.5
kube_pod_resource_request{namespace="default",node="n1",pod="web",priority="0",resource="memory",scheduler="default-scheduler",unit="bytes"} 1.048576e+08

== GET /metrics/slis, admin
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain; version=0.0.4; charset=utf-8; escaping=underscores
process-start-time-unix: 1794782714
content-length: 1022

# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.
# TYPE kubernetes_healthcheck gauge
kubernetes_healthcheck{name="leaderElection",type="readyz"} 1
kubernetes_healthcheck{name="ping",type="livez"} 1
kubernetes_healthcheck{name="sched-handler-sync",type="readyz"} 1
kubernetes_healthcheck{name="shutdown",type="readyz"} 1
# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.
# TYPE kubernetes_healthchecks_total counter
kubernetes_healthchecks_total{name="leaderElection",status="success",type="readyz"} 1
kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1
kubernetes_healthchecks_total{name="sched-handler-sync",status="success",type="readyz"} 1
kubernetes_healthchecks_total{name="shutdown",status="success",type="readyz"} 1
# HELP process_start_time_seconds [ALPHA] Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.79478271349e+09

== DELETE /metrics, admin
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain; charset=utf-8
content-length: 14

metrics reset

== PUT /debug/flags/v with body 4; GET of the same
HTTP/2 200
cache-control: no-cache, private
content-type: text/plain
x-content-type-options: nosniff
content-length: 45

successfully set klog.logging.verbosity to 4

HTTP/2 406
cache-control: no-cache, private
content-type: text/plain
x-content-type-options: nosniff
content-length: 24

unsupported http method

== PUT /debug/flags/v with body x
HTTP/2 400
cache-control: no-cache, private
content-type: text/plain
x-content-type-options: nosniff
content-length: 47

strconv.ParseUint: parsing "x": invalid syntax

)recorded";

struct RecordedAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case; without content-length
  std::string body;
  bool shortened = false;
};

// All answers recorded under that title; two requests may share one.
inline std::vector<RecordedAnswer> Recorded(std::string_view title) {
  std::vector<RecordedAnswer> answers;
  const size_t begin = kRecordedAnswers.find("== " + std::string(title) + "\n");
  if (begin == std::string_view::npos) return answers;
  std::string_view rest = kRecordedAnswers.substr(begin);
  rest.remove_prefix(rest.find('\n') + 1);
  while (rest.starts_with("HTTP/2 ")) {
    RecordedAnswer answer;
    answer.status = std::stoi(std::string(rest.substr(7, 3)));
    answer.shortened = title.find("shortened") != std::string_view::npos;
    rest.remove_prefix(rest.find('\n') + 1);
    size_t length = 0;
    while (!rest.starts_with('\n')) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      const size_t colon = line.find(": ");
      const std::string name(line.substr(0, colon)), value(line.substr(colon + 2));
      if (name == "content-length")
        length = std::stoul(value);
      else
        answer.headers.emplace_back(name, value);
    }
    rest.remove_prefix(1);
    if (answer.shortened) length = rest.find("\n== ");
    answer.body = rest.substr(0, length);
    rest.remove_prefix(answer.body.size());
    while (rest.starts_with('\n')) rest.remove_prefix(1);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace berth::serving
