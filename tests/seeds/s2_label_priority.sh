#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S2: the story of i-scheduler-extender with two nodes. No label: pending. Label node 1: runs there. Label node 2 higher:
# the score is one among several. `filter_onlyone`: the pod follows the label, twice (S2.1–S2.6).
. "$(dirname "$0")/lib.sh"

port=$(free_port)
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset label-priority --port "$port" \
  --kubeconfig "$RIG/kube-scheduler.kubeconfig"

# config FILTER-VERB: the document's configuration.
config() {
  cat >"$LOGS/$1.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: i-scheduler-extender
leaderElection:
  leaderElect: false
extenders:
- urlPrefix: http://localhost:$port
  enableHTTPS: false
  filterVerb: $1
  prioritizeVerb: prioritize
  bindVerb: bind
  weight: 1
  nodeCacheCapable: false
END
  scheduler "$LOGS/$1.yaml"
}

# restart NODE WHAT FEASIBLE: `kubectl rollout restart`, and where the new pod is.
restart() {
  local before
  before=$(pod_of app=test)
  mark "$extender_log"
  # kubectl notes the restart to the second and refuses a second one in it.
  eventually "kubectl rollout restart" kubectl rollout restart deployment/test
  eventually "after it the old pod is gone" is_replaced "$before"
  eventually "$2" runs_on app=test "$1" 1
  pod=$(pod_of app=test)
  eventually "i-scheduler-extender says so" event "$pod" Scheduled i-scheduler-extender "Successfully assigned default/$pod to $1"
  eventually "and so does its log, with $3 of two nodes feasible" bound_log "$pod" 2 "$3"
  eventually "the extender bound it" served /bind "$pod"
}
is_replaced() {
  local pods
  pods=$(kubectl get pods -l app=test -o name)
  echo "$pods"
  [ -n "$pods" ] && ! grep -q "$1" <<<"$pods"
}

config filter
kubectl apply -f - >/dev/null <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: test}
spec:
  replicas: 1
  selector: {matchLabels: {app: test}}
  template:
    metadata: {labels: {app: test}}
    spec:
      schedulerName: i-scheduler-extender
      containers: [{name: busybox, image: busybox}]
END
eventually "no node has the label: the pod is pending" is_pending app=test
pod=$(pod_of app=test)
eventually "its event has the extender's sentence" event "$pod" FailedScheduling i-scheduler-extender \
  "all node do not have label $label"
eventually "the extender's log has the call" served /filter "$pod" 2 0
now "still pending" is_pending app=test

kubectl label node node-1 "$label=10" >/dev/null
eventually "node-1 has the label: the pod runs there" runs_on app=test node-1 1
eventually "i-scheduler-extender says so" event "$pod" Scheduled i-scheduler-extender "Successfully assigned default/$pod to node-1"
eventually "the extender bound it" served /bind "$pod"

kubectl label node node-2 "$label=20" >/dev/null
# Scores are added up: 20 and 10 become 200 and 100 points, and a preference for node-1 is worth 200 of kube-scheduler's own.
kubectl patch deployment test --patch '{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":
  {"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":
    [{"key":"kubernetes.io/hostname","operator":"In","values":["node-1"]}]}}]}}}}}}' >/dev/null
eventually "the new pod of the changed Deployment is there" is_replaced "$pod"
restart node-1 "node-2 has a higher value, and the pod runs on node-1 all the same: one score of several" 2
eventually "both nodes were scored by the extender" served /prioritize "$pod" 2 2

config filter_onlyone
restart node-2 "with filter_onlyone the label alone decides: node-2" 1
now "one node is left, so nothing was to be scored" not_served /prioritize "$pod"
eventually "the log has the call of filter_onlyone" served /filter_onlyone "$pod" 2 1

kubectl label node node-1 "$label=30" --overwrite >/dev/null
restart node-1 "the label of node-1 is 30 now: back to node-1" 1
eventually "the log has the call of filter_onlyone" served /filter_onlyone "$pod" 2 1
