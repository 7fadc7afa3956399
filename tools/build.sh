# SPDX-License-Identifier: Apache-2.0
# Configuring and building with the presets of CMakePresets.json, quietly. Sourced by ./run and ./test from the top folder.

# A clone elsewhere, or the next CI run, finds what this one compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# What is not in the cache is compiled without being preprocessed for the cache's sake first: a tenth of a library's first compilation.
export CCACHE_DEPEND=1
# Precompiled headers: they are compared by content, and what they define is in their own sources.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# berth_configure PRESET: prints CMake's words only when it fails.
berth_configure() {
  local tests=${BERTH_WITH_TESTS:-AUTO} werror=() log status=0
  # Said every time, whatever a cache remembers: ./test insists on the tests, ./run takes them along when their libraries
  # are there. Fuzzing has programs of its own.
  if [ "$1" = fuzz ]; then tests=OFF; fi
  # Where BERTH_WERROR=ON says so, which CI does, its compiler being known; a build folder keeps it, or a ./run after
  # CI would compile everything again. Sanitizers make compilers warn about problems that are not there.
  if [ "$1" = release ] && [ -n "${BERTH_WERROR-}" ]; then werror=("-DBERTH_WERROR=$BERTH_WERROR"); fi
  log=$(mktemp)
  cmake --preset "$1" "-DBERTH_TESTS=$tests" ${werror[@]+"${werror[@]}"} >"$log" 2>&1 || status=1
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $status
}

# berth_announce PRESET TARGET...: says that a build has begun which will take a while, and roughly how long.
berth_announce() {
  local preset=$1 objects files seconds minutes
  shift
  # Objects that are not there: asking ninja what it would do ends at its look for new files.
  objects=$(ninja -C "build/$preset" -t commands "$@" 2>/dev/null | sed -n 's/.* -o \([^ ]*\.o\) .*/\1/p' | sort -u |
    while IFS= read -r object; do [ -e "build/$preset/$object" ] || echo "$object"; done)
  # Twelve seconds of one core for a batch and three for a file of its own is what an average machine takes.
  read -r files seconds < <(awk '/batches\// { s += 9 } /./ { ++n; s += 3 } END { print n + 0, s + 0 }' <<<"$objects")
  minutes=$(((seconds / $(nproc) + 30) / 60))
  if [ "$minutes" -lt 1 ]; then return 0; fi
  echo "Building Berth ($preset): $files compilations, about $minutes min on $(nproc) cores; what was compiled before comes from ccache and takes no time." >&2
}

# berth_build PRESET TARGET...: a progress line on a terminal, only errors elsewhere.
berth_build() {
  local preset=$1
  shift
  berth_configure "$preset" || return 1
  berth_announce "$preset" "$@"
  if [ -t 1 ]; then
    cmake --build "build/$preset" --parallel "$(nproc)" --target "$@" && return 0
  else # pipefail is on in ./run and ./test
    cmake --build "build/$preset" --parallel "$(nproc)" --target "$@" -- --quiet | sed '/^ninja: no work to do/d' && return 0
  fi
  if [ -z "${BERTH_WERROR-}" ] && grep -qs '^BERTH_WERROR:BOOL=ON' "build/$preset/CMakeCache.txt"; then
    echo "Warnings are errors in build/$preset since a build with BERTH_WERROR=ON; with BERTH_WERROR=OFF they are not." >&2
  fi
  return 1
}
