#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Has the calls of tests/extender_calls, and fresh ones, made by kube-scheduler's own extender client and by ours:
# fresh-extender-calls.sh [--seed S] [--count N] RUNNER [ARG...]. RUNNER is the test program of src/extender_client, which
# finds the file of calls in its environment; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=500
program=extendercalls
. "$here/fresh-common.sh"
echo "fresh calls of extenders: seed $seed, $count of them, and those of tests/extender_calls"
"$oracle" --seed "$seed" --count "$count" -o "$scratch/calls.jsonl" "$here/../extender_calls/cases.json"
status=0
BERTH_FRESH_EXTENDER_CALLS="$scratch/calls.jsonl" "$@" --gtest_brief=1 --gtest_filter=RecordedCallsTest.OursAreKubeSchedulers || status=$?
finish "$status" "" "$@"
