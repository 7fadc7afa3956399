#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S4.2: a controller that binds pods to random nodes, step by step as README.md says.
. "$(dirname "$0")/../walkthrough.sh"

# 1
kubectl apply -f "$here/manifests.yaml" >/dev/null
config=$(account_config my-scheduler)
port=$(free_port)
# control [OPTION...]: the controller, anew.
control() {
  start controller "$BERTH" controller --scheduler-name my-scheduler --kubeconfig "$config" --leader-elect=false -v=2 \
    --bind-address 127.0.0.1 --secure-port "$port" --tls-cert-file "$RIG/pki/extender.crt" \
    --tls-private-key-file "$RIG/pki/extender.key" "$@"
  eventually "the controller is ready" says_on "$port" /readyz '200*ok'
}
# pods PREFIX COUNT: so many pods of my-scheduler's, one after the other.
pods() {
  local n
  for ((n = 1; n <= $2; n++)); do
    printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s-%02d","labels":{"set":"%s"}},"spec":{"schedulerName":"my-scheduler","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"none"}]}}\n' "$1" "$n" "$1"
  done | kubectl create -f - >/dev/null
}
# places SET COUNT: all are bound; prints where, in the order of their names.
places() {
  local nodes
  nodes=$(kubectl get pods -l "set=$1" --sort-by=.metadata.name -o 'jsonpath={range .items[*]}{.spec.nodeName}{"\n"}{end}')
  xargs <<<"$nodes"
  [ "$(grep -c 'node-' <<<"$nodes")" -eq "$2" ]
}

# 2, 3
control
kubectl run nginx-by-my-scheduler --image=nginx --overrides='{"spec":{"schedulerName":"my-scheduler"}}' >/dev/null
eventually "the pod runs on a node" runs_somewhere run=nginx-by-my-scheduler
node=$(kubectl get pod nginx-by-my-scheduler -o 'jsonpath={.spec.nodeName}')
eventually "my-scheduler says that it placed it" event nginx-by-my-scheduler Scheduled my-scheduler \
  "Successfully assigned default/nginx-by-my-scheduler to $node"
pods many 20
eventually "twenty pods are bound" places many 20
now "both nodes have some" test "$(places many 20 | tr ' ' '\n' | sort -u | xargs)" = "node-1 node-2"
kubectl run too-large --image=none --overrides='{"spec":{"schedulerName":"my-scheduler","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"500"}}}]}}' >/dev/null
eventually "nobody asks whether a pod fits" runs_somewhere run=too-large
kubectl run nginx-by-nobody --image=nginx >/dev/null
stop controller 0
now "a pod without that name is left to others" is_pending run=nginx-by-nobody

# 4: pods wait before the controller starts, so that it meets them in one order.
for round in first second; do
  pods seeded 12
  control --seed 42
  eventually "twelve pods are bound" places seeded 12
  places seeded 12 >"$LOGS/$round"
  stop controller 0
  kubectl delete pods -l set=seeded --wait=false >/dev/null
  eventually "and gone" are_gone set=seeded
done
now "with one seed the pods go to the same nodes twice" diff "$LOGS/first" "$LOGS/second"

# 5
kubectl cordon node-1 >/dev/null
control --ready-nodes-only
pods ready 6
eventually "six pods are bound" places ready 6
now "to the node that is not cordoned" test "$(places ready 6 | tr ' ' '\n' | sort -u)" = node-2
kubectl cordon node-2 >/dev/null
kubectl run waits --image=none --overrides='{"spec":{"schedulerName":"my-scheduler","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "without a node the event says so" event waits FailedScheduling my-scheduler \
  '0/2 nodes are available: no node is ready and schedulable*'
# 6
bind='{"apiVersion":"v1","kind":"Binding","metadata":{"name":"waits"},"target":{"apiVersion":"v1","kind":"Node","name":"node-1"}}'
kubectl create --raw /api/v1/namespaces/default/pods/waits/binding -f - <<<"$bind" >/dev/null
eventually "somebody else binds it" runs_on run=waits node-1 1
kubectl run waits-too --image=none --overrides='{"spec":{"schedulerName":"my-scheduler","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "another one waits" event waits-too FailedScheduling my-scheduler '*no node is ready and schedulable*'
kubectl uncordon node-1 node-2 >/dev/null
eventually "and is bound when there is a node" runs_somewhere run=waits-too
now "the one that somebody bound was let go" not_logged "$LOGS/controller.log" 'bound pod to node" pod="default/waits"'
stop controller 0
kubectl delete --wait=false -f "$here/manifests.yaml" >/dev/null
