#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets `berth scheduler` schedule for a control plane of v1.36.4, see README.md. run.sh [--rig DIR] BERTH [STORY...]
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/../rig/run.sh" --from "$here" "$@"
