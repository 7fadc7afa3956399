# SPDX-License-Identifier: Apache-2.0
# What the stories share beyond ../rig/lib.sh: schedulers by name, and what must be so whatever has happened.
. "$(dirname "${BASH_SOURCE[0]}")/../rig/lib.sh"
declare -A ports=()

audit_log=$RIG/logs/audit.log
# shellcheck disable=SC1091
control=http://127.0.0.1:$(. "$RIG/env" && echo "$control_port")

# launch NAME COMMAND...: a scheduler with the rights of kube-scheduler, on a port of its own. The variable kubeconfig names
# another way to the API server; the port always asks it directly.
launch() {
  local name=$1 config=$RIG/kube-scheduler.kubeconfig
  shift
  ports[$name]=$(free_port)
  "$@" --kubeconfig "${kubeconfig:-$config}" --authentication-kubeconfig "$config" --authorization-kubeconfig "$config" \
    --bind-address 127.0.0.1 --secure-port "${ports[$name]}" --tls-cert-file "$RIG/pki/extender.crt" \
    --tls-private-key-file "$RIG/pki/extender.key" </dev/null >"$LOGS/$name.log" 2>&1 &
  pids[$name]=$!
  eventually "$name is ready" port_says "$name" "/readyz?verbose" "*readyz check passed*"
}
# start NAME [OPTION...]: `berth scheduler`, with the options of the variable BERTH_OPTIONS as well, and the environment of
# BERTH_ENV. start_stock NAME [OPTION...]: kube-scheduler.
start() {
  # shellcheck disable=SC2086
  launch "$1" env ${BERTH_ENV-} "$BERTH" scheduler -v 3 ${BERTH_OPTIONS-} "${@:2}"
}
start_stock() { launch "$1" "$RIG/bin/kube-scheduler" -v 3 "${@:2}"; }
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
# cache_agrees NAME: what it believes, queue and cache, is what the API server said.
cache_agrees() {
  local before line tries
  before=$(grep -c 'Cache comparer finished' "$LOGS/$1.log" || true)
  kill -USR2 "${pids[$1]}"
  for ((tries = 0; tries < 100; tries++)); do
    [ "$(grep -c 'Cache comparer finished' "$LOGS/$1.log" || true)" -eq "$before" ] || break
    sleep 0.1
  done
  [ "$tries" -lt 100 ] || { echo "SIGUSR2: no answer in the log"; return 1; }
  # The lines of this comparison alone: those after the one before.
  line=$(awk -v before="$before" '/Cache comparer finished/ { if (++n > before) print } n == before && /Cache mismatch/' \
    "$LOGS/$1.log")
  echo "$line"
  [[ $line != *'Cache mismatch'* ]] && { [[ $line != *mismatch=* ]] || [[ $line == *'mismatch="none"'* ]]; }
}

# --- hundreds of pods

