// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/snq_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernel_oracle.h"

namespace tare::oracle {
namespace {

using Real = long double;

std::vector<Real> squared_distances(MatrixView z, const std::vector<double>& query) {
  std::vector<Real> r2;
  for (std::size_t i = 0; i < z.rows(); ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < query.size(); ++j) {
      const Real difference = static_cast<Real>(z(i, j)) - static_cast<Real>(query[j]);
      sum += difference * difference;
    }
    r2.push_back(sum);
  }
  return r2;
}

std::vector<Real> nearest_window(const std::vector<Real>& r2, std::size_t count, Real tolerance) {
  std::vector<Real> sorted = r2;
  std::sort(sorted.begin(), sorted.end());
  const Real reach = sorted[std::min(count, sorted.size()) - 1] * (1 + tolerance);
  std::vector<Real> weight;
  for (const Real value : r2) weight.push_back(value <= reach ? 1 : 0);
  return weight;
}

/// The smallest u whose cumulative weight is at least share * total.
double quantile(const std::vector<double>& u, const std::vector<Real>& weight, Real share) {
  std::vector<std::size_t> order(u.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return u[a] < u[b]; });
  Real total = 0;
  for (const Real w : weight) total += w;
  Real reached = 0;
  double last = 0.0;
  for (const std::size_t i : order) {
    if (weight[i] <= 0) continue;
    reached += weight[i];
    last = u[i];
    if (reached >= share * total) return u[i];
  }
  return last;
}

double exact_quantile(const std::vector<double>& u, const std::vector<Real>& weight, Fraction tau) {
  std::vector<std::size_t> order(u.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return u[a] < u[b]; });
  std::int64_t total = 0;
  for (const Real w : weight) total += static_cast<std::int64_t>(w);
  std::int64_t reached = 0;
  for (const std::size_t i : order) {
    reached += static_cast<std::int64_t>(weight[i]);
    if (weight[i] > 0 && reached * tau.denominator >= tau.numerator * total) return u[i];
  }
  return std::nan("");
}

/// Bounds of a value that rounding may move from one row to the next.
struct Bounds {
  Real lowest = 0;
  Real highest = 0;
};

/// The rule of Ranks::kExpected, word by word: n rows, the i-th of which is the weighted quantile
/// of level (i - 1/2) / n, has expected level i / (n + 1).
Bounds expected_quantile(const std::vector<double>& u, const std::vector<Real>& weight, bool whole,
                         Real effective_n, Fraction tau) {
  constexpr Real kEverything = std::numeric_limits<double>::infinity();
  if (std::abs(effective_n - std::floor(effective_n) - 0.5L) < 1e-6L) {
    return {-kEverything, kEverything};  // n may be rounded either way
  }
  const auto n = std::max<std::int64_t>(1, std::llround(effective_n));
  const auto value = [&](std::int64_t rank) -> Bounds {
    if (whole) {
      const double exact = exact_quantile(u, weight, {2 * rank - 1, 2 * n});
      return {exact, exact};
    }
    const Real share = (static_cast<Real>(rank) - 0.5L) / static_cast<Real>(n);
    return {quantile(u, weight, share * (1 - 1e-9L)), quantile(u, weight, share * (1 + 1e-9L))};
  };
  // a + t (b - a), where t may be negative.
  const auto between = [](const Bounds& a, const Bounds& b, Real t) -> Bounds {
    const Real low = t < 0 ? b.highest : b.lowest;
    const Real high = t < 0 ? b.lowest : b.highest;
    return {(1 - t) * a.lowest + t * low, (1 - t) * a.highest + t * high};
  };
  // Few rows of unequal weight: the paper's answer where that lies farther out.
  const auto farther = [&](const Bounds& own) -> Bounds {
    if (whole || n > 3 || 2 * tau.numerator == tau.denominator) return own;
    const Real share = static_cast<Real>(tau.numerator) / static_cast<Real>(tau.denominator);
    const Real low = quantile(u, weight, share * (1 - 1e-9L));
    const Real high = quantile(u, weight, share * (1 + 1e-9L));
    if (2 * tau.numerator < tau.denominator) {
      return {std::min(own.lowest, low), std::min(own.highest, high)};
    }
    return {std::max(own.lowest, low), std::max(own.highest, high)};
  };
  const std::int64_t steps = tau.numerator * (n + 1);  // in parts of the denominator
  const std::int64_t inwards = std::min<std::int64_t>(3, n - 1);
  const auto tail = [&](std::int64_t from_end) {
    const Real p = static_cast<Real>(from_end) / static_cast<Real>(tau.denominator);
    return n == 1 ? Real{0} : std::log(p) / std::log(static_cast<Real>(inwards + 1));
  };
  if (steps < tau.denominator) return farther(between(value(1), value(1 + inwards), tail(steps)));
  if (steps > n * tau.denominator) {
    return farther(between(value(n), value(n - inwards), tail((n + 1) * tau.denominator - steps)));
  }
  const std::int64_t rank = steps / tau.denominator;
  const std::int64_t rest = steps % tau.denominator;
  const Real share = static_cast<Real>(rest) / static_cast<Real>(tau.denominator);
  return farther(between(value(rank), value(rest == 0 ? rank : rank + 1), share));
}

}  // namespace

