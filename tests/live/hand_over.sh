#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One leads, the others wait; pods are scheduled whoever leads.
. "$(dirname "$0")/live.sh"

# The lease is waited out once, and the deadline once; a busy API server must not cost anybody else the lease.
fast=(--leader-elect-lease-duration 8s --leader-elect-renew-deadline 6s --leader-elect-retry-period 1s)
start first "${fast[@]}"
eventually "the first one leads" leads first
start second "${fast[@]}"
kubectl create deployment web --image=none --replicas=3 >/dev/null
eventually "its pods run" all_run app=web 3
stop first TERM 0
eventually "the second one takes over" leads second
kubectl scale deployment web --replicas=6 >/dev/null
eventually "more pods run" all_run app=web 6

start third "${fast[@]}"
stop second KILL 137
kubectl scale deployment web --replicas=9 >/dev/null
eventually "after a kill the third one takes over when the lease is over" leads third
eventually "and schedules what came meanwhile" all_run app=web 9

kubectl patch lease -n kube-system kube-scheduler --type merge -p '{"spec":{"holderIdentity":"thief"}}' >/dev/null
ended() { ! kill -0 "${pids[third]}" 2>/dev/null; }
eventually "who lost its lease to a thief stops" ended
code=0
wait "${pids[third]}" || code=$?
unset 'pids[third]'
now "with exit code 1" test "$code" -eq 1
now "and says so" logged "$LOGS/third.log" 'Leaderelection lost'

cat >"$LOGS/stock.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
END
kubectl delete lease -n kube-system kube-scheduler >/dev/null
scheduler "$LOGS/stock.yaml"
start fourth "${fast[@]}"
kubectl scale deployment web --replicas=12 >/dev/null
eventually "kube-scheduler leads, and Berth waits" all_run app=web 12
"$UPSTREAM/controlplane" scheduler --dir "$RIG" --no-scheduler
eventually "Berth takes over from kube-scheduler" leads fourth
kubectl scale deployment web --replicas=15 >/dev/null
eventually "and schedules" all_run app=web 15
eventually "nobody scheduled a pod twice" scheduled_once app=web
now "cache and API server agree" cache_agrees fourth
stop fourth TERM 0
