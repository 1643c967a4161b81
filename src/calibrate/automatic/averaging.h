// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

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

struct GreedyPicks {
  std::vector<std::size_t> picks;  // candidates, in the order in which they were taken; may repeat
  std::vector<double> loss;        // of the average after each
};

/// Averages quantile functions: starts from the candidate with the lowest loss and goes on with the
/// one, new or taken before, that lowers the loss of the average most; ends where none lowers it by
/// at least a ten thousandth, or after `most` picks.
GreedyPicks pick_greedily(const Contest& contest, std::size_t most);

struct Averaging {
  std::vector<double> share;  // of each candidate; they add up to 1
  double loss = 0.0;          // of the average
  Matrix average;             // rows x levels
};

/// The mean of the shares that greedy picks give to the candidates in several random parts of the
/// rows ("bagged ensemble selection": Caruana, Munson, Niculescu-Mizil 2006): with few rows it is
/// partly chance which candidate has the lowest loss. At most `most` candidates have a share, and
/// none a small one.
Averaging average_in_bags(const Contest& contest, std::size_t most, Seed seed,
                          const Execution& how);

}  // namespace tare::automatic
