// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/point_masses.h"

#include <algorithm>
#include <cmath>

namespace tare::automatic {

std::vector<PointMass> find_point_masses(std::span<const double> y) {
  constexpr std::size_t kLeastRows = 20;  // fewer say too little about where the mass lies
  constexpr std::size_t kLeastShare = 100;
  const std::size_t least = std::max(kLeastRows, (y.size() + kLeastShare - 1) / kLeastShare);
  std::vector<double> sorted(y.begin(), y.end());
  std::ranges::sort(sorted);
  std::vector<PointMass> masses;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::upper_bound(first, sorted.end(), *first);
    const auto rows = static_cast<std::size_t>(last - first);
    if (rows >= least) masses.push_back({*first, rows});
    first = last;
  }
  return masses;
}

void keep_point_masses(std::span<const double> guide, std::span<const double> masses,
                       std::span<const double> values, std::span<double> quantiles) {
  for (std::size_t j = 0; j < quantiles.size(); ++j) {
    const auto next =
        static_cast<std::size_t>(std::ranges::lower_bound(masses, guide[j]) - masses.begin());
    if (next < masses.size() && masses[next] == guide[j]) {
      quantiles[j] = values[next];
      continue;
    }
    if (next > 0) quantiles[j] = std::max(quantiles[j], values[next - 1]);
    if (next < masses.size()) quantiles[j] = std::min(quantiles[j], values[next]);
  }
}

void place_on_masses(std::span<const double> guide, std::span<const double> masses, bool whole,
                     std::span<double> quantiles) {
  for (std::size_t j = 0; j < quantiles.size(); ++j) {
    const auto next =
        static_cast<std::size_t>(std::ranges::lower_bound(masses, guide[j]) - masses.begin());
    double& quantile = quantiles[j];
    if (whole && std::isfinite(quantile)) quantile = std::round(quantile) + 0.0;  // no -0
    const bool at_mass = next < masses.size() && masses[next] == guide[j];
    const bool between = (next == 0 || quantile > masses[next - 1]) &&
                         (next == masses.size() || quantile < masses[next]);
    if (at_mass || !between) quantile = guide[j];
    if (j > 0) quantile = std::max(quantile, quantiles[j - 1]);
  }
}

}  // namespace tare::automatic
