#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Berth and kube-scheduler v1.36.4 on a control plane, in turn: pods that wait when the scheduler starts.
#   bench/live.sh [-b BERTH] [--nodes N] [--pods N] [--runs N] [--qps N] [--counts] [--keep]
#   bench/live.sh --extender names|nodes [-b BERTH] [--nodes N] [--pods N] [--runs N] [--qps N] [--keep]
#   bench/live.sh --idle [-b BERTH] [--nodes N] [--pods N] [--seconds N] [--heartbeats N]
#   bench/live.sh --rate N [--random] [-b BERTH] [--nodes N] [--pods N] [--runs N] [--qps N] [--counts]
#   -b            the program; default: build/release/berth
#   --nodes       5000    --pods  20000 (idle: 50000, extender: 2000, rate: 30 s of them)    --runs  5, of each
#   --qps         5000, and as many at once
#   --extender    both ask the Go extender (tests/upstream/goextender), which passes all nodes, about every pod: with names
#                 (nodeCacheCapable) or complete nodes; both choose for themselves how many nodes they ask about, which is the same
#   --rate        pods arrive, so many a second, at a scheduler that has started: its CPU per pod from the first of them on, and
#                 how long they wait, from when their creation was answered until a watch says that they are bound
#   --random      they arrive independently of each other, not in equal steps
#   --counts      times that the scheduler went to sleep and system calls as well, per pod; needs perf, which costs both a little
#   --idle        all pods are bound already; CPU while so many nodes a second report (--heartbeats, 17) for --seconds (60)
#   --keep        keep the logs, of the control plane the last one's
# Two cores, no kubelets, no controller manager, no priority and fairness, etcd without fsync; no election, no port, -v=0. Every
# run has a control plane of its own (--extender and --idle: one for all), since what earlier ones leave there slows it down. From the
# first binding to the last event: pods a second; of the scheduler's process: CPU per pod, peak memory, time from its start to
# the first binding; of the API server and etcd: CPU per pod. What they need with Berth is what the cores can do for a scheduler
# that costs nothing, which the last line says. The answers are checked before a figure is printed: every pod bound, none twice,
# no node overcommitted, every event there. Needs Go. Exit code 1: an answer is wrong, or, at the default size, a figure is missed.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage() { sed -n '3,24s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
berth=$top/build/release/berth nodes=5000 pods= runs=5 qps=5000 idle=no seconds=60 heartbeats=17 keep=no extender= rate= random= counts=no
while [ $# -gt 0 ]; do
  case $1 in
    -b | --nodes | --pods | --runs | --qps | --rate | --seconds | --heartbeats)
      [ $# -gt 1 ] || usage
      if [ "$1" = -b ]; then berth=$2; else
        case $2 in '' | *[!0-9]* | 0) echo "$1: want a number greater than 0, got \"$2\"" >&2; exit 2 ;; esac
        declare "${1#--}=$2"
      fi
      shift 2
      ;;
    --extender)
      case ${2-} in names | nodes) extender=$2 ;; *) echo "--extender: want names or nodes, got \"${2-}\"" >&2; exit 2 ;; esac
      shift 2
      ;;
    --idle) idle=yes; shift ;;
    --keep) keep=yes; shift ;;
    --counts) counts=yes; shift ;;
    --random) random=--random; shift ;;
    *) usage ;;
  esac
done
modes=$extender$rate
if [ "$idle" = yes ]; then [ -z "$modes" ] || usage; fi
[ -z "$extender" ] || [ -z "$rate" ] || usage
[ -z "$random" ] || [ -n "$rate" ] || usage
if [ "$counts" = yes ]; then
  [ "$idle" = no ] || usage
  perf stat -e raw_syscalls:sys_enter true >/dev/null 2>&1 ||
    { echo "--counts: perf cannot count system calls here (Debian's linux-perf, as root)" >&2; exit 2; }
fi
[ -n "$pods" ] || if [ "$idle" = yes ]; then pods=50000; elif [ -n "$extender" ]; then pods=2000; elif [ -n "$rate" ]; then pods=$((30 * rate)); else pods=20000; fi
[ -x "$berth" ] || { echo "$berth is not there: ./run builds it, -b names another" >&2; exit 2; }
berth=$(readlink -f "$berth")