Answer answer(MatrixView z, const std::vector<double>& u, const std::vector<double>& sample_weight,
              const SnqOptions& options, const std::vector<double>& query, Fraction tau) {
  // A row of weight zero is not there.
  std::vector<double> kept_u;
  std::vector<Real> kept_weight;
  Matrix kept_z(z.rows(), z.cols());
  bool whole = true;
  for (std::size_t i = 0; i < z.rows(); ++i) {
    const double w = sample_weight.empty() ? 1.0 : sample_weight[i];
    if (w == 0.0) continue;
    whole = whole && w == std::floor(w);
    for (std::size_t j = 0; j < z.cols(); ++j) kept_z(kept_u.size(), j) = z(i, j);
    kept_u.push_back(u[i]);
    kept_weight.push_back(w);
  }
  const auto r2 = squared_distances(kept_z.view().middle_rows(0, kept_u.size()), query);

  std::vector<Real> weight;
  bool window = options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn;
  if (options.kernel == KernelKind::kKnn) {
    weight = nearest_window(r2, static_cast<std::size_t>(options.bandwidth), options.tie_tolerance);
  } else {
    for (const Real value : r2) weight.push_back(kernel(options.kernel, value, options.bandwidth));
  }
  Answer result;
  // Weights below 1e-140 of the largest possible are out of reach, by the contract of Snq.
  Real most = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) most = std::max(most, weight[i]);
  if (most < 1e-140L) {
    result.fallback = true;
    window = true;
    weight = nearest_window(
        r2, options.fallback == Fallback::kMarginal ? r2.size() : options.min_support,
        options.tie_tolerance);
  }
  Real total = 0;
  Real squares = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] *= kept_weight[i];
    total += weight[i];
    squares += weight[i] * weight[i];
  }
  result.effective_n = total * total / squares;
  result.nearest = static_cast<double>(std::sqrt(*std::min_element(r2.begin(), r2.end())));
  if (options.ranks == Ranks::kExpected) {
    const Bounds bounds =
        expected_quantile(kept_u, weight, window && whole, result.effective_n, tau);
    // Interpolation and logarithms in double precision.
    const Real rounding = 1e-12L * (1 + std::abs(bounds.lowest) + std::abs(bounds.highest));
    result.lowest = static_cast<double>(bounds.lowest - rounding);
    result.highest = static_cast<double>(bounds.highest + rounding);
  } else if (window && whole) {
    result.lowest = result.highest = exact_quantile(kept_u, weight, tau);
  } else {
    constexpr Real kRounding = 1e-9L;
    const Real share = static_cast<Real>(tau.numerator) / static_cast<Real>(tau.denominator);
    result.lowest = quantile(kept_u, weight, share * (1 - kRounding));
    result.highest = quantile(kept_u, weight, share * (1 + kRounding));
  }
  return result;
}

}  // namespace tare::oracle
