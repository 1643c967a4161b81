// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/fail.h"
#include "io/json_text.h"

namespace tare::serve {
namespace {

std::string time_text() {
  const auto now = std::chrono::system_clock::now();
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), millis);
}

/// Writes the text unless nobody takes it for a second after `stopping` was set.
void write_all(int file, std::string_view text, const std::atomic<bool>& stopping) {
  int refused_while_stopping = 0;
  while (!text.empty()) {
    pollfd ready{file, POLLOUT, 0};
    if (::poll(&ready, 1, 100) <= 0) {
      if (stopping && ++refused_while_stopping >= 10) return;
      continue;
    }
    // Small pieces: a pipe that is said to be ready takes that much without waiting.
    const auto written = ::write(file, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

LogLine::LogLine(std::string_view level, std::string_view event)
    : line_(fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"event\":\"{}\"", time_text(), level,
                        event)) {}

LogLine& LogLine::text(std::string_view name, std::string_view value) {
  line_ += fmt::format(",\"{}\":", name);
  line_ += nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::ranges::replace(line_, '\x7F', '?');
  return *this;
}

LogLine& LogLine::number(std::string_view name, double value) {
  line_ += fmt::format(",\"{}\":", name);
  append_json_number(line_, value);
  return *this;
}

LogLine& LogLine::count(std::string_view name, std::uint64_t value) {
  line_ += fmt::format(",\"{}\":{}", name, value);
  return *this;
}

Log::Log(int file) : file_(file) {
  try {
    writer_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    fail(ErrorCode::kIo, "cannot start a thread: {}", error.code().message());
  }
}

Log::~Log() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  wake_.notify_one();
  writer_.join();
}

void Log::write(const LogLine& line) {
  std::string text = line.finish();
  const std::lock_guard lock(guard_);
  if (waiting_.size() + text.size() > kMostBytes) {
    ++dropped_;
    ++dropped_unsaid_;
    return;
  }
  const bool was_empty = waiting_.empty();
  if (dropped_unsaid_ > 0) {
    waiting_ += LogLine("warning", "log_dropped")
                    .count("lines", std::exchange(dropped_unsaid_, 0))
                    .finish();
  }
  waiting_ += text;
  if (was_empty) wake_.notify_one();
}

void Log::count_dropped() noexcept {
  const std::lock_guard lock(guard_);
  ++dropped_;
  ++dropped_unsaid_;
}

std::uint64_t Log::dropped() const {
  const std::lock_guard lock(guard_);
  return dropped_;
}

void Log::flush(std::chrono::milliseconds most) {
  std::unique_lock lock(guard_);
  written_.wait_for(lock, most, [&] { return waiting_.empty() && !writing_; });
}

void Log::run() {
  std::unique_lock lock(guard_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string text = std::exchange(waiting_, {});
    writing_ = true;
    lock.unlock();
    write_all(file_, text, stopping_);
    lock.lock();
    writing_ = false;
    written_.notify_all();
  }
}

}  // namespace tare::serve
