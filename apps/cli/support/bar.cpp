// SPDX-License-Identifier: BSD-3-Clause
#include "support/bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "support/terminal.h"

namespace tare::cli {

Bar::Bar(const Common& common)
    : active_(!common.quiet && ::isatty(STDERR_FILENO) == 1), threads_(common.threads) {}

Bar::~Bar() { clear(); }

void Bar::clear() {
  if (!active_ || width_ == 0) return;
  write_error("\r");
  for (; width_ > 0; --width_) write_error(" ");  // no memory needed: a destructor calls this
  write_error("\r");
}

void Bar::show_text(std::string_view text) {
  if (!active_) return;
  const std::string safe = printable(text);
  write_error(fmt::format("\r{:{}}", safe, width_));
  width_ = std::max(width_, safe.size());
}

void Bar::show(std::string_view stage, double share) {
  constexpr std::size_t kCells = 24;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kCells);
  show_text(fmt::format("[{}{}] {:3.0f} % {}", std::string(full, '#'),
                        std::string(kCells - full, '.'), 100.0 * share, stage));
}

Execution Bar::execution() {
  Execution how;
  how.threads = threads_;
  if (active_) how.progress = [this](std::string_view stage, double share) { show(stage, share); };
  return how;
}

Execution with_time_left(Bar& bar) {
  Execution how = bar.execution();
  if (!how.progress) return how;
  const auto start = std::chrono::steady_clock::now();
  auto first = std::make_shared<double>(-1.0);  // share done by an earlier run
  how.progress = [&bar, start, first](std::string_view stage, double share) {
    if (*first < 0.0) *first = share;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double gained = share - *first;
    const std::string left =
        gained > 0.0 ? fmt::format(", {:.0f} s left", spent / gained * (1.0 - share)) : "";
    bar.show(fmt::format("{}{}", stage, left), share);
  };
  return how;
}

void note(const Common& common, std::string_view text) {
  if (!common.quiet) write_error(printable_lines(text) + "\n");
}

void warn(const Common& common, std::string_view text) {
  if (!common.quiet) tell("warning: ", text);
}

}  // namespace tare::cli
