#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S4.3: an extender with /filter (all nodes), /priority and /prioritize (the index is the score) and a /bind that binds;
# other methods are 405. A pod made with `kubectl run --overrides` ends on a node (S4.5's command line).
. "$(dirname "$0")/lib.sh"

port=$(free_port)
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo-index --port "$port" \
  --kubeconfig "$RIG/kube-scheduler.kubeconfig"

for verb in prioritize priority; do
  cat >"$LOGS/$verb.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: my-scheduler-with-extender
leaderElection:
  leaderElect: false
extenders:
- urlPrefix: http://127.0.0.1:$port
  enableHTTPS: false
  filterVerb: filter
  prioritizeVerb: $verb
  bindVerb: bind
  weight: 1
  nodeCacheCapable: false
END
  scheduler "$LOGS/$verb.yaml"
  pod=nginx-by-$verb
  kubectl run "$pod" --image=nginx --overrides='{"spec":{"schedulerName":"my-scheduler-with-extender"}}' >/dev/null
  eventually "$pod runs on a node" runs_somewhere "run=$pod"
  eventually "my-scheduler-with-extender says which" event "$pod" Scheduled my-scheduler-with-extender \
    "Successfully assigned default/$pod to node-*"
  eventually "the log has the call of /filter" served /filter "$pod" 2 2
  eventually "of /$verb" served "/$verb" "$pod" 2 2
  eventually "and of /bind" served /bind "$pod"
done

nodes='"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}},{"metadata":{"name":"c"}}]}'
pod='"Pod":{"metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{"containers":[{"name":"c"}]}}'
now "/filter passes all" answers POST /filter "{$pod,$nodes,\"NodeNames\":null}" 200 '*"name":"a"*"name":"b"*"name":"c"*'
for route in /priority /prioritize; do
  now "$route gives the index" answers POST "$route" "{$pod,$nodes,\"NodeNames\":null}" 200 \
    '\[{"Host":"a","Score":0},{"Host":"b","Score":1},{"Host":"c","Score":2}]'
done
now "/bind of a pod that does not exist answers with an Error" answers POST /bind \
  '{"PodName":"nobody","PodNamespace":"default","PodUID":"u","Node":"node-1"}' 200 '{"Error":"?*"}'
for route in /filter /priority /prioritize /bind; do
  for method in GET PUT DELETE; do
    now "$method $route is 405" answers "$method" "$route" '' 405 '*'
  done
done

# A real binding, without a scheduler.
run_pod bound-by-hand '"schedulerName":"nobody",'
uid=$(kubectl get pod bound-by-hand -o 'jsonpath={.metadata.uid}')
now "/bind with another uid binds nothing" answers POST /bind \
  '{"PodName":"bound-by-hand","PodNamespace":"default","PodUID":"not-it","Node":"node-2"}' 200 '{"Error":"?*"}'
now "the pod is still pending" is_pending run=bound-by-hand
now "/bind with its own binds" answers POST /bind \
  "{\"PodName\":\"bound-by-hand\",\"PodNamespace\":\"default\",\"PodUID\":\"$uid\",\"Node\":\"node-2\"}" 200 '{"Error":""}'
eventually "and it runs there" runs_on run=bound-by-hand node-2 1

# Only pods of one scheduler may be bound.
stop_extender
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo-index --port "$port" \
  --kubeconfig "$RIG/kube-scheduler.kubeconfig" --scheduler-name somebody
run_pod not-allowed '"schedulerName":"nobody",'
uid=$(kubectl get pod not-allowed -o 'jsonpath={.metadata.uid}')
now "with --scheduler-name, a pod of another scheduler is not bound" answers POST /bind \
  "{\"PodName\":\"not-allowed\",\"PodNamespace\":\"default\",\"PodUID\":\"$uid\",\"Node\":\"node-2\"}" 200 '{"Error":"*nobody*"}'
now "the pod is still pending" is_pending run=not-allowed
