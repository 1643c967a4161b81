// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "calibrate/bandwidth/bandwidth.h"

namespace tare {

/// The loss of each bandwidth on each row left out, times the row's weight and unit.
using RowLosses = std::map<double, std::vector<double>>;

/// The loss of residuals so large that sums of them overflow: a model file holds finite numbers.
inline double finite_loss(double loss) {
  return std::isfinite(loss) ? loss : std::numeric_limits<double>::max();
}

double weight_of(const LocalSample& sample, std::size_t place);

/// Appends losses of `places` (rows) and `bandwidths` (columns) to what is kept.
void keep_rows(const Matrix& losses, std::span<const double> bandwidths, const LocalSample& sample,
               std::span<const double> unit, std::span<const std::size_t> places, RowLosses& kept);

/// The best of a path of bandwidths that grows where an end would win; each of `places` is
/// predicted from all other rows. Where `kept` is given, it gets the losses row by row.
BandwidthChoice search_bandwidth(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, std::span<const std::size_t> places,
                                 const Execution& how, RowLosses* kept = nullptr);

}  // namespace tare
