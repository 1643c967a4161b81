// SPDX-License-Identifier: BSD-3-Clause
#include "report/html/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace tare {

std::string number_text(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0.0 ? "infinite" : "minus infinite";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1000.0 && magnitude < 1e7) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string percent_text(double share, double low, double high) {
  return fmt::format("{:.1f} % ({:.1f} to {:.1f} %)", 100.0 * share, 100.0 * low, 100.0 * high);
}

std::string count_text(std::size_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string rows_text(std::size_t count) {
  return count == 1 ? "1 row" : count_text(count) + " rows";
}

}  // namespace tare
