# SPDX-License-Identifier: Apache-2.0
# Read by the fresh*.sh scripts with their own arguments, [--seed S] [--count N] RUNNER [ARG...]: sets seed, count
# (which has a default), oracle (the program that makes and judges; $program, if not the oracle itself) and scratch (a
# folder that goes away at the end) and leaves RUNNER [ARG...] in "$@".
# shellcheck shell=sh disable=SC2034
script=$(basename "$0")
seed=
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --seed=*) seed=${1#*=}; shift ;;
    --count) count=$2; shift 2 ;;
    --count=*) count=${1#*=}; shift ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { echo "usage: $script [--seed S] [--count N] RUNNER [ARG...]" >&2; exit 2; }
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
oracle=$("$here/build-program.sh" "${program:-oracle}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# finish STATUS HINT RUNNER [ARG...]: the exit code of the checker is ours; after a failure, how to see it again.
finish() {
  code=$1 hint=$2
  shift 2
  if [ "$code" -ne 0 ]; then
    echo "to reproduce: tests/upstream/$script --seed $seed --count $count $*" >&2
    echo "one alone: \$(tests/upstream/build-program.sh ${program:-oracle})${hint:+ $hint} --seed $seed --first I --count 1" >&2
  fi
  exit "$code"
}
