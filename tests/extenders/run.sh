#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tells of extenders on a control plane, see README.md. Closes with "N passed, N failed".
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/../rig/run.sh" --from "$here" "$@"
