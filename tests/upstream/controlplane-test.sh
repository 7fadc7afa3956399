#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the control plane rig itself: a Deployment runs, wrong use is refused, and nothing is left running, neither after
# `down` nor after an `up` that is interrupted. What is done with it: ../rig. Needs Go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
rig=$scratch/rig
passed=0
failed=1 # until the end is reached
end() {
  trap - EXIT INT TERM HUP
  for folder in "$rig" "$scratch/cut"; do
    [ ! -e "$folder/.controlplane" ] || "$here/controlplane" down --dir "$folder" || failed=1
  done
  if [ "$failed" -eq 0 ]; then rm -rf "$scratch"; else echo "logs are kept in $scratch" >&2; fi
  echo "$passed passed, $failed failed"
  exit "$failed"
}
trap end EXIT
trap 'exit 1' INT TERM HUP
ok() { passed=$((passed + 1)); echo "  ok      $*"; }
fail() { echo "  FAILED  controlplane-test: $1; seen: ${2:-nothing}" >&2; exit 1; }

# refused WHAT SENTENCE COMMAND...: it fails, with this sentence.
refused() {
  local what=$1 sentence=$2 seen
  shift 2
  ! seen=$("$@" 2>&1) || fail "$what: expected a refusal" "$seen"
  [[ $seen == *"$sentence"* ]] || fail "$what: expected \"$sentence\"" "$seen"
  ok "$what is refused"
}
refused "a number of nodes that is none" '--nodes: want a number, got "two"' "$here/controlplane" up --nodes two --dir "$rig"
refused "kubelets that reject where there are none" "--kubelets-reject and --no-kubelets exclude each other" \
  "$here/controlplane" up --no-kubelets 3 --kubelets-reject --dir "$rig"
refused "a flag of the API server's that is none" '--api-server-flag: want a flag of kube-apiserver'"'"'s, got "v=4"' \
  "$here/controlplane" up --api-server-flag v=4 --dir "$rig"
refused "the end of what never began" "no control plane in $scratch/none" "$here/controlplane" down --dir "$scratch/none"
mkdir "$scratch/mine"
touch "$scratch/mine/file"
refused "a folder with other files" "has files that are not a control plane's" "$here/controlplane" up --dir "$scratch/mine"

# With build-program.sh's flags of the compiler: what it compiled is not compiled again.
(cd "$here" && go test -vet=off -gcflags all=-dwarf=false ./fakekubelet ./faultproxy ./rigtool) >"$scratch/go-test.log" 2>&1 ||
  fail "the rig's own programs pass their tests" "$(cat "$scratch/go-test.log")"
ok "the rig's own programs pass their tests"

"$here/controlplane" up --nodes 2 --kubelets-reject --audit --fault-proxy --dir "$rig"
# shellcheck disable=SC1091
. "$rig/env"
"$here/controlplane" status --dir "$rig"
refused "a second one in the same folder" "already runs in $rig" "$here/controlplane" up --dir "$rig"
kubectl create deployment web --image=none --replicas=4
kubectl wait --for=condition=Available deployment/web --timeout=90s || fail "4 pods of a Deployment run" "$(kubectl get pods,events)"
ok "4 pods of a Deployment run"
kubectl delete deployment web
kubectl wait --for=delete pod -l app=web --timeout=90s || fail "the pods of a deleted Deployment go" "$(kubectl get pods)"
ok "and go when it is deleted"
echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"guest"}}' | kubectl create -f -
kubectl wait --for=condition=Ready node/guest --timeout=90s || fail "a node that somebody makes gets Ready" "$(kubectl get nodes)"
ok "a node that somebody makes gets Ready"
kubectl delete node guest
echo 'kind: Something' >"$scratch/wrong.yaml"
refused "a scheduler configuration that is none" "kind: want KubeSchedulerConfiguration, got Something" \
  "$here/controlplane" scheduler --scheduler-config "$scratch/wrong.yaml" --dir "$rig"
"$here/controlplane" scheduler --dir "$rig"
ok "another scheduler starts"
refused "the restart of what is not there" "restart: no program kubelet" "$here/controlplane" restart kubelet --dir "$rig"
"$here/controlplane" restart kube-apiserver --dir "$rig"
kubectl get nodes >"$scratch/nodes" 2>&1 || fail "the API server answers after a restart" "$(cat "$scratch/nodes")"
ok "the API server answers after a restart"

