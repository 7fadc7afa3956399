#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S3: how an extender is configured: a bare Policy, TLS on both sides, and one that takes too long (S3.1–S3.5), step by step as
# README.md says.
. "$(dirname "$0")/../walkthrough.sh"

kubeconfig=$RIG/kube-scheduler.kubeconfig
# policy NAME PORT: that Policy, with the extender's port and certificates of this machine. A Policy is not for --config.
policy() {
  local file=$LOGS/$1
  sed -e "s#:12345#:$2#" -e "s#/etc/kubernetes/extender/client#$RIG/pki/extender-client#" \
    -e "s#/etc/kubernetes/extender/ca.crt#$RIG/pki/ca.crt#" "$here/$1" >"$file"
  [ -z "$extender_log" ] || mark "$extender_log"
  if [ "$SCHEDULER" = berth ]; then
    schedule --policy-config-file "$file" --kubeconfig "$kubeconfig" --leader-elect=false -v=5
  else
    configuration "$file"
    "$RIG/bin/rigtool" scheduler-config "$config" "$kubeconfig" >"$file.yaml"
    schedule --config "$file.yaml" --leader-elect=false -v=5
  fi
}

# 1
port=$(free_port)
start_extender "http://127.0.0.1:$port" "$BERTH" extender --preset demo-index --prefix /api/scheduler --port "$port"
policy policy.json "$port"
run_pod plain
eventually "a bare Policy, prefix /api/scheduler, verb filter: the pod runs" runs_somewhere run=plain
eventually "the extender was asked on that path" served /api/scheduler/filter plain 2 2

# 2
now "requests of old, with pod, nodes and items, are read" answers POST /api/scheduler/filter \
  '{"pod":{"metadata":{"name":"p","namespace":"default"}},"nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}}' \
  200 '*"name":"a"*"name":"b"*'

# 3
port=$(free_port)
pki=("$RIG/pki" extender-client)
start_extender "https://127.0.0.1:$port" "$BERTH" extender --preset demo-index --prefix /api/scheduler --port "$port" \
  --tls-cert-file "$RIG/pki/extender.crt" --tls-private-key-file "$RIG/pki/extender.key" --client-ca-file "$RIG/pki/ca.crt"
policy policy-tls.json "$port"
run_pod encrypted
eventually "TLS with certificates on both sides: the pod runs" runs_somewhere run=encrypted
eventually "the extender was asked to filter" served /api/scheduler/filter encrypted 2 2
eventually "and to prioritize" served /api/scheduler/prioritize encrypted 2 2
pki=("$RIG/pki")
now "who shows no certificate is not answered" answers GET /version '' 'no answer' '*'
pki=()

# 4: somebody else's extender, in Go, which takes four seconds where it has one.
port=$(free_port)
start_extender "http://127.0.0.1:$port" "$("$UPSTREAM/build-program.sh" goextender)" -address "127.0.0.1:$port" -label '' -delay 4s \
  -log-calls
policy policy-slow-filter.json "$port"
run_pod waits
eventually "a filter timeout fails the attempt: the event says so" event waits FailedScheduling default-scheduler \
  "Post \"http://127.0.0.1:$port/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
eventually "the extender was asked" logged_since "$extender_log" 'call /filter'
now "the pod is pending" is_pending run=waits

# 5
policy policy-slow-ignorable.json "$port"
eventually "if the extender is ignorable, the pod runs" runs_somewhere run=waits
eventually "though the extender was asked" logged_since "$extender_log" 'call /filter'

# 6
policy policy-slow-prioritize.json "$port"
run_pod scored
eventually "a prioritize timeout is ignored: the pod runs" runs_somewhere run=scored
eventually "though the extender was asked" logged_since "$extender_log" 'call /prioritize'
eventually "the scheduler's log says that no score came" logged "$scheduler_log" "Failed to run extender's priority function"
now "no event complains" no_complaint scored
end_schedule
