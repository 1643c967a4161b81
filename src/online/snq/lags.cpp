// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/lags.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr std::size_t kMostLags = 9;
constexpr std::size_t kLargestLag = 1'000;
constexpr std::size_t kFewestRowsForLags = 40;

/// Eight partial sums, whose order is written out.
TARE_VECTOR_TARGETS double dot_of(const double* a, const double* b, std::size_t n) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sums[i % 8] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// The weights of lags in the regression of the last rows of a series on them.
Eigen::VectorXd lag_weights(std::span<const double> series, std::size_t first,
                            const std::vector<std::size_t>& lags) {
  const std::size_t n = series.size() - first;
  const auto p = static_cast<Eigen::Index>(lags.size());
  Eigen::MatrixXd gram(p, p);
  Eigen::VectorXd moments(p);
  for (Eigen::Index i = 0; i < p; ++i) {
    const double* const past = &series[first - lags[static_cast<std::size_t>(i)]];
    for (Eigen::Index k = 0; k <= i; ++k) {
      gram(i, k) = dot_of(past, &series[first - lags[static_cast<std::size_t>(k)]], n);
    }
    gram(i, i) += 0.01;  // a hundredth of a row keeps it regular
    moments(i) = dot_of(past, &series[first], n);
  }
  return gram.selfadjointView<Eigen::Lower>().llt().solve(moments);
}

/// What is left of the last rows of a series after this regression.
std::vector<double> left_over(std::span<const double> series, std::size_t first,
                              const std::vector<std::size_t>& lags) {
  const std::size_t n = series.size() - first;
  const Eigen::VectorXd w = lag_weights(series, first, lags);
  std::vector<double> left(series.begin() + static_cast<std::ptrdiff_t>(first), series.end());
  for (std::size_t i = 0; i < lags.size(); ++i) {
    const double weight = w(static_cast<Eigen::Index>(i));
    for (std::size_t t = 0; t < n; ++t) left[t] -= weight * series[first - lags[i] + t];
  }
  return left;
}

std::vector<double> centered(std::span<const double> series) {
  // Values are in units of a usual error: one of a million must not move the mean of all others.
  constexpr double kWildest = 50.0;
  double mean = 0.0;
  for (const double v : series) {
    mean += std::clamp(v, -kWildest, kWildest) / static_cast<double>(series.size());
  }
  std::vector<double> out(series.begin(), series.end());
  // Wild values are cut: one of them would be correlated with nothing else.
  for (double& v : out) v = std::clamp(v - mean, -4.0, 4.0);
  return out;
}

/// Peaks of the autocorrelation: the highest, and the first that is nearly as high.
struct Peaks {
  std::size_t first = 0;
  std::size_t highest = 0;
  double height = 0.0;
};

/// The period near `first` whose multiples are the highest on average. A single peak of a smooth
/// season is flat, and noise moves it by a row or two; over a hundred seasons that would be another
/// phase.
std::size_t sharpened(std::span<const double> acf, std::size_t first) {
  std::size_t best = first;
  double height = 0.0;
  for (std::size_t period = first - first / 8; period <= first + first / 8; ++period) {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t k = period; k < acf.size(); k += std::max<std::size_t>(period, 1)) {
      sum += acf[k];
      count += 1.0;
    }
    if (count > 0.0 && sum / count > height) {
      height = sum / count;
      best = period;
    }
  }
  return best;
}

