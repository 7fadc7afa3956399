#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/conformance anew: record.sh [SEED [COUNT]], COUNT cases of each family. The same seed gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seed=${1:-20260101}
count=${2:-225}
oracle=$("$here/build-oracle.sh")
out=$here/../conformance
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for family in resources taints nodeaffinity interpod spread scores preemption mixed nominated volumes; do
  cases=$count
  [ "$family" != volumes ] || cases=$((count * 8 / 5)) # it has the most to say
  "$oracle" gen --family "$family" --seed "$seed" --count "$cases" --stats -o "$scratch/$family.jsonl"
  gzip -n -9 <"$scratch/$family.jsonl" >"$scratch/$family.jsonl.gz"
  mv "$scratch/$family.jsonl.gz" "$out/$family.jsonl.gz"
done
du -ch "$out"/*.jsonl.gz | tail -1
