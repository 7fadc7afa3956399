// SPDX-License-Identifier: Apache-2.0
// A pipe for tests of what is written where nobody, or somebody slow, reads.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace berth::util {

class TestPipe {
 public:
  // As small as pipes get.
  TestPipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    out_ = ends[0];
    in_ = ends[1];
    ::fcntl(in_, F_SETPIPE_SZ, 4096);
  }
  ~TestPipe() {
    CloseReader();
    CloseWriter();
  }
  TestPipe(const TestPipe&) = delete;
  TestPipe& operator=(const TestPipe&) = delete;

  int in() const { return in_; }
  int out() const { return out_; }
  void CloseReader() { Close(out_); }
  void CloseWriter() { Close(in_); }
  // Until nothing more fits. Returns what was written.
  std::string Fill() const {
    const int flags = ::fcntl(in_, F_GETFL);
    ::fcntl(in_, F_SETFL, flags | O_NONBLOCK);
    std::string text;
    while (::write(in_, "x", 1) == 1) text += 'x';
    ::fcntl(in_, F_SETFL, flags);
    return text;
  }
  // Adds to text() until `end` is in it, the writers have gone, or twenty seconds have passed; false: it is not in it.
  bool ReadUntil(std::string_view end) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    size_t seen = 0;  // up to here it is not in it
    while (text_.find(end, seen) == std::string::npos) {
      seen = text_.size() - std::min(text_.size(), end.size());
      pollfd ready = {out_, POLLIN, 0};
      char data[4096];
      if (std::chrono::steady_clock::now() >= deadline || ::poll(&ready, 1, 20'000) <= 0) return false;
      const ssize_t count = ::read(out_, data, sizeof data);
      if (count <= 0) return false;
      text_.append(data, static_cast<size_t>(count));
    }
    return true;
  }
  // The same until all writers have gone. REQUIRES: they go.
  std::string ReadAll() {
    CloseWriter();
    char data[4096];
    for (ssize_t count = 0; (count = ::read(out_, data, sizeof data)) > 0;)
      text_.append(data, static_cast<size_t>(count));
    return text_;
  }
  const std::string& text() const { return text_; }

 private:
  static void Close(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }

  int in_ = -1, out_ = -1;
  std::string text_;
};

}  // namespace berth::util
