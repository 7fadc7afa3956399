#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Berth as a second scheduler beside kube-scheduler: pods of others count, their pending ones are not ours, and where both
# schedule at once onto the same nodes, kubelets reject no more pods than beside a second kube-scheduler.
. "$(dirname "$0")/live.sh"

cat >"$LOGS/second.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $RIG/kube-scheduler.kubeconfig, qps: 500, burst: 500}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: second
END
cat >"$LOGS/stock.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 500, burst: 500}
END

start berth --config "$LOGS/second.yaml"
run_pod others '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"6"}}}],"nodeName":"node-1",'
eventually "a pod of nobody's runs on node-1" runs_on run=others node-1 1
run_pod ours '"schedulerName":"second","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"3"}}}],'
eventually "it counts: ours goes to node-2" runs_on run=ours node-2 1
run_pod theirs '"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"1"}}}],'
run_pod ours-too '"schedulerName":"second","containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"1"}}}],'
eventually "a later one of ours runs" runs_somewhere run=ours-too
now "one of kube-scheduler's that waits is left alone" is_pending run=theirs
events() { kubectl get events --field-selector involvedObject.name=theirs -o name | grep -c . || true; }
now "and has no event of ours" test "$(events)" -eq 0
now "cache and API server agree" cache_agrees berth
scheduler "$LOGS/stock.yaml"
eventually "kube-scheduler schedules it" runs_somewhere run=theirs
stop berth TERM 1
kubectl delete pods --all --wait=false >/dev/null

# Twelve nodes of 8 cpu and the two of the rig: 112 cpu; pods ask for 110.
more_nodes 12
# round SECOND: kube-scheduler and SECOND schedule 110 pods each at once; sets rejected.
rejected=0
round() {
  local of_first
  arrive 110
  of_first=$loader
  rigtool pods --count 110 --prefix "second-$$-$crowds-" --label "$load" --cpu 500m --memory 500Mi --rate 150 \
    --scheduler second >"$LOGS/second.log" 2>&1 ||
    broken "pods for the second scheduler are made" "exit code 0" "$(cat "$LOGS/second.log")"
  loader=$of_first
  arrived
  pods_arrive=220
  eventually "round $crowds: all pods are bound" some_bound 220
  sleep 1 # for kubelets to say what they think
  rejected=$(kubectl get pods -l "$load" -o 'jsonpath={range .items[*]}{.status.reason}{"\n"}{end}' | grep -c '^OutOf' || true)
  settled "round $crowds with $1: $rejected of 220 pods were rejected" "${2:-}" --rejected 220
}
of_stock=0
of_berth=0
rounds=3
[ -z "$QUICK" ] || rounds=1
for ((i = 0; i < rounds; i++)); do
  start_stock stock --config "$LOGS/second.yaml"
  round "a second kube-scheduler"
  of_stock=$((of_stock + rejected))
  stop stock TERM 1
  start berth --config "$LOGS/second.yaml"
  round Berth berth
  of_berth=$((of_berth + rejected))
  stop berth TERM 1
done
# Who comes first on a node is chance, so a few more prove nothing; twice as many would.
now "beside a second kube-scheduler $of_stock were rejected, beside Berth $of_berth" test "$of_berth" -le $((2 * of_stock + 10))
