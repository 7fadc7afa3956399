#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole protocol against a stock kube-scheduler: filter, prioritize, preempt and bind, with nodes and with names only
# (nodeCacheCapable), over HTTP and over TLS with client certificates. BERTH_RIG_EXTENDER=go tells the same of goextender.
. "$(dirname "$0")/../rig/lib.sh"

cat >"$LOGS/extender.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: by-label
  plugins:
    multiPoint:
      enabled: [{name: LabelPriority}]
  pluginConfig:
  - name: LabelPriority
    args: {label: $label}
END

# serve SCHEME [OPTION...]: the extender on a new port.
serve() {
  local port tls=() command scheme=$1
  shift
  port=$(free_port)
  pki=()
  if [ "$scheme" = https ]; then
    tls=(-tls-cert-file "$RIG/pki/extender.crt" -tls-private-key-file "$RIG/pki/extender.key" -client-ca-file "$RIG/pki/ca.crt")
    pki=("$RIG/pki" extender-client)
  fi
  if [ "${BERTH_RIG_EXTENDER:-berth}" = go ]; then
    command=("$("$UPSTREAM/build-program.sh" goextender)" -address "127.0.0.1:$port" -log-calls)
  else
    command=("$BERTH" extender --config "$LOGS/extender.yaml" --profile by-label --port "$port"
      --filter-verb filter --prioritize-verb prioritize --preempt-verb preempt --bind-verb bind)
    tls=("${tls[@]/#-/--}")
  fi
  start_extender "$scheme://127.0.0.1:$port" "${command[@]}" ${tls[@]+"${tls[@]}"} \
    --kubeconfig "$RIG/kube-scheduler.kubeconfig" "$@"
}

# schedule SHAPE: a scheduler that asks it, nodeCacheCapable true or false. With prioritize= it does not ask for scores.
prioritize='prioritizeVerb: prioritize'
schedule() {
  local file=$LOGS/${url%%:*}-nodeCacheCapable-$1.yaml
  cat >"$file" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: $url
  filterVerb: filter
  $prioritize
  preemptVerb: preempt
  bindVerb: bind
  weight: 100
  nodeCacheCapable: $1
END
  if [ ${#pki[@]} -gt 0 ]; then
    cat >>"$file" <<END
  enableHTTPS: true
  tlsConfig:
    caFile: $RIG/pki/ca.crt
    certFile: $RIG/pki/extender-client.crt
    keyFile: $RIG/pki/extender-client.key
END
  fi
  scheduler "$file"
}

# cpu N: a container that wants so many of a node's eight.
cpu() { printf '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"%s"}}}],' "$1"; }

# tell SCHEME SHAPE: filter, prioritize, bind and preempt, step by step.
tell() {
  local how=", $1, nodeCacheCapable $2"
  serve "$1"
  schedule "$2"
  run_pod first
  eventually "filter$how: no node has the label, and the event says so" event first FailedScheduling default-scheduler \
    "*all node do not have label $label*"
  kubectl label node node-2 "$label=1" >/dev/null
  eventually "filter$how: node-2 has the label, the pod runs there" runs_on run=first node-2 1
  eventually "bind$how: the extender did it" logged "$extender_log" '(route="|call )/bind'

  kubectl label node node-1 "$label=9" >/dev/null
  kubectl create deployment scored --image=none --replicas=3 >/dev/null
  eventually "prioritize$how: 9 points of node-1 beat 1 of node-2, three times" runs_on app=scored node-1 3
  eventually "prioritize$how: the extender was asked" logged "$extender_log" '(route="|call )/prioritize'

  kubectl delete deployment scored >/dev/null
  kubectl delete pod first >/dev/null
  eventually "those are gone" are_gone 'run!=nobody'
  kubectl label node node-2 "$label-" >/dev/null
  kubectl create priorityclass high --value=1000 >/dev/null
  kubectl label priorityclass high from=rig >/dev/null
  run_pod other "$(cpu 7)\"nodeName\":\"node-2\","
  eventually "a pod fills node-2" runs_on run=other node-2 1
  run_pod low "$(cpu 7)"
  eventually "a pod of low priority fills node-1" runs_on run=low node-1 1
  run_pod high "$(cpu 7)\"priorityClassName\":\"high\","
  eventually "preempt$how: one of high priority takes its place" runs_on run=high node-1 1
  now "preempt$how: the low one is gone" are_gone run=low
  eventually "preempt$how: the extender was asked" logged "$extender_log" '(route="|call )/preempt'
  now "preempt$how: node-2, without the label, was left alone" runs_on run=other node-2 1
  if [ "$1" = https ]; then
    pki=("$RIG/pki")
    now "a client without a certificate is refused" answers GET /version '' 'no answer' '*'
  fi
  reset
}

tell http false
tell http true
tell https false
tell https true

if [ "${BERTH_RIG_EXTENDER:-berth}" = berth ]; then
  mkdir -p "$LOGS/tls" "$LOGS/renewed"
  cp "$RIG"/pki/{ca.crt,extender.crt,extender.key} "$LOGS/tls"
  port=$(free_port)
  pki=("$RIG/pki" extender-client)
  start_extender "https://127.0.0.1:$port" "$BERTH" extender --preset demo --port "$port" --client-ca-file "$LOGS/tls/ca.crt" \
    --tls-cert-file "$LOGS/tls/extender.crt" --tls-private-key-file "$LOGS/tls/extender.key"
  "$RIG/bin/rigtool" certificates "$LOGS/renewed"
  cp "$LOGS"/renewed/{ca.crt,extender.crt,extender.key} "$LOGS/tls"
  pki=("$LOGS/renewed" extender-client)
  eventually "TLS: renewed certificates and authority are taken up from their files" answers GET /version '' 200 '*'
  pki=()
  kubectl label node node-1 "$label=9" >/dev/null
  kubectl label node node-2 "$label=1" >/dev/null
  prioritize='' serve http --only-best
  prioritize='' schedule true
  kubectl create deployment best --image=none --replicas=4 >/dev/null
  eventually "--only-best: the filter itself leaves the best node alone, with any plugins" runs_on app=best node-1 4

  # Resources: a candidate that is full stays only if its victims are taken away before the plugins are asked.
  sed -e 's/LabelPriority/NodeResourcesFit/' -e '/pluginConfig/,$d' "$LOGS/extender.yaml" >"$LOGS/fit.yaml"
  for shape in false true; do
    reset
    port=$(free_port)
    start_extender "http://127.0.0.1:$port" "$BERTH" extender --config "$LOGS/fit.yaml" --port "$port" \
      --kubeconfig "$RIG/kube-scheduler.kubeconfig"
    cat >"$LOGS/fit-$shape.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: $url
  preemptVerb: preempt
  nodeCacheCapable: $shape
END
    scheduler "$LOGS/fit-$shape.yaml"
    kubectl create priorityclass high --value=1000 >/dev/null
    kubectl label priorityclass high from=rig >/dev/null
    run_pod full-1 "$(cpu 7)\"nodeName\":\"node-1\","
    run_pod full-2 "$(cpu 7)\"nodeName\":\"node-2\",\"priorityClassName\":\"high\","
    eventually "a pod of low priority fills node-1" runs_on run=full-1 node-1 1
    eventually "a pod of high priority fills node-2" runs_on run=full-2 node-2 1
    run_pod high "$(cpu 7)\"priorityClassName\":\"high\","
    eventually "preempt by resources, nodeCacheCapable $shape: the low one makes room" runs_on run=high node-1 1
    eventually "preempt by resources, nodeCacheCapable $shape: the extender kept the one candidate" \
      served /preempt high 1 1
  done
fi
