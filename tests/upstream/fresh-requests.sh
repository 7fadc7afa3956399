#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts fresh requests to a checker: fresh-requests.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called with the file of requests after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=20000
program=extenderargs
. "$here/fresh-common.sh"
echo "fresh requests: seed $seed, $count of them"
"$oracle" --seed "$seed" --count "$count" -o "$scratch/requests.jsonl"
status=0
"$@" "$scratch/requests.jsonl" || status=$?
finish "$status" "" "$@"
