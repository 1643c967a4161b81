// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tare/base/rng.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

Sample sample_of(const char* problem, std::size_t rows) {
  return draw(find_problem(problem), rows, Seed{11});
}

/// Leave-one-out in the slowest way: a new estimator without the row, for every row.
double slow_leave_one_out(const Sample& data, SnqOptions options) {
  const auto levels = metric_levels();
  const std::size_t n = data.y.size();
  double total = 0.0;
  for (std::size_t left_out = 0; left_out < n; ++left_out) {
    std::vector<double> rows;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == left_out) continue;
      rows.insert(rows.end(), data.x.row(i).begin(), data.x.row(i).end());
      y.push_back(data.y[i]);
    }
    const Snq snq(Matrix(rows, n - 1, data.x.cols()), y, {}, options);
    const auto p = snq.predict(data.x.view().middle_rows(left_out, 1), levels);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double error = data.y[left_out] - p.quantiles(0, j);
      total += std::max(levels[j].value() * error, (levels[j].value() - 1.0) * error);
    }
  }
  return total / static_cast<double>(n * levels.size());
}

TEST(Bandwidth, LeaveOneOutIsTheLossOfAnEstimatorWithoutTheRow) {
  const Sample data = sample_of("hetero_2", 120);
  for (const KernelKind kernel : kAllKernels) {
    SnqOptions options{.kernel = kernel, .min_support = 7};
    const std::vector<double> path = kernel == KernelKind::kKnn
                                         ? std::vector<double>{3, 20, 119}
                                         : std::vector<double>{0.01, 0.2, 3.0};
    std::vector<std::size_t> places(120);
    for (std::size_t i = 0; i < 120; ++i) places[i] = i;
    const auto losses =
        leave_one_out_losses(LocalSample(data.x, data.y, {}), {}, options, path, places, {});
    for (std::size_t b = 0; b < path.size(); ++b) {
      options.bandwidth = path[b];
      double mean = 0.0;
      for (std::size_t i = 0; i < 120; ++i) mean += losses(i, b) / 120.0;
      // Equal but for the order in which 12,000 losses are added.
      EXPECT_NEAR(mean, slow_leave_one_out(data, options), 1e-12) << kernel_name(kernel);
    }
  }
}

TEST(Bandwidth, ARowInTimeIsPredictedFromEarlierBlocks) {
  const Sample data = sample_of("hetero_2", 90);
  const std::vector<std::size_t> order = residual_order(data.y, {});
  std::vector<std::size_t> block(90);
  for (std::size_t place = 0; place < 90; ++place)
    block[place] = order[place] / 30;  // three of them, in time
  std::vector<std::size_t> places;     // some rows of the second and third block
  for (std::size_t place = 0; place < 90 && places.size() < 3; ++place) {
    if (block[place] > 0) places.push_back(place);
  }
  const SnqOptions options{.kernel = KernelKind::kNaive, .bandwidth = 0.3};
  const auto losses =
      leave_one_out_losses(LocalSample(data.x, data.y, {}), block, options, {{0.3}}, places, {});
  const auto levels = metric_levels();
  double expected = 0.0;
  for (const std::size_t place : places) {
    std::vector<double> rows;
    std::vector<double> y;
    for (std::size_t i = 0; i < 90; ++i) {
      if (i / 30 >= order[place] / 30) continue;
      rows.insert(rows.end(), data.x.row(i).begin(), data.x.row(i).end());
      y.push_back(data.y[i]);
    }
    const Snq snq(Matrix(rows, y.size(), 2), y, {}, options);
    const auto p = snq.predict(data.x.view().middle_rows(order[place], 1), levels);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double error = data.y[order[place]] - p.quantiles(0, j);
      expected += std::max(levels[j].value() * error, (levels[j].value() - 1.0) * error) / 300.0;
    }
  }
  EXPECT_NEAR((losses(0, 0) + losses(1, 0) + losses(2, 0)) / 3.0, expected, 1e-12);
}

TEST(Bandwidth, OverBlocksTheWidestThatIsAsGoodIsTaken) {
  // Nothing depends on the features: every wide bandwidth is as good, and the blocks say so.
  const Sample flat = sample_of("flat", 800);
  const Sample sine = sample_of("sine", 800);
  const auto chosen = [](const Sample& data, bool in_blocks) {
    std::vector<std::size_t> block;
    if (in_blocks) {
      for (const std::size_t row : residual_order(data.y, {})) block.push_back(row / 80);
    }
    return choose_bandwidth(LocalSample(data.x, data.y, {}), {.block = block}, {}, Seed{1}, {})
        .bandwidth;
  };
  EXPECT_GE(chosen(flat, true), chosen(flat, false));
  EXPECT_GE(chosen(flat, true), 1.0);  // of features in [0, 1]: all rows count
  EXPECT_LT(chosen(sine, true),
            1.0);  // of features in [0, 15]: where the law does depend, it stays local
}