Peaks find_peaks(std::span<const double> series) {
  const std::vector<double> v = centered(series);
  const std::size_t n = v.size();
  const std::size_t most = std::min(kLargestLag, n / 3);
  const double whole = dot_of(v.data(), v.data(), n);
  if (!(whole > 0.0) || most < 4) return {};
  std::vector<double> acf(most + 1);
  for (std::size_t k = 1; k <= most; ++k) {
    acf[k] = dot_of(v.data(), v.data() + k, n - k) / whole *
             (static_cast<double>(n) / static_cast<double>(n - k));
  }
  const auto is_peak = [&](std::size_t k) {
    const std::size_t reach = std::max<std::size_t>(1, k / 4);
    double valley = acf[k];
    for (std::size_t j = k - std::min(k - 1, reach); j <= std::min(most, k + reach); ++j) {
      if (acf[j] > acf[k]) return false;
      if (j < k) valley = std::min(valley, acf[j]);
    }
    return acf[k] - valley > 0.1;
  };
  Peaks best;
  for (std::size_t k = 3; k + 1 < most; ++k) {
    if (acf[k] > best.height && is_peak(k)) best = {k, k, acf[k]};
  }
  for (std::size_t k = 3; k < best.highest; ++k) {  // a multiple of the period is a peak, too
    if (acf[k] >= 0.85 * best.height && is_peak(k)) {
      best.first = k;
      break;
    }
  }
  const bool is_one = best.highest == best.first;
  best.first = sharpened(acf, best.first);
  if (is_one) best.highest = best.first;
  return best;
}

}  // namespace

std::vector<std::size_t> choose_lags(std::span<const double> series, const Season& season,
                                     std::size_t delay) {
  std::set<std::size_t> chosen = {delay + 1, delay + 2};
  const std::size_t n = series.size();
  // A third of the rows, and enough of them, must have all their lags.
  const std::size_t needed = std::max<std::size_t>(kFewestRowsForLags, n / 3);
  const std::size_t most = n > needed ? std::min(kLargestLag + delay, n - needed) : 0;
  if (most < delay + 3) return {chosen.begin(), chosen.end()};
  for (const std::size_t period : {season.period, season.longest}) {
    for (const std::size_t lag : {period, period + 1}) {
      if (period > 0 && lag > delay && lag <= most) chosen.insert(lag);
    }
  }
  std::vector<std::size_t> lags(chosen.begin(), chosen.end());
  const std::size_t rows = n - most;
  const std::vector<double> v = centered(series);
  std::vector<double> left = left_over(v, most, lags);
  const auto count = static_cast<double>(rows);
  const double penalty = std::log(count) + 2.0 * std::log(static_cast<double>(most));
  while (lags.size() < kMostLags) {
    std::size_t best = 0;
    double strength = 0.0;
    for (std::size_t k = delay + 1; k <= most; ++k) {
      if (std::find(lags.begin(), lags.end(), k) != lags.end()) continue;
      const double* const past = &v[most - k];
      const double size = dot_of(past, past, rows);
      if (!(size > 0.0)) continue;
      const double product = dot_of(past, left.data(), rows);
      if (product * product / size > strength) {
        strength = product * product / size;
        best = k;
      }
    }
    if (best == 0) break;
    lags.push_back(best);
    std::vector<double> next = left_over(v, most, lags);
    const double before = dot_of(left.data(), left.data(), rows);
    const double after = dot_of(next.data(), next.data(), rows);
    if (!(after > 0.0) || count * std::log(before / after) < penalty) {
      lags.pop_back();
      break;
    }
    left = std::move(next);
  }
  std::sort(lags.begin(), lags.end());
  return lags;
}

LagFit fit_lags(std::span<const double> series, const std::vector<std::size_t>& lags) {
  const std::size_t first = lags.back();
  const std::size_t n = series.size() - first;
  const Eigen::VectorXd w = lag_weights(series, first, lags);
  const std::vector<double> left = left_over(series, first, lags);
  return {.weights = {w.data(), w.data() + w.size()},
          .rows = n,
          .before = dot_of(&series[first], &series[first], n),
          .after = dot_of(left.data(), left.data(), n)};
}

Season find_season(std::span<const double> series) {
  constexpr double kClear = 0.3;  // below it a peak explains less than a tenth of the variance
  constexpr std::size_t kFewestRowsForPeriod = 60;
  if (series.size() < kFewestRowsForPeriod) return {};
  std::vector<double> sizes(series.begin(), series.end());
  for (double& v : sizes) v = std::abs(v);
  const Peaks of_errors = find_peaks(series);
  const Peaks of_sizes = find_peaks(sizes);
  const Peaks& best = of_sizes.height > of_errors.height ? of_sizes : of_errors;
  return best.height >= kClear ? Season{best.first, best.highest} : Season{};
}

}  // namespace tare
