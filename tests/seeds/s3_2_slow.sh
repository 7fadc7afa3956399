#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S3.2: an extender that takes too long. A filter that times out fails the pod's attempt, unless the extender is ignorable;
# a prioritize that times out is ignored.
. "$(dirname "$0")/lib.sh"

port=$(free_port)
goextender=$("$UPSTREAM/build-program.sh" goextender)
start_extender "http://127.0.0.1:$port" "$goextender" -address "127.0.0.1:$port" -label '' -delay 4s -log-calls

# config NAME LINE...: one second for an extender that takes four, with these fields.
config() {
  local name=$1
  shift
  {
    cat <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://127.0.0.1:$port
  httpTimeout: 1s
END
    printf '  %s\n' "$@"
  } >"$LOGS/$name.yaml"
  mark "$extender_log"
  scheduler "$LOGS/$name.yaml" --scheduler-v 5
}

config slow-filter 'filterVerb: filter'
run_pod waits
eventually "a filter timeout fails the attempt: the event says so" event waits FailedScheduling default-scheduler \
  "Post \"http://127.0.0.1:$port/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
eventually "the extender was asked" logged_since "$extender_log" 'call /filter'
now "the pod is pending" is_pending run=waits

config slow-ignorable-filter 'filterVerb: filter' 'ignorable: true'
eventually "if the extender is ignorable, the pod runs" runs_somewhere run=waits
eventually "though the extender was asked" logged_since "$extender_log" 'call /filter'

config slow-prioritize 'prioritizeVerb: prioritize' 'weight: 1'
run_pod scored
eventually "a prioritize timeout is ignored: the pod runs" runs_somewhere run=scored
eventually "though the extender was asked" logged_since "$extender_log" 'call /prioritize'
eventually "the scheduler's log says that no score came" logged "$scheduler_log" "Failed to run extender's priority function"
now "no event complains" no_complaint scored
