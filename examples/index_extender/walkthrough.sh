#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S4.3: an extender with /filter (all nodes), /priority and /prioritize (the index is the score) and a /bind that binds;
# other methods are 405. A pod made with `kubectl run --overrides` ends on a node (S4.5's command line). Step by step as README.md
# says.
. "$(dirname "$0")/../walkthrough.sh"

# 1: there is no DNS of the cluster here, so the Service's name becomes an address in the configuration.
port=$(free_port)
sed "s#my-scheduler-extender.kube-system.svc:8080#127.0.0.1:$port#" "$here/deploy-manifests.yaml" >"$LOGS/deploy-manifests.yaml"
kubectl apply -f "$LOGS/deploy-manifests.yaml" >/dev/null
now "the extender's container serves the preset" test "$(container_of my-scheduler-extender my-scheduler-extender)" = \
  "extender --preset=demo-index --address=0.0.0.0 --port=8080 --scheduler-name=my-scheduler-with-extender"
account=$(account_config my-scheduler-with-extender)
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset=demo-index --address=127.0.0.1 --port="$port" \
  --scheduler-name=my-scheduler-with-extender --kubeconfig "$account"
mounted my-scheduler-with-extender-config my-scheduler-with-extender-config.yaml >"$LOGS/mounted.yaml"

# 2, 3: the document's configuration says prioritize, its program serves /priority.
for verb in prioritize priority; do
  sed "s#prioritizeVerb: \"prioritize\"#prioritizeVerb: \"$verb\"#" "$LOGS/mounted.yaml" >"$LOGS/$verb.yaml"
  now "prioritizeVerb is $verb" grep -q "prioritizeVerb: \"$verb\"" "$LOGS/$verb.yaml"
  "$RIG/bin/rigtool" scheduler-config "$LOGS/$verb.yaml" "$account" >"$LOGS/config-$verb.yaml"
  configuration "$LOGS/config-$verb.yaml"
  schedule --config="$config" -v=3
  pod=nginx-by-$verb
  kubectl run "$pod" --image=nginx --overrides='{"spec":{"schedulerName":"my-scheduler-with-extender"}}' >/dev/null
  eventually "$pod runs on a node" runs_somewhere "run=$pod"
  eventually "my-scheduler-with-extender says which" event "$pod" Scheduled my-scheduler-with-extender \
    "Successfully assigned default/$pod to node-*"
  eventually "the log has the call of /filter" served /filter "$pod" 2 2
  eventually "of /$verb" served "/$verb" "$pod" 2 2
  eventually "and of /bind" served /bind "$pod"
done
end_schedule

# 4
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

# 5: without a scheduler.
run_pod bound-by-hand '"schedulerName":"my-scheduler-with-extender",'
uid=$(kubectl get pod bound-by-hand -o 'jsonpath={.metadata.uid}')
now "/bind with another uid binds nothing" answers POST /bind \
  '{"PodName":"bound-by-hand","PodNamespace":"default","PodUID":"not-it","Node":"node-2"}' 200 '{"Error":"?*"}'
now "the pod is still pending" is_pending run=bound-by-hand
now "/bind with its own binds" answers POST /bind \
  "{\"PodName\":\"bound-by-hand\",\"PodNamespace\":\"default\",\"PodUID\":\"$uid\",\"Node\":\"node-2\"}" 200 '{"Error":""}'
eventually "and it runs there" runs_on run=bound-by-hand node-2 1
run_pod not-allowed '"schedulerName":"nobody",'
uid=$(kubectl get pod not-allowed -o 'jsonpath={.metadata.uid}')
now "a pod of another scheduler is not bound: --scheduler-name" answers POST /bind \
  "{\"PodName\":\"not-allowed\",\"PodNamespace\":\"default\",\"PodUID\":\"$uid\",\"Node\":\"node-2\"}" 200 '{"Error":"*nobody*"}'
now "it is still pending" is_pending run=not-allowed
kubectl delete --wait=false -f "$LOGS/deploy-manifests.yaml" >/dev/null
