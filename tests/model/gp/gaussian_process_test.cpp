// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gaussian_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "data/partition.h"
#include "data/rows.h"
#include "model/gp/gp_learning.h"
#include "model/gp/gp_likelihood.h"

namespace tare {
namespace {

/// A wave along the first feature and a slope along the second; further features do not matter.
struct WaveRows {
  Matrix x;
  std::vector<double> y;
  std::vector<double> weight;

  WaveRows(std::size_t rows, std::size_t cols, double noise, bool weighted) : x(rows, cols) {
    Rng rng(Seed{21});
    for (std::size_t i = 0; i < rows; ++i) {
      for (double& value : x.row(i)) value = rng.uniform(-2.0, 2.0);
      if (weighted) weight.push_back(rng.uniform(0.5, 2.0));
      y.push_back(truth(x.row(i)) + noise * rng.normal());
    }
  }
  RegressionData data() const { return {x, y, weight}; }
  static double truth(std::span<const double> row) {
    return 100.0 + 3.0 * std::sin(2.0 * row[0]) + row[1];
  }
};

GpKernel some_kernel(const WaveRows& rows, GpForm form) {
  GpKernel kernel{{99.0, 2.0}, {}, {}, 1.7, 0.2};
  for (std::size_t j = 0; j < rows.x.cols(); ++j) {
    kernel.column.push_back({0.1, 1.2});
    kernel.rate.push_back(0.5 + 0.3 * static_cast<double>(j));
    if (form == GpForm::kTogether) continue;
    kernel.alone.push_back(0.4 + 0.5 * static_cast<double>(j));
    kernel.alone_rate.push_back(1.1 - 0.4 * static_cast<double>(j));
  }
  return kernel;
}

double correlation(double apart) {
  const double r = std::sqrt(5.0) * apart;
  return (1.0 + r + r * r / 3.0) * std::exp(-r);
}

/// The covariance of two rows, by its definition.
double covariance(const GpKernel& kernel, std::span<const double> a, std::span<const double> b) {
  double squares = 0.0;
  double alone = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double apart = std::abs(a[j] - b[j]) / kernel.column[j].scale;
    squares += std::pow(kernel.rate[j] * apart, 2.0);
    if (kernel.alone.empty()) continue;
    alone += kernel.alone[j] * correlation(kernel.alone_rate[j] * apart);
  }
  return kernel.signal * correlation(std::sqrt(squares)) + alone;
}

/// Solves a dense system by elimination.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t i = p + 1; i < n; ++i) {
      const double factor = a[i][p] / a[p][p];
      for (std::size_t j = p; j < n; ++j) a[i][j] -= factor * a[p][j];
      b[i] -= factor * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t j = p + 1; j < n; ++j) b[p] -= a[p][j] * b[j];
    b[p] /= a[p][p];
  }
  return b;
}

double noise_of(const WaveRows& rows, const GpKernel& kernel, std::size_t i) {
  if (rows.weight.empty()) return kernel.noise;
  double mean = 0.0;
  for (const double w : rows.weight) mean += w / static_cast<double>(rows.weight.size());
  return kernel.noise * mean / rows.weight[i];
}

/// The posterior mean at a row from some of the rows.
double slow_mean(const WaveRows& rows, const GpKernel& kernel, std::span<const std::size_t> used,
                 std::span<const double> at) {
  std::vector<std::vector<double>> k(used.size(), std::vector<double>(used.size()));
  std::vector<double> y(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = 0; j < used.size(); ++j) {
      k[i][j] = covariance(kernel, rows.x.row(used[i]), rows.x.row(used[j]));
    }
    k[i][i] += noise_of(rows, kernel, used[i]);
    y[i] = (rows.y[used[i]] - kernel.target.mean) / kernel.target.scale;
  }
  const std::vector<double> a = solve(std::move(k), std::move(y));
  double sum = 0.0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    sum += a[i] * covariance(kernel, rows.x.row(used[i]), at);
  }
  return kernel.target.mean + kernel.target.scale * sum;
}

/// `count` groups of about equal size.
std::vector<std::uint32_t> groups_of(std::size_t rows, std::size_t count) {
  std::vector<std::uint32_t> group(rows);
  for (std::size_t i = 0; i < rows; ++i) group[i] = static_cast<std::uint32_t>(i * 7 % count);
  return group;
}

