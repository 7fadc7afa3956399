#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every rule of the roles in deploy/ is needed: each is taken away in turn, and the program whose account has it is refused
# something that it asks for, for every resource of the rule. So are the bindings to roles that the cluster has. By hand, minutes:
#   tests/deploy/run.sh build/release/berth needed
. "$(dirname "$0")/deploy.sh"

# refusals ACCOUNT: GROUP/RESOURCE that it was refused since `mark "$audit_log"`.
refusals() {
  tail -n "+$((${marks[$audit_log]:-0} + 1))" "$audit_log" | grep -F "\"username\":\"system:serviceaccount:kube-system:$1\"" |
    grep -F '"code":403' | awk '
      function field(name) {
        return match(ref, "\"" name "\":\"[^\"]*\"") ? substr(ref, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : ""
      }
      match($0, /"objectRef":\{[^}]*\}/) {
        ref = substr($0, RSTART, RLENGTH)
        below = field("subresource")
        print field("apiGroup") "/" field("resource") (below == "" ? "" : "/" below)
      }' | sort -u
}
# refused ACCOUNT RESOURCE...: each of them. Prints those that were.
refused() {
  local seen resource
  seen=$(refusals "$1")
  echo "refused: $(xargs <<<"$seen")"
  for resource in "${@:2}"; do grep -qxF "$resource" <<<"$seen" || return 1; done
}

# exercise ACCOUNT: starts its program and lets it do all that it is for, however far that goes.
exercise() {
  reset
  case $1 in
    berth-extender)
      serve_extender
      run_pod by-hand '"schedulerName":"nobody",'
      answers POST /bind "{\"PodName\":\"by-hand\",\"PodNamespace\":\"default\",\"PodUID\":\"$(kubectl get pod by-hand \
        -o 'jsonpath={.metadata.uid}')\",\"Node\":\"node-2\"}" 200 '*' >/dev/null || true
      ;;
    berth-controller)
      kubectl delete lease -n kube-system "$1" --ignore-not-found >/dev/null
      serve program "$1" controller
      kubectl run any --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
      kubectl cordon node-1 node-2 >/dev/null
      kubectl run none --image=none --overrides='{"spec":{"schedulerName":"random","terminationGracePeriodSeconds":1}}' >/dev/null
      ;;
    *)
      kubectl delete lease -n kube-system "$1" --ignore-not-found >/dev/null
      serve program "$1" scheduler
      kubectl create priorityclass urgent --value=1000 >/dev/null
      kubectl label priorityclass urgent from=rig >/dev/null
      for n in 1 2; do run_pod "low-$n" '"schedulerName":"berth","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'; done
      kubectl apply -f "$(dirname "$0")/volumes.yaml" >/dev/null
      sleep 2
      run_pod urgent '"schedulerName":"berth","priorityClassName":"urgent","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"7"}}}],'
      ;;
  esac
}
# relax: what exercise has left.
relax() {
  if [ -n "${pids[program]:-}" ]; then
    kill "${pids[program]}" 2>/dev/null || true
    wait "${pids[program]}" || true
    unset 'pids[program]'
  fi
  stop_extender
  kubectl uncordon node-1 node-2 >/dev/null
  kubectl delete --ignore-not-found --wait=false -f "$(dirname "$0")/volumes.yaml" >/dev/null
}
# shows WHAT ACCOUNT RESOURCE...: without it the account's program is refused these.
shows() {
  mark "$audit_log"
  exercise "$2"
  # A token is reviewed when somebody shows one.
  [ -z "${ports[program]:-}" ] || asked program /metrics '*' "Authorization: Bearer $(kubectl create token -n kube-system default)" >/dev/null || true
  eventually "$1: without it ${*:3} is refused" refused "${@:2}"
  relax
}

for base in second-scheduler controller extender-service; do
  file=$(kustomized "$base")
  kubectl apply -f "$file" >/dev/null
  case $base in second-scheduler) account=berth-scheduler ;; controller) account=berth-controller ;; *) account=berth-extender ;; esac
  for kind in clusterrole role; do
    kubectl get "$kind" -n kube-system "$account" >/dev/null 2>&1 || continue
    count=$(kubectl get "$kind" -n kube-system "$account" -o 'jsonpath={range .rules[*]}x{end}' | wc -c)
    for ((rule = 0; rule < count; rule++)); do
      group=$(kubectl get "$kind" -n kube-system "$account" -o "jsonpath={.rules[$rule].apiGroups[0]}")
      mapfile -t resources < <(kubectl get "$kind" -n kube-system "$account" -o "jsonpath={range .rules[$rule].resources[*]}$group/{@}{'\n'}{end}")
      kubectl patch "$kind" -n kube-system "$account" --type=json -p "[{\"op\":\"remove\",\"path\":\"/rules/$rule\"}]" >/dev/null
      shows "$kind $account, rule $((rule + 1)) of $count" "$account" "${resources[@]}"
      kubectl apply -f "$file" >/dev/null
    done
  done
  [ "$base" != extender-service ] || continue
  kubectl delete clusterrolebinding "$account-auth-delegator" >/dev/null
  shows "$account's binding to system:auth-delegator" "$account" authentication.k8s.io/tokenreviews
  kubectl apply -f "$file" >/dev/null
  kubectl delete rolebinding -n kube-system "$account-authentication-reader" >/dev/null
  shows "$account's binding to extension-apiserver-authentication-reader" "$account" /configmaps
  kubectl apply -f "$file" >/dev/null
done
# With all of them back nothing is refused: the refusals above were the rules' doing.
for account in berth-scheduler berth-controller berth-extender; do
  mark "$audit_log"
  exercise "$account"
  sleep 5
  now "$account: with all of them nothing is refused" test -z "$(refusals "$account")"
  relax
done
for base in second-scheduler controller extender-service; do kubectl delete --wait=false -f "$(kustomized "$base")" >/dev/null; done
