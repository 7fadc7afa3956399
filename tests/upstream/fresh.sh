#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts fresh cases to a checker: fresh.sh [--seed S] [--count N] RUNNER [ARG...], N cases over all families.
# RUNNER is called with the case files after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=
count=560
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --seed=*) seed=${1#*=}; shift ;;
    --count) count=$2; shift 2 ;;
    --count=*) count=${1#*=}; shift ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { echo "usage: fresh.sh [--seed S] [--count N] RUNNER [ARG...]" >&2; exit 2; }
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
oracle=$("$here/build-oracle.sh")
families="resources taints nodeaffinity interpod spread scores preemption mixed"
each=$(((count + 7) / 8))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "fresh cases: seed $seed, $each of each family"
files=
for family in $families; do
  "$oracle" gen --family "$family" --seed "$seed" --count "$each" -o "$scratch/$family.jsonl"
  files="$files $scratch/$family.jsonl"
done
status=0
# shellcheck disable=SC2086
"$@" $files || status=$?
if [ "$status" -ne 0 ]; then
  echo "to reproduce: tests/upstream/fresh.sh --seed $seed --count $count $*" >&2
  echo "one case FAMILY-I alone: \$(tests/upstream/build-oracle.sh) gen --family FAMILY --seed $seed --first I --count 1" >&2
fi
exit "$status"
