#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Has fresh objects read in both encodings: fresh-encodings.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called with the file of objects after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=5000
program=encodings
. "$here/fresh-common.sh"
echo "fresh objects: seed $seed, $count of them"
"$oracle" --seed "$seed" --count "$count" -o "$scratch/objects.jsonl"
status=0
"$@" "$scratch/objects.jsonl" || status=$?
finish "$status" "" "$@"
