# SPDX-License-Identifier: Apache-2.0
# What the stories share beyond ../seeds/lib.sh: schedulers by name, and what must be so whatever has happened.
. "$(dirname "${BASH_SOURCE[0]}")/../seeds/lib.sh"
declare -A pids=() ports=()

# start NAME [OPTION...]: `berth scheduler` with the rights of kube-scheduler, on a port of its own.
start() {
  local name=$1 config=$RIG/kube-scheduler.kubeconfig
  shift
  ports[$name]=$(free_port)
  "$BERTH" scheduler --kubeconfig "$config" --authentication-kubeconfig "$config" --authorization-kubeconfig "$config" \
    --bind-address 127.0.0.1 --secure-port "${ports[$name]}" --tls-cert-file "$RIG/pki/extender.crt" \
    --tls-private-key-file "$RIG/pki/extender.key" -v 3 "$@" </dev/null >"$LOGS/$name.log" 2>&1 &
  pids[$name]=$!
  eventually "$name is ready" port_says "$name" "/readyz?verbose" "*readyz check passed*"
}
# stop NAME SIGNAL CODE: it ends with this code.
stop() {
  local code=0
  kill -"$2" "${pids[$1]}"
  wait "${pids[$1]}" 2>/dev/null || code=$?
  unset "pids[$1]"
  [ "$code" = "$3" ] || broken "$1 ends after SIG$2" "exit code $3" "$code: $(tail -n 3 "$LOGS/$1.log")"
  ok "$1 has ended after SIG$2"
}
stop_all() {
  local name
  for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null || true; done
}
# port_says NAME PATH PATTERN [USER]: status and answer on its port, asked with the certificate of USER or without one.
port_says() {
  local answer
  answer=$("$RIG/bin/rigtool" call GET "https://127.0.0.1:${ports[$1]}$2" "$RIG/pki" ${4:+"$4"} </dev/null 2>&1) || true
  echo "${answer:0:2000}"
  # shellcheck disable=SC2053
  [[ $answer == $3 ]]
}
holder() { kubectl get lease -n kube-system kube-scheduler -o 'jsonpath={.spec.holderIdentity}'; }
# leads NAME: its log says so, after everything else about leases.
leads() {
  grep -E 'acquired lease|Failed to renew|lost' "$LOGS/$1.log" | tail -n 1
  [[ $(grep -E 'acquired lease|Failed to renew|lost' "$LOGS/$1.log" | tail -n 1) == *"Successfully acquired lease"* ]]
}
# all_run SELECTOR COUNT
all_run() {
  local pods
  pods=$(kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.nodeName}/{.status.phase}{"\n"}{end}')
  echo "$(grep -c '/Running$' <<<"$pods") of $2 run"
  [ "$(grep -c '?*/Running$\|^..*/Running$' <<<"$pods")" -eq "$2" ]
}
# scheduled_once SELECTOR: every pod has one Scheduled event, and it names the pod's node.
scheduled_once() {
  local wrong
  wrong=$(join -a 1 -e none -o 0,1.2,2.2,2.3 \
    <(kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}' | sort) \
    <(kubectl get events --field-selector reason=Scheduled \
      -o 'jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' |
      sed 's/ Successfully assigned .* to / /' | sort | awk '{ n[$1]++; to[$1] = $2 } END { for (p in n) print p, n[p], to[p] }' | sort) |
    awk '$3 != 1 || $2 != $4')
  echo "${wrong:-all of them}"
  [ -z "$wrong" ]
}
# cache_agrees NAME: what it believes is what the API server said.
cache_agrees() {
  local before
  before=$(grep -c 'Cache comparer finished' "$LOGS/$1.log" || true)
  kill -USR2 "${pids[$1]}"
  sleep 0.5
  grep 'Cache comparer finished' "$LOGS/$1.log" | tail -n 1
  [ "$(grep -c 'Cache comparer finished' "$LOGS/$1.log")" -gt "$before" ] &&
    [[ $(grep 'Cache comparer finished' "$LOGS/$1.log" | tail -n 1) == *'mismatch="none"'* ]]
}
end_live() {
  local code=$?
  stop_all
  (exit "$code")
  end
}
trap end_live EXIT
kubectl delete lease -n kube-system kube-scheduler --ignore-not-found >/dev/null
