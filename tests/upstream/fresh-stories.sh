#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays fresh stories to a checker: fresh-stories.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called with the story files after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=400
. "$here/fresh-common.sh"
echo "fresh stories: seed $seed, $count of them"
"$oracle" stories --kind generated --seed "$seed" --count "$count" -o "$scratch/stories.jsonl"
status=0
"$@" "$scratch/stories.jsonl" || status=$?
finish "$status" "stories --kind generated" "$@"
