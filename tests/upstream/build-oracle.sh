#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the oracle once per content of its sources, outside the clone, and prints the path of the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/oracle"
hash=$(cat go.mod go.sum ./*.go | sha256sum | cut -c1-16)
folder=${BERTH_ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth}/oracle-$hash
program=$folder/oracle
if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "build-oracle.sh: no go on PATH" >&2; exit 2; }
  mkdir -p "$folder"
  echo "building the oracle (minutes, the first time)" >&2
  # Upstream asks its own version, which a build from modules does not know.
  GOFLAGS="-mod=readonly -buildvcs=false" go build -ldflags "-X k8s.io/component-base/version.gitVersion=v1.36.4" -o "$program.$$" . >&2
  mv "$program.$$" "$program"
fi
echo "$program"
