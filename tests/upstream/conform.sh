#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Go extender, which is made of kube-scheduler's own types, must pass `berth conform`: what it does is right by
# definition, so a finding would be a fault of the checks. Timings are not looked at.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: conform.sh BERTH" >&2; exit 2; }
berth=$1
extender=$("$here/build-program.sh" goextender)
work=$(mktemp -d)
pid=
stop() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  pid=
}
trap 'stop; rm -rf "$work"' EXIT
passed=0 failed=0

# start FLAGS...: the extender on a free port; sets url.
start() {
  stop
  : >"$work/log" # what the one before said must not be taken for an answer
  "$extender" -address 127.0.0.1:0 "$@" 2>>"$work/log" &
  pid=$!
  until grep -q 'listening on' "$work/log"; do
    kill -0 "$pid" 2>/dev/null || { cat "$work/log" >&2; exit 2; }
    sleep 0.1
  done
  url=http://$(sed -n 's/.*listening on //p' "$work/log")
}

# expect CODE SENTENCE FLAGS...: what conform says of the extender at url.
expect() {
  wanted=$1 what=$2 code=0
  shift 2
  "$berth" conform "$url" --timeout 60s --skip latency "$@" >"$work/out" 2>&1 || code=$?
  if [ "$code" -eq "$wanted" ]; then
    passed=$((passed + 1))
    echo "ok: $what"
  else
    failed=$((failed + 1))
    echo "FAILED: $what: exit code $code instead of $wanted" >&2
    cat "$work/out" >&2
  fi
}

start -label ''
expect 0 "nodes and names, all verbs" --shape both --preempt-verb preempt --bind-verb bind --strict
start
expect 0 "nodes with a label that decides" --shape nodes --node-label priority.lixueduan.com=7 --strict
expect 0 "names that it cannot know are a warning" --skip big --node-label priority.lixueduan.com=7
expect 1 "and a failure where they are insisted on" --skip big --shape names --node-label priority.lixueduan.com=7
stop
expect 2 "nobody there"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
