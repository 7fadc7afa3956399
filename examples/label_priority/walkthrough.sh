#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S2: the story of i-scheduler-extender with two nodes. No label: pending. Label node 1: runs there. Label node 2 higher:
# the score is one among several. `filter_onlyone`: the pod follows the label, twice (S2.1–S2.7). Step by step as README.md says.
. "$(dirname "$0")/../walkthrough.sh"

# 1: another port than 8080, here and in the configuration.
port=$(free_port)
sed "s#localhost:8080#localhost:$port#" "$here/manifest.yaml" >"$LOGS/manifest.yaml"
kubectl apply -f "$LOGS/manifest.yaml" >/dev/null
now "the pod has two containers" test "$(container_of i-scheduler-extender kube-scheduler) $(container_of i-scheduler-extender extender)" = \
  "/usr/local/bin/kube-scheduler --config=/etc/kubernetes/i-scheduler-extender.yaml -v=3 extender --preset=label-priority --address=127.0.0.1 --port=8080 --scheduler-name=i-scheduler-extender"
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset=label-priority --address=127.0.0.1 --port="$port" \
  --scheduler-name=i-scheduler-extender --kubeconfig "$(account_config i-scheduler-extender)"
# restart_scheduler: begins anew, with what the ConfigMap says now.
restart_scheduler() {
  mounted i-scheduler-extender i-scheduler-extender.yaml >"$LOGS/mounted.yaml"
  with_account i-scheduler-extender "$LOGS/mounted.yaml" "$LOGS/i-scheduler-extender.yaml"
  configuration "$LOGS/i-scheduler-extender.yaml"
  schedule --config="$config" -v=3
}
restart_scheduler

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

# 2
kubectl apply -f "$here/deploy-test.yaml" >/dev/null
eventually "no node has the label: the pod is pending" is_pending app=test
pod=$(pod_of app=test)
eventually "its event has the extender's sentence" event "$pod" FailedScheduling i-scheduler-extender \
  "all node do not have label $label"
eventually "the extender's log has the call" served /filter "$pod" 2 0
now "still pending" is_pending app=test

# 3
kubectl label node node-1 "$label=10" >/dev/null
eventually "node-1 has the label: the pod runs there" runs_on app=test node-1 1
eventually "i-scheduler-extender says so" event "$pod" Scheduled i-scheduler-extender "Successfully assigned default/$pod to node-1"
eventually "the extender bound it" served /bind "$pod"

# 4
kubectl label node node-2 "$label=20" >/dev/null
kubectl patch deployment test --patch-file "$here/prefer-node-1.json" >/dev/null
eventually "the new pod of the changed Deployment is there" is_replaced "$pod"
restart node-1 "node-2 has a higher value, and the pod runs on node-1 all the same: one score of several" 2
eventually "both nodes were scored by the extender" served /prioritize "$pod" 2 2

# 5
sed 's/filterVerb: "filter"/filterVerb: "filter_onlyone"/' "$LOGS/manifest.yaml" | kubectl apply -f - >/dev/null
kubectl -n kube-system rollout restart deployment/i-scheduler-extender >/dev/null
restart_scheduler
restart node-2 "with filter_onlyone the label alone decides: node-2" 1
now "one node is left, so nothing was to be scored" not_served /prioritize "$pod"
eventually "the log has the call of filter_onlyone" served /filter_onlyone "$pod" 2 1

# 6
kubectl label node node-1 "$label=30" --overwrite >/dev/null
restart node-1 "the label of node-1 is 30 now: back to node-1" 1
eventually "the log has the call of filter_onlyone" served /filter_onlyone "$pod" 2 1
end_schedule
kubectl delete --wait=false -f "$LOGS/manifest.yaml" >/dev/null
