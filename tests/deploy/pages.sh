#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shell blocks of README.md and docs/*.md that want kubectl and a cluster (see tests/docs/run.sh), page by page, each in the order
# of its page and in a folder like the top of the tree.
. "$(dirname "$0")/deploy.sh"
top=$(cd "$UPSTREAM/../.." && pwd)
given=$top/tests/docs/given

# typed FILE: a script of what the reader types there, which begins in the page's folder.
typed() {
  printf 'set -euo pipefail\ncd "%s"\nexport HOME="$PWD" PATH="$PWD/bin:%s/bin:$PATH"\n' "$folder" "$RIG"
  case $1 in *.rig) echo 'set -x' ;; *) printf 'exec ' ;; esac
  sed "s/\b8888\b/$port/g" "$1"
}
for page in "$top/README.md" "$top"/docs/*.md; do
  name=${page#"$top"/}
  folder=$LOGS/${name//\//-}
  blocks=$folder.blocks
  mkdir -p "$blocks"
  awk -v dir="$blocks" -f "$top/tests/docs/blocks.awk" "$page" >/dev/null
  compgen -G "$blocks/*.rig*" >/dev/null || continue
  mkdir -p "$folder/bin" "$folder/.kube"
  cp "$given"/* "$folder"
  cp "$RIG/kubeconfig" "$folder/.kube/config"
  ln -s "$top/deploy" "$folder/deploy"
  ln -s "$BERTH" "$folder/bin/berth"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$BERTH" >"$folder/run" && chmod +x "$folder/run"
  port=$(free_port)
  for file in "$blocks"/*.rig*; do
    block="$name, block $(basename "$file")"
    typed "$file" >"$file.sh"
    case $file in
      *.rig) now "$block" bash "$file.sh" ;;
      *)
        start "$(basename "$file")" bash "$file.sh"
        sleep 1
        now "$block: it runs" kill -0 "${pids[$(basename "$file")]}"
        ;;
    esac
  done
  for server in "${!pids[@]}"; do
    kill "${pids[$server]}" 2>/dev/null || true
    wait "${pids[$server]}" 2>/dev/null || true
    unset "pids[$server]"
  done
  kubectl delete --ignore-not-found --wait=false -k "$deploy/kustomize/second-scheduler" >/dev/null
  reset
done
