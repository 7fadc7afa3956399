#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/requests anew: record-requests.sh [SEED [COUNT]]. The same seed gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$("$here/build-program.sh" extenderargs)
out=$here/../requests/generated.jsonl.gz
"$program" --seed "${1:-20260101}" --count "${2:-4000}" --stats | gzip -n -9 >"$out.new"
mv "$out.new" "$out"
du -h "$out"