rigtool() {
  local command=$1
  shift
  "$RIG/bin/rigtool" "$command" --kubeconfig "$KUBECONFIG" "$@"
}
usable() {
  local taints
  taints=$(kubectl get nodes -o 'jsonpath={.items[*].spec.taints[*].key}')
  echo "$taints"
  [[ $taints != *node.kubernetes.io/not-ready* ]]
}
# more_nodes COUNT: with 8 cpu each, beside the two that are there; they go with the story.
added=no
more_nodes() {
  added=yes
  rigtool nodes --count "$1" --prefix more- --cpu 8 --memory 32Gi >/dev/null
  eventually "$1 more nodes can be used" usable
}
load=           # the label of the pods that are arriving
loader=         # who makes them
pods_arrive=0   # how many
crowds=0
# arrive COUNT [OPTION...]: so many pods of half a cpu begin to arrive.
arrive() {
  load=crowd=$story-$((++crowds))
  pods_arrive=$1
  # No name twice: the audit log has all stories.
  rigtool pods --count "$1" --prefix "${story//_/-}-$$-$crowds-" --label "$load" --cpu 500m --memory 500Mi --rate "${rate:-150}" \
    "${@:2}" >"$LOGS/loader.log" 2>&1 &
  loader=$!
}
arrived() {
  local code=0
  wait "$loader" || code=$?
  loader=
  [ "$code" -eq 0 ] || broken "$pods_arrive pods are made" "exit code 0" "$(cat "$LOGS/loader.log")"
}
# some_bound COUNT: so many of them are, so that what comes next comes in the middle.
some_bound() {
  local bound
  bound=$(kubectl get pods -l "$load" -o 'jsonpath={range .items[*]}{.spec.nodeName}{"\n"}{end}' | grep -c . || true)
  echo "$bound are bound"
  [ "$bound" -ge "$1" ]
}
in_the_middle() {
  local deadline=$((SECONDS + patience))
  until some_bound "$1" >/dev/null; do
    [ "$SECONDS" -lt "$deadline" ] || broken "$1 pods are bound" "within $patience s" "$(some_bound 0)"
  done
}
# settled WHAT SCHEDULER [OPTION...]: the one check after everything that can happen (rigtool check): no pod bound twice, none
# forgotten, no node overcommitted, every event there, and the scheduler's queue and cache are those of a fresh list. The
# pods go then.
settled() {
  local what=$1 name=$2 deadline=$((SECONDS + patience)) seen compared
  shift 2
  until excuse "$name" && seen=$(rigtool check --label "$load" --want "$pods_arrive" --audit "$audit_log" \
    --excused "$LOGS/excused" "$@" 2>&1); do
    [ "$SECONDS" -lt "$deadline" ] || broken "$what" "all is well within $patience s" "$seen"
    sleep 0.3
  done
  [ -z "$name" ] || compared=$(eventually_quiet "$name") ||
    broken "$what: queue and cache of $name" "those of a fresh list" "$compared"
  rigtool clear --label "$load" >/dev/null
  ok "$what: $seen"
}
# excuse [SCHEDULER]: whose event need not be there, because the log says that the server refused it, or did not take it for so
# long that it was dropped; and those of bound_by_the_dead.
excuse() {
  {
    [ -z "$1" ] || grep -h 'Server rejected event\|Event was dropped' "$LOGS/$1.log" |
      sed -n 's/.* event="\([^"]*\)\.[0-9a-f]*".*/\1/p'
    [ ! -r "$LOGS/bound-by-the-dead" ] || cat "$LOGS/bound-by-the-dead"
  } >"$LOGS/excused" || true
}
# bound_by_the_dead: events of pods that are bound now may have been in the memory of a scheduler that was killed.
bound_by_the_dead() {
  kubectl get pods -l "$load" -o 'jsonpath={range .items[?(@.spec.nodeName)]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' \
    >"$LOGS/bound-by-the-dead"
}
# Bindings and events may be on their way for a moment still.
eventually_quiet() {
  local tries
  for ((tries = 0; tries < 5; tries++)); do
    ! cache_agrees "$1" || return 0
    sleep 1
  done
  return 1
}

# --- the proxy

# arm JSON: a fault, see tests/upstream/controlplane.md. disarm: sets hits to how often all of them hit.
arm() {
  local answer
  answer=$("$RIG/bin/rigtool" call POST "$control/faults" <<<"$1")
  [[ $answer == 201* ]] || broken "a fault is armed" "$1" "$answer"
}
hits=0
disarm() {
  local answer
  answer=$("$RIG/bin/rigtool" call DELETE "$control/faults" </dev/null)
  hits=$(grep -o '"hits":[0-9]*' <<<"$answer" | awk -F: '{ n += $2 } END { print n + 0 }')
}
# order PATH: what is open now; sets hits to how many were told.
order() {
  local answer
  answer=$("$RIG/bin/rigtool" call POST "$control$1" </dev/null)
  [[ $answer == 200* ]] || broken "the proxy obeys" "$1" "$answer"
  hits=$((hits + ${answer#*$'\n'}))
}

end_live() {
  local code=$?
  stop_all
  [ -z "$loader" ] || kill "$loader" 2>/dev/null || true
  "$RIG/bin/rigtool" call DELETE "$control/faults" </dev/null >/dev/null 2>&1 || true
  [ "$crowds$added" = 0no ] || rigtool clear --label crowd --nodes more- >/dev/null 2>&1 || true
  set +e # `end` is to see the code
  (exit "$code")
  end
}
trap end_live EXIT
kubectl delete lease -n kube-system kube-scheduler --ignore-not-found >/dev/null
