# SPDX-License-Identifier: Apache-2.0
# What the walkthroughs share beyond the steps of tests/seeds/lib.sh: programs that run as a ServiceAccount. Sourced by them;
# run-all.sh starts them.
here=$(cd "$(dirname "$0")" && pwd)
. "$UPSTREAM/../seeds/lib.sh"
declare -A pids=()

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
# with_account NAME CONFIGURATION FILE: the scheduler's configuration with a way to the API server, which a pod knows by itself.
with_account() { "$RIG/bin/rigtool" scheduler-config "$2" "$(account_config "$1")" >"$3"; }
# container_of DEPLOYMENT CONTAINER: its command line.
container_of() {
  kubectl get deployment -n kube-system "$1" \
    -o "jsonpath={range .spec.template.spec.containers[?(@.name=='$2')]}{.command[*]} {.args[*]}{end}" | sed 's/^ //; s/ $//'
}
# start NAME COMMAND...: in the background; its log is $LOGS/NAME.log.
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
# says_on PORT PATH PATTERN: what is answered there, to anybody.
says_on() {
  local answer
  answer=$("$RIG/bin/rigtool" call GET "https://127.0.0.1:$1$2" "$RIG/pki" </dev/null 2>&1) || true
  echo "${answer:0:500}"
  # shellcheck disable=SC2053
  [[ $answer == $3 ]]
}
end_walkthrough() {
  local code=$? name
  for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null || true; done
  set +e # `end` is to see the code
  (exit "$code")
  end
}
trap end_walkthrough EXIT
