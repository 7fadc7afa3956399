# SPDX-License-Identifier: Apache-2.0
# What the stories share beyond ../rig/lib.sh: how the parts are called here and there.
. "$(dirname "${BASH_SOURCE[0]}")/../rig/lib.sh"
deploy=$UPSTREAM/../../deploy
# Bases of kustomize, and the values that make the chart render the same.
declare -A chart_values=(
  [second-scheduler]=scheduler.enabled=true
  [scheduler-with-extender]=schedulerWithExtender.enabled=true
  [extender-service]=extender.enabled=true
  [controller]=controller.enabled=true
  [replacement]=replacement.enabled=true
  [overlays/monitoring]=scheduler.enabled=true,serviceMonitor.enabled=true
)
# kustomized BASE: the file with what it renders.
kustomized() {
  local file=$LOGS/${1//\//-}.kustomize.yaml
  [ -e "$file" ] || "$RIG/bin/kubectl" kustomize "$deploy/kustomize/$1" >"$file"
  echo "$file"
}
