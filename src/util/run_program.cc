// SPDX-License-Identifier: Apache-2.0
#include "util/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "util/deadline.h"

namespace berth::util {
namespace {

// How often `stop` is looked at and `meanwhile` is called.
constexpr int kLookMillis = 50;
constexpr auto kFirstNap = std::chrono::milliseconds(1);
constexpr auto kLongestNap = std::chrono::milliseconds(50);

class Pipe {
 public:
  Pipe() { good_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    CloseWriter();
    if (good_) ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool good() const { return good_; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void CloseWriter() {
    if (good_ && ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  bool good_ = false;
};

// What a child is started with.
class SpawnSettings {
 public:
  SpawnSettings(const ProgramCall& call, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (!call.gets_stdin) posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // Ours are closed on exec anyway; what a library has opened may not be.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (!call.gets_stdin) {
      posix_spawnattr_setpgroup(&attributes_, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Whether somebody wants it to stop.
bool Look(const ProgramCall& call) {
  if (call.meanwhile) call.meanwhile();
  return call.stop != nullptr && *call.stop;
}

// Until the other end is closed; kExited if that comes to pass.
ProgramEnd ReadAll(const ProgramCall& call, int reader, Deadline deadline, std::string& output) {
  std::array<char, 8192> data;  // NOLINT: filled before it is read
  for (;;) {
    if (Look(call)) return ProgramEnd::kStopped;
    if (IsOver(deadline)) return ProgramEnd::kLate;
    pollfd waiting = {reader, POLLIN, 0};
    if (::poll(&waiting, 1, kLookMillis) <= 0) continue;
    const ssize_t count = ::read(reader, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ProgramEnd::kExited;
    if (output.size() + static_cast<size_t>(count) > call.max_output) return ProgramEnd::kTooMuch;
    output.append(data.data(), static_cast<size_t>(count));
  }
}

// Until it has exited. A program may close its output long before.
ProgramEnd Await(const ProgramCall& call, pid_t child, Deadline deadline, int& status) {
  for (auto nap = kFirstNap;; nap = std::min<std::chrono::milliseconds>(nap * 2, kLongestNap)) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return ProgramEnd::kExited;
    if (ended < 0 && errno == ECHILD) {
      // Whoever started us ignores SIGCHLD, and so do we: the system does not keep how children end.
      status = 0;
      return ProgramEnd::kExited;
    }
    if (Look(call)) return ProgramEnd::kStopped;
    if (IsOver(deadline)) return ProgramEnd::kLate;
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace

ProgramResult RunProgram(const ProgramCall& call) {
  ProgramResult result;
  Pipe pipe;
  if (!pipe.good()) {
    result.problem = std::strerror(errno);
    return result;
  }
  const Deadline deadline = After(call.timeout);
  pid_t child = -1;
  {
    const SpawnSettings settings(call, pipe.writer());
    std::vector<std::string> args{call.program}, environment = call.environment;
    args.insert(args.end(), call.args.begin(), call.args.end());
    const int problem = ::posix_spawnp(&child, call.program.c_str(), settings.actions(), settings.attributes(),
                                       Pointers(args).data(), Pointers(environment).data());
    if (problem != 0) {
      result.end =
          problem == ENOENT || problem == EACCES || problem == ENOTDIR ? ProgramEnd::kMissing : ProgramEnd::kFailed;
      result.problem = std::strerror(problem);
      return result;
    }
  }
  pipe.CloseWriter();
  int status = 0;
  result.end = ReadAll(call, pipe.reader(), deadline, result.output);
  if (result.end == ProgramEnd::kExited) result.end = Await(call, child, deadline, status);
  if (result.end != ProgramEnd::kExited) {
    ::kill(call.gets_stdin ? child : -child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  } else if (WIFEXITED(status)) {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment;
  const auto set = [&environment](std::string_view name, std::string text) {
    const auto same = [name](const std::string& one) {
      return one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=';
    };
    const auto known = std::ranges::find_if(environment, same);
    if (known == environment.end()) {
      environment.push_back(std::move(text));
    } else {
      *known = std::move(text);
    }
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    set(text.substr(0, text.find('=')), std::string(text));
  }
  for (const auto& [name, value] : variables) set(name, name + "=" + value);
  return environment;
}

}  // namespace berth::util
