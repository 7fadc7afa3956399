#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what bench/RESULTS.md shows of `berth bench`: verifies every workload, then times it and prints medians as a
# Markdown table.
#   bench/run.sh [-b BERTH] [-c BEFORE] [-n RUNS] [-t SECONDS] [-v] [-V] [UPSTREAM]
# UPSTREAM is kube-scheduler's test/integration/scheduler_perf; default: the one of v1.36.4 in Go's module cache.
#   -b  the program; default: build/release/berth
#   -c  another program, an older one say, timed in turn with it; its medians and the differences are a column
#   -n  timed runs of each workload, of which the median counts; default 5
#   -t  seconds of CPU time that verifying one workload may take before a smaller one of its case is taken; default 120
#   -v  verify only   -V  do not verify
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
berth=$top/build/release/berth before= runs=5 limit=120 verify=yes measure=yes
while getopts b:c:n:t:vV option; do
  case $option in
    b) berth=$OPTARG ;;
    c) before=$OPTARG ;;
    n) runs=$OPTARG ;;
    t) limit=$OPTARG ;;
    v) measure=no ;;
    V) verify=no ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ -x "$berth" ] || { echo "$berth is not there: ./run builds it, -b names another" >&2; exit 2; }
[ -z "$before" ] || [ -x "$before" ] || { echo "-c: $before is not a program" >&2; exit 2; }
case $runs in '' | *[!0-9]* | 0) echo "-n: must be a number greater than 0, got \"$runs\"" >&2; exit 2 ;; esac
upstream=${1-}
if [ -z "$upstream" ]; then
  command -v go >/dev/null || { echo "there is no Go: name kube-scheduler's scheduler_perf folder" >&2; exit 2; }
  upstream=$(go env GOMODCACHE)/k8s.io/kubernetes@v1.36.4/test/integration/scheduler_perf
fi
[ -d "$upstream/misc" ] || { echo "$upstream has no workloads: name kube-scheduler's scheduler_perf folder" >&2; exit 2; }
own=$top/bench/workloads

# file | case | workload | a smaller one | figure | asked for, µs per pod (MB for rss_mb) | kube-scheduler
rows="\
$upstream/misc|SchedulingBasic|5000Nodes_10000Pods|500Nodes|cpu_us_per_pod|10|284 pods/s; 2,500 µs of scheduler CPU each
$own|AllDifferentPods|5000Nodes_10000Pods|1500Nodes|cpu_us_per_pod|72|
$own|HugeCluster|100000Nodes_50000Pods|1500Nodes|cpu_us_per_pod|12|
$upstream/affinity|SchedulingPodAntiAffinity|5000Nodes_2000Pods|500Nodes|cpu_us_per_pod|50|97 pods/s
$upstream/affinity|SchedulingPodAffinity|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|50|50 pods/s
$upstream/affinity|SchedulingPreferredPodAffinity|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|200|
$upstream/affinity|SchedulingPreferredPodAntiAffinity|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|200|
$upstream/topology_spreading|TopologySpreading|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|45|103 pods/s
$upstream/topology_spreading|PreferredTopologySpreading|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|85|101–133 pods/s
$upstream/affinity|SchedulingRequiredPodAntiAffinityWithNSSelector|5000Nodes_2000Pods|500Nodes|cpu_us_per_pod|100|
$own|FitsNowhere|5000Nodes_10000Pods|1500Nodes|cpu_us_per_pod|100|
$upstream/misc|PreemptionAsync|5000Nodes|500Nodes|cpu_us_per_pod|60|202 pods/s
$upstream/misc|SchedulingDaemonset|15000Nodes|5Nodes|cpu_us_per_pod|12|312 pods/s
$upstream/volumes|SchedulingInTreePVs|5000Nodes_2000Pods|500Nodes|cpu_us_per_pod|60|90 pods/s
$upstream/volumes|SchedulingMigratedInTreePVs|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|60|35 pods/s
$upstream/volumes|SchedulingCSIPVs|5000Nodes_5000Pods|500Nodes|cpu_us_per_pod|60|48 pods/s
$upstream/volumes|PreemptionPVs|1000Nodes|5Nodes|cpu_us_per_pod|100|
$own|SchedulingLocalVolumes|5000Nodes_10000Pods|1500Nodes|cpu_us_per_pod|150|
$own|Resident|5000Nodes_30000Pods|1500Nodes|rss_mb|100|543 MB (without images)"

