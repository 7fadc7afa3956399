#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures Berth's engine and kube-scheduler's own scheduling step on the same workloads, in turn, and prints a table of
# process CPU per pod: enginebench.sh [--runs N] [--pods N] [--only CASE] [--small] BERTH. --pods is a limit of measured
# pods; --small compares answers on tiny workloads and measures nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "usage: enginebench.sh [--runs N] [--pods N] [--only CASE] [--small] BERTH" >&2; exit 2; }
runs=3
pods=0
only=
small=
while [ $# -gt 0 ]; do
  case $1 in
    --runs) [ $# -gt 1 ] || usage; runs=$2; shift 2 ;;
    --runs=*) runs=${1#*=}; shift ;;
    --pods) [ $# -gt 1 ] || usage; pods=$2; shift 2 ;;
    --pods=*) pods=${1#*=}; shift ;;
    --only) [ $# -gt 1 ] || usage; only=$2; shift 2 ;;
    --only=*) only=${1#*=}; shift ;;
    --small) small=--small; runs=1; shift ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] || usage
command -v go >/dev/null || { echo "enginebench.sh: no go on PATH" >&2; exit 2; }
program=$("$here/build-program.sh" enginebench)
upstream=$(cd "$here" && go mod download k8s.io/kubernetes && go list -m -f '{{.Dir}}' k8s.io/kubernetes)/test/integration/scheduler_perf
exec "$program" compare --berth "$1" --upstream "$upstream" --own "$here/../../bench/workloads" --runs "$runs" --pods "$pods" \
  --only "$only" $small
