#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong around an extender: it is not there, it has no access to the cluster, the API server goes away and comes
# back, it hangs, it is killed with calls under way. The pod waits, its event says for what, and it runs when the cause is
# gone.
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
  httpTimeout: 3s
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

# It hangs: answers come after the time is over, and then go on as if nothing had been.
kill -STOP "$extender_pid"
run_pod hangs
eventually "the extender hangs: the event says so" event hangs FailedScheduling default-scheduler \
  "Post \"http://127.0.0.1:$port/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
kill -CONT "$extender_pid"
eventually "and when it goes on the pod runs" runs_on run=hangs node-2 1

# It is killed, not ended, while it is asked about many pods.
kubectl create deployment more --image=none --replicas=20 >/dev/null
kill -9 "$extender_pid"
serve --kubeconfig "$RIG/kube-scheduler.kubeconfig"
eventually "20 more pods run although the extender was killed" runs_on app=more node-2 20
