// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace tare {

/// Runs `command` with /bin/sh, gives it `input` on its standard input and returns what it writes
/// to its standard output; its standard error is ours. Reading and writing are interleaved, so
/// neither side can wait for the other for ever, and a program that stops reading early is not an
/// error by itself.
///
/// Throws kBadData, naming the command, when it exits with another status than 0, dies of a signal,
/// writes more than `most_output` bytes, or is still running after `timeout` (it and all it started
/// are then killed); kIo when it cannot be started. A program whose caller is killed ends too.
std::string run_filter(const std::string& command, std::string_view input,
                       std::chrono::milliseconds timeout,
                       std::size_t most_output = std::numeric_limits<std::size_t>::max());

/// Kills the programs that run_filter is running now, with all they started. For a handler of
/// signals: it calls nothing that such a handler may not.
void kill_running_filters() noexcept;

}  // namespace tare
