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
"$oracle" sequences --seed "$seed" --count "$count" -o "$scratch/generated-new.jsonl"
"$oracle" sequences --family volumes --seed "$seed" --count "$((count / 4))" -o "$scratch/volumes-new.jsonl"
for name in generated volumes; do
  "$runner" --place "$scratch/$name-new.jsonl" >"$scratch/placed.jsonl"
  "$oracle" sequences --judge -o "$scratch/$name.jsonl" <"$scratch/placed.jsonl"
  gzip -n -9 <"$scratch/$name.jsonl" >"$scratch/$name.jsonl.gz"
  mv "$scratch/$name.jsonl.gz" "$here/../sequences/$name.jsonl.gz"
done
du -h "$here/../sequences"/*.jsonl.gz
