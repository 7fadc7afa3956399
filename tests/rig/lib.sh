# SPDX-License-Identifier: Apache-2.0
# What the stories share. Sourced by them; run.sh starts them with RIG (a control plane's folder), BERTH (the program),
# UPSTREAM (the folder of the control plane script), SCHEDULER (stock or berth: what the control plane starts as its scheduler)
# and LOGS (a folder of the story's own) in the environment.
# A story stops at its first step or command that fails: the next ones build on it.
set -eEuo pipefail
: "${RIG:?start stories with run.sh}" "${BERTH:?}" "${UPSTREAM:?}" "${LOGS:?}"
KUBECONFIG=$RIG/kubeconfig
export KUBECONFIG
story=$(basename "$0" .sh)
[ "$story" != walkthrough ] || story=$(basename "$(dirname "$0")")
passed=0
extender_pid=
extender_log=
url=                              # of the extender
pki=()                            # what rigtool needs to call it over TLS
patience=${BERTH_RIG_PATIENCE:-90} # seconds that a step may take; usual are one to ten

kubectl() { "$RIG/bin/kubectl" --request-timeout=20s "$@"; }
scheduler_log=$RIG/logs/kube-scheduler.log

# --- steps

ok() {
  passed=$((passed + 1))
  printf '  ok      %s\n' "$1"
}

# broken WHAT EXPECTED SEEN: reports, keeps what explains it, ends the story.
broken() {
  trap - ERR
  {
    printf '  FAILED  %s: %s\n    expected: %s\n    seen:     %s\n' "$story" "$1" "$2" "${3:-nothing}"
    kubectl get nodes -L "$label" -o wide >"$LOGS/nodes.txt" 2>&1 || true
    kubectl get pods -A -o wide >"$LOGS/pods.txt" 2>&1 || true
    kubectl get events -A --sort-by=.metadata.creationTimestamp >"$LOGS/events.txt" 2>&1 || true
    cp "$scheduler_log" "$LOGS/" 2>/dev/null || true
    printf '    pods, events and logs: %s\n' "$LOGS"
    tail -n 5 "$LOGS/events.txt" | sed 's/^/    | /'
    [ -z "$extender_log" ] || tail -n 5 "$extender_log" | cut -c 1-300 | sed 's/^/    | /'
  } >&2
  exit 1
}

# eventually WHAT COMMAND...: the command, which prints what it sees, succeeds before patience ends.
eventually() {
  local what=$1 deadline=$((SECONDS + patience)) seen
  shift
  until seen=$("$@" 2>&1); do
    [ "$SECONDS" -lt "$deadline" ] || broken "$what" "$* (within $patience s)" "$seen"
    sleep 0.2
  done
  ok "$what"
}

# now WHAT COMMAND...: the command succeeds at once.
now() {
  local what=$1 seen
  shift
  seen=$("$@" 2>&1) || broken "$what" "$*" "$seen"
  ok "$what"
}

# --- what is so; all print what they see

# runs_on SELECTOR NODE COUNT: so many pods of the selector run there, and none anywhere else.
runs_on() {
  local pods
  pods=$(kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.nodeName}/{.status.phase}{"\n"}{end}')
  echo "$pods"
  [ "$(grep -c . <<<"$pods")" -eq "$3" ] && [ "$(grep -cxF "$2/Running" <<<"$pods")" -eq "$3" ]
}
runs_somewhere() { # SELECTOR
  local pods
  pods=$(kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.nodeName}/{.status.phase}{"\n"}{end}')
  echo "$pods"
  [[ $pods == ?*/Running ]]
}
is_pending() { # SELECTOR
  local pods
  pods=$(kubectl get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.nodeName}/{.status.phase}{"\n"}{end}')
  echo "$pods"
  [ "$pods" = /Pending ]
}
are_gone() { # SELECTOR
  local pods
  pods=$(kubectl get pods -l "$1" -o name)
  echo "$pods"
  [ -z "$pods" ]
}
pod_of() { kubectl get pods -l "$1" -o 'jsonpath={.items[0].metadata.name}'; }

# event POD REASON FROM TEXT: the pod has such an event, and the text is all of its message or, with *, a part.
event() {
  local events line
  events=$(kubectl get events --field-selector "involvedObject.name=$1,reason=$2" \
    -o 'jsonpath={range .items[*]}{.reportingComponent}: {.message}{"\n"}{end}')
  echo "$events"
  while read -r line; do
    # shellcheck disable=SC2053 # the text may be a pattern
    [[ $line != "$3: "$4 ]] || return 0
  done <<<"$events"
  return 1
}

no_complaint() { # POD
  local events
  events=$(kubectl get events --field-selector "involvedObject.name=$1,type=Warning" -o 'jsonpath={.items[*].message}')
  echo "$events"
  [ -z "$events" ]
}

# logged FILE PATTERN: a line matches the extended regular expression; logged_since counts only lines after `mark FILE`.
logged() {
  tail -n 8 "$1"
  grep -qE -- "$2" "$1"
}
not_logged() { ! logged "$@"; }
declare -A marks=()
mark() { marks[$1]=$(wc -l <"$1"); }
logged_since() {
  tail -n +$((${marks[$1]:-0} + 1)) "$1" | tail -n 8
  tail -n +$((${marks[$1]:-0} + 1)) "$1" | grep -E -- "$2" >"$LOGS/matches"
}

# served ROUTE POD [IN OUT]: the log has the call since the mark, about so many nodes of which so many came back.
served() { logged_since "$extender_log" " route=\"$1\" .*pod=\"default/$2\"${3:+.* nodesIn=$3 nodesOut=$4 }"; }
not_served() { ! served "$@"; }

