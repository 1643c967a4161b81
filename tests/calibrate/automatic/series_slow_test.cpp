// SPDX-License-Identifier: BSD-3-Clause
// The claim behind auto on a series: its 90 % interval covers 85 to 95 % of what follows.
#include <gtest/gtest.h>

#include <cstdio>

#include "series_problem.h"

namespace tare {
namespace {

TEST(AutoSeriesSlow, TheIntervalHoldsForWhatFollows) {
  for (const double carry : {0.5, 0.8, 0.95}) {
    double mean = 0.0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Series series = Series::draw(1800, carry, Seed{seed});
      mean += coverage_of_the_future(series, 600, "auto", "budget=quick") / 20.0;
    }
    std::printf("noise carried over %.2f: 90 %% interval covers %.3f\n", carry, mean);
    EXPECT_GE(mean, 0.85) << carry;
    EXPECT_LE(mean, 0.95) << carry;
  }
}

}  // namespace
}  // namespace tare
