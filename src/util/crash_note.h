// SPDX-License-Identifier: Apache-2.0
// CrashNote: what a thread is doing right now and for whom, so that a crash can be blamed in one line on stderr.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth::util {

// One line, made without memory of the heap. What does not fit is cut.
class CrashLine {
 public:
  CrashLine& Add(std::string_view text) {
    const size_t n = text.size() < sizeof(text_) - size_ ? text.size() : sizeof(text_) - size_;
    for (size_t i = 0; i < n; ++i) text_[size_ + i] = static_cast<unsigned char>(text[i]) < ' ' ? '?' : text[i];
    size_ += n;
    return *this;
  }
  CrashLine& Add(uint64_t number) {
    char digits[20];
    size_t at = sizeof(digits);
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return Add(std::string_view(digits + at, sizeof(digits) - at));
  }
  std::string_view text() const { return {text_, size_}; }

 private:
  char text_[512];
  size_t size_ = 0;
};

// On the stack of whoever does it, for as long as it is being done; notes nest. Writing one costs a few stores.
// Thread safety: a note belongs to the thread that made it.
class CrashNote {
 public:
  // Says what this is, in a form that the line "berth: SIGSEGV in …" can be completed with. Called in a signal handler:
  // reads memory and nothing else.
  using Describe = void (*)(const CrashNote& note, CrashLine& line);

  explicit CrashNote(Describe describe) : describe_(describe), outer_(current_) {}
  ~CrashNote() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_ = outer_;
  }
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

  // The innermost one of this thread; null: none.
  static const CrashNote* current() { return current_; }
  void Say(CrashLine& line) const { describe_(*this, line); }

  // How far a loop inside has come, for the description. Of the innermost note, if there is one.
  static constexpr size_t kNoStep = static_cast<size_t>(-1);
  static void Step(size_t step) {
    if (current_ != nullptr) current_->step_ = step;
  }
  size_t step() const { return step_; }

 protected:
  // The note is complete: from here on it holds. Called once, at the end of the constructor.
  void Begin() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_ = this;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

 private:
  static inline constinit thread_local CrashNote* current_ = nullptr;

  const Describe describe_;
  CrashNote* const outer_;
  size_t step_ = kNoStep;
};

// From now on a crash of a thread that has a note (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) writes one line to stderr:
// "berth: SIGSEGV in …", what the innermost note says. Then the signal does what it does without us. A crash without a
// note is left alone. Sanitizers report crashes themselves, with more to say: built with one, this does nothing.
void WriteCrashLines();

// Room for that when a thread's own stack is used up, for this thread and while this lives. Threads that call plugins
// have one.
class CrashStack {
 public:
  CrashStack();
  ~CrashStack();
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  void* room_ = nullptr;  // null: there was none to have
};

}  // namespace berth::util
