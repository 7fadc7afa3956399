// SPDX-License-Identifier: Apache-2.0
#include "util/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace berth::util {

void OpenStandardFiles() {
  // In this order: open takes the lowest number that is free. The modes of the first two are the wrong ones on purpose.
  for (const auto& [fd, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY}, std::pair{STDERR_FILENO, O_WRONLY}}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", mode);  // NOLINT: not O_CLOEXEC, as the others
  }
}

}  // namespace berth::util
