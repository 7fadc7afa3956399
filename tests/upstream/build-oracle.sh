#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the oracle where that is necessary and prints the path of the program.
exec "$(dirname "$0")/build-program.sh" oracle
