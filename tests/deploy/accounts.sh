#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs with the arguments of their manifests, as their ServiceAccounts and as nobody more.
. "$(dirname "$0")/deploy.sh"
declare -A pids=() ports=()
audit_log=$RIG/logs/audit.log
# shellcheck disable=SC1091
server=$(. "$RIG/env" && echo "$server")

# account NAME: a kubeconfig with a token of that ServiceAccount.
account() {
  local token
  token=$(kubectl create token -n kube-system "$1")
  (umask 077 && cat >"$LOGS/$1.kubeconfig") <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$server", certificate-authority: "$RIG/pki/ca.crt"}}]
users: [{name: u, user: {token: "$token"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
  echo "$LOGS/$1.kubeconfig"
}
# arguments DEPLOYMENT CONTAINER: a line each.
arguments() {
  kubectl get deployment -n kube-system "$1" \
    -o "jsonpath={range .spec.template.spec.containers[?(@.name=='$2')].args[*]}{@}{'\n'}{end}"
}
# run NAME COMMAND...: in the background.
run() {
  "${@:2}" </dev/null >"$LOGS/$1.log" 2>&1 &
  pids[$1]=$!
}
# finish NAME: it ends well.
finish() {
  local code=0
  kill "${pids[$1]}"
  wait "${pids[$1]}" || code=$?
  unset "pids[$1]"
  [ "$code" = 0 ] || broken "$1 ends" "exit code 0" "$code: $(tail -n 3 "$LOGS/$1.log")"
}
end_deploy() {
  local code=$? name
  for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null || true; done
  set +e # `end` is to see the code
  (exit "$code")
  end
}
trap end_deploy EXIT
# asked NAME PATH PATTERN [HEADER]: what its port answers.
asked() {
  local answer
  answer=$("$RIG/bin/rigtool" call GET "https://127.0.0.1:${ports[$1]}$2" "$RIG/pki" '' ${4:+"$4"} </dev/null 2>&1) || true
  echo "${answer:0:1000}"
  # shellcheck disable=SC2053
  [[ $answer == $3 ]]
}
# probes DEPLOYMENT NAME: what its manifest lets kubelets ask is answered.
probes() {
  local path
  for path in $(kubectl get deployment -n kube-system "$1" -o \
    'jsonpath={range .spec.template.spec.containers[*]}{.startupProbe.httpGet.path}{" "}{.livenessProbe.httpGet.path}{" "}{.readinessProbe.httpGet.path}{" "}{end}'); do
    eventually "$1: a probe of $path is answered" asked "$2" "$path" '200*'
  done
}
# serve NAME DEPLOYMENT CONTAINER [OPTION...]: a process with a port 10259, here another one.
serve() {
  local name=$1 config args
  config=$(account "$2")
  mapfile -t args < <(arguments "$2" "$3")
  ports[$name]=$(free_port)
  # What is mounted in the pod lies here, with a way to the API server that a pod would know by itself.
  if kubectl get configmap -n kube-system "$2" >/dev/null 2>&1; then
    kubectl get configmap -n kube-system "$2" -o 'jsonpath={.data.config\.yaml}' >"$LOGS/$name.mounted.yaml"
    "$RIG/bin/rigtool" scheduler-config "$LOGS/$name.mounted.yaml" "$config" >"$LOGS/$name.yaml"
    args=("${args[@]/#--config=*/--config=$LOGS/$name.yaml}")
  else
    args+=(--kubeconfig "$config")
  fi
  run "$name" "$BERTH" "${args[@]}" --authentication-kubeconfig "$config" --authorization-kubeconfig "$config" \
    --bind-address 127.0.0.1 --secure-port "${ports[$name]}" --tls-cert-file "$RIG/pki/extender.crt" \
    --tls-private-key-file "$RIG/pki/extender.key" "${@:4}"
  probes "$2" "$name"
}
# leads LEASE
leads() {
  local holder
  holder=$(kubectl get lease -n kube-system "$1" -o 'jsonpath={.spec.holderIdentity}')
  echo "$holder"
  [ -n "$holder" ]
}
# no_refusal ACCOUNT BASE: since the beginning nothing was answered 403 or 401, and the rights are all needed.
no_refusal() {
  local user=system:serviceaccount:kube-system:$1
  now "$1: nothing was refused" "$RIG/bin/rigtool" audit --file "$audit_log" --user "$user" --code 403
  now "$1: nor unknown" "$RIG/bin/rigtool" audit --file "$audit_log" --user "$user" --code 401
  # Watches are in the log when they are over.
  eventually "$1: every right was used" "$RIG/bin/rigtool" rights --audit "$audit_log" --user "$user" \
    --manifests "$(kustomized "$2")" --rare "$(dirname "$0")/rare-rights.txt"
}
for base in second-scheduler controller extender-service scheduler-with-extender; do
  kubectl apply -f "$(kustomized "$base")" >/dev/null
done
ok "the manifests are applied"

# --- a second scheduler

serve scheduler berth-scheduler scheduler
eventually "the scheduler leads" leads berth-scheduler
kubectl create priorityclass urgent --value=1000 >/dev/null
kubectl label priorityclass urgent from=rig >/dev/null
for n in 1 2; do run_pod "low-$n" '"schedulerName":"berth","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
for n in 1 2; do eventually "it places pod low-$n" runs_somewhere "run=low-$n"; done
run_pod urgent '"schedulerName":"berth","priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
eventually "it preempts" runs_somewhere run=urgent
kubectl create namespace monitoring --dry-run=client -o yaml | kubectl apply -f - >/dev/null
kubectl create serviceaccount -n monitoring prometheus-k8s --dry-run=client -o yaml | kubectl apply -f - >/dev/null
token=$(kubectl create token -n monitoring prometheus-k8s)
now "who may not read metrics is not shown them" asked scheduler /metrics '403*' "Authorization: Bearer $token"
kubectl apply -f "$deploy/kustomize/overlays/monitoring/scrape.yaml" >/dev/null
eventually "Prometheus' account may" asked scheduler /metrics '200*scheduler_schedule_attempts_total*' "Authorization: Bearer $token"
finish scheduler
no_refusal berth-scheduler second-scheduler

# --- the controller

serve controller berth-controller controller
eventually "the controller leads" leads berth-controller
kubectl cordon node-1 >/dev/null
kubectl run any --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "it binds, to a node that is not cordoned" runs_on run=any node-2 1
kubectl cordon node-2 >/dev/null
kubectl run none --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
eventually "without a node it says so" event none FailedScheduling random '*no node is ready and schedulable*'
kubectl uncordon node-1 node-2 >/dev/null
eventually "and binds when there is one" runs_somewhere run=none
finish controller
no_refusal berth-controller controller

# --- the extender behind a Service

port=$(free_port)
mapfile -t args < <(arguments berth-extender extender)
args=("${args[@]/#--tls-cert-file=*/--tls-cert-file=$RIG/pki/extender.crt}")
args=("${args[@]/#--tls-private-key-file=*/--tls-private-key-file=$RIG/pki/extender.key}")
args=("${args[@]/#--client-ca-file=*/--client-ca-file=$RIG/pki/ca.crt}")
args=("${args[@]/#--address=*/--address=127.0.0.1}")
args=("${args[@]/#--port=*/--port=$port}")
config=$(account berth-extender)
pki=("$RIG/pki" extender-client)
start_extender "https://127.0.0.1:$port" "$BERTH" "${args[@]}" --kubeconfig "$config"
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
start_extender "http://127.0.0.1:$port" "$BERTH" "${args[@]/#--port=*/--port=$port}" --kubeconfig "$(account "$account")"
kubectl get configmap -n kube-system "$account" -o yaml | sed "s#http://127.0.0.1:8080#http://127.0.0.1:$port#" |
  kubectl replace -f - >/dev/null
kubectl label node node-2 "$label=1" >/dev/null
serve paired "$account" scheduler
run_pod paired '"schedulerName":"my-scheduler",'
eventually "the pod goes where the extender lets it" runs_on run=paired node-2 1
eventually "and the extender has bound it" logged "$extender_log" 'route="/bind".*pod="default/paired"'
finish paired
stop_extender
now "$account: nothing was refused" "$RIG/bin/rigtool" audit --file "$audit_log" \
  --user "system:serviceaccount:kube-system:$account" --code 403

# Would a refusal be seen?
cannot() { ! KUBECONFIG=$config kubectl get secrets >/dev/null 2>&1 && ! "$RIG/bin/rigtool" audit --file "$audit_log" \
  --user system:serviceaccount:kube-system:berth-extender --code 403; }
eventually "what is refused is in the log" cannot

for base in second-scheduler controller extender-service scheduler-with-extender; do
  kubectl delete --wait=false -f "$(kustomized "$base")" >/dev/null
done
