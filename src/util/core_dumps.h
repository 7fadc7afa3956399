// SPDX-License-Identifier: Apache-2.0
// ForbidCoreDumps: for a process that has come to hold a private key or a token.
#pragma once

namespace berth::util {

// From now on a crash of this process leaves no copy of its memory, neither in a file nor with a program that collects
// them. Called before a secret is read; idempotent, and nothing is lost where the system refuses.
// Thread safety: any thread.
void ForbidCoreDumps();

}  // namespace berth::util
