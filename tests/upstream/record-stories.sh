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
for kind in written generated; do
  gzip -n -9 <"$scratch/$kind.jsonl" >"$scratch/$kind.jsonl.gz"
  mv "$scratch/$kind.jsonl.gz" "$out/$kind.jsonl.gz"
done
du -ch "$out"/*.jsonl.gz | tail -1
