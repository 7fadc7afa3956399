#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the Dockerfile without a container engine, step by step as it stands, in a root of nothing but Debian's packages, and starts
# what comes out of it as the image's user. By hand, for it builds the program from nothing:
#   tools/fresh trixie tests/deploy/dockerfile.sh
# The first stage is the root that this runs in; a stage from scratch is an empty folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
context=$PWD
[ -e /steps ] && [ "$(id -u)" = 0 ] ||
  { echo "dockerfile.sh: this changes the root that it runs in: start it with tools/fresh trixie tests/deploy/dockerfile.sh" >&2; exit 2; }
fail() { echo "dockerfile.sh: Dockerfile:$number: $*" >&2; exit 1; }

declare -A roots=() # of stages that have a name
root=               # of this stage; empty: none yet
folder=/            # WORKDIR
user=0:0
entrypoint=
# place PATH: where that is, in this stage.
place() { case $1 in /*) echo "$root$1" ;; *) echo "$root$folder/$1" ;; esac; }
number=0
line=
while IFS= read -r part || [ -n "$part" ]; do
  number=$((number + 1))
  case $part in '#'* | '') continue ;; esac
  line+=$part
  if [[ $line == *\\ ]]; then
    line=${line%\\}
    continue
  fi
  instruction=${line%% *}
  rest=${line#* }
  line=
  printf '\n%s %s\n' "$instruction" "$rest"
  read -ra words <<<"$rest"
  case $instruction in
    FROM)
      folder=/ user=0:0
      case ${words[0]} in
        scratch)
          root=/stage-$number
          mkdir "$root"
          ;;
        debian:*-slim)
          suite=${words[0]#debian:}
          suite=${suite%-slim}
          grep -q "^VERSION_CODENAME=$suite\$" /etc/os-release || fail "this root is not $suite"
          root=/
          root=${root%/}
          ;;
        *) fail "a root like ${words[0]} is not known here" ;;
      esac
      case ${words[1]:-} in AS | as) roots[${words[2]}]=$root ;; esac
      ;;
    RUN)
      [ -z "$root" ] || fail "RUN in a stage without a shell"
      (cd "$folder" && /bin/sh -c "$rest")
      ;;
    COPY)
      from=$context
      if [[ ${words[0]} == --from=* ]]; then
        name=${words[0]#--from=}
        [ -n "${roots[$name]+known}" ] || fail "no stage $name"
        from=${roots[$name]}
        words=("${words[@]:1}")
      fi
      [ ${#words[@]} -eq 2 ] || fail "COPY of one thing is all that is known here"
      to=$(place "${words[1]}")
      if [ -d "$from/${words[0]}" ]; then
        mkdir -p "$to"
        # As an engine does, without what .dockerignore names.
        (cd "$from/${words[0]}" && tar -c --anchored --exclude-from=<([ "$from" != "$context" ] || sed 's|^|./|' "$context/.dockerignore") .) |
          tar -x -C "$to"
      else
        mkdir -p "$(dirname "$to")"
        cp -a "$from/${words[0]}" "$to"
      fi
      ;;
    WORKDIR)
      folder=$rest
      mkdir -p "$(place "$folder")"
      ;;
    USER) user=$rest ;;
    ENTRYPOINT)
      [[ $rest =~ ^\[\"([^\"]*)\"\]$ ]] || fail "ENTRYPOINT of one word is all that is known here"
      entrypoint=${BASH_REMATCH[1]}
      ;;
    *) fail "$instruction is not known here" ;;
  esac
done <Dockerfile

[ -n "$root" ] || fail "the last stage has a whole system in it"
printf '\nthe image: %s, as user %s\n' "$(du -sh "$root" | cut -f 1)" "$user"
(cd "$root" && find . ! -type d | sort)
in_image() { chroot "--userspec=$user" "$root" "$@"; }
in_image "$entrypoint" version
in_image "$entrypoint" config defaults >/dev/null
[[ $(in_image /usr/local/bin/kube-scheduler --version) == "Kubernetes v"* ]]
if in_image /bin/sh -c true 2>/dev/null; then
  echo "dockerfile.sh: there is a shell in the image" >&2
  exit 1
fi
echo "the image's program starts"
