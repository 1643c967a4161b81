// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "base/fail.h"

extern char** environ;

namespace tare {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  void close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

[[noreturn]] void cannot_start(const std::string& command, int reason) {
  fail(ErrorCode::kIo, "the predictor '{}' cannot be started ({})", command, std::strerror(reason));
}

Pipe open_pipe(const std::string& command) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) cannot_start(command, errno);
  const Descriptor low_read(ends[0]);
  const Descriptor low_write(ends[1]);
  // Above 2, so that giving one end to the child as 0 or 1 cannot overwrite the other. It could be
  // lower where our own standard streams are closed.
  Pipe pipe{Descriptor(::fcntl(ends[0], F_DUPFD_CLOEXEC, 3)),
            Descriptor(::fcntl(ends[1], F_DUPFD_CLOEXEC, 3))};
  if (!pipe.read_end.is_open() || !pipe.write_end.is_open()) cannot_start(command, errno);
  return pipe;
}

/// While it lives, writing to a closed pipe is the error EPIPE in this thread, and no signal.
class PipeSignalBlock {
 public:
  PipeSignalBlock() {
    sigemptyset(&pipe_signal_);
    sigaddset(&pipe_signal_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal_, &before_);
  }
  ~PipeSignalBlock() {
    // A signal that our writes left behind would strike as soon as it is let through.
    if (!was_pending_) {
      const timespec now{};
      while (sigtimedwait(&pipe_signal_, nullptr, &now) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlock(const PipeSignalBlock&) = delete;
  PipeSignalBlock& operator=(const PipeSignalBlock&) = delete;

  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t pipe_signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

/// The process groups that are running, for a handler of signals, which may not take a lock.
std::array<std::atomic<pid_t>, 64> running_groups{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Enters a group; one that finds no place is not killed by such a handler.
std::size_t enter_group(pid_t group) noexcept {
  for (std::size_t k = 0; k < running_groups.size(); ++k) {
    pid_t none = 0;
    if (running_groups[k].compare_exchange_strong(none, group)) return k;
  }
  return running_groups.size();
}

void leave_group(std::size_t place) noexcept {
  if (place < running_groups.size()) running_groups[place].store(0);
}

/// All that the child does: nothing that allocates or locks, since other threads of the parent may
/// have held a lock at the fork. By fork and not by posix_spawn, which has no way to end the
/// program with its parent.
[[noreturn]] void become_shell(char* const* arguments, const sigset_t& mask, pid_t parent,
                               int input, int output, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_DFL);
  const bool ready = ::getppid() == parent &&  // which may have ended before prctl
                     ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
                     ::sigprocmask(SIG_SETMASK, &mask, nullptr) == 0;
  if (ready) ::execve("/bin/sh", arguments, environ);
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

/// A started program and its process group. One that is not waited for is killed with all it
/// started.
class Child {
 public:
  Child(const std::string& command, const sigset_t& mask, int input, int output) {
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    char* arguments[] = {shell.data(), option.data(), text.data(), nullptr};
    Pipe report = open_pipe(command);  // closed by a successful exec
    const pid_t parent = ::getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // A handler of ours must not run in the child, nor miss it in the parent.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    id_ = ::fork();
    if (id_ == 0) {
      become_shell(arguments, mask, parent, input, output, report.write_end.number());
    }
    const int problem = errno;
    if (id_ > 0) {
      ::setpgid(id_, id_);  // both sides: neither knows which of them runs first
      place_ = enter_group(id_);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (id_ < 0) cannot_start(command, problem);
    report.write_end.close();
    int reason = 0;
    ssize_t count = 0;
    do {
      count = ::read(report.read_end.number(), &reason, sizeof reason);
    } while (count < 0 && errno == EINTR);
    if (count == sizeof reason) {
      end();
      cannot_start(command, reason);
    }
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// True once the program has ended; `status` is then what waitpid says.
  bool ended(int& status) {
    const pid_t which = ::waitpid(id_, &status, WNOHANG);
    if (which == 0 || (which < 0 && errno == EINTR)) return false;
    if (which < 0) status = 0;  // ECHILD: someone ignores SIGCHLD, so nobody knows the status
    leave_group(place_);
    id_ = -1;
    return true;
  }

 private:
  void end() noexcept {
    if (id_ <= 0) return;
    ::kill(-id_, SIGKILL);
    leave_group(place_);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
  }

  pid_t id_ = -1;
  std::size_t place_ = running_groups.size();
};

/// Writes what the pipe takes and closes it at the end of the input or of the reader's interest.
void feed(Descriptor& pipe, std::string_view& input) {
  while (!input.empty()) {
    const ssize_t count = ::write(pipe.number(), input.data(), input.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) break;
    input.remove_prefix(static_cast<std::size_t>(count));
  }
  pipe.close();
}

/// Takes what there is, at most a buffer full; closes the pipe at its end.
void drain(Descriptor& pipe, std::string& output) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(pipe.number(), buffer.data(), buffer.size());
  if (count > 0) output.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) pipe.close();
}

/// Moves bytes both ways until the program closes its output and has its input, or has written more
/// than it may, or the time is over.
std::string exchange(Descriptor& to, Descriptor& from, std::string_view input,
                     Clock::time_point deadline, std::size_t most_output) {
  std::string output;
  if (input.empty()) to.close();
  while ((from.is_open() || to.is_open()) && output.size() <= most_output) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) break;
    std::array<pollfd, 2> waits{{{from.number(), POLLIN, 0}, {to.number(), POLLOUT, 0}}};
    const int longest = 60'000;  // poll() takes an int; a longer wait is several
    const int wait = static_cast<int>(std::min<decltype(left)>(left, longest));
    if (::poll(waits.data(), waits.size(), wait) <= 0) continue;  // EINTR too
    if (from.is_open() && waits[0].revents != 0) drain(from, output);
    if (to.is_open() && waits[1].revents != 0) feed(to, input);
  }
  return output;
}

/// Waits for the program's end. False when it outlives the deadline.
bool wait_until(Child& child, Clock::time_point deadline, int& status) {
  milliseconds pause{1};
  while (!child.ended(status)) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, milliseconds{20});
  }
  return true;
}

void check_status(const std::string& command, int status) {
  if (WIFSIGNALED(status)) {
    fail(ErrorCode::kBadData, "the predictor '{}' was killed by signal {}", command,
         WTERMSIG(status));
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return;
  constexpr int kShellFoundNothing = 127;
  fail(ErrorCode::kBadData, "the predictor '{}' exited with status {}{}", command, code,
       code == kShellFoundNothing ? " (no such program)" : "");
}

}  // namespace

void kill_running_filters() noexcept {
  for (const std::atomic<pid_t>& group : running_groups) {
    if (const pid_t id = group.load(); id > 0) ::kill(-id, SIGKILL);
  }
}

std::string run_filter(const std::string& command, std::string_view input,
                       std::chrono::milliseconds timeout, std::size_t most_output) {
  // A limit of centuries must not overflow the clock.
  constexpr milliseconds kLongest = std::chrono::hours{24 * 365};
  const Clock::time_point deadline = Clock::now() + std::min(timeout, kLongest);
  const PipeSignalBlock quiet;
  Pipe to = open_pipe(command);
  Pipe from = open_pipe(command);
  for (const int ours : {to.write_end.number(), from.read_end.number()}) {
    if (::fcntl(ours, F_SETFL, O_NONBLOCK) != 0) cannot_start(command, errno);
  }
  Child child(command, quiet.before(), to.read_end.number(), from.write_end.number());
  to.read_end.close();
  from.write_end.close();

  std::string output = exchange(to.write_end, from.read_end, input, deadline, most_output);
  if (output.size() > most_output) {
    fail(ErrorCode::kBadData,
         {.remedies = {advice("it must print one number per row and nothing else")}},
         "the predictor '{}' printed more than {} bytes", command, most_output);
  }
  const bool cut_off = from.read_end.is_open() || to.write_end.is_open();
  int status = 0;
  if (cut_off || !wait_until(child, deadline, status)) {
    fail(ErrorCode::kBadData,
         {.remedies = {{"raise", "timeout", "", ""}, advice("mend the program")}},
         "the predictor '{}' gave no answer within {} s", command,
         static_cast<double>(timeout.count()) / 1000.0);
  }
  check_status(command, status);
  return output;
}

}  // namespace tare
