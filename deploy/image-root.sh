#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-root.sh PROGRAM DIR: makes DIR the root of an image that has nothing but the program, under both its names, what it
# links, certificates of authorities, and a user for it. The Dockerfile runs it; so does tests/deploy.
set -eu
[ $# -eq 2 ] || { echo "usage: image-root.sh PROGRAM DIR" >&2; exit 2; }
program=$1
root=$2
mkdir -p "$root/usr/local/bin" "$root/etc/ssl/certs" "$root/tmp"
chmod 1777 "$root/tmp"
cp -L "$program" "$root/usr/local/bin/berth"
strip "$root/usr/local/bin/berth" 2>/dev/null || true
ln -sf berth "$root/usr/local/bin/kube-scheduler"
# Libraries go where the loader looks for them, whatever links lead there.
ldd "$program" | awk '/=> \// { print $3 } /^[[:space:]]*\/.*ld-linux/ { print $1 }' | while IFS= read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
if ldd "$program" | grep 'not found'; then
  echo "image-root.sh: $program lacks libraries" >&2
  exit 1
fi
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf 'root:x:0:0::/:/none\nberth:x:65532:65532::/:/none\n' >"$root/etc/passwd"
printf 'root:x:0:\nberth:x:65532:\n' >"$root/etc/group"
# Names are looked up as glibc does, by files and DNS; both are within it since 2.34.
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
