#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays fresh sequences to a checker: fresh-sequences.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called twice: with --place FILE, for kube-scheduler judges what our placements make of the cluster, and with
# the judged file; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=64
. "$here/fresh-common.sh"
volumes=$((count / 4))
echo "fresh sequences: seed $seed, $count of them, and $volumes about volumes"
"$oracle" sequences --seed "$seed" --count "$count" -o "$scratch/new.jsonl"
"$oracle" sequences --family volumes --seed "$seed" --count "$volumes" >>"$scratch/new.jsonl"
status=0
"$@" --place "$scratch/new.jsonl" >"$scratch/placed.jsonl" || status=$?
if [ "$status" -eq 0 ]; then
  "$oracle" sequences --judge -o "$scratch/sequences.jsonl" <"$scratch/placed.jsonl"
  "$@" "$scratch/sequences.jsonl" || status=$?
fi
finish "$status" "sequences [--family volumes]" "$@"
