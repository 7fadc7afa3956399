#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S0: a demo extender beside a scheduler of its own name, configured as in 2020 (S0.1–S0.8, S0.10), step by step as README.md
# says.
. "$(dirname "$0")/../walkthrough.sh"

# 1: another port than 80, here and in the Policy: not everybody may have that one.
port=$(free_port)
LOG_LEVEL='' start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
eventually "LOG_LEVEL is empty: a warning says that it is INFO then" logged "$extender_log" 'LOG_LEVEL.*INFO'
eventually "the start names the level" logged "$extender_log" '[Ll]evel.*INFO'
eventually "the start names the port" logged "$extender_log" "$port"

# 2
sed "s#http://localhost/#http://localhost:$port/#" "$here/extend-sample-scheduler.yaml" >"$LOGS/manifests.yaml"
kubectl apply -f "$LOGS/manifests.yaml" >/dev/null
now "the Deployment starts kube-scheduler with --config and -v=4, without a subcommand" test \
  "$(container_of my-scheduler my-scheduler-ctr)" = "/usr/local/bin/kube-scheduler --config=/my-scheduler/config.yaml -v=4"
mounted my-scheduler-config config.yaml >"$LOGS/config.yaml"
checked() {
  local said
  said=$("$BERTH" config check "$LOGS/config.yaml" -f "$LOGS/manifests.yaml" 2>&1) || { echo "$said"; return 1; }
  echo "$said"
  [[ $said == *'profile my-scheduler'*NodePorts*NodeResourcesFit* ]]
}
now "berth config check finds the Policy among the objects and says which plugins it means" checked

# 3
kubectl delete lease -n kube-system my-scheduler --ignore-not-found >/dev/null
with_account my-scheduler "$LOGS/config.yaml" "$LOGS/with-account.yaml"
configuration "$LOGS/with-account.yaml" -f "$LOGS/manifests.yaml"
schedule --config="$config" -v=4
eventually "it takes the lease that lockObjectName names" logged "$scheduler_log" 'uccessfully acquired lease.*kube-system/my-scheduler'

# 4
kubectl label node node-1 scheduler-node=my-scheduler-master-node >/dev/null
kubectl apply -f "$here/test-my-scheduler.yaml" >/dev/null
eventually "the Deployment's pod runs on the node that it selects" runs_on name=nginx node-1 1
pod=$(pod_of name=nginx)
eventually "my-scheduler says that it placed it" event "$pod" Scheduled my-scheduler "Successfully assigned default/$pod to node-1"
eventually "the log has the call of TruePredicate, one node in and out" served /scheduler/predicates/TruePredicate "$pod" 1 1
now "one node is not scored: no call of ZeroPriority" not_served /scheduler/priorities/ZeroPriority "$pod"

# 5
kubectl apply -f "$here/test-pod.yaml" >/dev/null
eventually "the bare pod runs" runs_somewhere run=test-pod
eventually "my-scheduler says that it placed it, too" event test-pod Scheduled my-scheduler 'Successfully assigned default/test-pod to node-*'
eventually "the log has its call of TruePredicate" served /scheduler/predicates/TruePredicate test-pod 2 2
eventually "and, as there are two nodes, of ZeroPriority" served /scheduler/priorities/ZeroPriority test-pod 2 2
eventually "the scheduler's log: of two nodes judged two were feasible" bound_log test-pod 2 2

# 6
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

# 7
LOG_LEVEL=loud start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
eventually "an invalid LOG_LEVEL: a warning says that it is INFO then" logged "$extender_log" 'LOG_LEVEL.*loud.*INFO'
LOG_LEVEL=DEBUG start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port"
run_pod talkative '"schedulerName":"my-scheduler","containers":[{"name":"c","image":"none","env":[{"name":"PASSPHRASE","value":"hunter2"}]}],'
eventually "a pod with a secret in its environment runs" runs_somewhere run=talkative
eventually "DEBUG logs what was asked" logged "$extender_log" 'talkative.*PASSPHRASE'
now "but not the secret" not_logged "$extender_log" hunter2
end_schedule
kubectl delete --wait=false -f "$LOGS/manifests.yaml" >/dev/null
