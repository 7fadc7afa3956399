// SPDX-License-Identifier: Apache-2.0
// FileText: the bytes of a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "berth/error.h"
#include "util/read_file.h"

namespace berth {

// Of one file. A dump of the largest clusters has a tenth of that.
inline constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;

class FileText {
 public:
  // `-` is standard input. The error says what is wrong, without the file's name: among other things that it has more
  // than `max_bytes`, or changes while it is read.
  static Result<FileText> Read(const std::string& path, uint64_t max_bytes = kMaxFileBytes,
                               util::FileKinds kinds = util::FileKinds::kAny);

  // Valid while this lives.
  std::string_view text() const { return text_; }

 private:
  explicit FileText(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace berth
