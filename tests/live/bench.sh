#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `berth bench --mode live` measures whichever scheduler is there, and leaves the cluster as it was.
. "$(dirname "$0")/live.sh"

cat >"$LOGS/workloads.yaml" <<'END'
- name: Basic
  workloadTemplate:
  - {opcode: createNodes, count: 20}
  - {opcode: createPods, count: 100, collectMetrics: true}
  workloads: [{name: Small}]
- name: FitsNowhere
  defaultPodTemplatePath: huge.yaml
  workloadTemplate:
  - {opcode: createNodes, count: 5}
  - {opcode: createPods, count: 3, collectMetrics: true}
  workloads: [{name: Small}]
END
cat >"$LOGS/huge.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {generateName: huge-}
spec: {containers: [{name: c, image: none, resources: {requests: {cpu: "100"}}}]}
END
# bench OUT CASE [OPTION...]: its exit code is the last line of OUT.
bench() {
  local code=0
  "$BERTH" bench -f "$LOGS/workloads.yaml" --case "$2" --mode live --kubeconfig "$KUBECONFIG" "${@:3}" >"$LOGS/$1" 2>&1 || code=$?
  echo "exit code $code" >>"$LOGS/$1"
}
# says OUT PATTERN...
says() {
  local pattern
  cat "$LOGS/$1"
  for pattern in "${@:2}"; do [[ $(cat "$LOGS/$1") == $pattern ]] || return 1; done
}
everything() {
  kubectl get nodes,namespaces,priorityclasses,csinodes,persistentvolumes -o name
  kubectl get pods,services -A -o name
}
before=$(everything)
as_before() { diff <(echo "$before") <(everything); }

start berth
eventually "it leads" leads berth
bench berth.json Basic --pid "${pids[berth]}" -o json
now "all pods are scheduled and measured" says berth.json '*"nodes": 20,*' '*"pods": 100,*' '*"scheduled": 100,*' \
  '*"process_cpu_us_per_pod": *' '*exit code 0'
now "nothing is left" as_before

if [ -z "${QUICK:-}" ]; then
  bench nowhere.txt FitsNowhere --timeout 2s
  now "pods that fit nowhere are told of, with the reason" says nowhere.txt \
    '*after 2s 3 pods are still pending, among them namespace-1/huge-*: 0/7 nodes are available: 7 Insufficient cpu*' '*exit code 2'
  now "and go with the rest" as_before
fi

"$BERTH" bench -f "$LOGS/workloads.yaml" --case FitsNowhere --mode live --kubeconfig "$KUBECONFIG" >"$LOGS/signal.txt" 2>&1 &
pids[bench]=$!
appear() { kubectl get pods -n namespace-1 -o name | grep -c huge; }
eventually "pods of another run appear" appear
now "while they are there, nobody else can use their names" bench second.txt Basic
now "which is said" says second.txt '*node-0-*exists already, and was not made by this run*' '*exit code 2'
code=0
kill -TERM "${pids[bench]}"
wait "${pids[bench]}" || code=$?
unset "pids[bench]"
now "SIGTERM ends it with an error" test "$code" = 2
now "and what it made is gone" as_before

if [ -z "${QUICK:-}" ]; then
  code=0
  "$BERTH" bench -f "$(dirname "$0")/../bench/every-op.yaml" --mode live --kubeconfig "$KUBECONFIG" --timeout 60s \
    >"$LOGS/every-op.txt" 2>&1 || code=$?
  now "every op runs" test "$code" = 0
  now "and leaves nothing" as_before
fi
stop berth TERM 0
[ -z "${QUICK:-}" ] || exit 0

start_stock stock
bench stock.json Basic --pid "${pids[stock]}" -o json
now "kube-scheduler is measured in the same way" says stock.json '*"scheduled": 100,*' '*exit code 0'
now "and nothing is left" as_before
stop stock TERM 0
