// SPDX-License-Identifier: BSD-3-Clause
#include "base/fail.h"
#include "evaluate/checks.h"
#include "math/compensated_sum.h"
#include "tare/evaluate/metrics.h"

namespace tare {

double interval_length(std::span<const double> lower, std::span<const double> upper) {
  check_interval("interval_length", lower, upper);

  CompensatedSum sum;
  for (std::size_t i = 0; i < lower.size(); ++i) sum.add(upper[i] - lower[i]);
  return sum.value() / static_cast<double>(lower.size());
}

double interval_coverage(std::span<const double> y, std::span<const double> lower,
                         std::span<const double> upper) {
  check_interval("interval_coverage", lower, upper);
  check_targets("interval_coverage", y, lower.size());

  std::size_t inside = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    inside += lower[i] <= y[i] && y[i] <= upper[i] ? 1u : 0u;
  return static_cast<double>(inside) / static_cast<double>(y.size());
}

double split_coverage(std::span<const double> y, std::span<const double> lower,
                      std::span<const double> upper, const Level& lower_level,
                      const Level& upper_level, std::span<const TargetJump> jumps) {
  check_interval("split_coverage", lower, upper);
  check_targets("split_coverage", y, lower.size());
  check_jumps("split_coverage", y, jumps);

  CompensatedSum inside;
  for (std::size_t i = 0; i < y.size(); ++i) {
    inside.add(
        share_inside(y[i], lower[i], upper[i], lower_level.value(), upper_level.value(), jumps[i]));
  }
  return inside.value() / static_cast<double>(y.size());
}

double winkler_score(std::span<const double> y, std::span<const double> lower,
                     std::span<const double> upper, double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         "winkler_score: an interval's confidence must lie strictly between 0 and 1, got {}",
         confidence);
  }
  check_interval("winkler_score", lower, upper);
  check_targets("winkler_score", y, lower.size());

  const double price = 2.0 / (1.0 - confidence);
  CompensatedSum sum;
  for (std::size_t i = 0; i < y.size(); ++i) {
    sum.add(upper[i] - lower[i]);
    // Both can hold at once if the ends have crossed; each then adds a penalty.
    if (y[i] < lower[i]) sum.add(price * (lower[i] - y[i]));
    if (y[i] > upper[i]) sum.add(price * (y[i] - upper[i]));
  }
  return sum.value() / static_cast<double>(y.size());
}

}  // namespace tare
