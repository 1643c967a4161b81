// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace TARE_PUBLIC tare {

/// A bandwidth and its leave-one-out pinball loss, averaged over rows and the paper's 100 levels.
struct BandwidthTrial {
  double bandwidth = 0.0;
  double loss = 0.0;
};

/// How a bandwidth was chosen: kept in the model and shown by `tare inspect`.
struct BandwidthChoice {
  std::string rule;  // "auto", "rate" or "given"
  double bandwidth = 1.0;
  std::vector<BandwidthTrial> path;  // ascending; empty unless the rule is "auto"
  std::size_t rows_left_out = 0;     // rows over which the loss is averaged
};

/// Theorem 1's rate: c n^(-1/(d+2)), or for knn the number of rows in such a window, c n^(2/(d+2)).
/// `scale` is c; 0 takes tare's own: sqrt(d) times a factor of the kernel, since standardised
/// features lie about sqrt(2 d) apart.
double rate_bandwidth(KernelKind kernel, std::size_t rows, std::size_t dims, double scale);

/// The bandwidth with the lowest leave-one-out pinball loss over a geometric path of at least 24
/// values.
///
/// The path reaches from windows of a few rows to windows of all, and grows by itself at an end
/// that wins. Where the loss is flat up to rounding, as it is when a window already holds all rows,
/// the value next to the path's interior is taken, so an end never wins.
///
/// Up to 5,000 calibration rows every row is left out once. Above, rows are left out at random, in
/// rounds: 192 rows for the whole path, then up to 768, 3,072 and 4,000 for the bandwidths that are
/// not worse than the best by more than three standard errors of the difference over the same rows;
/// the search ends earlier where no other bandwidth could, within two standard errors, lower the
/// loss by more than 3 in 1,000. On average this costs a hundredth or two of the standard error
/// that the loss itself has on all rows (tests/calibrate/bandwidth_race_test.cpp). The losses of
/// the path are then estimates on the rows that each bandwidth was tried on, on the level of the
/// best.
///
/// Above 20,000 rows a random part of 20,000 stands for all, and the part's bandwidths (the chosen
/// one and the path) are carried over to n rows by Theorem 1's rate: times (n / 20,000)^(-1/(d+2)).
/// For knn the part has 4,000 rows, of which at least 1,000 are left out, and numbers of neighbours
/// grow as n^(2/(d+2)). Losses are computed in single precision where they agree with double
/// precision to about 1e-5.
BandwidthChoice choose_bandwidth(MatrixView z, std::span<const double> u,
                                 std::span<const double> weight, const SnqOptions& options,
                                 Seed seed, const Execution& how = {});

}  // namespace tare
