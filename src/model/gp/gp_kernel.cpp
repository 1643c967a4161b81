// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gp_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "data/partition.h"
#include "data/rows.h"
#include "model/gp/lower_factor.h"
#include "model/gp/matern.h"
#include "model/nn/kernels/kernels.h"

namespace tare {
namespace {

constexpr double kFarthestFeature = 1e6;
constexpr double kLeastNoise = 1e-8;  // of the target's variance
constexpr double kLogReach = 12.0;    // of every logarithm from its start, either way

/// Rows that judge a kernel, standardised.
struct KernelRows {
  Matrix x;
  std::vector<double> y;
  std::vector<double> weight;  // with mean 1
};

KernelRows standard_rows(const RegressionData& data, const GpKernel& kernel,
                         std::span<const std::size_t> chosen) {
  KernelRows rows{Matrix(chosen.size(), data.x.cols()), {}, {}};
  double sum = 0.0;
  for (const double w : data.weight) sum += w / static_cast<double>(data.weight.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t j = 0; j < data.x.cols(); ++j) {
      rows.x(i, j) = std::clamp(standardised(data.x(chosen[i], j), kernel.column[j]),
                                -kFarthestFeature, kFarthestFeature);
    }
    rows.y.push_back(standardised(data.y[chosen[i]], kernel.target));
    rows.weight.push_back(data.weight.empty() ? 1.0 : data.weight[chosen[i]] / sum);
  }
  return rows;
}

/// Logarithms: of the rates, of signal and of noise.
using Logs = std::vector<double>;

struct Likelihood {
  double minus_log = 0.0;
  Logs gradient;  // of minus_log
};

/// None if the covariance is not positive definite in floating point.
///
/// With K = signal C + noise / w on the diagonal, a = K^-1 y and G = K^-1 - a a', the derivative of
/// minus the log likelihood by a parameter is tr(G dK) / 2.
std::optional<Likelihood> likelihood(const KernelRows& rows, const Logs& logs,
                                     const Execution& how) {
  const std::size_t n = rows.y.size();
  const std::size_t cols = rows.x.cols();
  const double signal = std::exp(logs[cols]);
  const double noise = std::exp(logs[cols + 1]) + kLeastNoise;
  Matrix z(n, cols);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < cols; ++j) z(i, j) = rows.x(i, j) * std::exp(logs[j]);
  }
  Matern c = matern(z, z, WithSlope::kYes, how);
  Matrix k(n, n);
  for (std::size_t i = 0; i < n * n; ++i) k.values()[i] = signal * c.value.values()[i];
  for (std::size_t i = 0; i < n; ++i) k(i, i) = signal + noise / rows.weight[i];
  const LowerFactor factor(std::move(k));
  if (!factor.ok()) return std::nullopt;
  const std::vector<double> a = factor.solve(rows.y);
  Matrix g = factor.inverse(how);

  Likelihood result{0.5 * factor.log_determinant(), Logs(logs.size(), 0.0)};
  for (std::size_t i = 0; i < n; ++i) result.minus_log += 0.5 * a[i] * rows.y[i];
  std::vector<double> sums(n, 0.0);  // of the rows of G o slope, which takes the place of G
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = g.row(i);
    for (std::size_t j = 0; j < n; ++j) row[j] -= a[i] * a[j];
    result.gradient[cols + 1] += 0.5 * row[i] * std::exp(logs[cols + 1]) / rows.weight[i];
    for (std::size_t j = 0; j < n; ++j) {
      result.gradient[cols] += 0.5 * row[j] * signal * c.value(i, j);
      row[j] *= signal * c.slope(i, j);
      sums[i] += row[j];
    }
  }
  // tr(G dK) of a rate is minus the sum over pairs of G o slope times the squared difference of z.
  Matrix across(n, cols);
  nn::accumulate_product(nn::Product<double>{n, cols, n, g.values().data(), n, 1, z.values().data(),
                                             cols, across.values().data(), cols});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      result.gradient[j] -= z(i, j) * (z(i, j) * sums[i] - across(i, j));
    }
  }
  return result;
}

