#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S4.1, S4.5: a scheduler binary of one's own beside the cluster's, step by step as README.md says.
. "$(dirname "$0")/../walkthrough.sh"

# 1
mkdir -p "$LOGS/bin"
ln -s "$BERTH" "$LOGS/bin/kube-scheduler"
# 3
kubectl create configmap -n kube-system my-scheduler-config --from-file="$here/my-scheduler-config.yaml" --dry-run=client -o yaml |
  kubectl apply -f - >/dev/null
kubectl apply -f "$here/manifests.yaml" >/dev/null
now "the Deployment runs /usr/local/bin/kube-scheduler with a --config" test "$(container_of my-scheduler my-scheduler)" = \
  "/usr/local/bin/kube-scheduler --config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml"
kubectl get configmap -n kube-system my-scheduler-config -o 'jsonpath={.data.my-scheduler-config\.yaml}' >"$LOGS/mounted.yaml"
with_account my-scheduler "$LOGS/mounted.yaml" "$LOGS/my-scheduler-config.yaml"
port=$(free_port)
start my-scheduler "$LOGS/bin/kube-scheduler" --config="$LOGS/my-scheduler-config.yaml" --secure-port "$port" \
  --bind-address 127.0.0.1 --tls-cert-file "$RIG/pki/extender.crt" --tls-private-key-file "$RIG/pki/extender.key"
eventually "its probe, /healthz over HTTPS, is answered" says_on "$port" /healthz '200*ok'
# 4
kubectl run nginx-by-my-scheduler --image=nginx --overrides='{"spec":{"schedulerName":"my-scheduler"}}' >/dev/null
eventually "the pod runs on a node" runs_somewhere run=nginx-by-my-scheduler
node=$(kubectl get pod nginx-by-my-scheduler -o 'jsonpath={.spec.nodeName}')
eventually "my-scheduler says that it placed it" event nginx-by-my-scheduler Scheduled my-scheduler \
  "Successfully assigned default/nginx-by-my-scheduler to $node"
kubectl run nginx-by-nobody --image=nginx >/dev/null
sleep 1
now "a pod without that name is left to others" is_pending run=nginx-by-nobody
# Without a lease kube-scheduler ends with 1, and so do we.
stop my-scheduler 1
kubectl delete --wait=false -f "$here/manifests.yaml" >/dev/null