class BandwidthPath : public testing::TestWithParam<std::tuple<KernelKind, const char*>> {};

TEST_P(BandwidthPath, IsLongAndNeverWonByAnEnd) {
  const auto [kernel, problem] = GetParam();
  const Sample data = sample_of(problem, 600);
  const auto choice = choose_bandwidth(data.x, data.y, {}, {.kernel = kernel}, Seed{1});
  EXPECT_GE(choice.path.size(), 24U);
  const auto ascending = [](const BandwidthTrial& a, const BandwidthTrial& b) {
    return a.bandwidth < b.bandwidth;
  };
  EXPECT_TRUE(std::is_sorted(choice.path.begin(), choice.path.end(), ascending));
  double best = choice.path[0].loss;
  for (const auto& trial : choice.path) best = std::min(best, trial.loss);
  const auto taken = std::find_if(choice.path.begin(), choice.path.end(), [&](const auto& trial) {
    return trial.bandwidth == choice.bandwidth;
  });
  ASSERT_NE(taken, choice.path.end());
  EXPECT_LE(taken->loss, best * (1.0 + 1e-8));
  if (kernel !=
      KernelKind::kKnn) {  // knn's path runs from two rows to all: there is nothing beyond
    EXPECT_NE(taken, choice.path.begin());
    EXPECT_NE(taken, choice.path.end() - 1);
  }
  EXPECT_EQ(choice.rows_left_out, 600U);
}

INSTANTIATE_TEST_SUITE_P(All, BandwidthPath,
                         testing::Combine(testing::ValuesIn(kAllKernels),
                                          testing::Values("sine", "flat", "uniform_wedge",
                                                          "hetero_5")),
                         [](const auto& p) {
                           return std::string(kernel_name(std::get<0>(p.param))) + "_" +
                                  std::get<1>(p.param);
                         });

TEST(Bandwidth, IsWideWhereNothingDependsOnTheFeatures) {
  const Sample flat = sample_of("flat", 1500);
  const Sample sine = sample_of("sine", 1500);
  const auto wide = choose_bandwidth(flat.x, flat.y, {}, {}, Seed{1});
  const auto narrow = choose_bandwidth(sine.x, sine.y, {}, {}, Seed{1});
  double widest = 0.0;
  for (std::size_t i = 0; i < 1500; ++i)
    widest = std::max(widest, std::abs(flat.x(i, 0) - flat.x(0, 0)));
  EXPECT_GT(wide.bandwidth, 0.2 * widest);
  EXPECT_LT(narrow.bandwidth, 1.5);  // of a range of 15 with several waves
}

TEST(Bandwidth, SurvivesFeaturesThatAreAllEqual) {
  Rng rng(Seed{2});
  std::vector<double> u(50);
  for (double& value : u) value = rng.normal();
  for (const std::size_t dims : {0U, 1U, 3U}) {
    for (const KernelKind kernel : kAllKernels) {
      const auto choice =
          choose_bandwidth(Matrix(50, dims, 7.0), u, {}, {.kernel = kernel}, Seed{1});
      EXPECT_GT(choice.bandwidth, 0.0);
      EXPECT_TRUE(std::isfinite(choice.bandwidth));
    }
  }
}

TEST(Bandwidth, DoesNotDependOnThreads) {
  const Sample data = sample_of("skewed_2", 500);
  const auto one =
      choose_bandwidth(data.x, data.y, {}, {}, Seed{1}, {.threads = 1, .progress = {}});
  const auto eight =
      choose_bandwidth(data.x, data.y, {}, {}, Seed{1}, {.threads = 8, .progress = {}});
  ASSERT_EQ(one.path.size(), eight.path.size());
  for (std::size_t i = 0; i < one.path.size(); ++i) EXPECT_EQ(one.path[i].loss, eight.path[i].loss);
}

TEST(Bandwidth, TheRateIsTheoremOnes) {
  for (const KernelKind kernel : kAllKernels) {
    for (const std::size_t d : {1U, 2U, 8U}) {
      const double small = rate_bandwidth(kernel, 1'000, d, 3.0);
      const double large = rate_bandwidth(kernel, 64'000, d, 3.0);
      const double expected = kernel == KernelKind::kKnn ? 2.0 / (static_cast<double>(d) + 2.0)
                                                         : -1.0 / (static_cast<double>(d) + 2.0);
      // knn's is rounded to whole rows.
      EXPECT_NEAR(std::log(large / small) / std::log(64.0), expected,
                  kernel == KernelKind::kKnn ? 0.02 : 1e-12);
    }
  }
  EXPECT_DOUBLE_EQ(rate_bandwidth(KernelKind::kNaive, 1'000, 1, 3.0),
                   3.0 * std::pow(1000.0, -1.0 / 3.0));
}

}  // namespace
}  // namespace tare
