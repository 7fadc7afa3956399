# SPDX-License-Identifier: Apache-2.0
# Configuring and building with the presets of CMakePresets.json, quietly. Sourced by ./run and ./test from the top folder.

# A clone elsewhere, or the next CI run, finds what this one compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Precompiled headers: they are compared by content, and what they define is in their own sources.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# berth_configure PRESET: prints CMake's words only when it fails.
berth_configure() {
  local tests=${BERTH_WITH_TESTS:-AUTO} log status=0
  # Said every time, so that nothing depends on what a cache remembers: ./test insists on the tests, ./run takes them along
  # when their libraries are there. Fuzzing has programs of its own.
  if [ "$1" = fuzz ]; then tests=OFF; fi
  log=$(mktemp)
  cmake --preset "$1" "-DBERTH_TESTS=$tests" >"$log" 2>&1 || status=1
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $status
}

# berth_build PRESET TARGET...: a progress line on a terminal, only errors elsewhere.
berth_build() {
  local preset=$1
  shift
  berth_configure "$preset" || return 1
  if [ -t 1 ]; then
    cmake --build "build/$preset" --parallel "$(nproc)" --target "$@"
  else # pipefail is on in ./run and ./test
    cmake --build "build/$preset" --parallel "$(nproc)" --target "$@" -- --quiet | sed '/^ninja: no work to do/d'
  fi
}
