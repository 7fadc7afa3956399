# SPDX-License-Identifier: Apache-2.0
# What the walkthroughs share beyond tests/rig/lib.sh: what is deployed, and the scheduler of this run. Sourced by them; run-all.sh
# starts them.
here=$(cd "$(dirname "$0")" && pwd)
. "$UPSTREAM/../rig/lib.sh"

# with_account NAME CONFIGURATION FILE: the scheduler's configuration with a way to the API server, which a pod knows by itself.
with_account() { "$RIG/bin/rigtool" scheduler-config "$2" "$(account_config "$1")" >"$3"; }
# container_of DEPLOYMENT CONTAINER: its command line.
container_of() {
  kubectl get deployment -n kube-system "$1" \
    -o "jsonpath={range .spec.template.spec.containers[?(@.name=='$2')]}{.command[*]} {.args[*]}{end}" | sed 's/^ //; s/ $//'
}
# mounted CONFIGMAP KEY: what a pod of kube-system finds in its volume.
mounted() { kubectl get configmap -n kube-system "$1" -o "jsonpath={.data['${2//./\\.}']}"; }
# schedule OPTION...: the scheduler of this run, Berth or kube-scheduler, anew, on a port of its own; it is ready when this
# returns. Its log is what bound_log looks at.
schedule() {
  local name=Berth
  [ "$SCHEDULER" = berth ] || name=kube-scheduler
  end_schedule
  scheduler_port=$(free_port)
  start scheduler "$RIG/bin/kube-scheduler" "$@" --secure-port "$scheduler_port" --bind-address 127.0.0.1 \
    --tls-cert-file "$RIG/pki/extender.crt" --tls-private-key-file "$RIG/pki/extender.key"
  scheduler_log=$LOGS/scheduler.log
  eventually "$name is ready" scheduler_ready
}
scheduler_ready() {
  kill -0 "${pids[scheduler]}" 2>/dev/null || { echo "it has ended: $(tail -n 3 "$scheduler_log")"; return 1; }
  says_on "$scheduler_port" /readyz '200*ok'
}
end_schedule() {
  [ -n "${pids[scheduler]:-}" ] || return 0
  kill "${pids[scheduler]}" 2>/dev/null || true
  wait "${pids[scheduler]}" || true # without a lease kube-scheduler ends with 1
  unset "pids[scheduler]"
  cat "$LOGS/scheduler.log" >>"$LOGS/scheduler-before.log"
}
# configuration FILE [OPTION...]: sets `config` to the file that this run's scheduler reads: Berth the document's own,
# kube-scheduler, which reads v1 only, what `berth config convert` makes of it. OPTION: for convert.
configuration() {
  config=$1
  [ "$SCHEDULER" = stock ] || return 0
  config=$1.v1.yaml
  "$BERTH" config convert "$@" >"$config" 2>"$LOGS/convert.log" ||
    broken "berth config convert $(basename "$1")" "exit code 0" "$(cat "$LOGS/convert.log")"
  ok "berth config convert has written $(basename "$1") as v1"
}
# says_on PORT PATH PATTERN: what is answered there, to anybody.
says_on() {
  local answer
  answer=$("$RIG/bin/rigtool" call GET "https://127.0.0.1:$1$2" "$RIG/pki" </dev/null 2>&1) || true
  echo "${answer:0:500}"
  # shellcheck disable=SC2053
  [[ $answer == $3 ]]
}
