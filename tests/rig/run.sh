#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tells a folder's stories on a control plane of v1.36.4, see README.md. Prints a line per step and closes with
# "N of N succeeded" and "N passed, N failed". Needs Go: without it exit code 2.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UPSTREAM=$here/../upstream
usage() {
  echo "usage: run.sh --from FOLDER [--rig DIR] [--quick] [--scheduler stock|berth] BERTH [STORY[:SCHEDULER]...]" >&2
  echo "  --from: FOLDER lists its stories in a file \`stories\`, those of --quick in \`quick\`, and what \`controlplane up\` is" >&2
  echo "  told in \`rig\`; --rig: on a control plane that runs already; --scheduler: only the stories with that one" >&2
  exit 2
}
RIG=
own=yes
from=
QUICK=
only=
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
      case ${2:-} in stock | berth) only=$2 ;; *) usage ;; esac
      shift 2
      ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] && [ -n "$from" ] || usage
BERTH=$(readlink -f "$1")
[ -x "$BERTH" ] || { echo "run.sh: no program $1" >&2; exit 2; }
shift
if ! command -v go >/dev/null && [ -x /usr/local/go/bin/go ]; then PATH=$PATH:/usr/local/go/bin; fi
if ! command -v go >/dev/null; then
  echo "run.sh: the control plane is built with Go, and there is no 'go' in PATH; see https://go.dev/dl/" >&2
  exit 2
fi
list=$from/stories
[ -z "$QUICK" ] || [ ! -r "$from/quick" ] || list=$from/quick
# What there is, each with its scheduler, stock where it says nothing.
known=()
for story in $(cat "$list"); do
  case $story in *:*) known+=("$story") ;; *) known+=("$story:stock") ;; esac
done
# script STORY: NAME.sh, or a folder of that name with a walkthrough.
script() { if [ -r "$from/$1.sh" ]; then echo "$from/$1.sh"; else echo "$from/$1/walkthrough.sh"; fi; }
# A name alone is that story with every scheduler that the list has it with.
stories=()
if [ $# -eq 0 ]; then stories=("${known[@]}"); fi
for name in "$@"; do
  [ -r "$(script "${name%:*}")" ] || { echo "run.sh: no story $name" >&2; exit 2; }
  case $name in
    *:stock | *:berth) stories+=("$name") ;;
    *:*) usage ;;
    *)
      before=${#stories[@]}
      for story in "${known[@]}"; do [ "${story%:*}" != "$name" ] || stories+=("$story"); done
      [ "${#stories[@]}" -gt "$before" ] || stories+=("$name:${only:-stock}") # one that is not in the list
      ;;
  esac
done
set --
for story in "${stories[@]}"; do
  if [ -z "$only" ] || [ "${story#*:}" = "$only" ]; then set -- "$@" "$story"; fi
done
[ $# -gt 0 ] || { echo "run.sh: no story with --scheduler $only" >&2; exit 2; }
up=(--nodes 2)
# shellcheck disable=SC2207 # options without spaces
[ ! -r "$from/rig" ] || up=($(cat "$from/rig"))
scratch=$(mktemp -d)
[ "$own" = no ] || RIG=$scratch/rig
export RIG BERTH UPSTREAM QUICK

passed=0
failed=0
child=
# schedules stock|berth: what the control plane starts as its scheduler from now on. A link named kube-scheduler is
# kube-scheduler, as far as its command line goes.
schedules() {
  local program=$BERTH
  [ "$1" = berth ] || program=$("$UPSTREAM/build-program.sh" kube-scheduler) || return 1
  ln -sfn "$program" "$RIG/bin/kube-scheduler"
}
end() {
  trap - EXIT INT TERM HUP
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
  fi
  if [ "$own" = no ]; then
    # The last story's extender is gone, and so is its scheduler.
    schedules stock && "$UPSTREAM/controlplane" scheduler --dir "$RIG" || failed=$((failed + 1))
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
fi
for story in "$@"; do
  SCHEDULER=${story#*:}
  story=${story%:*}
  logs=$scratch/$story-$SCHEDULER
  printf '%s, %s\n' "$story" "$([ "$SCHEDULER" = stock ] && echo kube-scheduler || echo Berth)"
  began=$SECONDS
  code=1
  if schedules "$SCHEDULER"; then
    SCHEDULER=$SCHEDULER LOGS=$logs bash "$(script "$story")" &
    child=$!
    wait "$child"
    code=$?
    child=
  fi
  passed=$((passed + $(cat "$logs/passed" 2>/dev/null || echo 0)))
  [ "$code" -eq 0 ] || failed=$((failed + 1))
  printf '  %s: %d s\n' "$story" "$((SECONDS - began))"
done
printf '%d of %d succeeded\n' $(($# - failed)) $#
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
