// SPDX-License-Identifier: Apache-2.0
// Drawing over the same line.
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace berth::cli {

bool IsTerminal(const std::ostream& stream) { return &stream == &std::cerr && isatty(STDERR_FILENO) == 1; }

std::string ProgressBar::Bar(uint64_t done, uint64_t of, size_t width) {
  // Counts of pods are far below what would overflow here.
  const size_t full = of == 0 ? 0 : std::min<size_t>(width, static_cast<size_t>(done * width / of));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

void ProgressBar::Show(uint64_t done, uint64_t of, const std::string& label) {
  if (!enabled_) return;
  const Time now = clock_.Now();
  if (shown_ && now - last_ < Duration::Millis(100)) return;
  last_ = now;
  shown_ = true;
  stream_ << "\r" << Bar(done, of, 30) << " " << label << "\x1b[K" << std::flush;
}

void ProgressBar::Clear() {
  if (!shown_) return;
  shown_ = false;
  stream_ << "\r\x1b[K" << std::flush;
}

}  // namespace berth::cli
