#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOP BERTH: runs the shell blocks of README.md and docs/*.md that need no cluster, in the order of the page, in a folder like
# the top of the tree. The comment in the line before a block says how it is run:
#   <!-- run -->           to its end, which is success
#   <!-- serve -->         a server for the blocks after it, until the end of the page
#   <!-- rig -->           with kubectl and a cluster, by tests/deploy/pages.sh
#   <!-- rig: serve -->    likewise, in the background
#   <!-- not run: WHY -->  not at all
# A block without one is a finding. Files that a reader has are in given/; <!-- file: NAME --> before a yaml block makes it one.
# Then what ./run proposes is tried. Closes with "N passed, N failed".
set -uo pipefail
top=$1
berth=$(readlink -f "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
passed=0
failed=0
servers=()
end() {
  local pid
  for pid in ${servers[@]+"${servers[@]}"}; do kill "$pid" 2>/dev/null; done
  rm -rf "$scratch"
}
trap end EXIT
fail() {
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$1"
  [ -z "${2:-}" ] || sed 's/^/  | /' "$2"
}
# A free port for each that pages name, so that tests may run side by side.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}
# listens PORT: within ten seconds.
listens() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
    sleep 0.1
  done
  return 1
}
# like_top FOLDER: it looks like the top of the tree after ./run, as far as a reader's commands go.
like_top() {
  local name
  mkdir -p "$1/build/release"
  for name in examples docs tests deploy bench; do ln -s "$top/$name" "$1/$name"; done
  cp "$here"/given/* "$1"
  awk 'FNR == 1 && NR > 1 { print "---" } { print }' "$top"/examples/demo/*.yaml >"$1/cluster.yaml"
  ln -s "$berth" "$1/build/release/berth"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$berth" >"$1/run" && chmod +x "$1/run"
}
# block FILE TITLE
block() {
  if (cd "$folder" && PATH=$folder/build/release:$PATH bash -euo pipefail "$1") >"$scratch/said" 2>&1 </dev/null; then
    passed=$((passed + 1))
  else
    fail "$2: exit code $?" "$scratch/said"
    sed 's/^/  > /' "$1"
  fi
}

for page in "$top/README.md" "$top"/docs/*.md; do
  name=${page#"$top"/}
  folder=$scratch/${name//\//-}
  blocks=$folder.blocks
  mkdir -p "$blocks"
  like_top "$folder"
  findings=$(awk -v dir="$blocks" -f "$here/blocks.awk" "$page")
  [ -z "$findings" ] || fail "$findings"
  port=$(free_port)
  find "$blocks" -type f ! -name '[0-9][0-9].*' -exec cp {} "$folder" ';' # files that the page shows
  for file in "$blocks"/[0-9][0-9].*; do
    [ -e "$file" ] || continue
    sed -i "s/\b8888\b/$port/g" "$file"
    case $file in
      *.run) block "$file" "$name, block $(basename "$file")" ;;
      *.serve)
        (cd "$folder" && PATH=$folder/build/release:$PATH exec bash -euo pipefail -c "exec $(cat "$file")") \
          >"$scratch/served" 2>&1 </dev/null &
        servers+=($!)
        if listens "$port"; then passed=$((passed + 1)); else fail "$name, block $(basename "$file"): nobody listens" "$scratch/served"; fi
        ;;
    esac
  done
  for pid in ${servers[@]+"${servers[@]}"}; do
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  servers=()
done

folder=$scratch/run
mkdir -p "$folder"
like_top "$folder"
proposed=$(sed -n 's/^  \(\.\/run .*\)/\1/p' "$top/run")
[ "$(grep -c . <<<"$proposed")" -eq 3 ] || fail "./run ends with three commands to try; these were found: $proposed"
while IFS= read -r line; do
  echo "$line" >"$scratch/line"
  block "$scratch/line" "./run proposes: $line"
done <<<"$proposed"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
