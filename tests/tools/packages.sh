#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh TOP: tools/packages.sh knows the names of each system that README names. Prints "N passed, N failed".
set -uo pipefail
. "$1/tools/packages.sh"
passed=0 failed=0
release=$(mktemp)
trap 'rm -f "$release"' EXIT

# expect SYSTEM PACKAGE LINE...: an os-release of these lines is SYSTEM, and Boost is PACKAGE there.
expect() {
  local system=$1 package=$2 got
  shift 2
  printf '%s\n' "$@" >"$release"
  got=$(berth_system "$release")
  if [ "$got" = "$system" ] && [ "$(berth_boost_package "$got")" = "$package" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "expected $system with $package, got $got with $(berth_boost_package "$got")" >&2
  fi
}
expect debian:12 libboost1.81-dev 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' 'VERSION_ID="12"' ID=debian
expect debian:13 libboost-dev 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"' 'VERSION_ID="13"' ID=debian
expect ubuntu:24.04 libboost-dev 'VERSION_ID="24.04"' ID=ubuntu ID_LIKE=debian
expect debian: libboost-dev 'PRETTY_NAME="Debian GNU/Linux forky/sid"' ID=debian
rm -f "$release"
got=$(berth_system "$release")
if [ "$got" = ":" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "no os-release: got $got" >&2; fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
