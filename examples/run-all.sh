#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-all.sh BERTH [NAME...]: the walkthroughs, each with the steps of its README, on a control plane of this machine. Closes
# with how many of them succeeded. Needs Go, for the control plane.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! command -v go >/dev/null && [ -x /usr/local/go/bin/go ]; then PATH=$PATH:/usr/local/go/bin; fi
if ! command -v go >/dev/null; then
  echo "run-all.sh: the walkthroughs run on a control plane that is built with Go, and there is no 'go' in PATH; see https://go.dev/dl/" >&2
  exit 2
fi
exec "$here/../tests/seeds/run.sh" --from "$here" "$@"
