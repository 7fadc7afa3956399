#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fresh-legacy.sh [--seed S] [--count N] RUNNER: fresh old configurations, judged by old releases' own code, and then by
# RUNNER, the program legacy_runner of a build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=$(date +%s) count=400
while [ $# -gt 1 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] || { sed -n '3,4p' "$0" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "seed $seed, $count cases"
"$here/legacy-record.sh" --seed "$seed" --count "$count" "$work/fresh.jsonl"
"$1" "$work/fresh.jsonl"
