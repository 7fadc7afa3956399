#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# As user system:kube-scheduler, with its bootstrap rights and no others: nothing that Berth asks is refused.
. "$(dirname "$0")/live.sh"

roles() {
  kubectl get clusterrolebindings --no-headers -o 'custom-columns=R:.roleRef.name,S:.subjects[*].name' |
    awk '$2 ~ /system:kube-scheduler/ { print $1 }' | sort | xargs
}
now "the user has kube-scheduler's two roles" test "$(roles)" = "system:kube-scheduler system:volume-scheduler"
mark "$audit_log"
start berth
eventually "it leads" leads berth
kubectl create deployment web --image=none --replicas=6 >/dev/null
eventually "six pods run" all_run app=web 6
kubectl create priorityclass urgent --value=1000 >/dev/null
kubectl label priorityclass urgent from=rig >/dev/null
for n in 1 2; do run_pod "low-$n" '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
eventually "both nodes are full" all_run 'run in (low-1,low-2)' 2
run_pod urgent '"priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
eventually "a more important pod preempts" all_run run=urgent 1
now "somebody who may not read metrics is found out by a review" port_says berth /metrics \
  '403*User *system:kube-controller-manager*' kube-controller-manager
token=$(kubectl create token default)
# bearer PATH PATTERN
bearer() {
  local answer
  answer=$("$RIG/bin/rigtool" call GET "https://127.0.0.1:${ports[berth]}$1" "$RIG/pki" '' "Authorization: Bearer $token" \
    </dev/null 2>&1) || true
  echo "${answer:0:500}"
  # shellcheck disable=SC2053
  [[ $answer == $2 ]]
}
now "and so is a service account" bearer /metrics '403*system:serviceaccount:default:default*'
stop berth TERM 0
# since USER-AGENT CODE: no request of the user since the mark was answered so.
since() {
  tail -n +$((marks[$audit_log] + 1)) "$audit_log" >"$LOGS/audit.log"
  "$RIG/bin/rigtool" audit --file "$LOGS/audit.log" --user system:kube-scheduler --agent "$1" --code "$2"
}
now "no request of Berth's was answered 403" since '' 403
now "nor 401" since '' 401
# Would it be seen?
! KUBECONFIG=$RIG/kube-scheduler.kubeconfig kubectl get secrets >/dev/null 2>&1
refused() { [[ $(since kubectl 403 2>&1) == *"requests of system:kube-scheduler were answered with 403"* ]]; }
eventually "what is refused is in the log" refused
