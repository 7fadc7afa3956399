#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S0: a demo extender beside a scheduler of its own name. A Deployment and a bare Pod with `schedulerName: my-scheduler`
# get scheduled, and the extender's log shows the calls (S0.1–S0.6, S0.10). The document's configuration of 2020, with a
# Policy in a ConfigMap, is written as v1 here: today's kube-scheduler reads no other.
. "$(dirname "$0")/lib.sh"

port=$(free_port)
LOG_LEVEL='' start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
eventually "LOG_LEVEL is empty: a warning says that it is INFO then" logged "$extender_log" 'LOG_LEVEL.*INFO'
eventually "the start names the level" logged "$extender_log" '[Ll]evel.*INFO'
eventually "the start names the port" logged "$extender_log" "$port"

cat >"$LOGS/my-scheduler.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: my-scheduler
extenders:
- urlPrefix: http://127.0.0.1:$port/scheduler
  filterVerb: predicates/TruePredicate
  prioritizeVerb: priorities/ZeroPriority
  preemptVerb: preemption
  bindVerb: ""
  weight: 1
  nodeCacheCapable: false
END
scheduler "$LOGS/my-scheduler.yaml"

kubectl label node node-1 scheduler-node=my-scheduler-master-node >/dev/null
kubectl apply -f - >/dev/null <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: test-pod-scheduler}
spec:
  replicas: 1
  selector: {matchLabels: {name: nginx}}
  template:
    metadata: {labels: {name: nginx}}
    spec:
      schedulerName: my-scheduler
      nodeSelector: {scheduler-node: my-scheduler-master-node}
      containers: [{name: nginx, image: nginx, ports: [{containerPort: 80}]}]
END
eventually "the Deployment's pod runs on the node that it selects" runs_on name=nginx node-1 1
pod=$(pod_of name=nginx)
eventually "my-scheduler says that it placed it" event "$pod" Scheduled my-scheduler "Successfully assigned default/$pod to node-1"
eventually "the log has the call of TruePredicate, one node in and out" served /scheduler/predicates/TruePredicate "$pod" 1 1
now "one node is not scored: no call of ZeroPriority" not_served /scheduler/priorities/ZeroPriority "$pod"

kubectl apply -f - >/dev/null <<'END'
apiVersion: v1
kind: Pod
metadata: {name: test-pod, labels: {run: test-pod}}
spec:
  schedulerName: my-scheduler
  containers: [{name: nginx, image: nginx, ports: [{containerPort: 80}]}]
END
eventually "the bare pod runs" runs_somewhere run=test-pod
eventually "my-scheduler says that it placed it, too" event test-pod Scheduled my-scheduler 'Successfully assigned default/test-pod to node-*'
eventually "the log has its call of TruePredicate" served /scheduler/predicates/TruePredicate test-pod 2 2
eventually "and, as there are two nodes, of ZeroPriority" served /scheduler/priorities/ZeroPriority test-pod 2 2
eventually "the scheduler's log: of two nodes judged two were feasible" bound_log test-pod 2 2

# The routes by hand, as the document's reader tries them.
nodes='"Nodes":{"metadata":{},"items":[{"metadata":{"name":"k8s-master"}},{"metadata":{"name":"node01"}}]}'
pod='"Pod":{"metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{"containers":[{"name":"c"}]}}'
now "TruePredicate passes every node and answers with Nodes" answers POST /scheduler/predicates/TruePredicate \
  "{$pod,$nodes,\"NodeNames\":null}" 200 '*"NodeNames":null,"Nodes":{"items":*"name":"k8s-master"*"name":"node01"*'
now "and with NodeNames where it was asked so" answers POST /scheduler/predicates/TruePredicate \
  "{$pod,\"Nodes\":null,\"NodeNames\":[\"k8s-master\",\"node01\"]}" 200 '*"NodeNames":\["k8s-master","node01"],"Nodes":null}'
now "ZeroPriority gives every node 0" answers POST /scheduler/priorities/ZeroPriority \
  "{$pod,$nodes,\"NodeNames\":null}" 200 '\[{"Host":"k8s-master","Score":0},{"Host":"node01","Score":0}]'
now "preemption keeps the candidates and their victims" answers POST /scheduler/preemption \
  "{$pod,\"NodeNameToVictims\":{\"node01\":{\"Pods\":[{\"metadata\":{\"name\":\"v\",\"namespace\":\"default\",\"uid\":\"v1\"}}],\"NumPDBViolations\":0}}}" \
  200 '{"NodeNameToMetaVictims":{"node01":{"NumPDBViolations":0,"Pods":\[{"UID":"v1"}]}}}'
now "bind answers, and says that it binds nothing" answers POST /scheduler/bind \
  '{"PodName":"p","PodNamespace":"default","PodUID":"u","Node":"node01"}' 200 '{"Error":"?*"}'
now "GET /version is there for probes" answers GET /version '' 200 '*'
now "GET /metrics counts the calls" answers GET /metrics '' 200 \
  '*berth_extender_requests_total{code="200",result="success",route="/scheduler/predicates/TruePredicate"}*'
now "another path is 404" answers POST /scheduler/predicates/FalsePredicate '{}' 404 '*'

# What is logged.
LOG_LEVEL=loud start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
eventually "an invalid LOG_LEVEL: a warning says that it is INFO then" logged "$extender_log" 'LOG_LEVEL.*loud.*INFO'
LOG_LEVEL=DEBUG start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
run_pod talkative '"schedulerName":"my-scheduler","containers":[{"name":"c","image":"none","env":[{"name":"PASSPHRASE","value":"hunter2"}]}],'
eventually "a pod with a secret in its environment runs" runs_somewhere run=talkative
eventually "DEBUG logs what was asked" logged "$extender_log" 'talkative.*PASSPHRASE'
now "but not the secret" not_logged "$extender_log" hunter2