# bound_log POD EVALUATED FEASIBLE: the scheduler's own words.
bound_log() {
  logged "$scheduler_log" "Successfully bound pod to node\" pod=\"default/$1\".* evaluatedNodes=$2 feasibleNodes=$3"
}

# call METHOD PATH [BODY]: asks the extender; leaves `status` and `answer`.
call() {
  local reply
  reply=$("$RIG/bin/rigtool" call "$1" "$url$2" ${pki[@]+"${pki[@]}"} <<<"${3:-}" 2>&1) || reply="no answer
$reply"
  status=${reply%%$'\n'*}
  answer=${reply#*$'\n'}
}
# answers METHOD PATH BODY STATUS PATTERN: the whole answer matches the pattern of the shell.
answers() {
  local status answer
  call "$1" "$2" "$3"
  echo "$status $answer"
  # shellcheck disable=SC2053
  [[ $status == "$4" && $answer == $5 ]]
}

# --- doing

# start_extender URL COMMAND...: in the background, until it answers GET /version.
start_extender() {
  stop_extender
  url=$1
  shift
  extender_log=$LOGS/extender-$((++extenders)).log
  printf '%s\n' "$*" >"${extender_log%.log}.command"
  "$@" </dev/null >"$extender_log" 2>&1 &
  extender_pid=$!
  eventually "the extender serves" extender_answers
}
extenders=0
extender_answers() {
  if ! kill -0 "$extender_pid" 2>/dev/null; then
    echo "it has ended: $(tail -n 3 "$extender_log")"
    return 1
  fi
  answers GET /version '' 200 '*'
}
stop_extender() {
  [ -n "$extender_pid" ] || return 0
  kill "$extender_pid" 2>/dev/null || true
  local tries
  for ((tries = 0; tries < 150; tries++)); do
    [[ " $(jobs -rp | tr '\n' ' ')" == *" $extender_pid "* ]] || break
    sleep 0.1
  done
  if [ "$tries" -eq 150 ]; then
    echo "  the extender (pid $extender_pid) does not end in 15 s: killed" >&2
    kill -9 "$extender_pid" 2>/dev/null || true
  fi
  wait "$extender_pid" 2>/dev/null || true
  extender_pid=
}
# start NAME COMMAND...: a program in the background; its log is $LOGS/NAME.log. What still runs at the end is killed.
declare -A pids=()
start() {
  "${@:2}" </dev/null >"$LOGS/$1.log" 2>&1 &
  pids[$1]=$!
}
# stop NAME CODE: it ends so after SIGTERM.
stop() {
  local code=0
  kill "${pids[$1]}"
  wait "${pids[$1]}" || code=$?
  unset "pids[$1]"
  [ "$code" = "$2" ] || broken "$1 ends" "exit code $2" "$code: $(tail -n 3 "$LOGS/$1.log")"
  ok "$1 has ended"
}
# account_config NAME: a kubeconfig with a token of this ServiceAccount of kube-system, as a pod would have.
account_config() {
  local server token
  # shellcheck disable=SC1091
  server=$(. "$RIG/env" && echo "$server")
  token=$(kubectl create token -n kube-system "$1")
  (umask 077 && cat >"$LOGS/$1.kubeconfig") <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$server", certificate-authority: "$RIG/pki/ca.crt"}}]
users: [{name: u, user: {token: "$token"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
  echo "$LOGS/$1.kubeconfig"
}
free_port() { "$RIG/bin/rigtool" ports 1; }

# scheduler FILE [OPTION...]: kube-scheduler, started anew with this configuration.
scheduler() {
  "$UPSTREAM/controlplane" scheduler --dir "$RIG" --scheduler-config "$@" >"$LOGS/scheduler.out" 2>&1 ||
    broken "kube-scheduler starts with $(basename "$1")" "a scheduler that is ready" "$(tail -n 20 "$LOGS/scheduler.out")"
  ok "kube-scheduler runs with $(basename "$1")"
}

# The label of the second document.
label=priority.lixueduan.com

# A cluster as it was: no pods of anybody's, no labels, no events.
reset() {
  "$UPSTREAM/controlplane" scheduler --dir "$RIG" --no-scheduler
  kubectl delete deployments,pods --all --wait=false >/dev/null
  kubectl delete priorityclass -l from=rig >/dev/null
  kubectl label nodes --all "$label-" scheduler-node- >/dev/null
  local deadline=$((SECONDS + patience))
  until [ -z "$(kubectl get pods -o name)" ]; do
    [ "$SECONDS" -lt "$deadline" ] || broken "a clean cluster to begin with" "no pods" "$(kubectl get pods)"
    sleep 0.2
  done
  kubectl delete events --all >/dev/null
}

# run_pod NAME SPEC [LABELS]: a bare pod; SPEC are further fields of its spec as JSON, each with a comma after it.
run_pod() {
  kubectl run "$1" --image=none --labels="run=$1" --overrides="{\"spec\":{${2:-}\"terminationGracePeriodSeconds\":1}}" >/dev/null
}

end() {
  local code=$? name
  trap - EXIT
  for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null || true; done
  stop_extender
  echo "$passed" >"$LOGS/passed"
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM HUP
# A command between the steps, most often kubectl: what it printed went to stderr already.
trap 'code=$?; [ "$BASH_SUBSHELL" -gt 0 ] || broken "line $LINENO of ${BASH_SOURCE[0]##*/}" "$BASH_COMMAND" "exit code $code"' ERR
mkdir -p "$LOGS"
reset
