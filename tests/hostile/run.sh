#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Attacks an extender of its own on 127.0.0.1, and looks whether it still ends as it should.
#   run.sh BERTH HOSTILE [--tls] [--limit DESCRIPTORS] [ARGUMENT OF HOSTILE]...
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: run.sh BERTH HOSTILE [--tls] [--limit DESCRIPTORS] [ARGUMENT OF HOSTILE]..." >&2; exit 2; }
berth=$1 hostile=$2
shift 2
folder=$(mktemp -d)
pid=
finish() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
flags=() scheme=http limit=
while [ $# -gt 0 ]; do
  case $1 in
    --tls)
      command -v openssl >/dev/null || { echo "skipped: there is no openssl to make a certificate"; exit 0; }
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 1 \
        -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
      flags=(--tls-cert-file "$folder/cert.pem" --tls-private-key-file "$folder/key.pem") scheme=https
      shift ;;
    --limit) limit=$2; shift 2 ;;
    *) break ;;
  esac
done
: >"$folder/log" # it is read before the extender may have begun
if [ -n "$limit" ]; then
  (ulimit -n "$limit" && exec "$berth" extender --preset label-priority --port 0 "${flags[@]}") 2>"$folder/log" &
else
  "$berth" extender --preset label-priority --port 0 "${flags[@]}" 2>"$folder/log" &
fi
pid=$!
port=
for _ in $(seq 200); do
  port=$(sed -n 's/.*server listening on the port : \([0-9]*\).*/\1/p' "$folder/log")
  [ -z "$port" ] || break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
[ -n "$port" ] || { echo "the extender did not start:"; cat "$folder/log"; exit 1; }
status=0
"$hostile" --target "$scheme://127.0.0.1:$port" "$@" || status=$?
kill -TERM "$pid"
ended=0
wait "$pid" || ended=$?
pid=
if [ "$ended" -ne 0 ]; then
  echo "FAILED the extender ended with $ended:"
  tail -n 30 "$folder/log"
  exit 1
fi
exit "$status"
