// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/sorted_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// The rows of a window, as places.
std::vector<std::uint32_t> places_in(const SortedLine& line, const SortedLine::Window& window) {
  const auto all = line.places().subspan(window.first, window.rows());
  std::vector<std::uint32_t> places(all.begin(), all.end());
  std::ranges::sort(places);
  return places;
}

/// All rows up to a squared distance, by looking at each.
std::vector<std::uint32_t> rows_within(std::span<const double> feature, double z, double reach2) {
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < feature.size(); ++i) {
    const double squared = (feature[i] - z) * (feature[i] - z);
    if (squared <= reach2) places.push_back(static_cast<std::uint32_t>(i));
  }
  return places;
}

TEST(SortedLine, FindsWindowsWhereverItBeginsToLook) {
  Rng rng(Seed{4});
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rows = 1 + rng.below(60);
    std::vector<double> feature(rows);
    // Few distinct values on every other line.
    for (double& value : feature) {
      value = trial % 2 == 0 ? rng.normal() : static_cast<double>(rng.below(5));
    }
    const SortedLine line(feature);
    const double z = trial % 3 == 0 ? feature[rng.below(rows)] : 2.0 * rng.normal();
    const auto first = static_cast<std::uint32_t>(rng.below(rows + 1));
    const SortedLine::Window guess{first,
                                   first + static_cast<std::uint32_t>(rng.below(rows - first + 1))};
    const double reach2 = std::pow(rng.uniform(0.0, 2.0), 2);
    EXPECT_EQ(places_in(line, line.within(z, reach2, guess)), rows_within(feature, z, reach2));

    const std::size_t count = 1 + rng.below(rows + 3);
    std::vector<double> squares;
    for (const double value : feature) squares.push_back((value - z) * (value - z));
    std::ranges::sort(squares);
    for (const double tolerance : {0.0, 1e-9, 0.2}) {
      EXPECT_EQ(places_in(line, line.nearest(z, count, tolerance, guess)),
                rows_within(feature, z, squares[std::min(count, rows) - 1] * (1.0 + tolerance)))
          << "the " << count << " nearest of " << rows << ", trial " << trial;
    }
  }
}

TEST(SortedLine, EqualValuesStandInTheOrderOfTheirPlaces) {
  const std::vector<double> feature = {2.0, 1.0, 2.0, 1.0, -0.0, 0.0};
  const SortedLine line(feature);
  EXPECT_EQ(std::vector<std::uint32_t>(line.places().begin(), line.places().end()),
            (std::vector<std::uint32_t>{4, 5, 1, 3, 0, 2}));
  EXPECT_EQ(line.positions(), (std::vector<std::uint32_t>{4, 2, 5, 3, 0, 1}));
}

}  // namespace
}  // namespace tare
