// SPDX-License-Identifier: Apache-2.0
// Main: the whole program, every command, with a custom author's plugins inside.
#pragma once

#include "berth/registry.h"

namespace berth {
inline namespace v1 {

using RegisterFn = void (*)(Registry&);

// `int main(int argc, char** argv) { return berth::Main(argc, argv, RegisterAcme); }`
// Returns the exit code: 0 done, 1 the answer is no, 2 usage, configuration or input.
int Main(int argc, char** argv, RegisterFn register_plugins = nullptr);

}  // namespace v1
}  // namespace berth
