#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a scheduler serves on its port, kube-scheduler's and ours side by side after the same work: health, configuration,
# flags, status, who may ask, and what its metrics are called.
. "$(dirname "$0")/live.sh"
here=$(cd "$(dirname "$0")" && pwd)

# work: pods that are scheduled, that wait, that are gated, and that preempt.
work() {
  kubectl create deployment web --image=none --replicas=60 >/dev/null
  eventually "$1: sixty pods run" all_run app=web 60
  run_pod big '"containers":[{"name":"big","image":"none","resources":{"requests":{"cpu":"100"}}}],'
  run_pod gated '"schedulingGates":[{"name":"example.com/gate"}],'
  kubectl create priorityclass urgent --value=1000 >/dev/null
  kubectl label priorityclass urgent from=rig >/dev/null
  for n in 1 2; do run_pod "low-$n" '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
  eventually "$1: both nodes are full" all_run 'run in (low-1,low-2)' 2
  run_pod urgent '"priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
  eventually "$1: a more important pod runs" all_run run=urgent 1
  eventually "$1: a pod that fits nowhere says so" event big FailedScheduling default-scheduler '0/2 nodes are available*'
  sleep 1.5 # gauges are written once a second
}
# ask NAME: the requests of the file, each answer in a file of its own.
ask() {
  local name=$1 number=0 method path user header
  mkdir -p "$LOGS/$name"
  while IFS='|' read -r method path user header; do
    number=$((number + 1))
    header=${header/TOKEN/$token}
    "$RIG/bin/rigtool" call "$method" "https://127.0.0.1:${ports[$name]}$path" "$RIG/pki" "$user" ${header:+"$header"} </dev/null \
      >"$LOGS/$name/$number" 2>&1 || true
    # A port of its own in an address, if any.
    sed -i "s/:${ports[$name]}/:PORT/g" "$LOGS/$name/$number"
  done <"$here/surface-requests"
  for path in metrics configz flagz statusz; do
    local accept=
    case $path in flagz) accept='as=Flagz' ;; statusz) accept='as=Statusz' ;; esac
    "$RIG/bin/rigtool" call GET "https://127.0.0.1:${ports[$name]}/$path" "$RIG/pki" admin \
      ${accept:+"Accept: application/json;v=v1beta1;g=config.k8s.io;$accept"} </dev/null >"$LOGS/$name/$path" 2>&1
    [ "$(head -n 1 "$LOGS/$name/$path")" = 200 ] || broken "$name answers /$path" 200 "$(head -c 300 "$LOGS/$name/$path")"
    sed -i 1d "$LOGS/$name/$path"
  done
}
# same NUMBER: both gave this answer.
same() { diff "$LOGS/stock/$1" "$LOGS/berth/$1"; }

token=$(kubectl create token default)
# It is told what Berth is told, or its configuration would differ.
# shellcheck disable=SC2086
start_stock stock ${BERTH_OPTIONS-}
eventually "kube-scheduler leads" leads stock
work kube-scheduler
ask stock
stop stock TERM 0
reset
start berth
eventually "Berth leads" leads berth
work Berth
ask berth

number=0
while IFS='|' read -r method path user header; do
  number=$((number + 1))
  now "$method $path${user:+ as $user}${header:+ (${header%% *})} is answered as by kube-scheduler" same "$number"
done <"$here/surface-requests"
compare=("$RIG/bin/rigtool" compare-json)
# What is each process's own: ports, files, times.
now "/configz is kube-scheduler's" "${compare[@]}" "$LOGS/stock/configz" "$LOGS/berth/configz"
now "/flagz has kube-scheduler's flags and values" "${compare[@]}" "$LOGS/stock/flagz" "$LOGS/berth/flagz" flags.secure-port
now "/statusz has kube-scheduler's form" "${compare[@]}" "$LOGS/stock/statusz" "$LOGS/berth/statusz" \
  startTime uptimeSeconds goVersion
now "metrics have kube-scheduler's names, types and labels" "$RIG/bin/rigtool" compare-metrics \
  "$LOGS/stock/metrics" "$LOGS/berth/metrics" "$here/missing-metrics.txt"
stop berth TERM 0
