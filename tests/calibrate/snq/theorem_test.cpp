// SPDX-License-Identifier: BSD-3-Clause
// What the paper proves and promises, seen in numbers. Seeded, so a failure is a change and not bad
// luck.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

/// Mean squared error of SNQ's quantiles at fresh points, averaged over several samples. SNQ sees
/// the residuals of the true mean, as NRC would with a perfect f.
double quantile_mse(const Problem& problem, std::size_t n, double h, int samples) {
  const std::vector<Level> levels = {Level{0.1}, Level{0.25}, Level{0.5}, Level{0.75}, Level{0.9}};
  double total = 0.0;
  for (int s = 0; s < samples; ++s) {
    Sample data = draw(problem, n, split(Seed{100}, static_cast<std::uint64_t>(s)));
    for (std::size_t i = 0; i < n; ++i) data.y[i] -= problem.law(data.x.row(i)).mean();
    const Sample queries = draw(problem, 400, split(Seed{200}, static_cast<std::uint64_t>(s)));
    const Snq snq(data.x, data.y, {}, {.kernel = KernelKind::kNaive, .bandwidth = h});
    Prediction p = snq.predict(queries.x, levels);
    for (std::size_t i = 0; i < queries.x.rows(); ++i) {
      for (double& q : p.quantiles.row(i)) q += problem.law(queries.x.row(i)).mean();
    }
    const double rmse = quantile_rmse(problem, queries.x, p.quantiles, levels);
    total += rmse * rmse;
  }
  return total / samples;
}

double fitted_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / static_cast<double>(x.size());
    mean_y += y[i] / static_cast<double>(x.size());
  }
  double xy = 0.0;
  double xx = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xy / xx;
}

class Theorem1 : public testing::TestWithParam<const char*> {};

TEST_P(Theorem1, QuantileErrorFallsAtTheRateOfTheDimension) {
  const Problem& problem = find_problem(GetParam());
  std::vector<double> log_n;
  std::vector<double> log_mse;
  for (std::size_t n = 1'000; n <= 64'000; n *= 2) {
    log_n.push_back(std::log(static_cast<double>(n)));
    // The theorem's h. Its constant is on the small side: these laws are smooth, and a smooth law's
    // bias falls faster than the theorem's Lipschitz bound; where the variance leads, the rate is
    // the theorem's.
    const double h =
        0.4 * std::pow(static_cast<double>(n), -1.0 / (static_cast<double>(problem.dims) + 2.0));
    log_mse.push_back(std::log(quantile_mse(problem, n, h, 6)));
  }
  const double slope = fitted_slope(log_n, log_mse);
  const double expected = -2.0 / (static_cast<double>(problem.dims) + 2.0);
  RecordProperty("slope", std::to_string(slope));
  std::printf("slope %.4f, theorem %.4f\n", slope, expected);
  // Seven values of n, each a mean over 12,000 errors: the slope's own noise is about 0.02.
  EXPECT_NEAR(slope, expected, 0.15);
}

INSTANTIATE_TEST_SUITE_P(KnownLaws, Theorem1, testing::Values("hetero_1", "hetero_2"),
                         [](const auto& p) { return std::string(p.param); });

TEST(LargeSample, EveryRowIsLeftOutForTheBandwidthUpToFiveThousand) {
  const SnqOptions options{.kernel = KernelKind::kNaive};
  const Sample all = draw(find_problem("sine"), 5'000, Seed{11});
  EXPECT_EQ(choose_bandwidth(all.x, all.y, {}, options, Seed{1}).rows_left_out, 5'000U);
  const Sample more = draw(find_problem("sine"), 5'001, Seed{11});
  EXPECT_LE(choose_bandwidth(more.x, more.y, {}, options, Seed{1}).rows_left_out, 4'000U);
}

TEST(LargeSample, ABandwidthForManyRowsIsCarriedOverFromAPart) {
  const Sample data = draw(find_problem("sine"), 60'000, Seed{11});
  const auto choice = choose_bandwidth(data.x, data.y, {}, {}, Seed{1});
  EXPECT_LE(choice.rows_left_out, 4'000U);
  // What is carried over is what a sample of 20,000 of these rows asks for.
  const Sample part = draw(find_problem("sine"), 20'000, Seed{12});
  const auto small = choose_bandwidth(part.x, part.y, {}, {}, Seed{1});
  const double step = small.path[1].bandwidth / small.path[0].bandwidth;
  EXPECT_LT(std::abs(std::log(choice.bandwidth / small.bandwidth * std::cbrt(3.0))),
            1.5 * std::log(step));
  const auto knn = choose_bandwidth(data.x, data.y, {}, {.kernel = KernelKind::kKnn}, Seed{1});
  EXPECT_EQ(knn.rows_left_out, 1'000U);
  EXPECT_EQ(knn.bandwidth, std::round(knn.bandwidth));
  EXPECT_NEAR(knn.path.front().bandwidth, 2.0 * std::pow(15.0, 2.0 / 3.0), 0.5);
}

class SineProblem : public testing::TestWithParam<const char*> {};

TEST_P(SineProblem, LocalCalibrationHalvesTheIndividualError) {
  const Problem& problem = find_problem("sine");
  constexpr std::size_t kTrain = 36'000;
  constexpr std::size_t kCalibrate = 4'000;
  const Sample data = draw(problem, kTrain + kCalibrate, Seed{5});
  const Sample test = draw(problem, 5'000, Seed{6});
  const std::span<const double> y = data.y;
  const auto point =
      find_regressor(GetParam())
          .fit({data.x.view().middle_rows(0, kTrain), y.first(kTrain), {}}, {}, Seed{7}, {});
  const auto given = [&](MatrixView x) {
    Matrix out(x.rows(), 1);
    point->predict(x, out.values(), {});
    return out;
  };
  const MatrixView x = data.x.view().middle_rows(kTrain, kCalibrate);
  const Matrix calibration_given = given(x);
  const Matrix test_given = given(test.x);
  const FitInput input{.x = x, .y = y.subspan(kTrain), .given = calibration_given};
  const auto ice = [&](const char* bandwidth) {
    Params params;
    params.set("bandwidth", bandwidth);
    const auto model = fit_method(find_method("nrc"), input, params);
    const auto levels = metric_levels();
    const auto p = model->predict({test.x, test_given}, levels);
    return individual_calibration_error(problem, test.x, p.quantiles, levels);
  };
  const double local = ice("auto");
  const double marginal = ice("infinite");
  std::printf("ICE: local %.4f, marginal %.4f\n", local, marginal);
  EXPECT_LE(local, 0.045);
  EXPECT_LE(local, 0.5 * marginal);
}

INSTANTIATE_TEST_SUITE_P(PointModels, SineProblem, testing::Values("boosting", "forest"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace tare
