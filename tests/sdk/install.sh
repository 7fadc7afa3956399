#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh SOURCE BUILD DIR: what an author of plugins does. Installs BUILD under DIR, then builds and tries two projects
# that know nothing but the installed package: examples/rack_temperature, optimised, and what docs/plugins.md shows. Says how
# long the author of the example waited. Closes with "N passed, N failed".
set -uo pipefail
source_dir=$1
build_dir=$2
dir=$3
passed=0
failed=0
rm -rf "$dir"
mkdir -p "$dir"
export HOME=$dir # where docs/plugins.md installs to
prefix=$HOME/berth-sdk
unset CMAKE_PREFIX_PATH CMAKE_CXX_COMPILER_LAUNCHER

# expect NAME COMMAND...: its words only when it fails.
expect() {
  local name=$1 log=$dir/log
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    return 0
  fi
  failed=$((failed + 1))
  echo "FAILED: $name: $*"
  cat "$log"
  return 1
}
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}
now() { date +%s%N; }
seconds_since() { awk -v ns=$(($(now) - $1)) 'BEGIN { printf "%.1f", ns / 1e9 }'; }

expect "install" cmake --install "$build_dir" --prefix "$prefix" || finish
nothing_of_this_machine() { [ -d "$prefix/lib/cmake/berth" ] && ! grep -rlF -e "$source_dir" -e "$build_dir" "$prefix/lib" "$prefix/include" --include='*.cmake' --include='*.h'; }
expect "the package can be moved" nothing_of_this_machine
expect "the program runs" "$prefix/bin/berth" version

# The example, as its README says.
cp -r "$source_dir/examples/rack_temperature" "$dir/example"
start=$(now)
expect "configure the example" cmake -G Ninja -S "$dir/example" -B "$dir/example/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$prefix" || finish
expect "build the example" cmake --build "$dir/example/build" || finish
built=$(seconds_since "$start")
expect "test the example" ctest --test-dir "$dir/example/build" --output-on-failure --no-tests=error
echo "an author of plugins waited $built s for the example to be built, $(seconds_since "$start") s with its tests"
rm -rf "$dir/example"

# The page. Compiled without optimisation, which is quicker and shows the same errors.
mkdir -p "$dir/page"
awk -v dir="$dir/page" -f "$source_dir/tests/sdk/blocks.awk" "$source_dir/docs/plugins.md"
cd "$dir/page" || finish
expect "the page has its files" ls main.cc CMakeLists.txt try.sh verify.sh earlier/main.cc
sed -i 's/^cmake -G Ninja/& -DCMAKE_BUILD_TYPE=Debug/' try.sh
expect "docs/plugins.md: try.sh" bash -eu try.sh || finish
expect "docs/plugins.md: verify.sh" bash -eu verify.sh
for file in earlier/*.cc; do
  expect "docs/plugins.md: $file" "${CXX:-c++}" -std=c++20 -fsyntax-only -I. -I"$prefix/include" "$file"
done
explained() { build/acme_scheduler explain --offline -f objects.yaml --config config.yaml --pod web | grep 'Goes to red-1' >/dev/null; }
expect "docs/plugins.md: the tenant's own node" explained
cd / && rm -rf "$dir"
finish
