// SPDX-License-Identifier: BSD-3-Clause
#include "apply/target_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "math/normal.h"

namespace tare {

double target_level(std::span<const Level> levels, std::span<const double> quantiles,
                    double target) {
  const std::size_t count = levels.size();
  if (count < 2 || std::isnan(target)) return std::numeric_limits<double>::quiet_NaN();
  const auto place = [&](std::size_t j) { return normal_quantile(levels[j].value()); };
  const auto from = std::lower_bound(quantiles.begin(), quantiles.end(), target);
  const auto to = std::upper_bound(from, quantiles.end(), target);
  const auto first = static_cast<std::size_t>(from - quantiles.begin());
  const auto last = static_cast<std::size_t>(to - quantiles.begin());
  if (first < last) return normal_cdf(0.5 * (place(first) + place(last - 1)));

  // Between two levels, or on the line through the outermost two.
  const std::size_t above = std::clamp<std::size_t>(first, 1, count - 1);
  const double low = quantiles[above - 1];
  const double high = quantiles[above];
  const double z_low = place(above - 1);
  const double z_high = place(above);
  if (!std::isfinite(low) || !std::isfinite(high)) {
    if (first == 0) return 0.5 * levels[0].value();
    if (first == count) return 0.5 + 0.5 * levels[count - 1].value();
    return 0.5 * (levels[above - 1].value() + levels[above].value());
  }
  if (low == high) return first == 0 ? 0.0 : 1.0;
  // Halves, as differences of large numbers overflow.
  const double share = (0.5 * target - 0.5 * low) / (0.5 * high - 0.5 * low);
  return normal_cdf(z_low + share * (z_high - z_low));
}

}  // namespace tare
