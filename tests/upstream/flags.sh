#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gives kube-scheduler and Berth the same command lines (flags.txt) and compares exit codes, what they print, what they
# log and the configuration they write: flags.sh BERTH. Every line ends by itself, and none opens a port.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: flags.sh BERTH" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/berth" "$work/stock"
ln -s "$(realpath "$1")" "$work/berth/kube-scheduler"
ln -s "$("$here/build-program.sh" kube-scheduler)" "$work/stock/kube-scheduler"
unset KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBECONFIG
cd "$work"

cat >scheduler.conf <<'FILE'
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
FILE
cat >config.yaml <<'FILE'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: scheduler.conf, qps: 7.5}
leaderElection: {leaseDuration: 30s}
profiles:
- schedulerName: one
- schedulerName: two
  percentageOfNodesToScore: 20
  plugins: {score: {disabled: [{name: ImageLocality}]}}
  pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 7}}]
extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: f, managedResources: [{name: a/b}]}]
FILE
cat >invalid.yaml <<'FILE'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: -3
leaderElection: {leaseDuration: 5s}
FILE
echo '"m,l": "a,b"' >labels.yaml
echo 'ml: a' >wrong-labels.yaml

# What one of them says: without the usage, heads of lines, and the lines that only one of them has.
said() {
  awk '/^Usage:/ { usage = 1 } /^Error:/ { usage = 0 } !usage' "$1" |
    grep -v -e 'The manifest file is empty, ignoring' -e 'the scheduler starts to work with those plugins' \
      -e 'Disabling signatures for profile' -e 'no effect in Berth' -e 'is ignored, because there is --config' |
    sed -e 's/^\([IWE]\)[0-9]* [^]]*\]/\1]/' -e 's/"ts":[0-9.]*,"caller":"[^"]*",//' || true
}

# Names, types and shorthands of --help, in order.
total=1 different=0
for name in stock berth; do
  "$name/kube-scheduler" --help | grep -e '^ *-' -e ' flags:$' -e '^  *kube:' | sed -e 's/^\( *-.*[^ ]\)   .*/\1/' -e 's/^  *kube/kube/' >"$name.help"
done
if ! diff stock.help berth.help; then
  echo "--help differs"
  different=1
fi

while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  eval "set -- $line"
  total=$((total + 1))
  for name in stock berth; do
    rm -f written.yaml "$name.yaml"
    code=0
    "$name/kube-scheduler" "$@" >"$name.out" 2>"$name.err" </dev/null || code=$?
    [ ! -e written.yaml ] || mv written.yaml "$name.yaml"
    touch "$name.yaml"
    { said "$name.err"; echo "exit $code"; cat "$name.out" "$name.yaml"; } >"$name.said"
  done
  if ! cmp -s stock.said berth.said; then
    different=$((different + 1))
    echo "kube-scheduler $line"
    diff stock.said berth.said | cut -c1-500 || true
  fi
done <"$here/flags.txt"
echo "$((total - different)) passed, $different failed"
[ "$total" -gt 1 ] && [ "$different" -eq 0 ]
