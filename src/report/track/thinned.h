// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tare {

/// A line over many rows as at most kMostPoints points: each is the median of some consecutive
/// rows, with the smallest and the largest of them.
struct Thinned {
  std::vector<double> x;  // of the last row of each part
  std::vector<double> middle, low, high;
  std::size_t rows = 1;  // of each part; the last one may have fewer

  static constexpr std::size_t kMostPoints = 300;
};

/// Values that are not finite are left out; a part with no others is NaN.
Thinned thin(std::span<const double> x, std::span<const double> y);

/// "Each point is the median of 12 rows, and the area spans their values." Empty for single rows.
std::string thinned_words(const Thinned& thinned);

/// At most `most` places of `count`, evenly spaced, the last one included.
std::vector<std::size_t> spaced(std::size_t count, std::size_t most);

/// The share of the last `width` of `inside` that are not 0, from place width - 1 on.
std::vector<double> moving_share(std::span<const unsigned char> inside, std::size_t width);

/// The quantile at `level` of the last `width` values, from place width - 1 on: the smallest value
/// with at least that share of them at or below it.
std::vector<double> moving_quantile(std::span<const double> values, std::size_t width,
                                    double level);

}  // namespace tare
