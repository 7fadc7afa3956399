#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# legacy-build.sh RELEASE: builds the program of legacy/ that reads configurations with the code of an old kube-scheduler,
# v1.18.20, v1.22.17, v1.27.16 or v1.28.15, once per content of it, and prints its path. Minutes of CPU, the first time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
release=${1:-}
case $release in
  v1.18.20) source=r18 staging=v0.18.19 ;; # v0.18.20 is not to be had
  v1.22.17) source=r22 staging=v0.22.17 ;;
  v1.27.16) source=r27 staging=v0.27.16 ;;
  v1.28.15) source=r27 staging=v0.28.15 ;;
  *) echo "usage: legacy-build.sh v1.18.20|v1.22.17|v1.27.16|v1.28.15" >&2; exit 2 ;;
esac
hash=$(cat "$here/legacy-build.sh" "$here/legacy/frame/frame.go" "$here/legacy/$source"/*.go | sha256sum | cut -c1-16)
folder=${BERTH_ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth}/legacy-$release-$hash
if [ ! -x "$folder/legacy" ]; then
  command -v go >/dev/null || { echo "legacy-build.sh: no go on PATH" >&2; exit 2; }
  echo "building the reader of $release (minutes, the first time)" >&2
  mkdir -p "$folder/empty"
  cp "$here/legacy/frame/frame.go" "$here/legacy/$source"/*.go "$folder"
  cd "$folder"
  modules=$(go mod download -json "k8s.io/kubernetes@$release" | sed -n 's/^.*"GoMod": "\(.*\)",$/\1/p')
  {
    echo "module berth.dev/legacy"
    echo "go 1.21"
    echo "require k8s.io/kubernetes $release"
    # What older code generation makes of today's Go.
    case $release in v1.18.* | v1.22.*)
      echo "require github.com/json-iterator/go v1.1.12"
      echo "require github.com/modern-go/reflect2 v1.0.2" ;;
    esac
    sed -n 's|^[[:space:]]*\(k8s.io/[a-z-]*\) v0.0.0$|\1|p' "$modules" | sort -u | while read -r module; do
      # Of these the last releases are not to be had; nothing that is judged depends on them.
      case $release:$module in
        v1.27.16:k8s.io/cloud-provider | v1.27.16:k8s.io/csi-translation-lib | v1.27.16:k8s.io/mount-utils | \
          v1.27.16:k8s.io/dynamic-resource-allocation | v1.27.16:k8s.io/controller-manager) echo "replace $module => $module v0.27.8" ;;
        *) echo "replace $module => $module $staging" ;;
      esac
    done
    case $release in v1.18.*) echo "replace vbom.ml/util => ./empty" ;; esac
  } >go.mod
  printf 'module vbom.ml/util\n' >empty/go.mod
  printf 'package util\n' >empty/util.go
  CGO_ENABLED=0 GOFLAGS=-mod=mod go mod tidy >&2
  CGO_ENABLED=0 GOFLAGS="-mod=mod -buildvcs=false" go build -p 2 -tags "$release" -o legacy.$$ . >&2
  mv legacy.$$ legacy
fi
echo "$folder/legacy"
