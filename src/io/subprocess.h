// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace tare {

/// Runs `command` with /bin/sh, gives it `input` on its standard input and returns what it writes
/// to its standard output; its standard error is ours. Reading and writing are interleaved, so
/// neither side can wait for the other for ever, and a program that stops reading early is not an
/// error by itself.
///
/// Throws kBadData, naming the command, when it exits with another status than 0, dies of a signal,
/// or is still running after `timeout` (it and all it started are then killed); kIo when it cannot
/// be started.
std::string run_filter(const std::string& command, std::string_view input,
                       std::chrono::milliseconds timeout);

}  // namespace tare
