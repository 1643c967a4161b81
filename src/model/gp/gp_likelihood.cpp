// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gp_likelihood.h"

#include <cmath>
#include <span>

#include "base/parallel.h"
#include "model/gp/lower_factor.h"
#include "model/gp/matern.h"
#include "model/nn/kernels/kernels.h"

namespace tare {
namespace {

constexpr double kLeastNoise = 1e-8;  // of the target's variance

/// One feature of the rows in units of its own function, for each that has one.
std::vector<std::vector<double>> alone_places(const KernelRows& rows, const GpKernel& kernel) {
  std::vector<std::vector<double>> places(kernel.alone.size());
  for (std::size_t j = 0; j < places.size(); ++j) {
    for (std::size_t i = 0; i < rows.y.size(); ++i) {
      places[j].push_back(rows.x(i, j) * kernel.alone_rate[j]);
    }
  }
  return places;
}

/// The sums over pairs of rows that the derivatives of the functions of one feature are made of. A
/// pair counts twice; a row with itself has correlation 1 whatever the length is.
void add_alone_slopes(const GpKernel& kernel, const std::vector<std::vector<double>>& places,
                      const Matrix& g, const LogPlaces& at, Logs& gradient, const Execution& how) {
  parallel_for(how, places.size(), [&](std::size_t j) {
    MaternSlopes sum;
    for (std::size_t i = 0; i < g.rows(); ++i) {
      const MaternSlopes own =
          matern_slopes(places[j][i], std::span(places[j]).first(i), kernel.alone[j], g.row(i));
      sum.by_variance += 2.0 * own.by_variance + g(i, i);
      sum.by_log_rate += 2.0 * own.by_log_rate;
    }
    gradient[at.alone_variance(j)] = 0.5 * kernel.alone[j] * sum.by_variance;
    gradient[at.alone_rate(j)] = 0.5 * sum.by_log_rate;
  });
}

}  // namespace

void set_parameters(const Logs& logs, const LogPlaces& places, GpKernel& kernel) {
  kernel.rate.clear();
  kernel.alone.clear();
  kernel.alone_rate.clear();
  for (std::size_t j = 0; j < places.cols; ++j) {
    kernel.rate.push_back(std::exp(logs[places.rate(j)]));
    if (!places.alone) continue;
    kernel.alone.push_back(std::exp(logs[places.alone_variance(j)]));
    kernel.alone_rate.push_back(std::exp(logs[places.alone_rate(j)]));
  }
  kernel.signal = std::exp(logs[places.signal()]);
  kernel.noise = std::exp(logs[places.noise()]) + kLeastNoise;
}

/// With K = signal C + (functions of one feature) + noise / w on the diagonal, a = K^-1 y and
/// G = K^-1 - a a', the derivative of minus the log likelihood by a parameter is tr(G dK) / 2.
std::optional<Likelihood> gp_likelihood(const KernelRows& rows, const Logs& logs,
                                        const LogPlaces& places, const Execution& how) {
  const std::size_t n = rows.y.size();
  const std::size_t cols = places.cols;
  GpKernel kernel;
  set_parameters(logs, places, kernel);
  Matrix z(n, cols);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < cols; ++j) z(i, j) = rows.x(i, j) * kernel.rate[j];
  }
  const std::vector<std::vector<double>> alone = alone_places(rows, kernel);
  Matern c = matern(z, z, WithSlope::kYes, how);
  Matrix k(n, n);
  parallel_for(how, n, [&](std::size_t i) {
    const auto row = k.row(i);  // the factor reads the lower triangle
    for (std::size_t other = 0; other < i; ++other) row[other] = kernel.signal * c.value(i, other);
    for (std::size_t j = 0; j < alone.size(); ++j) {
      add_matern(alone[j][i], std::span(alone[j]).first(i), kernel.alone[j], row);
    }
    row[i] = kernel.variance() + kernel.noise / rows.weight[i];
  });
  const LowerFactor factor(std::move(k));
  if (!factor.ok()) return std::nullopt;
  const std::vector<double> a = factor.solve(rows.y);
  Matrix g = factor.inverse(how);

  Likelihood result{0.5 * factor.log_determinant(), Logs(logs.size(), 0.0)};
  for (std::size_t i = 0; i < n; ++i) result.minus_log += 0.5 * a[i] * rows.y[i];
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) g(i, j) -= a[i] * a[j];
  }
  add_alone_slopes(kernel, alone, g, places, result.gradient, how);
  std::vector<double> sums(n, 0.0);  // of the rows of G o slope, which takes the place of G
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = g.row(i);
    result.gradient[places.noise()] +=
        0.5 * row[i] * std::exp(logs[places.noise()]) / rows.weight[i];
    for (std::size_t j = 0; j < n; ++j) {
      result.gradient[places.signal()] += 0.5 * row[j] * kernel.signal * c.value(i, j);
      row[j] *= kernel.signal * c.slope(i, j);
      sums[i] += row[j];
    }
  }
  // tr(G dK) of a rate is minus the sum over pairs of G o slope times the squared difference of z.
  Matrix across(n, cols);
  nn::accumulate_product(nn::Product<double>{n, cols, n, g.values().data(), n, 1, z.values().data(),
                                             cols, across.values().data(), cols});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      result.gradient[places.rate(j)] -= z(i, j) * (z(i, j) * sums[i] - across(i, j));
    }
  }
  return result;
}

}  // namespace tare