json=$(mktemp) remarks=$(mktemp)
trap 'rm -f "$json" "$remarks"' EXIT

# bench FOLDER CASE WORKLOAD [ARGUMENT...]: one run; its JSON is left in $json. What it remarks goes to standard error.
bench() {
  local file=$1/performance-config.yaml test_case=$2 workload=$3
  shift 3
  "${program:-$berth}" bench -f "$file" --case "$test_case" --workload "$workload" -o json "$@" >"$json"
}
# field NAME: a number of $json.
field() { sed -n "s/^ *\"$1\": \([0-9.]*\),\{0,1\}\$/\1/p" "$json" | head -n 1; }

# verified FOLDER CASE WORKLOAD SMALLER: sets `said` to what was compared.
verified() {
  local status=0 workload=$3
  (ulimit -S -t "$limit" && bench "$1" "$2" "$3" --verify) 2>"$remarks" || status=$?
  if [ $status -eq 152 ]; then # 128 + SIGXCPU: out of time
    status=0 workload=$4
    bench "$1" "$2" "$4" --verify 2>"$remarks" || status=$?
  fi
  if [ $status -ne 0 ]; then
    cat "$remarks" >&2
    echo "$2/$workload: verification failed with status $status" >&2
    return 1
  fi
  said="$(field decisions) ($workload)"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

echo "| workload | nodes | pods | scheduled | figure | median of $runs | lowest, highest |${before:+ before, difference |} asked for | events, µs per pod | p99 of an attempt, µs | resident, MB | decisions verified | kube-scheduler 1.36.4: scheduler_perf |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|${before:+---|}"
failed=0
while IFS='|' read -r folder test_case workload smaller figure wanted theirs; do
  said=no
  if [ $verify = yes ]; then verified "$folder" "$test_case" "$workload" "$smaller" || { failed=1; continue; }; fi
  if [ $measure = no ]; then
    echo "| $test_case $workload | | | | | | |${before:+ |} | | | | $said | |"
    continue
  fi
  values="" events="" tails="" resident="" earlier=""
  for ((i = 0; i < runs; i++)); do
    if [ -n "$before" ]; then
      program=$before bench "$folder" "$test_case" "$workload" 2>"$remarks" || { cat "$remarks" >&2; exit 1; }
      earlier+="$(field "$figure")"$'\n'
    fi
    bench "$folder" "$test_case" "$workload" 2>"$remarks" || {
      cat "$remarks" >&2
      echo "$test_case/$workload failed" >&2
      exit 1
    }
    values+="$(field "$figure")"$'\n' events+="$(field event_us_per_pod)"$'\n'
    tails+="$(field p99)"$'\n' resident+="$(field rss_mb)"$'\n'
  done
  middle=$(printf %s "$values" | median)
  awk -v a="$middle" -v b="$wanted" 'BEGIN { exit !(a > b) }' && failed=1
  compared=""
  if [ -n "$before" ]; then
    compared=$(printf %s "$earlier" | median | awk -v a="$middle" '{ printf " %s, %+.1f |", $1, a - $1 }')
  fi
  printf '| %s %s | %s | %s | %s | %s | **%s** | %s |%s ≤ %s | %s | %s | %s | %s | %s |\n' "$test_case" "$workload" "$(field nodes)" \
    "$(field pods)" "$(field scheduled)" "$figure" "$middle" \
    "$(printf %s "$values" | sort -n | sed -n '1p;$p' | paste -sd, | sed 's/,/, /')" "$compared" "$wanted" \
    "$(printf %s "$events" | median)" "$(printf %s "$tails" | median)" "$(printf %s "$resident" | median)" "$said" "$theirs"
done <<<"$rows"
exit $failed
