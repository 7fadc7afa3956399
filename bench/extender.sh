#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asks `berth extender` and the Go extender (tests/upstream/goextender) the same questions in one run with the same client,
# compares the answers, then prints server CPU and wall time per request, memory and small requests per second as Markdown:
# bench/extender.sh [--nodes N] [--runs N] [--changed N] [--check] [BERTH]
#   --nodes    nodes of a large request; default 5000 (39 MB)
#   --runs     requests of each kind to each server; medians count; default 11
#   --changed  nodes that have changed since the request before; default 20
#   --check    compare the answers and measure nothing
# BERTH is the program; default: build/release/berth. Needs Go.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
options=
while [ $# -gt 0 ]; do
  case $1 in
    --nodes | --runs | --changed)
      [ $# -gt 1 ] || usage
      case $2 in '' | *[!0-9]*) echo "$1: must be a number, got \"$2\"" >&2; exit 2 ;; esac
      options="$options $1 $2"; shift 2 ;;
    --check) options="$options $1"; shift ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -le 1 ] || usage
berth=${1:-$top/build/release/berth}
[ -x "$berth" ] || { echo "$berth is not there: ./run builds it" >&2; exit 2; }
command -v go >/dev/null || { echo "bench/extender.sh: no go on PATH" >&2; exit 2; }
reference=$("$top/tests/upstream/build-program.sh" goextender)
client=$("$top/tests/upstream/build-program.sh" extenderbench)
# shellcheck disable=SC2086
exec "$client" --berth "$berth" --reference "$reference" $options
