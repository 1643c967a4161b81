// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/level.h"

namespace tare {

// The paper's quantile of a weighted sample: the smallest value whose cumulative weight is at least
// tau times the total. No interpolation, so the answer is always one of the sample's values with a
// positive weight.
//
// A cumulative weight counts as having reached tau * total when it is short of it by a relative
// difference below kTieSlack: values that are equal in exact arithmetic then stay equal despite the
// rounding of sums.
inline constexpr double kTieSlack = 1e-12;

/// Sums over a weighted sample that all its quantiles need, taken in one pass over groups of
/// kChunkRows rows.
struct WeightSums {
  std::vector<double> chunks;  // of the weights of each group
  double total = 0.0;
  double squares = 0.0;  // of the weights

  /// (sum w)^2 / sum w^2; 0 where there is no weight.
  double effective_size() const { return squares > 0.0 ? total * (total / squares) : 0.0; }
};

/// `weights` not negative. Reuses the memory of `sums`.
void sum_weights(std::span<const double> weights, WeightSums& sums);

/// Whether weights are whole numbers, so that their sums are exact and a level is a rank among
/// them.
enum class WeightType : std::uint8_t { kReal, kWhole };

/// The cumulative weight that corresponds to a level, for rows of total weight `total`.
double level_target(const Level& level, double total, WeightType type);

/// Indices into a sample that is sorted by value: out[j] is the first one with a positive weight at
/// which the cumulative weight is at least targets[j]; the last one if rounding leaves a target out
/// of reach. Targets never decrease. Needs sums.total > 0. O(n / kChunkRows + targets *
/// kChunkRows).
void weighted_places(std::span<const double> weights, const WeightSums& sums,
                     std::span<const double> targets, std::span<std::size_t> out);

/// Indices of the quantiles in a sample that is sorted by value: out[j] for levels[j], ascending.
/// Needs sums.total > 0. With kWhole the rank is exact (Level::rank), with kReal up to kTieSlack.
/// O(n / kChunkRows + levels * kChunkRows).
void weighted_quantile_places(std::span<const double> weights, const WeightSums& sums,
                              WeightType type, std::span<const Level> levels,
                              std::span<std::size_t> out);

/// One quantile of values in any order. `weights` empty means all equal. At least one positive
/// weight.
double weighted_quantile(std::span<const double> values, std::span<const double> weights,
                         const Level& tau);

}  // namespace tare
