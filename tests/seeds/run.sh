#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tells the documents' stories on a control plane of v1.36.4, see README.md. Prints a line per step and closes with
# "N passed, N failed". Needs Go.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UPSTREAM=$here/../upstream
usage() {
  echo "usage: run.sh [--rig DIR] [--from FOLDER] [--quick] [--scheduler stock|berth] BERTH [STORY...]" >&2
  echo "  --rig: on a control plane that runs already; --from: stories of another folder, which lists them in a file" >&2
  echo "  \`stories\`, those of --quick in \`quick\`, and what \`controlplane up\` is told in \`rig\`; --scheduler berth:" >&2
  echo "  with BERTH in kube-scheduler's place, on a control plane of its own" >&2
  exit 2
}
RIG=
own=yes
from=$here
QUICK=
SCHEDULER=stock
while [ $# -gt 0 ]; do
  case $1 in
    --rig)
      [ $# -gt 1 ] || usage
      RIG=$(cd "$2" && pwd) || exit 2
      own=no
      shift 2
      ;;
    --from)
      [ $# -gt 1 ] || usage
      from=$(cd "$2" && pwd) || exit 2
      shift 2
      ;;
    --quick)
      QUICK=yes
      shift
      ;;
    --scheduler)
      case ${2:-} in stock | berth) SCHEDULER=$2 ;; *) usage ;; esac
      shift 2
      ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || usage
# What somebody else's control plane runs is not ours to replace.
[ "$SCHEDULER" = stock ] || [ "$own" = yes ] || usage
BERTH=$(readlink -f "$1")
[ -x "$BERTH" ] || { echo "run.sh: no program $1" >&2; exit 2; }
shift
list=$from/stories
[ -z "$QUICK" ] || [ ! -r "$from/quick" ] || list=$from/quick
# shellcheck disable=SC2046 # names without spaces
[ $# -gt 0 ] || set -- $(cat "$list")
up=(--nodes 2)
# shellcheck disable=SC2207 # options without spaces
[ ! -r "$from/rig" ] || up=($(cat "$from/rig"))
# script STORY: NAME.sh, or a folder of that name with a walkthrough.
script() { if [ -r "$from/$1.sh" ]; then echo "$from/$1.sh"; else echo "$from/$1/walkthrough.sh"; fi; }
for story in "$@"; do
  [ -r "$(script "$story")" ] || { echo "run.sh: no story $story" >&2; exit 2; }
done
scratch=$(mktemp -d)
[ "$own" = no ] || RIG=$scratch/rig
export RIG BERTH UPSTREAM QUICK SCHEDULER

passed=0
failed=0
child=
end() {
  trap - EXIT INT TERM HUP
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
  fi
  if [ "$own" = no ]; then
    "$UPSTREAM/controlplane" scheduler --dir "$RIG" || failed=$((failed + 1)) # the last story's extender is gone
  elif [ -e "$RIG/.controlplane" ]; then
    "$UPSTREAM/controlplane" down --dir "$RIG" || failed=$((failed + 1))
  fi
  if [ "$failed" -eq 0 ]; then
    rm -rf "$scratch"
  else
    echo "logs are kept in $scratch" >&2
  fi
}
trap end EXIT
trap 'failed=$((failed + 1)); exit 130' INT TERM HUP

# In the background and waited for, here and below: a signal is handled at once, and not when the child is through.
if [ "$own" = yes ]; then
  "$UPSTREAM/controlplane" up "${up[@]}" --no-scheduler --dir "$RIG" &
  child=$!
  if ! wait "$child"; then
    failed=1
    echo "0 passed, 1 failed"
    exit 1
  fi
  child=
  # A link named kube-scheduler is kube-scheduler, as far as its command line goes.
  [ "$SCHEDULER" = stock ] || ln -sfn "$BERTH" "$RIG/bin/kube-scheduler"
fi
for story in "$@"; do
  printf '%s\n' "$story"
  began=$SECONDS
  LOGS=$scratch/$story bash "$(script "$story")" &
  child=$!
  wait "$child"
  code=$?
  child=
  passed=$((passed + $(cat "$scratch/$story/passed" 2>/dev/null || echo 0)))
  [ "$code" -eq 0 ] || failed=$((failed + 1))
  printf '  %s: %d s\n' "$story" "$((SECONDS - began))"
done
printf '%d of %d succeeded\n' $(($# - failed)) $#
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
