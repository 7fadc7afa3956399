#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S1: a scheduler with a plugin of one's own (S1.3, S1.4, S1.6–S1.9), step by step as README.md says.
. "$(dirname "$0")/../walkthrough.sh"

# The document's own form; config-v1.yaml is what it is today.
config=$here/config-v1alpha1.yaml

# 2: against what `cmake --install` gives and nothing else; BERTH_SAMPLE_SCHEDULER names a program that was built so.
program=${BERTH_SAMPLE_SCHEDULER:-}
if [ -z "$program" ]; then
  build=$(dirname "$BERTH")
  now "the SDK is installed" cmake --install "$build" --prefix "$LOGS/sdk"
  cp -r "$here" "$LOGS/copy"
  now "the program is configured" cmake -G Ninja -S "$LOGS/copy" -B "$LOGS/copy/build" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_PREFIX_PATH="$LOGS/sdk"
  now "and built" cmake --build "$LOGS/copy/build"
  program=$LOGS/copy/build/sample-scheduler-framework
fi

# 3
explained() {
  local said
  said=$("$program" explain --offline -v=3 -f "$here/test-scheduler.yaml" --config "$here/config-v1.yaml" --pod default/test-scheduler 2>&1)
  echo "$said"
  [[ $said == *'favorite_number=7'*'prefilter pod'*'Goes to node0'* ]]
}
now "without a cluster the plugin is called, with its arguments" explained

# 5
kubectl apply -f "$here/manifests.yaml" >/dev/null
kubectl create configmap -n kube-system scheduler-config --from-file="scheduler-config.yaml=$config" --dry-run=client -o yaml |
  kubectl apply -f - >/dev/null
now "the Deployment starts the program with --config and --v=3, without a subcommand" test \
  "$(container_of sample-scheduler scheduler-ctrl)" = "sample-scheduler-framework --config=/etc/kubernetes/scheduler-config.yaml --v=3"
kubectl get configmap -n kube-system scheduler-config -o 'jsonpath={.data.scheduler-config\.yaml}' >"$LOGS/mounted.yaml"
with_account sample-scheduler-sa "$LOGS/mounted.yaml" "$LOGS/scheduler-config.yaml"
port=$(free_port)
start scheduler "$program" --config="$LOGS/scheduler-config.yaml" --v=3 --secure-port "$port" --bind-address 127.0.0.1
log=$LOGS/scheduler.log
eventually "it asks for the lease kube-system/sample-scheduler" logged "$log" \
  'Attempting to acquire leader lease.*kube-system/sample-scheduler'
eventually "and gets it" logged "$log" 'Successfully acquired lease.*kube-system/sample-scheduler'
for kind in Pod Node Service ReplicaSet StatefulSet ReplicationController PodDisruptionBudget PersistentVolume \
  PersistentVolumeClaim StorageClass CSINode; do
  now "the log says that it lists and watches $kind" grep -q "Listing and watching\" type=\"\*v1.$kind\"" "$log"
done
for node in node-1 node-2; do eventually "and that $node is there" logged "$log" "Added node to NodeTree.*$node"; done

# 6
kubectl apply -f "$here/test-deployment.yaml" >/dev/null
eventually "the Deployment's pod runs on a node" runs_somewhere app=test-scheduler
pod=$(pod_of app=test-scheduler)
node=$(kubectl get pod "$pod" -o 'jsonpath={.spec.nodeName}')
eventually "sample-scheduler says that it placed it" event "$pod" Scheduled sample-scheduler "Successfully assigned default/$pod to $node"
now "the log: an attempt" grep -q "Attempting to schedule pod\" pod=\"default/$pod\"" "$log"
now "the plugin at PreFilter" grep -q "prefilter pod\".* pod=\"default/$pod\"" "$log"
for each in node-1 node-2; do
  now "at Filter, of $each" grep -q "filter pod\".* pod=\"default/$pod\" node=\"$each\"" "$log"
done
now "at PreBind, with the node" grep -q "prebind node info\".* pod=\"default/$pod\" node=\"$node\"" "$log"
now "two nodes evaluated and feasible, and the pod bound" grep -q \
  "Successfully bound pod to node\" pod=\"default/$pod\" node=\"$node\" evaluatedNodes=2 feasibleNodes=2" "$log"
stop scheduler 0
kubectl delete --wait=false -f "$here/manifests.yaml" >/dev/null
