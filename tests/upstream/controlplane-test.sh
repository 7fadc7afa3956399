#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tries the control plane rig: a Deployment runs, follows a label through goextender in both shapes of the protocol and
# over TLS, a pod preempts another, and nothing is left running. Needs Go.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
rig=$scratch/rig
extender_pid=
end() {
  code=$?
  trap - EXIT
  stop_extender
  [ ! -e "$rig/.controlplane" ] || "$here/controlplane" down --dir "$rig" || code=1
  rm -rf "$scratch"
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM
say() { echo "controlplane-test: $*"; }
fail() { say "$*" >&2; exit 1; }
stop_extender() {
  [ -n "$extender_pid" ] || return 0
  kill "$extender_pid" 2>/dev/null || true
  wait "$extender_pid" 2>/dev/null || true
  extender_pid=
}

# eventually WHAT COMMAND...: the command succeeds within a minute.
eventually() {
  what=$1
  shift
  tries=0
  until "$@" >"$scratch/last" 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { cat "$scratch/last" >&2; kubectl get pods,events -A >&2; fail "not within a minute: $what"; }
    sleep 0.5
  done
  say "$what"
}

# pods_on SELECTOR NODE COUNT: so many pods of the selector run there, and none anywhere else.
pods_on() {
  kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.nodeName}/{.status.phase}{"\n"}{end}' >"$scratch/pods"
  cat "$scratch/pods"
  [ "$(grep -c . "$scratch/pods")" -eq "$3" ] && [ "$(grep -cx "$2/Running" "$scratch/pods")" -eq "$3" ]
}
is() { [ "$("$@")" = "$want" ]; }

# schedule_through SHAPE SCHEME: goextender and a scheduler that asks it.
schedule_through() {
  stop_extender
  tls=
  port=$("$rig/bin/rigtool" ports 1)
  if [ "$2" = https ]; then
    "$goextender" -address "127.0.0.1:$port" -kubeconfig "$KUBECONFIG" -tls-cert-file "$rig/pki/extender.crt" \
      -tls-private-key-file "$rig/pki/extender.key" -client-ca-file "$rig/pki/ca.crt" 2>"$scratch/extender.log" &
    tls="  enableHTTPS: true
  tlsConfig:
    caFile: $rig/pki/ca.crt
    certFile: $rig/pki/extender-client.crt
    keyFile: $rig/pki/extender-client.key"
  else
    "$goextender" -address "127.0.0.1:$port" -kubeconfig "$KUBECONFIG" 2>"$scratch/extender.log" &
  fi
  extender_pid=$!
  cat >"$scratch/scheduler.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: $2://127.0.0.1:$port
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  bindVerb: bind
  weight: 1
  nodeCacheCapable: $1
$tls
END
  eventually "goextender listens ($2, nodeCacheCapable $1)" grep -q listening "$scratch/extender.log"
  "$here/controlplane" scheduler --scheduler-config "$scratch/scheduler.yaml" --dir "$rig"
}

goextender=$("$here/build-program.sh" goextender)
"$here/controlplane" up --nodes 2 --dir "$rig"
# shellcheck disable=SC1091
. "$rig/env"
"$here/controlplane" status --dir "$rig"

kubectl create deployment web --image=none --replicas=4
eventually "4 pods of a Deployment run" kubectl wait --for=condition=Available deployment/web --timeout=1s
kubectl delete deployment web
want=
eventually "and are gone" is kubectl get pods -l app=web -o name

schedule_through false http
kubectl create deployment label --image=none --replicas=2
eventually "no node has the label: the event says so" sh -c \
  'kubectl get events --field-selector reason=FailedScheduling | grep "all node do not have label priority.lixueduan.com"'
kubectl label node node-2 priority.lixueduan.com=10
eventually "node-2 has it: both pods run there" pods_on app=label node-2 2

schedule_through true http
kubectl label node node-2 priority.lixueduan.com-
kubectl label node node-1 priority.lixueduan.com=10
kubectl rollout restart deployment/label
eventually "by names, the label moved to node-1: both pods follow" pods_on app=label node-1 2

schedule_through true https
kubectl create priorityclass high --value=1000
# run_pod NAME FIELDS: a pod that nearly fills a node.
run_pod() {
  kubectl run "$1" --image=none --overrides \
    '{"spec":{'"$2"'"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}]}}'
}
run_pod other '"nodeName":"node-2",'
eventually "a pod fills node-2" pods_on run=other node-2 1
run_pod low ''
eventually "over TLS, a pod of low priority fills node-1" pods_on run=low node-1 1
run_pod high '"priorityClassName":"high",'
eventually "one of high priority takes its place" pods_on run=high node-1 1
want=
eventually "the low one is gone" is kubectl get pods -l run=low -o name
pods_on run=other node-2 1 >"$scratch/last" || fail "node-2 was to be left alone: the extender had dropped that candidate"

pids=$(cut -d ' ' -f 1 "$rig"/pids/*)
"$here/controlplane" down --dir "$rig"
stop_extender
for pid in $pids; do
  [ ! -e "/proc/$pid" ] || fail "pid $pid is left"
done
if "$here/controlplane" status --dir "$rig" >"$scratch/last"; then fail "status succeeds after down"; fi
say "nothing is left running"
