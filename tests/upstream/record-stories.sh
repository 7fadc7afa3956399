#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/stories anew: record-stories.sh [SEED [COUNT]], the written stories and COUNT made-up ones. The same seed
# gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=${1:-20260101}
count=${2:-240}
oracle=$("$here/build-oracle.sh")
out=$here/../stories
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$oracle" stories --kind written -o "$scratch/written.jsonl"
"$oracle" stories --kind generated --seed "$seed" --count "$count" -o "$scratch/generated.jsonl"
"$oracle" stories --kind volumes -o "$scratch/volumes.jsonl"
"$oracle" stories --kind generated-volumes --seed "$seed" --count "$((count / 2))" -o "$scratch/generated-volumes.jsonl"
for kind in written generated volumes generated-volumes; do
  gzip -n -9 <"$scratch/$kind.jsonl" >"$scratch/$kind.jsonl.gz"
  mv "$scratch/$kind.jsonl.gz" "$out/$kind.jsonl.gz"
done
du -ch "$out"/*.jsonl.gz | tail -1
