#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# configure.sh SOURCE BINARY_DIR: configuring by hand after ./run, on a machine without the libraries of the tests. The
# program is configured alone; insisting on the tests fails with a sentence; and that failure does not stay. Nor does the
# program need nghttp2, which the tests of HTTP/2 do.
set -uo pipefail
source_dir=$1
dir=$2
passed=0
failed=0
hidden=$(mktemp -d) # where pkg-config looks first, and finds an nghttp2 that wants what nobody has
trap 'rm -rf "$hidden"' EXIT
printf 'Name: nghttp2\nDescription: hidden\nVersion: 1\nRequires: nothing-of-that-name\n' >"$hidden/libnghttp2.pc"
rm -rf "$dir"

# expect NAME WANTED_STATUS WANTED_TEXT CMAKE_ARGUMENT...
expect() {
  local name=$1 want=$2 text=$3 status=0 log
  shift 3
  log=$(cmake -G Ninja -S "$source_dir" -B "$dir" "$@" 2>&1) || status=1
  log=$(tr -s ' \n' ' ' <<<"$log") # CMake breaks lines where it likes
  if [ $status -eq "$want" ] && [[ $log == *"$text"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: exit code %s instead of %s, or no "%s" in:\n%s\n' "$name" "$status" "$want" "$text" "$log"
  fi
}
expect "by hand" 0 "The tests are left out, for want of GoogleTest" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
expect "as ./test does" 1 "BERTH_TESTS=ON, but there is no GoogleTest" -DBERTH_TESTS=ON
expect "as ./run does, after that" 0 "The tests are left out, for want of GoogleTest" -DBERTH_TESTS=AUTO
rm -rf "$dir"
export PKG_CONFIG_PATH=$hidden
expect "without nghttp2" 0 "The tests are left out, for want of nghttp2;"
expect "as ./test does, without nghttp2" 1 "BERTH_TESTS=ON, but there is no nghttp2." -DBERTH_TESTS=ON
rm -rf "$dir"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
