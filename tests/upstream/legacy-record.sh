#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# legacy-record.sh [--seed S] [--count N] OUT.jsonl: made-up old configurations, each read by the kube-scheduler release that
# it is for, with that release's own code (legacy-build.sh: about ten minutes of CPU, the first time). The same seed gives the
# same cases. What is committed: legacy-record.sh /tmp/r.jsonl && gzip -9n < /tmp/r.jsonl > ../legacy/recorded.jsonl.gz
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=1 count=800
while [ $# -gt 1 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] || { sed -n '3,5p' "$0" >&2; exit 2; }
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/legacy" && GOFLAGS=-mod=mod go run ./gen -seed "$seed" -count "$count") >"$work/cases"
: >"$work/answers"
for release in v1.18.20 v1.22.17 v1.27.16 v1.28.15; do
  program=$("$here/legacy-build.sh" "$release")
  grep -F "\"release\":\"$release\"" "$work/cases" >"$work/these" || continue
  # Addresses in errors differ from run to run.
  "$program" <"$work/these" 2>"$work/said" | sed 's/0x[0-9a-f]\{6,\}/POINTER/g' >"$work/those"
  paste -d '\n' "$work/these" "$work/those" >>"$work/answers"
done
# A case and its answer, one after the other, into one object.
awk 'NR % 2 == 1 { head = substr($0, 1, length($0) - 1); next } { print head ",\"answer\":" $0 "}" }' "$work/answers" >"$out"
wc -l <"$out" >&2
