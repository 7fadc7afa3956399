#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of the cluster sees is what kube-scheduler would show.
. "$(dirname "$0")/live.sh"

start berth
eventually "it leads" leads berth
kubectl create deployment web --image=none --replicas=6 >/dev/null
eventually "six pods run" all_run app=web 6
eventually "each was scheduled once" scheduled_once app=web

run_pod big '"containers":[{"name":"big","image":"none","resources":{"requests":{"cpu":"100"}}}],'
eventually "a pod that fits nowhere says why, in kube-scheduler's words" event big FailedScheduling default-scheduler \
  "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
condition() { kubectl get pod big -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}' | grep -x Unschedulable; }
eventually "and its condition, too" condition

kubectl create priorityclass urgent --value=1000 >/dev/null
kubectl label priorityclass urgent from=rig >/dev/null
for n in 1 2; do run_pod "low-$n" '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
eventually "both nodes are full" all_run 'run in (low-1,low-2)' 2
run_pod urgent '"priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
eventually "a more important pod runs" all_run run=urgent 1
preempted() { kubectl get events --field-selector reason=Preempted -o 'jsonpath={.items[*].message}' | grep -E 'Preempted by pod [0-9a-f-]{36} on node node-[12]'; }
eventually "and the pod that made room has the event" preempted

now "health is for everybody" port_says berth /healthz '200?ok'
now "metrics are not" port_says berth /metrics '403*forbidden: User *system:anonymous* cannot get path */metrics*'
now "but for an administrator" port_says berth /metrics \
  '200*scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}*' admin
now "who sees the configuration" port_says berth /configz '200*{"componentconfig":{*"schedulerName":"default-scheduler"*' admin
now "cache and API server agree" cache_agrees berth
stop berth TERM 0
now "the lease is given back" test -z "$(holder)"
