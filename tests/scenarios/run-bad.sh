#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scenarios that must fail. bad/: exit code 2, and one line of standard error for each comment "# error: …" of the
# file, with that text in it. unmet/: exit code 1, and the text of each comment "# output: …" on standard output.
#   run-bad.sh BERTH SCENARIO...
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: run-bad.sh BERTH SCENARIO..." >&2; exit 2; }
berth=$1
shift
failed=0
for file in "$@"; do
  case $file in */bad/*) code=2 kind=error ;; *) code=1 kind=output ;; esac
  status=0
  out=$(mktemp) err=$(mktemp)
  "$berth" sim "$file" >"$out" 2>"$err" || status=$?
  if [ "$kind" = error ]; then said=$err; else said=$out; fi
  wrong=""
  [ "$status" -eq "$code" ] || wrong+="exit code $status instead of $code"$'\n'
  mapfile -t texts < <(sed -n "s/^# $kind: //p" "$file")
  [ "${#texts[@]}" -gt 0 ] || wrong+="no comment '# $kind: ' says what is expected"$'\n'
  for text in "${texts[@]}"; do
    grep -qF -- "$text" "$said" || wrong+="missing: $text"$'\n'
  done
  if [ "$kind" = error ] && [ "$(wc -l <"$said")" -ne "${#texts[@]}" ]; then wrong+="other errors, too"$'\n'; fi
  if [ -n "$wrong" ]; then
    printf '%s: %s--- it said:\n' "$file" "$wrong"
    cat "$out" "$err"
    failed=1
  fi
  rm -f "$out" "$err"
done
exit "$failed"
