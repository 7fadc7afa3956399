#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong around an extender: it is not there, it has no access to the cluster, the API server goes away and comes
# back. The pod waits, its event says for what, and it runs when the cause is gone.
. "$(dirname "$0")/../rig/lib.sh"

port=$(free_port)
# serve [OPTION...]: always on the same port.
serve() { start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset label-priority --port "$port" "$@"; }

cat >"$LOGS/names.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://127.0.0.1:$port
  filterVerb: filter
  prioritizeVerb: prioritize
  bindVerb: bind
  weight: 1
  nodeCacheCapable: true
END
scheduler "$LOGS/names.yaml"
kubectl label node node-1 "$label=10" >/dev/null
run_pod waits
eventually "nobody serves: the event says so" event waits FailedScheduling default-scheduler \
  "Post \"http://127.0.0.1:$port/filter\": dial tcp 127.0.0.1:$port: connect: connection refused"
serve
eventually "names only, and no access to the cluster: the extender's sentence is the event" event waits FailedScheduling \
  default-scheduler '*NodeNames*'
now "the pod is pending" is_pending run=waits
serve --kubeconfig "$RIG/kube-scheduler.kubeconfig"
eventually "with access the pod runs" runs_on run=waits node-1 1

"$UPSTREAM/controlplane" restart kube-apiserver --dir "$RIG" >"$LOGS/restart.out" 2>&1 ||
  broken "the API server restarts" "a server that is ready" "$(cat "$LOGS/restart.out")"
ok "the API server went and is back"
kubectl label node node-1 "$label-" >/dev/null
kubectl label node node-2 "$label=10" >/dev/null
eventually "the extender has seen the labels that were changed since" answers POST /filter \
  '{"Pod":{"metadata":{"name":"p","namespace":"default"}},"NodeNames":["node-1","node-2"]}' 200 '*"NodeNames":\["node-2"]*'
run_pod later
eventually "a new pod follows them" runs_on run=later node-2 1

# Something dies with calls under way, again and again: nothing is lost.
kubectl create deployment many --image=none --replicas=30 >/dev/null
for _ in 1 2 3; do
  serve --kubeconfig "$RIG/kube-scheduler.kubeconfig"
done
eventually "30 pods run although the extender was restarted three times" runs_on app=many node-2 30