TEST(GaussianProcess, IsThePosteriorMean) {
  for (const std::size_t count : {60U, 5U}) {  // groups; 60: of a single row
    const bool weighted = count == 5;
    const WaveRows rows(60, 2, 0.5, weighted);
    const GpKernel kernel =
        some_kernel(rows, weighted ? GpForm::kTogetherAndAlone : GpForm::kTogether);
    const std::vector<std::uint32_t> group = groups_of(60, count);
    const GpFit fit = fit_gaussian_process(rows.data(), kernel, group, Seed{1}, {});
    ASSERT_TRUE(fit.model);
    const WaveRows others(5, 2, 0.5, false);
    std::vector<double> answers(5);
    fit.model->predict(others.x, answers, {});
    const std::vector<std::size_t> all = all_rows(60);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_NEAR(answers[i], slow_mean(rows, kernel, all, others.x.row(i)), 1e-5);
    }
    for (std::size_t i = 0; i < 60; i += 7) {
      std::vector<std::size_t> rest = all;
      std::erase_if(rest, [&](std::size_t other) { return group[other] == group[i]; });
      EXPECT_NEAR(fit.without[i], slow_mean(rows, kernel, rest, rows.x.row(i)), 1e-5) << i;
    }
  }
}

/// With many rows: least squares on the covariances with some of them. Solved here without a group.
TEST(GaussianProcess, LeavesAGroupOutExactlyWithManyRows) {
  const WaveRows rows(kExactGpRows + 40, 2, 0.5, true);
  const GpKernel kernel = some_kernel(rows, GpForm::kTogetherAndAlone);
  const std::vector<std::uint32_t> group = groups_of(rows.y.size(), 6);
  const GpFit fit = fit_gaussian_process(rows.data(), kernel, group, Seed{1}, {});
  ASSERT_TRUE(fit.model);
  Rng rng(Seed{1});
  std::vector<std::size_t> points = random_permutation(rows.y.size(), rng);
  points.resize(384);
  std::vector<std::vector<double>> c(rows.y.size(), std::vector<double>(points.size()));
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      c[i][j] = covariance(kernel, rows.x.row(i), rows.x.row(points[j]));
    }
  }
  for (const std::size_t left_out : {700U}) {
    std::vector<std::vector<double>> a(points.size(), std::vector<double>(points.size()));
    std::vector<double> b(points.size(), 0.0);
    for (std::size_t j = 0; j < points.size(); ++j) {
      for (std::size_t k = 0; k < points.size(); ++k) a[j][k] = c[points[j]][k];
      a[j][j] += 1e-8 * kernel.variance();
    }
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (group[i] == group[left_out]) continue;
      const double noise = noise_of(rows, kernel, i);
      const double y = (rows.y[i] - kernel.target.mean) / kernel.target.scale;
      for (std::size_t j = 0; j < points.size(); ++j) {
        const double own = c[i][j] / noise;
        b[j] += own * y;
        for (std::size_t k = 0; k < points.size(); ++k) a[j][k] += own * c[i][k];
      }
    }
    const std::vector<double> share = solve(std::move(a), std::move(b));
    double sum = 0.0;
    for (std::size_t j = 0; j < points.size(); ++j) sum += share[j] * c[left_out][j];
    EXPECT_NEAR(fit.without[left_out], kernel.target.mean + kernel.target.scale * sum, 1e-4);
  }
}

TEST(GaussianProcess, LearnsWhichFeaturesMatterAndHowMuchNoiseThereIs) {
  const WaveRows rows(400, 6, 0.5, false);
  const GpKernel kernel = learn_gp_kernel(rows.data(), GpForm::kTogether, Seed{2}, {});
  for (std::size_t j = 2; j < 6; ++j) EXPECT_LT(kernel.rate[j], 0.2 * kernel.rate[0]) << j;
  const double noise = std::sqrt(kernel.noise) * kernel.target.scale;
  EXPECT_NEAR(noise, 0.5, 0.05);  // the standard error of a standard deviation of 400 is 0.018
  const GpFit fit = fit_gaussian_process(rows.data(), kernel, groups_of(400, 8), Seed{1}, {});
  double squares = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    squares += std::pow(fit.without[i] - WaveRows::truth(rows.x.row(i)), 2.0) / 400.0;
  }
  EXPECT_LT(std::sqrt(squares), 0.2);  // the targets are 0.5 away
}

