# SPDX-License-Identifier: Apache-2.0
# What the stories share beyond ../rig/lib.sh: how the parts are called here and there.
. "$(dirname "${BASH_SOURCE[0]}")/../rig/lib.sh"
deploy=$UPSTREAM/../../deploy
# Bases of kustomize, and the values that make the chart render the same.
declare -A chart_values=(
  [second-scheduler]=scheduler.enabled=true
  [scheduler-with-extender]=schedulerWithExtender.enabled=true
  [extender-service]=extender.enabled=true
  [controller]=controller.enabled=true
  [replacement]=replacement.enabled=true
  [overlays/monitoring]=scheduler.enabled=true,serviceMonitor.enabled=true
)
# kustomized BASE: the file with what it renders.
kustomized() {
  local file=$LOGS/${1//\//-}.kustomize.yaml
  [ -e "$file" ] || "$RIG/bin/kubectl" kustomize "$deploy/kustomize/$1" >"$file"
  echo "$file"
}

# --- the programs, with the arguments of their manifests and as their ServiceAccounts

declare -A ports=()
audit_log=$RIG/logs/audit.log

# arguments DEPLOYMENT CONTAINER: a line each.
arguments() {
  kubectl get deployment -n kube-system "$1" \
    -o "jsonpath={range .spec.template.spec.containers[?(@.name=='$2')].args[*]}{@}{'\n'}{end}"
}
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
# serve NAME DEPLOYMENT CONTAINER [OPTION...]: a process with a port 10259, here another one, and its account.
serve() {
  local name=$1 config args
  config=$(account_config "$2")
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
  start "$name" "$BERTH" "${args[@]}" --authentication-kubeconfig "$config" --authorization-kubeconfig "$config" \
    --bind-address 127.0.0.1 --secure-port "${ports[$name]}" --tls-cert-file "$RIG/pki/extender.crt" \
    --tls-private-key-file "$RIG/pki/extender.key" "${@:4}"
}
# leads LEASE
leads() {
  local holder
  holder=$(kubectl get lease -n kube-system "$1" -o 'jsonpath={.spec.holderIdentity}')
  echo "$holder"
  [ -n "$holder" ]
}
# serve_extender: the one behind a Service, with certificates of this machine.
serve_extender() {
  local port args
  port=$(free_port)
  mapfile -t args < <(arguments berth-extender extender)
  args=("${args[@]/#--tls-cert-file=*/--tls-cert-file=$RIG/pki/extender.crt}")
  args=("${args[@]/#--tls-private-key-file=*/--tls-private-key-file=$RIG/pki/extender.key}")
  args=("${args[@]/#--client-ca-file=*/--client-ca-file=$RIG/pki/ca.crt}")
  args=("${args[@]/#--address=*/--address=127.0.0.1}")
  args=("${args[@]/#--port=*/--port=$port}")
  pki=("$RIG/pki" extender-client)
  start_extender "https://127.0.0.1:$port" "$BERTH" "${args[@]}" --kubeconfig "$(account_config berth-extender)"
}
