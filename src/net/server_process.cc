// SPDX-License-Identifier: Apache-2.0
#include "net/server_process.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>

namespace berth::net {
namespace {

// Without a fixed threshold the C library raises its own to 32 MiB once a large block was freed, and keeps what is
// smaller. Blocks that are used all the time are smaller than this, or are bodies, which the server keeps (spare).
constexpr int kLargeBlock = 1 << 20;
constexpr size_t kMostDescriptors = size_t{1} << 20;  // nobody needs more, and "unlimited" is not a number

}  // namespace

size_t DescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<size_t>(std::min<rlim_t>(limit.rlim_cur, kMostDescriptors));
}

void PrepareToServe() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
#endif
}

void GiveMemoryBack() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace berth::net