# Rejecting kubelets: two pods that name a node for which they are too large together.
large='{"spec":{"nodeName":"node-1","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"5"}}}]}}'
for n in 1 2; do kubectl run "large-$n" --image=none --overrides="$large"; done
phases() { kubectl get pods -o 'jsonpath={range .items[*]}{.status.phase}/{.status.reason}{"\n"}{end}' | sort | xargs; }
rejected() { [ "$(phases)" = "Failed/OutOfcpu Running/" ]; }
for ((i = 0; i < 300; i++)); do ! rejected || break; sleep 0.2; done
rejected || fail "a kubelet rejects the pod for which there is no room" "$(kubectl get pods -o wide)"
ok "a kubelet rejects the pod for which there is no room"

# The proxy: who asks stays who it is, and a fault hits.
proxied() { KUBECONFIG=$rig/faulty.kubeconfig kubectl --request-timeout=10s "$@" 2>&1; }
seen=$(proxied auth whoami -o 'jsonpath={.status.userInfo.username}') || fail "a request through the proxy" "$seen"
[ "$seen" = system:kube-scheduler ] || fail "through the proxy the scheduler is the scheduler" "$seen"
ok "through the proxy the scheduler is the scheduler"
# shellcheck disable=SC2154 # of env
control=http://127.0.0.1:$control_port
seen=$(rigtool call POST "$control/faults" <<<'{"path":"/pods","action":"status","code":503,"count":1}')
[[ $seen == 201* ]] || fail "a fault is armed" "$seen"
seen=$(rigtool call GET "https://127.0.0.1:$proxy_port/api/v1/pods" "$rig/pki" kube-scheduler </dev/null)
[[ $seen == 503*injected* ]] || fail "a fault hits" "$seen"
seen=$(rigtool call GET "https://127.0.0.1:$proxy_port/api/v1/pods" "$rig/pki" kube-scheduler </dev/null)
[[ $seen == 200*PodList* ]] || fail "and no more often than it is to" "$seen"
ok "a fault hits as often as it is to"
! KUBECONFIG=$rig/kube-scheduler.kubeconfig kubectl get secrets >/dev/null 2>&1 || fail "a scheduler may not read secrets"
# It is written a little after the answer.
audited() {
  ! seen=$(rigtool audit --file "$rig/logs/audit.log" --agent kubectl 2>&1) || return 1
  [[ $seen == *"answered with 403: list /api/v1/namespaces/default/secrets"* ]]
}
for ((i = 0; i < 100; i++)); do ! audited || break; sleep 0.2; done
[ "$i" -lt 100 ] || fail "the audit log has what was refused" "$seen"
ok "the audit log has what was refused"

# What runs by a folder's pid files, and that none of it does any more; a dead process that nobody waited for does not run.
pids() { cut -d ' ' -f 1 "$1"/pids/* 2>/dev/null || true; }
nothing_left() {
  local pid
  [ -n "$1" ] || fail "$2: something was started"
  for pid in $1; do
    ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null ||
      fail "$2 leaves nothing" "pid $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
  done
  ok "$2 leaves nothing"
}
before=$(pids "$rig")
"$here/controlplane" down --dir "$rig"
nothing_left "$before" "down"
if seen=$("$here/controlplane" status --dir "$rig"); then fail "status fails after down" "$seen"; fi
ok "status fails after down"

"$here/controlplane" up --no-kubelets 50 --api-server-flag=--enable-priority-and-fairness=false --dir "$rig"
[ "$(kubectl get nodes --no-headers | grep -c ' Ready ')" -eq 50 ] || fail "fifty nodes without kubelets are Ready" "$(kubectl get nodes)"
rigtool pods --kubeconfig "$KUBECONFIG" --count 100
for ((i = 0; i < 300; i++)); do ! seen=$(rigtool check --kubeconfig "$KUBECONFIG" --want 100 2>&1) || break; sleep 0.2; done
[[ $seen == "100 pods, 50 nodes, 100 Scheduled events" ]] || fail "a hundred pods are scheduled to them" "$seen"
ok "a hundred pods are scheduled to fifty nodes without kubelets"
"$here/controlplane" status --dir "$rig"
before=$(pids "$rig")
"$here/controlplane" down --dir "$rig"
nothing_left "$before" "the end of one without kubelets"

"$here/controlplane" up --dir "$scratch/cut" >"$scratch/cut.log" 2>&1 &
up=$!
until [ -s "$scratch/cut/pids/kube-apiserver" ]; do
  kill -0 "$up" 2>/dev/null || fail "up starts an API server" "$(cat "$scratch/cut.log")"
  sleep 0.05
done
before=$(pids "$scratch/cut")
kill "$up"
! wait "$up" || fail "an interrupted up fails" "$(cat "$scratch/cut.log")"
nothing_left "$before" "an interrupted up"
failed=0