/// The rows are a sum of functions of one feature, so that is where the variance should be.
TEST(GaussianProcess, FindsFunctionsOfOneFeature) {
  const WaveRows rows(400, 6, 0.5, false);
  const GpKernel kernel = learn_gp_kernel(rows.data(), GpForm::kTogetherAndAlone, Seed{2}, {});
  ASSERT_EQ(kernel.alone.size(), 6U);
  for (std::size_t j = 2; j < 6; ++j) {
    EXPECT_LT(kernel.alone[j], 0.1 * kernel.alone[0]) << j;
    EXPECT_LT(kernel.alone[j], 0.1 * kernel.alone[1]) << j;
  }
  EXPECT_LT(kernel.signal, kernel.alone[0]);
}

/// By differences, for both forms and rows with weights.
TEST(GaussianProcess, KnowsTheSlopeOfItsLikelihood) {
  const WaveRows rows(40, 3, 0.5, true);
  KernelRows judges{rows.x, {}, rows.weight};
  for (const double y : rows.y) judges.y.push_back((y - 100.0) / 2.0);
  for (const bool alone : {false, true}) {
    const LogPlaces places{3, alone};
    Logs logs(places.count());
    Rng rng(Seed{5});
    for (double& value : logs) value = rng.uniform(-1.0, 0.5);
    const auto now = gp_likelihood(judges, logs, places, {});
    ASSERT_TRUE(now);
    for (std::size_t k = 0; k < logs.size(); ++k) {
      constexpr double kStep = 1e-4;
      Logs more = logs;
      Logs less = logs;
      more[k] += kStep;
      less[k] -= kStep;
      const double slope = (gp_likelihood(judges, more, places, {})->minus_log -
                            gp_likelihood(judges, less, places, {})->minus_log) /
                           (2.0 * kStep);
      EXPECT_NEAR(now->gradient[k], slope, 1e-5 * (1.0 + std::abs(slope))) << k;
    }
  }
}

/// Minus the log likelihood by its definition: the determinant and the quadratic form from
/// elimination.
TEST(GaussianProcess, KnowsItsLikelihood) {
  const WaveRows rows(30, 2, 0.5, true);
  const LogPlaces places{2, true};
  const Logs logs = {-0.2, 0.3, 0.1, -1.5, -0.4, 0.2, 0.5, -0.6};
  KernelRows judges{rows.x, {}, rows.weight};
  for (const double y : rows.y) judges.y.push_back((y - 100.0) / 2.0);
  GpKernel kernel;
  set_parameters(logs, places, kernel);
  kernel.column = {{0.0, 1.0}, {0.0, 1.0}};
  std::vector<std::vector<double>> k(30, std::vector<double>(30));
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t j = 0; j < 30; ++j) k[i][j] = covariance(kernel, rows.x.row(i), rows.x.row(j));
    k[i][i] += kernel.noise / rows.weight[i];
  }
  const std::vector<double> a = solve(k, judges.y);
  double expected = 0.0;
  for (std::size_t i = 0; i < 30; ++i) expected += 0.5 * a[i] * judges.y[i];
  for (std::size_t p = 0; p < 30; ++p) {
    expected += 0.5 * std::log(k[p][p]);
    for (std::size_t i = p + 1; i < 30; ++i) {
      const double factor = k[i][p] / k[p][p];
      for (std::size_t j = p; j < 30; ++j) k[i][j] -= factor * k[p][j];
    }
  }
  EXPECT_NEAR(gp_likelihood(judges, logs, places, {})->minus_log, expected, 1e-6);
}

/// Rows that coincide, and a target without noise: the covariance is hardly positive definite.
TEST(GaussianProcess, TakesRowsThatCoincide) {
  Matrix x(300, 2);
  std::vector<double> y(300);
  for (std::size_t i = 0; i < 300; ++i) {
    x(i, 0) = static_cast<double>(i % 3);
    x(i, 1) = 1e-9 * static_cast<double>(i % 2);
    y[i] = static_cast<double>(i % 3);
  }
  const GpKernel kernel = learn_gp_kernel({x, y, {}}, GpForm::kTogetherAndAlone, Seed{2}, {});
  const GpFit fit = fit_gaussian_process({x, y, {}}, kernel, groups_of(300, 8), Seed{1}, {});
  ASSERT_TRUE(fit.model);
  std::vector<double> answers(300);
  fit.model->predict(x, answers, {});
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_NEAR(answers[i], y[i], 0.01);
    EXPECT_NEAR(fit.without[i], y[i], 0.02);
  }
}

}  // namespace
}  // namespace tare
