#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the scheduler, the API server and etcd, a stolen lease, and nodes that go in the middle of bindings, each while
# hundreds of pods arrive.
. "$(dirname "$0")/live.sh"

crowd=${QUICK:+150}
crowd=${crowd:-300}
more_nodes 20
flags=(--kube-api-qps 500 --kube-api-burst 500)
# restarted NAME: one of the control plane's, with kill -9.
restarted() {
  "$UPSTREAM/controlplane" restart "$1" --dir "$RIG" >"$LOGS/restart.out" 2>&1 ||
    broken "$1 restarts" "a server that is ready" "$(cat "$LOGS/restart.out")"
}

start berth --leader-elect=false "${flags[@]}"
arrive "$crowd"
in_the_middle $((crowd / 3))
kill -9 "${pids[berth]}"
wait "${pids[berth]}" 2>/dev/null || true
unset 'pids[berth]'
sleep 1 # for requests that it sent
bound_by_the_dead
start again --leader-elect=false "${flags[@]}"
arrived
settled "the scheduler was killed" again

arrive "$crowd"
in_the_middle $((crowd / 3))
restarted kube-apiserver
arrived
settled "the API server was killed" again

arrive "$crowd"
in_the_middle $((crowd / 3))
restarted etcd
arrived
settled "etcd was killed" again

# Room for all of them on the nodes that stay.
arrive $((crowd * 2 / 3))
in_the_middle $((crowd / 4))
kubectl delete node more-1 more-2 more-3 >/dev/null
arrived
settled "nodes went in the middle of bindings" again --gone-nodes
stop again TERM 1

fast=(--leader-elect-lease-duration 6s --leader-elect-renew-deadline 4s --leader-elect-retry-period 1s)
start first "${fast[@]}" "${flags[@]}"
eventually "the first one leads" leads first
start second "${fast[@]}" "${flags[@]}"
rate=30 arrive 200
in_the_middle 30
kubectl patch lease -n kube-system kube-scheduler --type merge -p '{"spec":{"holderIdentity":"thief"}}' >/dev/null
ended() { ! kill -0 "${pids[first]}" 2>/dev/null; }
eventually "who lost its lease to a thief stops" ended
code=0
wait "${pids[first]}" || code=$?
unset 'pids[first]'
now "with exit code 1" test "$code" -eq 1
eventually "the other one leads when the thief's time is over" leads second
arrived
settled "the lease was stolen" second
stop second TERM 0
