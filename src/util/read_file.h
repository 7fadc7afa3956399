// SPDX-License-Identifier: Apache-2.0
// ReadFile: the bytes of a file, up to a bound.
#pragma once

#include <cstdint>
#include <string>

namespace berth::util {

enum class FileKinds : uint8_t {
  kRegular,  // nothing else: for what is read on a thread that must not wait
  kAny,      // pipes, and devices such as a terminal or /dev/null, as well
};

struct FileRules {
  uint64_t max_bytes;
  FileKinds kinds = FileKinds::kAny;
};
// What has no size before it is read may have no end either, and nobody types more than that.
constexpr uint64_t kMaxPipeBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxDeviceBytes = uint64_t{1} << 20;

struct FileContent {
  std::string text;
  std::string problem;  // why there is no text, without the file's name; empty: none

  bool ok() const { return problem.empty(); }
};

// `-` is standard input, unless only regular files will do. Read, not mapped: whoever writes the file may cut it at any
// time. One that changes while it is read is a problem, and so is one that cannot be read to its end.
FileContent ReadFile(const std::string& path, const FileRules& rules);

// "64 KiB", "1 GiB", "1000 bytes".
std::string BytesText(uint64_t bytes);

}  // namespace berth::util
