// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/data/problem.h"
#include "tare/evaluate/target_jumps.h"

namespace TARE_PUBLIC tare {

// Notation: y observed targets; q quantiles, q(i, j) for row i and levels[j]; the number of rows of
// q is y.size() and of columns levels.size(), else kShapeMismatch. At least one row, else
// kInvalidArgument.
//
// Targets are finite and nothing is NaN, else kBadData. A quantile may be infinite: scores that
// depend on its value are then infinite too, never NaN; shares of rows (levels, coverage, PIT, ICE)
// stay finite.

/// max(tau (y - q), (tau - 1)(y - q)), for tau in (0, 1). Not checked.
double pinball(double y, double q, double tau);

// Repeated targets: observed_levels, mace and agce split ties. A target that equals its quantile
// counts as below it by the share of its jump (target_jumps.h), so that a perfect forecaster of
// counts scores the same as a perfect forecaster of a continuous target, or less. Without ties the
// result is that of plain counting. `jumps` has one entry for each row, else kShapeMismatch;
// without it jumps are estimated from `levels`.

/// Share of rows below their quantile at each level.
std::vector<double> observed_levels(std::span<const double> y, MatrixView q,
                                    std::span<const Level> levels);
std::vector<double> observed_levels(std::span<const double> y, MatrixView q,
                                    std::span<const Level> levels,
                                    std::span<const TargetJump> jumps);

/// Mean absolute calibration error: mean over levels of |tau - observed level|.
double mace(std::span<const double> y, MatrixView q, std::span<const Level> levels);
double mace(std::span<const double> y, MatrixView q, std::span<const Level> levels,
            std::span<const TargetJump> jumps);

/// Adversarial group calibration error: the largest MACE of 10 groups, each of a tenth of the rows
/// (rounded, at least one) drawn without replacement. Groups are drawn independently; group k from
/// split(seed, k).
double agce(std::span<const double> y, MatrixView q, std::span<const Level> levels, Seed seed);
double agce(std::span<const double> y, MatrixView q, std::span<const Level> levels, Seed seed,
            std::span<const TargetJump> jumps);

/// The same with ties counted as below, y <= q: share of rows, MACE and AGCE.
std::vector<double> observed_levels_counted(std::span<const double> y, MatrixView q);
double mace_counted(std::span<const double> y, MatrixView q, std::span<const Level> levels);
double agce_counted(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                    Seed seed);

/// The mean score of a perfect forecaster on `rows` rows of a continuous target: MACE exactly (a
/// mean absolute deviation of binomials), AGCE by a seeded simulation (standard error about 1 %,
/// about 20 ms). On a small test set this is most of the MACE. kInvalidArgument without rows or
/// levels.
double mace_floor(std::size_t rows, std::span<const Level> levels);
double agce_floor(std::size_t rows, std::span<const Level> levels, Seed seed);
/// The same with ties: smaller, because a share varies less than a whole row. Equal to the above
/// without ties. The variance at each level is the binomial one minus the part removed by ties;
/// AGCE's simulation resamples the jumps of the rows, and is accurate to a few per cent.
double split_mace_floor(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                        std::span<const TargetJump> jumps);
double split_agce_floor(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                        Seed seed, std::span<const TargetJump> jumps);
/// The same for MACE on rows some of which are copies: source[i] is the row that i is a copy of,
/// and copies are covered or missed together. Simulated, accurate to about 1 %.
double repeated_mace_floor(std::span<const std::size_t> source, std::span<const Level> levels,
                           Seed seed);

/// Mean pinball loss over rows and levels.
double check_score(std::span<const double> y, MatrixView q, std::span<const Level> levels);

/// Continuous ranked probability score, as twice the mean pinball loss at the midpoints of equal
/// steps in level: q must be at crps_levels().
std::vector<Level> crps_levels();
double crps(std::span<const double> y, MatrixView q);

/// Mean of upper - lower; share of rows with lower <= y <= upper; mean interval (Winkler) score,
/// which is the length plus 2 / (1 - confidence) times the distance by which y falls outside.
/// `lower` may be -infinity and `upper` +infinity; the other way round is kBadData.
double interval_length(std::span<const double> lower, std::span<const double> upper);
double interval_coverage(std::span<const double> y, std::span<const double> lower,
                         std::span<const double> upper);
/// Coverage with ties split: a target at an end counts by the share of its jump that lies between
/// the two levels. Compare this one with the difference of the levels.
double split_coverage(std::span<const double> y, std::span<const double> lower,
                      std::span<const double> upper, const Level& lower_level,
                      const Level& upper_level, std::span<const TargetJump> jumps);
double winkler_score(std::span<const double> y, std::span<const double> lower,
                     std::span<const double> upper, double confidence);

/// Shares of rows in q.cols() + 1 bins of the probability integral transform, q at ascending levels
/// of equal steps. A tie is spread over the bins between the equal quantiles and half of each bin
/// next to them; if several quantiles are equal, over all of an outermost bin.
std::vector<double> pit_histogram(std::span<const double> y, MatrixView q);
/// The same for any ascending levels `edges`, and jumps that may come from other levels.
std::vector<double> pit_histogram(std::span<const double> y, MatrixView q,
                                  std::span<const Level> edges, std::span<const TargetJump> jumps);

/// Individual calibration error: mean over rows and levels of |F(q | x) - tau| under the true
/// conditional distribution. If F has a jump at q, the distance of tau to [P(Y < q | x), P(Y <= q |
/// x)]: q is the quantile at every level in between, and the true quantiles score 0 for any
/// distribution.
double individual_calibration_error(const Problem& problem, MatrixView x, MatrixView q,
                                    std::span<const Level> levels);
/// Root mean square over rows and levels of q - the true quantile.
double quantile_rmse(const Problem& problem, MatrixView x, MatrixView q,
                     std::span<const Level> levels);

}  // namespace tare
