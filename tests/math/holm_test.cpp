// SPDX-License-Identifier: BSD-3-Clause
#include "math/holm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(Holm, AgreesWithItsDefinition) {
  Rng rng(Seed{5});
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<double> p(1 + rng.below(12));
    for (double& one : p) one = rng.uniform() * rng.uniform() * rng.uniform();
    if (p.size() > 3) p[1] = p[2];
    const std::vector<double> adjusted = holm_adjusted(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      // The largest, over all that are at most p[i], of p times the number that are not smaller.
      double expected = 0.0;
      for (const double one : p) {
        if (one > p[i]) continue;
        const auto rest = std::ranges::count_if(p, [&](double other) { return other >= one; });
        expected = std::max(expected, std::min(1.0, static_cast<double>(rest) * one));
      }
      EXPECT_DOUBLE_EQ(adjusted[i], expected);
    }
  }
}

}  // namespace
}  // namespace tare
