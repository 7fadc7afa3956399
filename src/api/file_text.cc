// SPDX-License-Identifier: Apache-2.0
#include "api/file_text.h"

namespace berth {

Result<FileText> FileText::Read(const std::string& path, uint64_t max_bytes, util::FileKinds kinds) {
  util::FileContent content = util::ReadFile(path, {max_bytes, kinds});
  if (!content.ok()) return Error(content.problem);
  return FileText(std::move(content.text));
}

}  // namespace berth
