// SPDX-License-Identifier: BSD-3-Clause
// How near boosted CQR comes to the true quantiles where the law is known and skewed.
#include <gtest/gtest.h>

#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

/// Mean over three seeds of the individual calibration error on 2,000 new rows, with the defaults,
/// which were chosen on other seeds and mostly other problems (see quantile_boosting.h). The first
/// ones reached 0.068 on skewed_2 here, which was the reason to look for smoother ones there.
double mean_error(const char* name) {
  const Problem& problem = find_problem(name);
  const std::vector<Level> levels = metric_levels();
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Sample train = draw(problem, 4000, Seed{seed});
    const Sample test = draw(problem, 2000, Seed{seed + 1000});
    FitInput input{.x = train.x, .y = train.y};
    input.seed = Seed{seed};
    const auto model = fit_method(find_method("cqr_boost"), input, {});
    const Prediction p = model->predict({test.x}, levels);
    sum += individual_calibration_error(problem, test.x, p.quantiles, levels);
  }
  return sum / 3.0;
}

TEST(CqrBoostPaper, ComesNearTheTrueQuantilesOfSkewedLaws) {
  EXPECT_LT(mean_error("skewed_1"), 0.06);
  // Two columns share the 2,800 rows that train; 0.065 was seen on seeds 600 to 602.
  EXPECT_LT(mean_error("skewed_2"), 0.07);
}

}  // namespace
}  // namespace tare
