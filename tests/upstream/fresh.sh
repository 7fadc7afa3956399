#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts fresh cases to a checker: fresh.sh [--seed S] [--count N] RUNNER [ARG...], N cases over all families.
# RUNNER is called with the case files after its own arguments; its exit code is ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=700
. "$here/fresh-common.sh"
families="resources taints nodeaffinity interpod spread scores preemption mixed nominated volumes"
each=$(((count + 9) / 10))
echo "fresh cases: seed $seed, $each of each family"
files=
for family in $families; do
  "$oracle" gen --family "$family" --seed "$seed" --count "$each" -o "$scratch/$family.jsonl"
  files="$files $scratch/$family.jsonl"
done
status=0
# shellcheck disable=SC2086
"$@" $files || status=$?
finish "$status" "gen --family FAMILY" "$@"
