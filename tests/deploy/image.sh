#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The root of the image: nothing but the program, what it links, certificates and a user.
. "$(dirname "$0")/deploy.sh"

"$deploy/image-root.sh" "$BERTH" "$LOGS/image"
# in_root COMMAND...: as in a container, as far as files go.
in_root() {
  if [ "$(id -u)" = 0 ]; then chroot "$LOGS/image" "$@"; else unshare --user --map-root-user chroot "$LOGS/image" "$@"; fi
}
if ! unshare --user --map-root-user true 2>/dev/null && [ "$(id -u)" != 0 ]; then
  echo "  skipped: nobody may chroot here" >&2
  exit 0
fi
now "the program starts" in_root /usr/local/bin/berth version
says() {
  local said
  said=$(in_root "${@:2}" 2>&1) || true
  echo "$said"
  [[ $said == *$1* ]]
}
now "by the name of kube-scheduler it is that" says "Kubernetes v1.36.4" /usr/local/bin/kube-scheduler --version
no_shell() { ls "$LOGS/image/bin" "$LOGS/image/usr/bin" 2>/dev/null && return 1 || echo "neither /bin nor /usr/bin"; }
now "there is no shell, and nothing else to run" no_shell
now "TLS finds the authorities" test -s "$LOGS/image/etc/ssl/certs/ca-certificates.crt"
