// SPDX-License-Identifier: Apache-2.0
#include "util/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace berth::util {
namespace {

constexpr size_t kLeastRoom = size_t{64} << 10;

// Closes what was opened here, not standard input.
class Descriptor {
 public:
  Descriptor(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ~Descriptor() {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

FileContent Problem(std::string text) { return {"", std::move(text)}; }
FileContent SystemProblem(const char* what) {
  return Problem(std::string(what) + ": " + std::generic_category().message(errno));
}

bool SameState(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

std::string BytesText(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + kUnits[unit];
}

FileContent ReadFile(const std::string& path, const FileRules& rules) {
  const bool regular_only = rules.kinds == FileKinds::kRegular;
  const bool standard_input = path == "-" && !regular_only;
  // Opening a pipe would wait for somebody who writes to it.
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular_only ? O_NONBLOCK : 0);
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), flags), !standard_input);
  if (file.get() < 0) return SystemProblem("cannot open file");
  struct stat before {};
  if (::fstat(file.get(), &before) != 0) return SystemProblem("cannot read file");
  const bool regular = S_ISREG(before.st_mode);
  if (S_ISDIR(before.st_mode)) return Problem("is a folder");
  if (S_ISBLK(before.st_mode)) return Problem("is a device, no file");
  if (!regular && regular_only) return Problem("is not a regular file");
  const bool device = S_ISCHR(before.st_mode);
  const uint64_t limit = std::min(rules.max_bytes, device ? kMaxDeviceBytes : regular ? UINT64_MAX : kMaxPipeBytes);
  const auto too_large = [&] {
    return Problem((device ? "is a device that gives more than " : "has more than ") + BytesText(limit));
  };
  const uint64_t expected = regular && !standard_input ? static_cast<uint64_t>(before.st_size) : 0;
  if (expected > limit) return too_large();

  FileContent content;
  std::string& text = content.text;
  text.resize(static_cast<size_t>(std::max<uint64_t>(expected + 1, kLeastRoom)));  // one more: room to find the end
  size_t size = 0;
  for (;;) {
    if (size == text.size())
      text.resize(std::max(size + 1, static_cast<size_t>(std::min<uint64_t>(size * 2, limit + 1))));
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemProblem("cannot read file");
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > limit) return too_large();
  }
  text.resize(size);
  struct stat after {};
  if (regular && ::fstat(file.get(), &after) != 0) return SystemProblem("cannot read file");
  // What was read may be the beginning of one state and the end of another.
  if (regular && (!SameState(before, after) || size < expected)) return Problem("was changed while it was read");
  return content;
}

}  // namespace berth::util
