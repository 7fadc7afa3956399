#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records tests/extender_calls anew: what kube-scheduler's own extender client sends and makes of the answers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$("$here/build-program.sh" extendercalls)
out=$here/../extender_calls/recorded.jsonl
"$program" -o "$out.new" "$here/../extender_calls/cases.json"
mv "$out.new" "$out"
wc -l "$out"
