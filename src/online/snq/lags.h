// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// Peaks of the autocorrelation of a series or of its absolute values. 0: no clear peak.
struct Season {
  std::size_t period = 0;   // the smallest lag at a peak that is nearly the highest
  std::size_t longest = 0;  // the lag of the highest peak: often a multiple, as a week is of a day
};
Season find_season(std::span<const double> series);

/// The lags of a series that explain it: the two smallest above `delay`, those of the season, and
/// others one by one, by how much each lowers the squared error, as long as this is more than
/// chance would (BIC, with the number of candidates). Ascending.
std::vector<std::size_t> choose_lags(std::span<const double> series, const Season& season,
                                     std::size_t delay);

/// The regression of a series on its lags, over the rows that have all of them.
struct LagFit {
  std::vector<double> weights;
  std::size_t rows = 0;
  double before = 0.0;  // sum of squares
  double after = 0.0;   // of what the lags do not explain
};
/// Lags must be shorter than the series.
LagFit fit_lags(std::span<const double> series, const std::vector<std::size_t>& lags);

}  // namespace tare
