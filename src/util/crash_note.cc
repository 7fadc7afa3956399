// SPDX-License-Identifier: Apache-2.0
// The signal handler. Only functions that POSIX allows there are called: poll, write, sigaction, raise.
#include "util/crash_note.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "util/log_writer.h"

namespace berth::util {
namespace {

constexpr size_t kStackBytes = 64 << 10;
// For lines of a log that are on their way, and for a stderr that nobody reads.
constexpr std::chrono::milliseconds kPatience{1'000};

// Not std::array of structs with std::string: this is read in a signal handler.
constexpr struct {
  int number;
  const char* name;
} kSignals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

extern "C" void BerthCrashed(int signal_number) {
  const int error = errno;
  // First of all, so that a crash in here ends the process.
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal_number, &plain, nullptr);
  // What was logged before the crash is most likely why.
  LogWriter::AwaitAll(kPatience);
  if (const CrashNote* note = CrashNote::current()) {
    CrashLine line;
    line.Add("berth: ");
    for (const auto& known : kSignals)
      if (known.number == signal_number) line.Add(known.name);
    line.Add(" in ");
    note->Say(line);
    char text[600];
    const std::string_view said = line.text();
    std::memcpy(text, said.data(), said.size());
    text[said.size()] = '\n';
    size_t written = 0;
    while (written <= said.size()) {
      pollfd ready = {STDERR_FILENO, POLLOUT, 0};
      if (poll(&ready, 1, static_cast<int>(kPatience.count())) <= 0) break;
      const ssize_t n = write(STDERR_FILENO, text + written, said.size() + 1 - written);
      if (n <= 0) break;
      written += static_cast<size_t>(n);
    }
  }
  // Pending until this returns; a fault would come again by itself, a signal that somebody sent would not.
  raise(signal_number);
  errno = error;
}

}  // namespace

void WriteCrashLines() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (const auto& known : kSignals) {
    struct sigaction action = {};
    action.sa_handler = BerthCrashed;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(known.number, &action, nullptr);
  }
#endif
}

CrashStack::CrashStack() {
  stack_t before = {};
  // Somebody else's, a sanitizer's say, stays.
  if (sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
  void* room = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return;
  stack_t stack = {};
  stack.ss_sp = room;
  stack.ss_size = kStackBytes;
  if (sigaltstack(&stack, nullptr) == 0) {
    room_ = room;
  } else {
    munmap(room, kStackBytes);
  }
}

CrashStack::~CrashStack() {
  if (room_ == nullptr) return;
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(room_, kStackBytes);
}

}  // namespace berth::util
