// SPDX-License-Identifier: Apache-2.0
// Signals of a program that serves.
#pragma once

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace berth::cli {

// Blocks these signals while it lives, for this thread and those that it starts.
class Signals {
 public:
  Signals(std::initializer_list<int> signals) {
    sigemptyset(&set_);
    for (const int signal : signals) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  // Those that came too late for Wait are forgotten.
  ~Signals() {
    const timespec at_once = {};
    while (sigtimedwait(&set_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  // The next of them.
  int Wait() const {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }

 private:
  sigset_t set_{}, before_{};
};

// Whoever reads stderr may go away: writing to it then fails, in plugins as well, and does not end the program.
class NoBrokenPipes {
 public:
  NoBrokenPipes() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before_);
  }
  ~NoBrokenPipes() { sigaction(SIGPIPE, &before_, nullptr); }
  NoBrokenPipes(const NoBrokenPipes&) = delete;
  NoBrokenPipes& operator=(const NoBrokenPipes&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace berth::cli
