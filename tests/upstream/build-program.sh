#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one Go program once per content of what it is made from, outside the clone, and prints the path of the program:
# one of those here (oracle, encodings, enginebench, extenderargs, extenderbench, extendercalls, fakekubelet, faultproxy, goextender,
# rigtool), or one of
# Kubernetes v1.36.4 (kube-apiserver, kube-controller-manager, kube-scheduler, kubectl) or etcd, from their modules; or specs,
# which runs sig-scheduling's end-to-end specs; or helm, which renders deploy/helm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "usage: build-program.sh NAME, see its first lines" >&2; exit 2; }
[ $# -eq 1 ] || usage
name=$1
cd "$here"
# Upstream asks its own version, which a build from modules does not know.
version="-X k8s.io/component-base/version.gitVersion=v1.36.4"
case $name in
  oracle | encodings | enginebench | extenderargs | extenderbench | extendercalls | fakekubelet | faultproxy | goextender | rigtool)
    package=./$name flags="-s -w $version"
    set -- "$name"/*.go ;;
  kube-apiserver | kube-controller-manager | kube-scheduler | kubectl | etcd)
    # A module of its own: what these need is not forced upon our programs.
    cd programs
    package=k8s.io/kubernetes/cmd/$name
    [ "$name" != etcd ] || package=go.etcd.io/etcd/server/v3
    flags="-s -w $version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
    set -- ;;
  specs)
    cd specs # a module of its own, too
    package=. flags="-s -w $version"
    set -- main.go ;;
  helm)
    cd helm # and another one
    package=helm.sh/helm/v3/cmd/helm flags="-s -w"
    set -- ;;
  *) usage ;;
esac
hash=$(cat go.mod go.sum "$@" | sha256sum | cut -c1-16)
folder=${BERTH_ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth}/$name-$hash
program=$folder/$name
if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "build-program.sh: no go on PATH" >&2; exit 2; }
  mkdir -p "$folder"
  echo "building $name (minutes, the first time)" >&2
  # Go's compiler spends a quarter of its time collecting garbage that fits into memory, and an eighth on what only debuggers read.
  GOGC=${GOGC:-400} GOFLAGS="${GOFLAGS:-} -mod=readonly -buildvcs=false" go build -gcflags all=-dwarf=false -ldflags "$flags" -o "$program.$$" "$package" >&2
  mv "$program.$$" "$program"
fi
echo "$program"
