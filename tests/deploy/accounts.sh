#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs with the arguments of their manifests, as their ServiceAccounts and as nobody more.
. "$(dirname "$0")/deploy.sh"

# no_refusal ACCOUNT BASE: since the beginning nothing was answered 403 or 401, and the rights are all needed.
no_refusal() {
  local user=system:serviceaccount:kube-system:$1
  now "$1: nothing was refused" "$RIG/bin/rigtool" audit --file "$audit_log" --user "$user" --code 403
  now "$1: nor unknown" "$RIG/bin/rigtool" audit --file "$audit_log" --user "$user" --code 401
  # Watches are in the log when they are over.
  eventually "$1: every right was used" "$RIG/bin/rigtool" rights --audit "$audit_log" --user "$user" \
    --manifests "$(kustomized "$2")" --rare "$(dirname "$0")/rare-rights.txt"
}
claim_is() { # CLAIM PHASE
  local phase
  phase=$(kubectl get pvc "$1" -o 'jsonpath={.status.phase}')
  echo "$phase"
  [ "$phase" = "$2" ]
}
selected_node() { # CLAIM
  local node
  node=$(kubectl get pvc "$1" -o 'jsonpath={.metadata.annotations.volume\.kubernetes\.io/selected-node}')
  echo "$node"
  [ -n "$node" ]
}

for base in second-scheduler controller extender-service scheduler-with-extender; do
  kubectl apply -f "$(kustomized "$base")" >/dev/null
done
ok "the manifests are applied"

# --- a second scheduler

serve scheduler berth-scheduler scheduler
probes berth-scheduler scheduler
eventually "the scheduler leads" leads berth-scheduler
kubectl create priorityclass urgent --value=1000 >/dev/null
kubectl label priorityclass urgent from=rig >/dev/null
for n in 1 2; do run_pod "low-$n" '"schedulerName":"berth","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
for n in 1 2; do eventually "it places pod low-$n" runs_somewhere "run=low-$n"; done
run_pod urgent '"schedulerName":"berth","priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
eventually "it preempts" runs_somewhere run=urgent
kubectl apply -f "$(dirname "$0")/volumes.yaml" >/dev/null
eventually "it takes a volume for a claim that waits for its first pod" runs_somewhere run=with-volume
eventually "and the claim is bound to it" claim_is local-claim Bound
eventually "for another it says where the volume is to be made" selected_node made-claim
kubectl delete --wait=false -f "$(dirname "$0")/volumes.yaml" >/dev/null
kubectl create namespace monitoring --dry-run=client -o yaml | kubectl apply -f - >/dev/null
kubectl create serviceaccount -n monitoring prometheus-k8s --dry-run=client -o yaml | kubectl apply -f - >/dev/null
token=$(kubectl create token -n monitoring prometheus-k8s)
now "who may not read metrics is not shown them" asked scheduler /metrics '403*' "Authorization: Bearer $token"
kubectl apply -f "$deploy/kustomize/overlays/monitoring/scrape.yaml" >/dev/null
eventually "Prometheus' account may" asked scheduler /metrics '200*scheduler_schedule_attempts_total*' "Authorization: Bearer $token"
stop scheduler 0
no_refusal berth-scheduler second-scheduler

# --- the controller

serve controller berth-controller controller
probes berth-controller controller
eventually "the controller leads" leads berth-controller
kubectl cordon node-1 >/dev/null
kubectl run any --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "it binds, to a node that is not cordoned" runs_on run=any node-2 1
kubectl cordon node-2 >/dev/null
kubectl run none --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "without a node it says so" event none FailedScheduling random '*no node is ready and schedulable*'
kubectl uncordon node-1 node-2 >/dev/null
eventually "and binds when there is one" runs_somewhere run=none
stop controller 0
no_refusal berth-controller controller

# --- the extender behind a Service

serve_extender
run_pod by-hand '"schedulerName":"nobody",'
uid=$(kubectl get pod by-hand -o 'jsonpath={.metadata.uid}')
nodes='"Nodes":{"metadata":{},"items":[{"metadata":{"name":"node-1"}},{"metadata":{"name":"node-2","labels":{"priority.lixueduan.com":"1"}}}]}'
now "the extender filters" answers POST /filter \
  "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{}},$nodes}" 200 '*"name":"node-2"*'
now "it binds" answers POST /bind \
  "{\"PodName\":\"by-hand\",\"PodNamespace\":\"default\",\"PodUID\":\"$uid\",\"Node\":\"node-2\"}" 200 '{"Error":""}'
eventually "and the pod runs there" runs_on run=by-hand node-2 1
pki=("$RIG/pki")
now "without a certificate nobody is let in" answers GET /version '' 'no answer' '*'
stop_extender
no_refusal berth-extender extender-service

# --- the scheduler with an extender in its pod

account=berth-scheduler-with-extender
port=$(free_port)
mapfile -t args < <(arguments "$account" extender)
pki=()
start_extender "http://127.0.0.1:$port" "$BERTH" "${args[@]/#--port=*/--port=$port}" --kubeconfig "$(account_config "$account")"
kubectl get configmap -n kube-system "$account" -o yaml | sed "s#http://127.0.0.1:8080#http://127.0.0.1:$port#" |
  kubectl replace -f - >/dev/null
kubectl label node node-2 "$label=1" >/dev/null
serve paired "$account" scheduler
probes "$account" paired
run_pod paired '"schedulerName":"my-scheduler",'
eventually "the pod goes where the extender lets it" runs_on run=paired node-2 1
eventually "and the extender has bound it" logged "$extender_log" 'route="/bind".*pod="default/paired"'
stop paired 0
stop_extender
now "$account: nothing was refused" "$RIG/bin/rigtool" audit --file "$audit_log" \
  --user "system:serviceaccount:kube-system:$account" --code 403

# Would a refusal be seen?
cannot() { ! KUBECONFIG=$LOGS/berth-extender.kubeconfig kubectl get secrets >/dev/null 2>&1 && ! "$RIG/bin/rigtool" audit --file "$audit_log" \
  --user system:serviceaccount:kube-system:berth-extender --code 403; }
eventually "what is refused is in the log" cannot

for base in second-scheduler controller extender-service scheduler-with-extender; do
  kubectl delete --wait=false -f "$(kustomized "$base")" >/dev/null
done
