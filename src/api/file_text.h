// SPDX-License-Identifier: Apache-2.0
// FileText: the bytes of a file, mapped rather than read where that works, so that a file may be larger than memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth {

class FileText {
 public:
  // `-` is standard input. The error says what the system said, without the file's name.
  static Result<FileText> Read(const std::string& path);

  FileText(FileText&& other) noexcept;
  FileText& operator=(FileText&& other) noexcept;
  FileText(const FileText&) = delete;
  FileText& operator=(const FileText&) = delete;
  ~FileText();

  // Valid while this lives.
  std::string_view text() const { return mapped_ ? std::string_view(mapped_, size_) : std::string_view(owned_); }

 private:
  FileText() = default;
  const char* mapped_ = nullptr;
  size_t size_ = 0;
  std::string owned_;  // pipes and standard input
};

}  // namespace berth
