#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Through a proxy that does what networks and busy servers do, while hundreds of pods arrive. One Berth lives through all of
# it, but each case in which pods are gathered has a new one.
. "$(dirname "$0")/live.sh"

crowd=${QUICK:+80}
crowd=${crowd:-300}
more_nodes 20
kubeconfig=$RIG/faulty.kubeconfig
start_berth() { start berth --leader-elect=false --kube-api-qps 500 --kube-api-burst 500; }
start_berth

# orders WHAT PATH...: given five times while pods arrive, when `begun` of them are bound.
begun=0
orders() {
  local what=$1 path
  shift
  hits=0
  arrive "$crowd"
  in_the_middle "$begun"
  for _ in 1 2 3 4 5; do
    for path; do order "$path"; done
    sleep 0.3
  done
  arrived
  settled "$what ($hits times)" berth
  [ "$hits" -gt 0 ] || broken "$what" "something to be cut" "nothing"
}
# faults WHAT FAULT...: armed while pods arrive.
faults() {
  local what=$1 one
  shift
  for one; do arm "$one"; done
  arrive "$crowd"
  # Watches that stand would meet no fault: they are made to come again.
  [[ $* != *watch* ]] || { in_the_middle 10; order "/watches/end"; }
  arrived
  in_the_middle $((crowd / 2))
  disarm
  [ "$hits" -gt 0 ] || broken "$what" "requests that are hit" "none"
  settled "$what ($hits times)" berth
}
# gathered orders|faults WHAT ...: the same with a new Berth, while it gathers pods. What one has met before decides when it does.
gathered() {
  stop berth TERM 1
  start_berth
  "$1" "pods are gathered, and $2" "${@:3}"
  eventually "some pods were gathered" port_says berth /metrics $'*\nberth_gathered_pods_total [1-9]*' admin
}
bind='"method":"POST","path":"/pods/[^/]+/binding"'
watch='"method":"GET","path":"[?&]watch=(true|1)"'
write='"path":"/(binding|status)([?]|$)"'
event='"method":"POST","path":"/events([?]|$)"'

orders "connections are cut" "/connections/cut"
faults "answers to bindings are lost" "{$bind,\"every\":5,\"count\":30,\"action\":\"lose\"}"
faults "bindings are answered 429, without Retry-After" "{$bind,\"every\":3,\"count\":40,\"action\":\"status\",\"code\":429}"
orders "watches are told 410" "/watches/expire"
faults "writes are answered 500" "{$write,\"every\":4,\"count\":40,\"action\":\"status\",\"code\":500}"
if [ -z "$QUICK" ]; then
  faults "bindings are answered 409" "{$bind,\"every\":3,\"count\":40,\"action\":\"status\",\"code\":409}"
  orders "watches are cut" "/watches/cut"
  orders "watches end" "/watches/end"
  orders "watches are cut, and connections, and told 410" "/watches/expire" "/watches/cut" "/connections/cut"
  faults "bindings do not arrive" "{$bind,\"every\":5,\"count\":30,\"action\":\"cut\"}"
  faults "bindings are answered 429, with Retry-After" \
    "{$bind,\"every\":10,\"count\":20,\"action\":\"status\",\"code\":429,\"retryAfter\":\"1\"}"
  faults "everything is answered 429, with Retry-After" \
    '{"every":10,"count":30,"action":"status","code":429,"retryAfter":"1"}'
  faults "watches begin with 410" "{$watch,\"count\":8,\"action\":\"status\",\"code\":410}"
  faults "watches are answered 500" "{$watch,\"count\":8,\"action\":\"status\",\"code\":500}"
  faults "watches are answered 429" "{$watch,\"count\":8,\"action\":\"status\",\"code\":429}"
  faults "watches break off in the middle of an event" "{$watch,\"count\":8,\"action\":\"half\"}"
  faults "answers to bindings are slow" "{$bind,\"every\":2,\"action\":\"slow\",\"delay\":\"700ms\"}"
  faults "everything is slow" '{"every":3,"action":"slow","delay":"200ms"}'
  faults "answers come in small pieces" "{$bind,\"every\":2,\"action\":\"trickle\",\"delay\":\"20ms\"}"
  faults "answers to bindings break off in the middle" "{$bind,\"every\":5,\"count\":30,\"action\":\"half\"}"
  faults "bindings are done, but answered 500" "{$bind,\"every\":7,\"count\":20,\"action\":\"mask\",\"code\":500}"
  faults "events are refused" "{$event,\"every\":10,\"count\":20,\"action\":\"status\",\"code\":500}"
  faults "answers to events are lost" "{$event,\"every\":10,\"count\":20,\"action\":\"lose\"}"
  # A stream that has lasted for two seconds is taken some pods at a time, and answers are read with those that come next.
  rate=50 begun=120
  gathered orders "connections are cut" "/connections/cut"
  gathered orders "watches are cut" "/watches/cut"
  gathered faults "answers to bindings are lost" "{$bind,\"every\":5,\"count\":60,\"action\":\"lose\"}"
  gathered faults "bindings are answered 429, with Retry-After" \
    "{$bind,\"every\":10,\"count\":30,\"action\":\"status\",\"code\":429,\"retryAfter\":\"1\"}"
  gathered faults "bindings are answered 409" "{$bind,\"every\":5,\"count\":60,\"action\":\"status\",\"code\":409}"
  gathered faults "answers to bindings are slow" "{$bind,\"every\":2,\"action\":\"slow\",\"delay\":\"700ms\"}"
fi
stop berth TERM 1
