#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one of the Go programs here (oracle, enginebench) once per content of its sources, outside the clone, and prints
# the path of the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: build-program.sh oracle|enginebench" >&2; exit 2; }
name=$1
cd "$here"
hash=$(cat go.mod go.sum "$name"/*.go | sha256sum | cut -c1-16)
folder=${BERTH_ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth}/$name-$hash
program=$folder/$name
if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "build-program.sh: no go on PATH" >&2; exit 2; }
  mkdir -p "$folder"
  echo "building $name (minutes, the first time)" >&2
  # Upstream asks its own version, which a build from modules does not know.
  GOFLAGS="-mod=readonly -buildvcs=false" go build -ldflags "-X k8s.io/component-base/version.gitVersion=v1.36.4" -o "$program.$$" "./$name" >&2
  mv "$program.$$" "$program"
fi
echo "$program"
