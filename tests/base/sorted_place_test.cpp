// SPDX-License-Identifier: BSD-3-Clause
#include "base/sorted_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(SortedPlace, IsThatOfTheStandardLibrary) {
  Rng rng(Seed{11});
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<double> sorted(count);
    for (double& v : sorted) v = static_cast<double>(rng.below(20));  // with ties
    std::sort(sorted.begin(), sorted.end());
    for (double value = -1.0; value <= 20.0; value += 0.5) {
      const std::span<const double> all(sorted);
      const auto lower = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
      const auto upper = std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
      ASSERT_EQ(sorted_place(all, [&](double v) { return v < value; }),
                static_cast<std::size_t>(lower));
      ASSERT_EQ(sorted_place(all, [&](double v) { return v <= value; }),
                static_cast<std::size_t>(upper));
    }
  }
}

}  // namespace
}  // namespace tare