# On a larger machine, the first two cores that we may use.
pin=()
if [ "$(nproc)" -gt 2 ]; then
  cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
  pin=(taskset -c "$(head -n 2 <<<"$cores" | paste -sd,)")
fi
scratch=$(mktemp -d)
rig=$scratch/rig
pid= beats= asked_pid= perf_pid=
end() {
  local code=$?
  trap - EXIT INT TERM HUP
  for one in $pid $beats $asked_pid $perf_pid; do kill -9 "$one" 2>/dev/null || true; done
  [ ! -e "$rig/.controlplane" ] || "$top/tests/upstream/controlplane" down --dir "$rig" || code=1
  if [ "$keep" = yes ] || [ "$code" -ne 0 ]; then echo "logs are kept in $scratch" >&2; else rm -rf "$scratch"; fi
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# In-flight limits are what is left without priority and fairness; they would hold back the one that sends more at once.
up() {
  ${pin[@]+"${pin[@]}"} "$top/tests/upstream/controlplane" up --no-kubelets "$nodes" --no-scheduler --dir "$rig" \
    --api-server-flag=--enable-priority-and-fairness=false --api-server-flag=--max-requests-inflight=0 \
    --api-server-flag=--max-mutating-requests-inflight=0 >"$scratch/up.log" 2>&1 || { cat "$scratch/up.log" >&2; exit 1; }
}
up
tail -n 2 "$scratch/up.log" | head -n 1
# afresh: nothing is left of the run before.
afresh() {
  if [ -n "$extender" ]; then
    rigtool clear
    return
  fi
  "$top/tests/upstream/controlplane" down --dir "$rig" >/dev/null
  rm -rf "$rig"
  up
}
rigtool() {
  local command=$1
  shift
  "$rig/bin/rigtool" "$command" --kubeconfig "$rig/kubeconfig" "$@"
}
# start WHO LOG: as pid.
start() {
  local program=("$berth" scheduler) flags=(--kubeconfig "$rig/kube-scheduler.kubeconfig" --kube-api-qps "$qps" --kube-api-burst "$qps")
  [ "$1" = berth ] || program=("$rig/bin/kube-scheduler")
  [ -z "$extender" ] || flags=(--config "$scratch/extender.yaml")
  ${pin[@]+"${pin[@]}"} "${program[@]}" "${flags[@]}" --leader-elect=false --secure-port=0 -v=0 </dev/null >"$2" 2>&1 &
  pid=$!
}
if [ -n "$extender" ]; then
  at=127.0.0.1:$("$rig/bin/rigtool" ports 1)
  ${pin[@]+"${pin[@]}"} "$("$top/tests/upstream/build-program.sh" goextender)" -address "$at" -label '' -log-calls \
    -kubeconfig "$rig/kube-scheduler.kubeconfig" </dev/null >"$scratch/extender.log" 2>&1 &
  asked_pid=$!
  disown "$asked_pid" # its end is not worth a line
  cat >"$scratch/extender.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $rig/kube-scheduler.kubeconfig, qps: $qps, burst: $qps}
extenders:
- {urlPrefix: "http://$at", filterVerb: filter, prioritizeVerb: prioritize, weight: 1, httpTimeout: 30s,
   nodeCacheCapable: $([ "$extender" = names ] && echo true || echo false)}
END
  for ((try = 0; ; try++)); do
    "$rig/bin/rigtool" call GET "http://$at/healthz" </dev/null >"$scratch/healthz" 2>&1 && break
    [ "$try" -lt 300 ] || { cat "$scratch/extender.log" >&2; exit 1; }
    sleep 0.1
  done
fi
# How many calls the extender has heard.
calls() { if [ -n "$extender" ]; then grep -c ' call /' "$scratch/extender.log" || true; else echo 0; fi; }
# count_from_here, counted: with --counts, what process pid does between the two, as "sleeps_per_pod N" and "calls_per_pod N".
sleeps() { { cat /proc/"$pid"/task/*/status 2>/dev/null || true; } | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'; }
count_from_here() {
  [ "$counts" = yes ] || return 0
  slept=$(sleeps)
  perf stat -x , -e raw_syscalls:sys_enter -o "$scratch/calls" -p "$pid" >/dev/null 2>&1 &
  perf_pid=$!
}
counted() {
  [ "$counts" = yes ] || return 0
  local now
  now=$(sleeps)
  kill -INT "$perf_pid"
  wait "$perf_pid" 2>/dev/null || true
  perf_pid=
  awk -v slept=$((now - slept)) -v pods="$pods" -F , '/raw_syscalls/ { printf "sleeps_per_pod %.2f\ncalls_per_pod %.2f\n", slept / pods, $1 / pods }' \
    "$scratch/calls"
}
# cpu PID...: µs of these processes so far.
cpu() {
  local one
  for one; do cat "/proc/$one/stat"; done | awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*[)] /, ""); t += $12 + $13 } END { printf "%d\n", t * 1000000 / tick }'
}
servers() { cut -d ' ' -f 1 "$rig/pids/kube-apiserver" "$rig/pids/etcd"; }
stop() {
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  pid=
}
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
figure() { sed -n "s/^$1 //p" "$2"; }
whole=no # the size that figures are asked for

if [ "$idle" = yes ]; then
  [ "$nodes/$pods/$heartbeats" != 5000/50000/17 ] || whole=yes
  rigtool pods --count "$pods" --on-nodes "$nodes"
  echo "| $nodes nodes, $pods pods, $heartbeats node updates a second, $seconds s | kube-scheduler | berth | asked for |"
  echo "|---|---|---|---|"
  for who in stock berth; do
    start "$who" "$scratch/$who.log"
    rigtool heartbeat --rate "$heartbeats" --seconds $((seconds + 40)) >"$scratch/heartbeat.log" 2>&1 &
    beats=$!
    sleep 30 # lists are read, and what was left of them is given back
    "$rig/bin/rigtool" sample --pid "$pid" --seconds "$seconds" --every "${seconds}s" >"$scratch/$who.sample"
    wait "$beats" || { cat "$scratch/heartbeat.log" >&2; exit 1; }
    beats=
    stop
  done
  for name in cpu_percent rss_mb peak_mb; do
    asked=
    [ "$name" != cpu_percent ] || asked="≤ 1"
    echo "| $name | $(figure "$name" "$scratch/stock.sample") | $(figure "$name" "$scratch/berth.sample") | $asked |"
  done
  [ "$whole" = no ] || awk -v a="$(figure cpu_percent "$scratch/berth.sample")" 'BEGIN { exit a > 1 }'
  exit 0
fi

if [ -n "$rate" ]; then
  head="| run | $nodes nodes, $pods pods, $rate a second${random:+ at random} | CPU per pod, µs | median wait, ms | 99th of 100 |"
  names="cpu_us_per_pod wait_ms_median wait_ms_p99"
  if [ "$counts" = yes ]; then head="$head sleeps per pod | system calls per pod |" names="$names sleeps_per_pod calls_per_pod"; fi
  echo "$head"
  sed 's/[^|]\+/---/g' <<<"$head"
  for ((run = 1; run <= runs; run++)); do
    for who in stock berth; do
      start "$who" "$scratch/$who.log"
      sleep 5 # lists are read
      count_from_here
      before=$(cpu "$pid")
      rigtool pods --count "$pods" --rate "$rate" ${random:+"$random"} --waits --pid "$pid" --prefix "$who-$run-" >"$scratch/pods.log" 2>&1 ||
        { cat "$scratch/pods.log" >&2; tail -n 5 "$scratch/$who.log" >&2; exit 1; }
      rigtool measure --pid "$pid" --pods "$pods" >/dev/null ||
        { tail -n 5 "$scratch/$who.log" >&2; exit 1; }
      { echo "cpu_us_per_pod $((($(cpu "$pid") - before) / pods))"; grep ^wait_ms "$scratch/pods.log"; } >"$scratch/$who-$run"
      counted >>"$scratch/$who-$run"
      stop
      rigtool check --want "$pods" >"$scratch/check.log" 2>&1 || { echo "$who, run $run: the answers are wrong" >&2; cat "$scratch/check.log" >&2; exit 1; }
      printf '| %d | %s |' "$run" "$who"
      for name in $names; do printf ' %s |' "$(figure "$name" "$scratch/$who-$run")"; done
      printf '\n'
      [ "$run/$who" = "$runs/berth" ] || afresh
    done
  done
  exit 0
fi

[ "$extender/$nodes/$pods/$qps" != /5000/20000/5000 ] || whole=yes
[ "$nodes/$pods/$qps" != 5000/2000/5000 ] || [ -z "$extender" ] || whole=yes
names="pods_per_s cpu_us_per_pod peak_mb first_binding_s servers_us_per_pod"
head="| run | | pods/s | CPU per pod, µs | peak memory, MB | first binding, s | API server and etcd, CPU per pod, µs |"
if [ "$counts" = yes ]; then head="$head sleeps per pod | system calls per pod |" names="$names sleeps_per_pod calls_per_pod"; fi
head="$head${extender:+ calls of the extender |}"
echo "$head"
sed 's/[^|]\+/---/g' <<<"$head"
for ((run = 1; run <= runs; run++)); do
  for who in stock berth; do
    rigtool pods --count "$pods" --prefix "$who-$run-" >"$scratch/pods.log" 2>&1 || { cat "$scratch/pods.log" >&2; exit 1; }
    sleep 3 # what the API server and etcd put off while pods were made
    out=$scratch/$who-$run
    heard=$(calls)
    # shellcheck disable=SC2046
    before=$(cpu $(servers))
    start "$who" "$out.log"
    count_from_here
    rigtool measure --pid "$pid" --pods "$pods" >"$out" || { tail -n 5 "$out.log" >&2; exit 1; }
    # shellcheck disable=SC2046
    echo "servers_us_per_pod $((($(cpu $(servers)) - before) / pods))" >>"$out"
    counted >>"$out"
    stop
    if ! rigtool check --want "$pods" >"$scratch/check.log" 2>&1; then
      echo "$who, run $run: the answers are wrong" >&2
      cat "$scratch/check.log" >&2
      exit 1
    fi
    # Every pod is asked about twice, filter and prioritize; more only where a decision was made again.
    heard=$(($(calls) - heard))
    if [ -n "$extender" ] && { [ "$heard" -lt $((2 * pods)) ] || [ "$heard" -gt $((3 * pods)) ]; }; then
      echo "$who, run $run: $heard calls of the extender for $pods pods" >&2
      exit 1
    fi
    printf '| %d | %s |' "$run" "$who"
    for name in $names; do printf ' %s |' "$(figure "$name" "$out")"; done
    if [ -n "$extender" ]; then printf ' %s |' "$heard"; fi
    printf '\n'
    [ "$run/$who" = "$runs/berth" ] || afresh
  done
done
status=0
middle() { for ((run = 1; run <= runs; run++)); do figure "$1" "$scratch/$2-$run"; done | median; }
# ratios NAME: how many times better Berth was, in each run.
ratios() {
  for ((run = 1; run <= runs; run++)); do
    awk -v name="$1" -v s="$(figure "$1" "$scratch/stock-$run")" -v b="$(figure "$1" "$scratch/berth-$run")" \
      'BEGIN { printf "%.2f\n", name == "pods_per_s" ? b / s : s / b }'
  done
}
echo
echo "| medians of $runs | kube-scheduler | berth | times better | asked for |"
echo "|---|---|---|---|---|"
while read -r name asked; do
  ratio=$(ratios "$name" | median)
  echo "| $name | $(middle "$name" stock) | $(middle "$name" berth) | **$ratio** |${asked:+ ≥ $asked} |"
  [ "$whole" = no ] || [ -z "$asked" ] || awk -v a="$ratio" -v b="$asked" 'BEGIN { exit a < b }' || status=1
done <<<"$(case $extender in
  '') printf '%s\n' 'pods_per_s 2.5' 'cpu_us_per_pod 20' 'peak_mb 5' 'first_binding_s 2' ;;
  names) printf '%s\n' pods_per_s 'cpu_us_per_pod 10' peak_mb first_binding_s ;;
  nodes) printf '%s\n' pods_per_s 'cpu_us_per_pod 5' peak_mb first_binding_s ;;
esac)"
# Beside an extender there is one more that both cores are shared with.
[ -z "$extender" ] || exit "$status"
cores=$(nproc)
[ "$cores" -lt 2 ] || cores=2
awk -v us="$(middle servers_us_per_pod berth)" -v stock="$(middle pods_per_s stock)" -v cores="$cores" \
  'BEGIN { printf "\nwith a scheduler that costs nothing: %.0f pods/s, **%.2f** times kube-scheduler\n", cores * 1000000 / us, cores * 1000000 / us / stock }'
exit "$status"
