// SPDX-License-Identifier: Apache-2.0
// The buffer, and the thread that empties it.
#include "util/log_writer.h"

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <utility>

namespace berth::util {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often a thread whose reader does not read looks whether it is to end.
constexpr milliseconds kLook{100};
// A reader that has gone, or a full disk, is tried again after so long.
constexpr milliseconds kRetry{1000};
// What is written at once, where a pipe's reader need not see lines in one piece.
constexpr size_t kMaxWrite = size_t{64} << 10;
// A buffer that a burst has made large is not kept.
constexpr size_t kKept = size_t{64} << 10;

// Of all writers; looked at by AwaitAll.
constinit std::atomic<uint64_t> bytes_waiting = 0;
static_assert(std::atomic<uint64_t>::is_always_lock_free);

uint64_t CountLines(std::string_view text) { return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')); }

// The piece of `text` that is written next: whole lines where they fit.
std::string_view NextPiece(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  const size_t end = text.rfind('\n', limit - 1);
  return text.substr(0, end == std::string_view::npos ? limit : end + 1);
}

}  // namespace

struct LogWriter::State {
  State(int descriptor, Options given) : fd(descriptor), options(std::move(given)) {
    // A pipe takes so much in one piece, and does not block for it once it is writable.
    struct stat info {};
    if (::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode)) piece = PIPE_BUF;
  }

  const int fd;
  const Options options;
  size_t piece = kMaxWrite;

  std::mutex mutex;
  std::condition_variable news, ended;
  std::string waiting;               // not taken by the thread yet
  size_t in_hand = 0;                // taken and not written yet
  bool full = false;                 // until half of the room is free again
  uint64_t dropped = 0, unsaid = 0;  // lines; of those, not told of yet
  std::optional<Clock::time_point> remind_at;
  bool closing = false;     // nothing comes any more
  Clock::time_point until;  // then: how long the thread may try
  bool done = false;        // the thread touches nothing but this any more

  // All under the mutex.
  void Append(std::string_view text) {
    waiting += text;
    bytes_waiting.fetch_add(text.size(), std::memory_order_relaxed);
  }
  void Drop(uint64_t lines) {
    dropped += lines;
    unsaid += lines;
  }
  void SayDropped() {
    full = false;
    if (unsaid == 0) return;
    if (options.dropped_line) Append(options.dropped_line(unsaid));
    unsaid = 0;
  }
  bool gave_up() const { return closing && Clock::now() >= until; }
};

LogWriter::LogWriter(int fd, Options options) : state_(std::make_shared<State>(fd, std::move(options))) {
  // No signal is for this thread: not SIGPIPE, which its own writes raise, nor those that others wait for.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([state = state_] { Run(*state); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() { Close(milliseconds{0}); }

void LogWriter::Add(std::string_view line) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const size_t used = state.waiting.size() + state.in_hand;
  // Once full, room is made in large pieces: else every second line would tell of a dropped one.
  const size_t room = state.full ? state.options.max_bytes / 2 : state.options.max_bytes;
  if (state.closing) {
    state.dropped += CountLines(line);
    return;
  }
  if (used + line.size() > room) {
    state.full = true;
    state.Drop(CountLines(line));
    return;
  }
  if (state.full) state.SayDropped();
  state.Append(line);
  state.news.notify_one();
}

void LogWriter::Remind(milliseconds within) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.remind_at || state.closing) return;
  state.remind_at = Clock::now() + within;
  state.news.notify_one();
}

void LogWriter::Close(milliseconds patience) {
  if (!thread_.joinable()) return;
  State& state = *state_;
  if (state.options.reminder) Add(state.options.reminder());
  std::unique_lock lock(state.mutex);
  state.closing = true;
  state.until = Clock::now() + patience;
  state.news.notify_one();
  if (state.ended.wait_until(lock, state.until + 2 * kLook, [&] { return state.done; })) {
    lock.unlock();
    thread_.join();
    return;
  }
  // Stuck in a write that poll had promised not to be one: somebody else has filled the pipe meanwhile.
  state.done = true;
  thread_.detach();
}

uint64_t LogWriter::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

void LogWriter::AwaitAll(milliseconds patience) {
  constexpr int kStep = 5;
  for (int64_t left = patience.count(); left > 0 && bytes_waiting.load(std::memory_order_relaxed) > 0; left -= kStep) {
    ::poll(nullptr, 0, kStep);
  }
}

void LogWriter::Run(State& state) {
  std::string batch;
  std::unique_lock lock(state.mutex);
  const auto take = [&state](size_t written) {
    state.in_hand -= written;
    bytes_waiting.fetch_sub(written, std::memory_order_relaxed);
  };
  const auto run_out = [&](std::string_view left) {
    state.Drop(CountLines(left) + CountLines(state.waiting));
    take(left.size());
    bytes_waiting.fetch_sub(state.waiting.size(), std::memory_order_relaxed);
    state.waiting.clear();
  };
  while (!state.done) {
    if (state.waiting.empty()) state.SayDropped();
    if (state.waiting.empty()) {
      if (state.closing) break;
      if (!state.remind_at) {
        state.news.wait(lock);
      } else if (Clock::now() < *state.remind_at) {
        state.news.wait_until(lock, *state.remind_at);
      }
    }
    if (state.remind_at && !state.closing && Clock::now() >= *state.remind_at) {
      state.remind_at.reset();
      // Under the lock, so that Close can promise that it is the last one.
      if (state.options.reminder) state.Append(state.options.reminder());
    }
    if (state.waiting.empty()) continue;

    batch.clear();
    if (batch.capacity() > kKept) batch.shrink_to_fit();
    batch.swap(state.waiting);
    state.in_hand = batch.size();
    std::string_view left = batch;
    while (!left.empty()) {
      lock.unlock();
      pollfd ready = {state.fd, POLLOUT, 0};
      const int events = ::poll(&ready, 1, static_cast<int>(kLook.count()));
      ssize_t written = 0;
      int problem = events < 0 ? errno : 0;
      if (events > 0) {
        const std::string_view next = NextPiece(left, state.piece);
        written = ::write(state.fd, next.data(), next.size());
        problem = written < 0 ? errno : 0;
      }
      lock.lock();
      if (written > 0) {
        take(static_cast<size_t>(written));
        left.remove_prefix(static_cast<size_t>(written));
      }
      const bool gone = problem != 0 && problem != EINTR && problem != EAGAIN;
      if (gone && !state.closing) state.news.wait_for(lock, kRetry, [&] { return state.closing; });
      if (state.done || (!left.empty() && ((gone && state.closing) || state.gave_up()))) {
        run_out(left);
        state.done = true;
        break;
      }
    }
  }
  state.done = true;
  state.ended.notify_all();
}

}  // namespace berth::util
