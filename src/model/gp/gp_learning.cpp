// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gp_learning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "data/partition.h"
#include "model/gp/gp_likelihood.h"

namespace tare {
namespace {

constexpr double kLogReach = 12.0;  // of every logarithm from its start, either way

KernelRows standard_rows(const RegressionData& data, const GpKernel& kernel,
                         std::span<const std::size_t> chosen) {
  KernelRows rows{Matrix(chosen.size(), data.x.cols()), {}, {}};
  double sum = 0.0;
  for (const double w : data.weight) sum += w / static_cast<double>(data.weight.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t j = 0; j < data.x.cols(); ++j) {
      rows.x(i, j) = standardised_feature(data.x(chosen[i], j), kernel.column[j]);
    }
    rows.y.push_back(standardised(data.y[chosen[i]], kernel.target));
    rows.weight.push_back(data.weight.empty() ? 1.0 : data.weight[chosen[i]] / sum);
  }
  return rows;
}

Logs first_guess(const LogPlaces& places) {
  const double of_each = -std::log(static_cast<double>(std::max<std::size_t>(places.cols, 1)));
  Logs logs(places.count(), 0.0);
  for (std::size_t j = 0; j < places.cols; ++j) logs[places.rate(j)] = 0.5 * of_each;
  logs[places.noise()] = std::log(0.1);
  if (!places.alone) return logs;
  logs[places.signal()] = std::log(0.5);
  for (std::size_t j = 0; j < places.cols; ++j) {
    logs[places.alone_variance(j)] = std::log(0.5) + of_each;
  }
  return logs;
}

/// Adam from `logs`, whose rate falls along a cosine.
void descend(const KernelRows& rows, const LogPlaces& places, std::size_t steps, double rate,
             Logs& logs, const Execution& how) {
  constexpr double kKeepMean = 0.8;
  constexpr double kKeepSquare = 0.9;
  const Logs start = logs;
  Logs mean(logs.size(), 0.0);
  Logs square(logs.size(), 0.0);
  Logs best = logs;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::optional<Likelihood> now = gp_likelihood(rows, logs, places, how);
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

/// What brings nothing costs time at every answer.
void drop_small_functions(GpKernel& kernel) {
  constexpr double kNothing = 1e-4;
  const double least = kNothing * kernel.variance();
  for (double& variance : kernel.alone) {
    if (variance < least) variance = 0.0;
  }
}

}  // namespace

GpKernel learn_gp_kernel(const RegressionData& data, GpForm form, Seed seed, const Execution& how) {
  // 800 rows in place of 400 took three times as long and were no better on seven known-law
  // problems with 1,000 rows (ICE of `auto` 0.0927 and 0.0920).
  constexpr std::size_t kFirstRows = 160;
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
  const LogPlaces places{cols, cols > 1 && form == GpForm::kTogetherAndAlone};
  Logs logs = first_guess(places);
  Rng rng(seed);
  std::vector<std::size_t> chosen = random_permutation(rows, rng);
  chosen.resize(std::min(rows, kKernelRows));
  const std::span<const std::size_t> all(chosen);
  descend(standard_rows(data, kernel, all.first(std::min(rows, kFirstRows))), places, kFirstSteps,
          0.3, logs, how);
  if (rows > kFirstRows) {
    descend(standard_rows(data, kernel, all), places, kLastSteps, 0.1, logs, how);
  }
  set_parameters(logs, places, kernel);
  drop_small_functions(kernel);
  return kernel;
}

}  // namespace tare
