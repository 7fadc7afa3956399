#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Minutes of churn on 1,000 nodes without kubelets: pods come and go, nodes report, close and open, watches are renewed as their
# time runs out. Prints memory and CPU over time; afterwards nothing may be lost and memory must be flat. Not in CI.
#   soak.sh [--minutes N] [--nodes N] [--pods N] [--rate N] [--stock] BERTH
#   --minutes 30, --nodes 1000, --pods 3000 that are there at a time, --rate 50 a second that come and go
#   --stock: kube-scheduler instead, to compare
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '5,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
minutes=30 nodes=1000 pods=3000 rate=50 stock=no
while [ $# -gt 0 ]; do
  case $1 in
    --minutes | --nodes | --pods | --rate)
      [ $# -gt 1 ] || usage
      case $2 in '' | *[!0-9]* | 0) echo "$1: want a number greater than 0, got \"$2\"" >&2; exit 2 ;; esac
      declare "${1#--}=$2"
      shift 2
      ;;
    --stock) stock=yes; shift ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] || usage
[ -x "$1" ] || { echo "soak.sh: no program $1" >&2; exit 2; }
program=("$(readlink -f "$1")" scheduler)

scratch=$(mktemp -d)
rig=$scratch/rig
pid= churner=
end() {
  local code=$?
  trap - EXIT INT TERM HUP
  for one in $churner $pid; do kill -9 "$one" 2>/dev/null || true; done
  [ ! -e "$rig/.controlplane" ] || "$here/../upstream/controlplane" down --dir "$rig" || code=1
  if [ "$code" -eq 0 ]; then rm -rf "$scratch"; else echo "logs are kept in $scratch" >&2; fi
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM HUP
"$here/../upstream/controlplane" up --no-kubelets "$nodes" --no-scheduler --dir "$rig"
[ "$stock" = no ] || program=("$rig/bin/kube-scheduler")
rigtool() {
  local command=$1
  shift
  "$rig/bin/rigtool" "$command" --kubeconfig "$rig/kubeconfig" "$@"
}
watches() {
  "$rig/bin/kubectl" --kubeconfig "$rig/kubeconfig" get --raw /metrics |
    awk '/^apiserver_request_total\{.*resource="pods".*verb="WATCH"/ { n += $2 } END { print n + 0 }'
}
log=$scratch/scheduler.log
"${program[@]}" --kubeconfig "$rig/kube-scheduler.kubeconfig" --kube-api-qps 500 --kube-api-burst 500 --leader-elect=false \
  --secure-port=0 -v=3 </dev/null >"$log" 2>&1 &
pid=$!
seconds=$((minutes * 60))
rigtool churn --keep "$pods" --rate "$rate" --seconds "$seconds" --label app=churn >"$scratch/churn.log" 2>&1 &
churner=$!
before=$(watches)
every=$((seconds / 40 > 0 ? seconds / 40 : 1))
"$rig/bin/rigtool" sample --pid "$pid" --seconds "$seconds" --every "${every}s" | tee "$scratch/samples"
wait "$churner" || { cat "$scratch/churn.log" >&2; exit 1; }
churner=
left=$(awk '/pods are left/ { print $1 }' "$scratch/churn.log")
echo "watches of pods that have ended: $(($(watches) - before))"
for ((i = 0; ; i++)); do
  if rigtool check --label app=churn --want "$left"; then break; fi
  [ "$i" -lt 20 ] || exit 1
  sleep 1
done
if [ "$stock" = no ]; then
  kill -USR2 "$pid"
  sleep 1
  grep 'Cache comparer finished\|Cache mismatch' "$log" | tail -n 2
  ! grep -q 'Cache mismatch' "$log"
  grep 'Cache comparer finished' "$log" | tail -n 1 | grep -qv 'mismatch="[^n]'
fi
kill "$pid"
wait "$pid" 2>/dev/null || true # without election its code is 1
pid=
# The second quarter against the last: what is kept for a time, events above all, is there by then.
awk '/^[0-9]+ s rss_mb/ { v[++n] = $4 }
  END {
    q = int(n / 4)
    if (q < 1) exit 0
    for (i = 1; i <= q; i++) { early += v[q + i] / q; late += v[n - q + i] / q }
    printf "rss: %.1f MB in the second quarter, %.1f MB in the last\n", early, late
    exit late > early * 1.1 + 4
  }' "$scratch/samples" || { echo "memory grows" >&2; exit 1; }
