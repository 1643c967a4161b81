// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare::automatic {

/// Rows whose target is known, with the quantiles that each candidate has for them.
struct Contest {
  std::span<const double> y;
  std::span<const double> weight;  // empty: all alike
  std::span<const Level> levels;
  std::vector<Matrix> quantiles;  // of each candidate: rows x levels
};

/// The mean pinball loss over rows and levels.
double mean_pinball_loss(const Matrix& quantiles, const Contest& contest);

struct Averaging {
  std::vector<std::size_t> picks;  // candidates, in the order in which they were taken; may repeat
  std::vector<double> loss;        // of the average after each
  Matrix average;                  // of the picks: rows x levels
};

/// Averages quantile functions: starts from the candidate with the lowest loss and goes on with the
/// one, new or taken before, that lowers the loss of the average most; ends where none lowers it by
/// at least a ten thousandth, or after `most` picks.
Averaging average_greedily(const Contest& contest, std::size_t most);

}  // namespace tare::automatic
