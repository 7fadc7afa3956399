#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/encodings anew: record-encodings.sh [SEED [COUNT]]. The same seed gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$("$here/build-program.sh" encodings)
out=$here/../encodings/generated.jsonl.gz
"$program" --seed "${1:-20260101}" --count "${2:-240}" | gzip -n -9 >"$out.new"
mv "$out.new" "$out"
du -h "$out"
