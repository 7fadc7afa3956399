#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A cluster that misbehaves changes when things happen, not what comes of them: at the end of a scenario every pod is
# where it is in calm weather. Where that really depends on times, a comment in the scenario names the pods that are
# left out and says why: "# faults: POD POD: WHY". Scenarios that are about faults meet all their expectations.
#   run-faults.sh BERTH SEEDS SCENARIO...
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: run-faults.sh BERTH SEEDS SCENARIO..." >&2; exit 2; }
berth=$1 seeds=$2
shift 2

# Pod and node of each line of the table, without the pods of $1. Evicted pods are gone, whoever evicted them.
ends() {
  awk -v left_out=" $1 " '/^$/ { exit } NR > 1 && $2 != "<evicted>" && !index(left_out, " " $1 " ") { print $1, $2 }'
}

failed=0
complain() {
  printf '%s\n' "$1"
  failed=1
}
for file in "$@"; do
  left_out=$(sed -n 's/^# faults: \([^:]*\):.*/\1/p' "$file" | sed 's#[^ ][^ ]*#default/&#g')
  calm=$("$berth" sim "$file" | ends "$left_out")
  for seed in $(seq 1 "$seeds"); do
    status=0
    out=$("$berth" sim --faults --seed "$seed" "$file" 2>&1) || status=$?
    if grep -q '^[^ ]* *<pending> .*not tried yet$' <<<"$out"; then complain "$file: seed $seed: not tried: $out"; fi
    if grep -q '^faults: true$' "$file"; then
      [ "$status" -eq 0 ] || complain "$file: seed $seed: exit code $status: $out"
      continue
    fi
    # Expectations at times need not be met (exit code 1): retries take longer.
    [ "$status" -le 1 ] || complain "$file: seed $seed: exit code $status: $out"
    end=$(ends "$left_out" <<<"$out")
    [ "$calm" = "$end" ] || complain "$file: seed $seed: the end was: $calm"$'\n'"and with faults: $end"
  done
done
exit "$failed"
