#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-all.sh [--scheduler berth|stock] [--rig DIR] BERTH [NAME...]: the walkthroughs, each with the steps of its README, on a
# control plane of this machine. Berth is the scheduler of all of them; those in which only the extender is ours are told with a
# stock kube-scheduler, too. Closes with how many succeeded. Needs Go, for the control plane: without it exit code 2.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/../tests/rig/run.sh" --from "$here" "$@"
