// SPDX-License-Identifier: Apache-2.0
// A limit for files, and a filter for collectors, which the limit does not concern (core(5)).
#include "util/core_dumps.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mutex>

namespace berth::util {

void ForbidCoreDumps() {
  static std::once_flag once;
  std::call_once(once, [] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    // No kind of mapping is written. Unlike a process that is not dumpable, one without mappings in its dump can still
    // be debugged by its owner.
    const int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    const bool filtered = filter >= 0 && write(filter, "0\n", 2) == 2;
    if (filter >= 0) close(filter);
    // Where /proc is read-only, secrets weigh more than a debugger.
    if (!filtered) prctl(PR_SET_DUMPABLE, 0);
  });
}

}  // namespace berth::util
