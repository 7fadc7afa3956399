#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Chart and bases render the same, and an API server takes it.
. "$(dirname "$0")/deploy.sh"

helm=$("$UPSTREAM/build-program.sh" helm)
export HELM_CACHE_HOME=$LOGS/helm HELM_CONFIG_HOME=$LOGS/helm HELM_DATA_HOME=$LOGS/helm
# charted BASE NAMESPACE: what the chart renders in its place.
charted() {
  "$helm" template berth "$deploy/helm/berth" --namespace "$2" --kube-version 1.36.4 --set "scheduler.enabled=false,${chart_values[$1]}"
}
now "helm finds nothing wrong with the chart" "$helm" lint --strict "$deploy/helm/berth"
for base in "${!chart_values[@]}"; do
  charted "$base" kube-system >"$LOGS/charted.yaml"
  now "$base: the chart renders the same" "$RIG/bin/rigtool" compare-objects "$(kustomized "$base")" "$LOGS/charted.yaml"
done
"$helm" template berth "$deploy/helm/berth" --namespace kube-system --kube-version 1.36.4 >"$LOGS/charted.yaml"
now "without values the chart is a second scheduler" "$RIG/bin/rigtool" compare-objects "$(kustomized second-scheduler)" \
  "$LOGS/charted.yaml"
# Would a difference be seen?
sed 's/readOnlyRootFilesystem: true/readOnlyRootFilesystem: false/' "$LOGS/charted.yaml" >"$LOGS/other.yaml"
differs() { ! "$RIG/bin/rigtool" compare-objects "$(kustomized second-scheduler)" "$LOGS/other.yaml"; }
now "a difference is found" differs

kubectl create namespace elsewhere --dry-run=client -o yaml | kubectl apply -f - >/dev/null
taken() { kubectl apply --dry-run=server --validate=strict -f "$1"; }
for base in second-scheduler controller scheduler-with-extender extender-service replacement; do
  now "$base: the API server takes it" taken "$(kustomized "$base")"
done
for base in second-scheduler controller; do
  charted "$base" elsewhere >"$LOGS/elsewhere.yaml"
  now "$base: in another namespace, too" taken "$LOGS/elsewhere.yaml"
done
