#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# User instructions per pod of `berth scheduler`, counted by callgrind: the one figure of the live path that a busy machine does not
# touch. Pods wait when it starts, as in bench/live.sh; counted with few and with many of them, so that what starting costs is
# told apart, and until every event is there, so that the program's end is not counted. By what the functions belong to, each
# without those that it calls. Needs Go and valgrind. Not in CI.
#   instructions.sh [--nodes N] [--few N] [--many N] BERTH...
#   --nodes 5000, --few 500, --many 4500; several programs are counted one after another, on control planes of their own
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '7,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
nodes=5000 few=500 many=4500
while [ $# -gt 0 ]; do
  case $1 in
    --nodes | --few | --many)
      [ $# -gt 1 ] || usage
      case $2 in '' | *[!0-9]* | 0) echo "$1: want a number greater than 0, got \"$2\"" >&2; exit 2 ;; esac
      declare "${1#--}=$2"
      shift 2
      ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] && [ "$few" -lt "$many" ] || usage
for one in "$@"; do [ -x "$one" ] || { echo "instructions.sh: no program $one" >&2; exit 2; }; done
command -v callgrind_annotate >/dev/null || { echo "instructions.sh: callgrind is not there; it is in Debian's valgrind" >&2; exit 2; }

scratch=$(mktemp -d)
rig=$scratch/rig
pid=
end() {
  local code=$?
  trap - EXIT INT TERM HUP
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  [ ! -e "$rig/.controlplane" ] || "$here/../upstream/controlplane" down --dir "$rig" || code=1
  if [ "$code" -eq 0 ]; then rm -rf "$scratch"; else echo "logs are kept in $scratch" >&2; fi
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM HUP
rigtool() {
  local command=$1
  shift
  "$rig/bin/rigtool" "$command" --kubeconfig "$rig/kubeconfig" "$@"
}
# parts FILE...: of profiles, the instructions of each part of the program, as "number<tab>part".
parts() {
  local file
  for file in "$@"; do callgrind_annotate --threshold=100 --auto=no --show-percs=no "$file" 2>/dev/null; done | awk '
    /^ *[0-9,]+ +[^ ]/ && !/PROGRAM TOTALS/ {
      count = $1
      gsub(",", "", count)
      if (/libssl|libcrypto/) part = "TLS: OpenSSL"
      else if (/libnghttp2|berth::net::(HpackDecoder|DecodeHuffman)/) part = "HTTP/2: nghttp2, or reading heads"
      else if (/malloc\.c:|arena\.c:|operator (new|delete)/) part = "memory: malloc, free"
      else if (/berth::(framework|plugins)::/) part = "decisions: framework, plugins"
      else if (/berth::(queue|cluster|cycle)::/) part = "queue, cluster state, cycles"
      else if (/berth::net::|boost::/) part = "connections: net"
      else if (/berth::client::/) part = "requests, answers, news, events: client"
      else if (/berth::live::|prometheus/) part = "metrics: live"
      else if (/berth::(Proto|proto_internal|Context|At::|Decode|Read|Repair|Pod(Specs|Parts)|KnownParts|GatheredBytes|BytesThat|HasPlain|Open)|berth::\(anonymous namespace\)|protozero|simdjson/) part = "objects out of protobuf: api"
      else part = "strings, containers, the rest"
      sum[part] += count
    }
    END { for (part in sum) printf "%d\t%s\n", sum[part], part }'
}
# count PROGRAM PODS OUT: its parts, all threads together.
count() {
  rm -rf "$rig"
  "$here/../upstream/controlplane" up --no-kubelets "$nodes" --no-scheduler --dir "$rig" \
    --api-server-flag=--enable-priority-and-fairness=false >"$scratch/up.log" 2>&1 || { cat "$scratch/up.log" >&2; exit 1; }
  rigtool pods --count "$2" --prefix counted- >"$scratch/pods.log" 2>&1 || { cat "$scratch/pods.log" >&2; exit 1; }
  valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file="$scratch/callgrind" "$1" scheduler \
    --kubeconfig "$rig/kube-scheduler.kubeconfig" --kube-api-qps 5000 --kube-api-burst 5000 --leader-elect=false --secure-port=0 -v=0 \
    </dev/null >"$scratch/scheduler.log" 2>&1 &
  pid=$!
  rigtool measure --pid "$pid" --pods "$2" >"$scratch/measured" || { tail -n 5 "$scratch/scheduler.log" >&2; exit 1; }
  callgrind_control --dump "$pid" >"$scratch/dump.log" 2>&1 || { cat "$scratch/dump.log" >&2; exit 1; }
  kill "$pid"
  wait "$pid" || true
  pid=
  rigtool check --want "$2" >"$scratch/check.log" 2>&1 || { echo "$1, $2 pods: the answers are wrong" >&2; cat "$scratch/check.log" >&2; exit 1; }
  "$here/../upstream/controlplane" down --dir "$rig" >/dev/null 2>&1
  parts "$scratch"/callgrind.1-* >"$3"
  rm -f "$scratch"/callgrind*
}
for one in "$@"; do
  one=$(readlink -f "$one")
  count "$one" "$few" "$scratch/few"
  count "$one" "$many" "$scratch/many"
  echo "| $(basename "$one"), $nodes nodes | starting, millions | per pod |"
  echo "|---|---|---|"
  awk -F '\t' -v few="$few" -v many="$many" '
    FNR == NR { first[$2] = $1; next }
    { seen[$2] = 1 }
    { per = ($1 - first[$2]) / (many - few); start = first[$2] - per * few; all += per; began += start
      printf "%d\t| %s | %.1f | %.0f |\n", per, $2, start / 1e6, per }
    END { for (part in first) if (!(part in seen)) began += first[part]
      printf "-1\t| **all** | %.0f | **%.0f** |\n", began / 1e6, all }' "$scratch/few" "$scratch/many" | sort -rn | cut -f 2
done
