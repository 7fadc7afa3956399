#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The API server is killed while pods arrive, and comes back.
. "$(dirname "$0")/live.sh"

start berth --leader-elect=false --kube-api-qps 500 --kube-api-burst 500
kubectl create deployment web --image=none --replicas=60 >/dev/null
sleep 1
"$UPSTREAM/controlplane" restart kube-apiserver --dir "$RIG" >"$LOGS/restart.out" 2>&1 ||
  broken "the API server restarts" "a server that is ready" "$(cat "$LOGS/restart.out")"
ok "the API server went and is back"
eventually "every pod runs" all_run app=web 60
eventually "each was scheduled once, and has its event" scheduled_once app=web
kubectl scale deployment web --replicas=120 >/dev/null
eventually "pods that come later run as well" all_run app=web 120
eventually "and have their events" scheduled_once app=web
now "cache and API server agree" cache_agrees berth
stop berth TERM 1
