#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays fresh stories to a checker: fresh-stories.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called with the story files after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=
count=400
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --seed=*) seed=${1#*=}; shift ;;
    --count) count=$2; shift 2 ;;
    --count=*) count=${1#*=}; shift ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { echo "usage: fresh-stories.sh [--seed S] [--count N] RUNNER [ARG...]" >&2; exit 2; }
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
oracle=$("$here/build-oracle.sh")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "fresh stories: seed $seed, $count of them"
"$oracle" stories --kind generated --seed "$seed" --count "$count" -o "$scratch/stories.jsonl"
status=0
"$@" "$scratch/stories.jsonl" || status=$?
if [ "$status" -ne 0 ]; then
  echo "to reproduce: tests/upstream/fresh-stories.sh --seed $seed --count $count $*" >&2
  echo "generated-I alone: \$(tests/upstream/build-oracle.sh) stories --kind generated --seed $seed --first I --count 1" >&2
fi
exit "$status"
