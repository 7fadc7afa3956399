#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# StatefulSets whose claims wait for their first consumer: disks that nodes have, and volumes that a provisioner makes for the
# node that the scheduler has selected. The scheduler is killed in the middle; so are, by hand, the API server and the
# volume controller, a provisioner fails, answers are lost. Afterwards no volume is claimed twice, and every pod is where
# its volumes are.
. "$(dirname "$0")/live.sh"

replicas=6 disks=4
flags=(--leader-elect=false --kube-api-qps 500 --kube-api-burst 500)
provisioner=
end_volumes() {
  local code=$?
  [ -z "$provisioner" ] || kill "$provisioner" 2>/dev/null || true
  kubectl delete statefulsets --all >/dev/null 2>&1 || true
  rigtool clear --label disks >/dev/null 2>&1 || true
  rigtool clear-volumes >/dev/null 2>&1 || true
  kubectl delete storageclass local made --ignore-not-found >/dev/null 2>&1 || true
  set +e
  (exit "$code")
  end_live
}
trap end_volumes EXIT

# claim NAME CLASS: an item of volumeClaimTemplates.
claim() {
  echo "{metadata: {name: $1}, spec: {accessModes: [ReadWriteOnce], storageClassName: $2, resources: {requests: {storage: 1Gi}}}}"
}
# grow NAME REPLICAS CLAIM...: a StatefulSet whose pods come all at once, each with these claims.
grow() {
  local name=$1 count=$2 templates
  shift 2
  templates=$(printf '%s, ' "$@")
  kubectl apply -f - >/dev/null <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: $name}
spec:
  serviceName: $name
  replicas: $count
  podManagementPolicy: Parallel
  selector: {matchLabels: {disks: $name}}
  template:
    metadata: {labels: {disks: $name}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: none, resources: {requests: {cpu: 100m}}}]
  volumeClaimTemplates: [${templates%, }]
END
}
provide() {
  "$RIG/bin/rigtool" provision --kubeconfig "$KUBECONFIG" --name rig.berth.dev/disks "$@" >"$LOGS/provisioner.log" 2>&1 &
  provisioner=$!
}
# It says then what it has done.
provide_no_more() {
  kill "$provisioner"
  wait "$provisioner" || true
  provisioner=
}
# killed NAME NEXT: kill -9 of one scheduler; another one begins.
killed() {
  kill -9 "${pids[$1]}"
  wait "${pids[$1]}" 2>/dev/null || true
  unset "pids[$1]"
  sleep 0.5 # for requests that it sent
  start "$2" "${flags[@]}"
}
# taken COUNT: so many volumes and claims know by now what they are to be. What comes next comes in the middle of PreBind.
taken() {
  local seen
  seen=$(kubectl get persistentvolumes,persistentvolumeclaims -o yaml | grep -c 'claimRef:\|selected-node:' || true)
  echo "$seen"
  [ "$seen" -ge "$1" ]
}
# sound WHAT SELECTOR PODS [OPTION...]: the one check of pods and volumes.
sound() { eventually "$1" rigtool check-volumes --label "$2" --want "$3" "${@:4}"; }

kubectl apply -f - >/dev/null <<'END'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: made}
provisioner: rig.berth.dev/disks
volumeBindingMode: WaitForFirstConsumer
END
rigtool disks --nodes node- --count "$disks" --class local
provide

start first "${flags[@]}"
grow db "$replicas" "$(claim data local)" "$(claim log made)"
eventually "volumes and nodes are given to claims" taken $((replicas / 2))
killed first second
sound "the scheduler was killed in the middle: every pod is where its volumes are" disks=db "$replicas"
eventually "all of them run" all_run disks=db "$replicas"

# More pods than disks: the others wait, and go when there are more. The two nodes had twice `disks`, of which `replicas` are
# taken.
grow more $((2 * disks)) "$(claim data local)"
sound "as many as there are disks have one, the others wait" disks=more $((2 * disks)) --pending "$replicas"
waiting=$(kubectl get pods -l disks=more --field-selector spec.nodeName= -o 'jsonpath={.items[0].metadata.name}')
eventually "for want of volumes" event "$waiting" FailedScheduling default-scheduler \
  "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. *"
rigtool disks --nodes node- --count "$disks" --first 11 --class local
sound "those that wait go when there are disks" disks=more $((2 * disks))
now "what the scheduler believes is so" eventually_quiet second
if [ -n "${QUICK:-}" ]; then
  stop second TERM 1
  exit 0
fi

# Pods come back to their volumes.
kubectl scale statefulset db --replicas 0 >/dev/null
eventually "the pods go" are_gone disks=db
kubectl scale statefulset db --replicas "$replicas" >/dev/null
sound "the claims stay, and pods come back to where their volumes are" disks=db "$replicas"
stop second TERM 1

more_nodes 10
rigtool disks --nodes more- --count 12 --class local
crowd=40

# One kill after another, each later than the one before.
start again-0 "${flags[@]}"
before=$(taken 0)
grow killed "$crowd" "$(claim data local)" "$(claim log made)"
for ((round = 1; round <= 4; round++)); do
  eventually "round $round: some are on their way" taken $((before + round * crowd / 3))
  killed "again-$((round - 1))" "again-$round"
done
sound "killed four times" disks=killed "$crowd"

restarted() {
  "$UPSTREAM/controlplane" restart "$1" --dir "$RIG" >"$LOGS/restart.out" 2>&1 ||
    broken "$1 restarts" "a server that is ready" "$(cat "$LOGS/restart.out")"
}
before=$(taken 0)
grow away "$crowd" "$(claim data local)" "$(claim log made)"
eventually "some are on their way" taken $((before + crowd / 2))
# In this order: a controller manager that starts while the API server goes ends for good, and nobody here starts it again.
restarted kube-apiserver
restarted kube-controller-manager
sound "the volume controller and the API server were killed" disks=away "$crowd"

# A provisioner that fails: the claim loses its node, and its pod is tried again.
provide_no_more
provide --fail-every 3
grow failing "$crowd" "$(claim log made)"
sound "every third volume could not be made at first" disks=failing "$crowd"
provide_no_more
now "some could not be made" logged "$LOGS/provisioner.log" "$crowd volumes made, [1-9][0-9]* could not be"

# Nobody makes volumes: pods are deleted while they wait for them, and come back under the same name.
before=$(taken 0)
grow deleted 5 "$(claim log made)"
eventually "nodes are selected" taken $((before + 5))
kubectl delete pods -l disks=deleted --wait=false >/dev/null
provide
sound "pods were deleted while they waited for their volumes" disks=deleted 5
now "what the scheduler believes is so" eventually_quiet again-4
stop again-4 TERM 1

# Writes that are refused, done but not answered, or answered late.
kubeconfig=$RIG/faulty.kubeconfig start faulty "${flags[@]}"
arm '{"method":"PATCH","path":"/persistentvolume","every":4,"action":"status","code":409}'
arm '{"method":"PATCH","path":"/persistentvolume","every":5,"action":"lose"}'
arm '{"method":"PATCH","path":"/persistentvolume","every":3,"action":"slow","delay":"700ms"}'
grow faulty "$crowd" "$(claim data local)" "$(claim log made)"
sound "writes were refused, lost and late" disks=faulty "$crowd"
disarm
now "faults have hit" test "$hits" -gt 5
now "failures are counted" port_says faulty /metrics '*scheduler_volume_scheduling_stage_error_total{operation="bind"}*' admin
now "what the scheduler believes is so" eventually_quiet faulty
stop faulty TERM 1
