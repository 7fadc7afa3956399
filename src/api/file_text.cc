// SPDX-License-Identifier: Apache-2.0
// Mapping or reading a file.
#include "api/file_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace berth {
namespace {

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

Error SystemError(const char* what) { return Error(std::string(what) + ": " + std::strerror(errno)); }

}  // namespace

Result<FileText> FileText::Read(const std::string& path) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), !standard_input);
  if (file.get() < 0) return SystemError("cannot open file");
  FileText text;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return SystemError("cannot read file");
  if (S_ISREG(info.st_mode) && info.st_size > 0 && !standard_input) {
    const auto size = static_cast<size_t>(info.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address != MAP_FAILED) {
      text.mapped_ = static_cast<const char*>(address);
      text.size_ = size;
      return text;
    }
  }
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read file");
    text.owned_.append(buffer, static_cast<size_t>(got));
  }
}

FileText::FileText(FileText&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owned_(std::move(other.owned_)) {}

FileText& FileText::operator=(FileText&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(owned_, other.owned_);
  return *this;
}

FileText::~FileText() {
  if (mapped_) ::munmap(const_cast<char*>(mapped_), size_);
}

}  // namespace berth
