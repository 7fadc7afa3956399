#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/sequences anew: record-sequences.sh RUNNER [SEED [COUNT]], COUNT sequences over all families, with the
# placements of RUNNER (sequence_runner). The same seed and the same placements give the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: record-sequences.sh RUNNER [SEED [COUNT]]" >&2; exit 2; }
runner=$1
seed=${2:-20260101}
count=${3:-80}
oracle=$("$here/build-oracle.sh")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$oracle" sequences --seed "$seed" --count "$count" -o "$scratch/new.jsonl"
"$runner" --place "$scratch/new.jsonl" >"$scratch/placed.jsonl"
"$oracle" sequences --judge -o "$scratch/generated.jsonl" <"$scratch/placed.jsonl"
gzip -n -9 <"$scratch/generated.jsonl" >"$scratch/generated.jsonl.gz"
mv "$scratch/generated.jsonl.gz" "$here/../sequences/generated.jsonl.gz"
du -h "$here/../sequences/generated.jsonl.gz"
