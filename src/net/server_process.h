// SPDX-License-Identifier: Apache-2.0
// What a process that serves asks of the system: descriptors, and that memory goes back to it.
#pragma once

#include <cstddef>

namespace berth::net {

// How many descriptors this process may have now.
size_t DescriptorLimit();

// For programs that serve, at their start: as many descriptors as the system allows without asking anybody (the soft
// limit becomes the hard one), and large blocks of memory from the system, which gets them back when they are freed.
// Where either is not possible, the process has what it had.
void PrepareToServe();

// Memory that is free within the process goes back to the system. The more there is, the longer it takes; nothing for
// every request.
void GiveMemoryBack();

}  // namespace berth::net
