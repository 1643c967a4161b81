// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tare::serve {

/// One line of the log, a JSON object that starts with the time, the level and the event. It is
/// ASCII whatever a client sends, so that a terminal that shows it obeys no escape sequence.
class LogLine {
 public:
  LogLine(std::string_view level, std::string_view event);

  LogLine& text(std::string_view name, std::string_view value);
  LogLine& number(std::string_view name, double value);
  LogLine& count(std::string_view name, std::uint64_t value);
  std::string finish() const { return line_ + "}\n"; }

 private:
  std::string line_;
};

/// Writes lines to standard error on a separate thread, so that a slow or blocked reader does not
/// delay requests. Lines that do not fit in the buffer are dropped, and the next line that fits has
/// their number.
class Log {
 public:
  /// Throws kIo where the system starts no thread.
  explicit Log(int file);
  /// Writes the remaining lines.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(const LogLine& line);
  /// Writes the line that `make` returns; where there is no memory for it, it counts as dropped.
  template <class Make>
  void write_made(const Make& make) noexcept {
    try {
      write(make());
    } catch (...) {
      count_dropped();
    }
  }
  /// Waits until all lines have been written, for at most this time.
  void flush(std::chrono::milliseconds most);
  std::uint64_t dropped() const;

 private:
  void run();
  void count_dropped() noexcept;

  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  int file_;
  mutable std::mutex guard_;
  std::condition_variable wake_;
  std::condition_variable written_;
  bool writing_ = false;
  std::string waiting_;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_unsaid_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread writer_;
};

}  // namespace tare::serve
