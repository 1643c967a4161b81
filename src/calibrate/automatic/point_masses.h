// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare::automatic {

/// A value that many rows share: no sale, a grade, the end of a scale.
struct PointMass {
  double value = 0.0;
  std::size_t rows = 0;
};

/// Values that at least a hundredth of the rows have, and at least 20 of them; ascending.
std::vector<PointMass> find_point_masses(std::span<const double> y);

/// Adjusts a row's quantiles to a distribution with masses. Averages and shifted residuals almost
/// never equal a mass; `guide`, quantiles of the unmodified targets at the same levels, can. If the
/// guide is at a mass, the quantile becomes that mass; otherwise it is moved to the guide's side of
/// every mass. Ascending quantiles stay ascending. `masses` ascend and are in the guide's units,
/// `values` are the same ones in the quantiles'.
void keep_point_masses(std::span<const double> guide, std::span<const double> masses,
                       std::span<const double> values, std::span<double> quantiles);

/// The same for a guide in units of the quantiles, so that P(y <= mass) is the guide's at every
/// mass: a quantile that is not strictly between the masses around the guide's becomes the guide's.
/// Where `whole`, targets are whole numbers, and the nearest one between the masses is taken.
/// Quantiles that ascend still do.
void place_on_masses(std::span<const double> guide, std::span<const double> masses, bool whole,
                     std::span<double> quantiles);

}  // namespace tare::automatic
