#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an extender costs pods that it does not manage: bench/workloads/extender-config.yaml without one and beside one that
# takes a second for each of others, in turn; medians of `berth bench`.
#   bench/beside-extender.sh [-b BERTH] [-n RUNS] [-w WORKLOAD]
#   -b  the program; default: build/release/berth
#   -n  timed runs of each, of which the median counts; default 5
#   -w  the workload; default: 5000Nodes_10000Pods
# Both are verified first at a smaller size. Exit code 1: an answer is wrong, or the medians are more than 10 % apart.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
berth=$top/build/release/berth runs=5 workload=5000Nodes_10000Pods
while getopts b:n:w: option; do
  case $option in
    b) berth=$OPTARG ;;
    n) runs=$OPTARG ;;
    w) workload=$OPTARG ;;
    *) sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
[ -x "$berth" ] || { echo "$berth is not there: ./run builds it, -b names another" >&2; exit 2; }
case $runs in '' | *[!0-9]* | 0) echo "-n: must be a number greater than 0, got \"$runs\"" >&2; exit 2 ;; esac
file=$top/bench/workloads/extender-config.yaml
json=$(mktemp)
trap 'rm -f "$json"' EXIT

# field NAME: a number of $json.
field() { sed -n "s/^ *\"$1\": \([0-9.]*\),\{0,1\}\$/\1/p" "$json" | head -n 1; }
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

cases="WithoutExtender BesideASlowExtender"
for test_case in $cases; do
  "$berth" bench -f "$file" --case "$test_case" --workload 1500Nodes --verify -o json >"$json"
  echo "$test_case: $(field decisions) decisions verified, $(field differences) findings"
done
declare -A values=()
for ((i = 0; i < runs; i++)); do
  for test_case in $cases; do
    "$berth" bench -f "$file" --case "$test_case" --workload "$workload" -o json >"$json"
    [ "$(field pods)" = "$(field scheduled)" ] || { echo "$test_case: $(field scheduled) of $(field pods) pods are scheduled" >&2; exit 1; }
    values[$test_case]+="$(field cpu_us_per_pod)"$'\n'
    values[$test_case-events]+="$(field event_us_per_pod)"$'\n'
  done
done
echo
echo "| $workload, medians of $runs | CPU per pod, µs | lowest, highest | news and answers per pod, µs |"
echo "|---|---|---|---|"
for test_case in $cases; do
  echo "| $test_case | **$(printf %s "${values[$test_case]}" | median)** | $(printf %s "${values[$test_case]}" | sort -n | sed -n '1p;$p' | paste -sd, | sed 's/,/, /') | $(printf %s "${values[$test_case-events]}" | median) |"
done
printf '%s %s\n' "$(printf %s "${values[WithoutExtender]}" | median)" "$(printf %s "${values[BesideASlowExtender]}" | median)" |
  awk '{ by = ($2 / $1 - 1) * 100; printf "\n%+.1f %%, asked for: within 10\n", by; exit by > 10 || by < -10 }'
