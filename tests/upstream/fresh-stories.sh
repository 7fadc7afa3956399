#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays fresh stories to a checker: fresh-stories.sh [--seed S] [--count N] RUNNER [ARG...].
# RUNNER is called with the story files after its own arguments; its exit code is ours, but for stories that kube-scheduler
# itself tells in several ways. Such ones are not recorded in the first place, yet on a busy machine they may look steady.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=400
. "$here/fresh-common.sh"
volumes=$((count / 4))
echo "fresh stories: seed $seed, $count of them, and $volumes about volumes"
"$oracle" stories --kind generated --seed "$seed" --count "$count" -o "$scratch/stories.jsonl"
"$oracle" stories --kind generated-volumes --seed "$seed" --count "$volumes" >>"$scratch/stories.jsonl"
status=0
"$@" "$scratch/stories.jsonl" >"$scratch/report" || status=$?
cat "$scratch/report"
[ "$status" -eq 1 ] || finish "$status" "stories --kind generated[-volumes]" "$@"

# unsteady FILE: whether kube-scheduler tells the story in another way when asked again.
unsteady() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    "$oracle" stories --kind replay <"$1" >"$scratch/again" || return 0
    cmp -s "$1" "$scratch/again" || return 0
  done
  return 1
}
passed_over=0 failed=0
for file in $(sed -n 's/^FAILED .*(again: .* \(.*\.jsonl\))$/\1/p' "$scratch/report"); do
  if unsteady "$file"; then
    echo "kube-scheduler tells $file in several ways: passed over"
    passed_over=$((passed_over + 1))
  else
    failed=$((failed + 1))
  fi
done
[ $((passed_over)) -gt 0 ] || finish 1 "stories --kind generated[-volumes]" "$@"
echo "$((count + volumes - passed_over - failed)) passed, $failed failed"
[ "$failed" -eq 0 ] || finish 1 "stories --kind generated[-volumes]" "$@"
