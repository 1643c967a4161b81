// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/command.h"

namespace tare::cli {

/// A progress bar: one line on standard error that is rewritten, only on a terminal.
class Bar {
 public:
  explicit Bar(const Common& common);
  ~Bar();
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void show(std::string_view stage, double share);
  void show_text(std::string_view text);
  /// Threads and progress for the library.
  Execution execution();

 private:
  void clear();

  bool active_;
  std::size_t threads_;
  std::size_t width_ = 0;  // of what is on the line now
};

/// The execution() of the bar, with an estimate of the remaining time.
Execution with_time_left(Bar& bar);

/// A line on standard error, unless --quiet.
void note(const Common& common, std::string_view text);
void warn(const Common& common, std::string_view text);

}  // namespace tare::cli