/// Adam from `logs`, whose rate falls along a cosine.
void descend(const KernelRows& rows, std::size_t steps, double rate, Logs& logs,
             const Execution& how) {
  constexpr double kKeepMean = 0.8;
  constexpr double kKeepSquare = 0.9;
  const Logs start = logs;
  Logs mean(logs.size(), 0.0);
  Logs square(logs.size(), 0.0);
  Logs best = logs;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::optional<Likelihood> now = likelihood(rows, logs, how);
    if (!now || !std::isfinite(now->minus_log)) break;
    if (now->minus_log < lowest) {
      lowest = now->minus_log;
      best = logs;
    }
    const double share = static_cast<double>(step - 1) / static_cast<double>(steps);
    const double pace = rate * (0.05 + 0.95 * 0.5 * (1.0 + std::cos(std::numbers::pi * share)));
    for (std::size_t k = 0; k < logs.size(); ++k) {
      const double slope = now->gradient[k];
      mean[k] = kKeepMean * mean[k] + (1.0 - kKeepMean) * slope;
      square[k] = kKeepSquare * square[k] + (1.0 - kKeepSquare) * slope * slope;
      const double m = mean[k] / (1.0 - std::pow(kKeepMean, step));
      const double s = square[k] / (1.0 - std::pow(kKeepSquare, step));
      logs[k] = std::clamp(logs[k] - pace * m / (std::sqrt(s) + 1e-9), start[k] - kLogReach,
                           start[k] + kLogReach);
    }
  }
  logs = best;
}

}  // namespace

Matrix GpKernel::scaled(MatrixView x) const {
  Matrix z(x.rows(), x.cols());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < x.cols(); ++j) {
      z(i, j) = rate[j] *
                std::clamp(standardised(x(i, j), column[j]), -kFarthestFeature, kFarthestFeature);
    }
  }
  return z;
}

GpKernel learn_gp_kernel(const RegressionData& data, Seed seed, const Execution& how) {
  // 800 rows in place of 400 took three times as long and were no better on seven known-law
  // problems with 1,000 rows (ICE of `auto` 0.0927 and 0.0920).
  constexpr std::size_t kFirstRows = 160;
  constexpr std::size_t kLastRows = 320;
  constexpr std::size_t kFirstSteps = 40;
  constexpr std::size_t kLastSteps = 10;
  GpKernel kernel;
  const std::size_t rows = data.y.size();
  const std::size_t cols = data.x.cols();
  kernel.target = standardise(
      rows, [&](std::size_t i) { return data.y[i]; }, data.weight);
  for (std::size_t j = 0; j < cols; ++j) {
    kernel.column.push_back(standardise(
        rows, [&](std::size_t i) { return data.x(i, j); }, data.weight));
  }
  Logs logs(cols + 2, -0.5 * std::log(static_cast<double>(std::max<std::size_t>(cols, 1))));
  logs[cols] = 0.0;
  logs[cols + 1] = std::log(0.1);
  Rng rng(seed);
  std::vector<std::size_t> chosen = random_permutation(rows, rng);
  chosen.resize(std::min(rows, kLastRows));
  const std::span<const std::size_t> all(chosen);
  descend(standard_rows(data, kernel, all.first(std::min(rows, kFirstRows))), kFirstSteps, 0.3,
          logs, how);
  if (rows > kFirstRows) descend(standard_rows(data, kernel, all), kLastSteps, 0.1, logs, how);
  for (std::size_t j = 0; j < cols; ++j) kernel.rate.push_back(std::exp(logs[j]));
  kernel.signal = std::exp(logs[cols]);
  kernel.noise = std::exp(logs[cols + 1]) + kLeastNoise;
  return kernel;
}

}  // namespace tare
