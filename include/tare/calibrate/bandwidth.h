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
/// `scale` is c; 0 means tare's default: sqrt(d) times a factor of the kernel, because standardised
/// features lie about sqrt(2 d) apart.
double rate_bandwidth(KernelKind kernel, std::size_t rows, std::size_t dims, double scale);

/// The bandwidth with the lowest leave-one-out pinball loss over a geometric path of at least 24
/// values.
///
/// The path reaches from windows of a few rows to windows of all rows. If the best value is an end
/// of the path, the path is extended there. If the loss is constant up to rounding, because every
/// window contains all rows, the value nearest to the interior of the path is chosen. An end is
/// therefore never chosen.
///
/// Up to 5,000 calibration rows, every row is left out once. With more rows, random rows are left
/// out in rounds: 192 rows for the whole path, then up to 768, 3,072 and 4,000 for the bandwidths
/// that are not worse than the best by more than three standard errors of the difference over the
/// same rows. The search ends earlier if no other bandwidth could, within two standard errors,
/// reduce the loss by more than 3 in 1,000. On average this costs one or two hundredths of the
/// standard error of the loss on all rows (tests/calibrate/bandwidth_race_test.cpp). The losses of
/// the path are then estimates on the rows on which each bandwidth was tried, aligned to the loss
/// of the best.
///
/// Above 20,000 rows the search uses a random sample of 20,000 rows. Its bandwidths (the chosen one
/// and the path) are scaled to n rows by Theorem 1's rate: times (n / 20,000)^(-1/(d+2)). For knn
/// the sample has 4,000 rows, of which at least 1,000 are left out, and the number of neighbours
/// grows as n^(2/(d+2)). Losses are computed in single precision where they agree with double
/// precision to about 1e-5.
BandwidthChoice choose_bandwidth(MatrixView z, std::span<const double> u,
                                 std::span<const double> weight, const SnqOptions& options,
                                 Seed seed, const Execution& how = {});

}  // namespace tare
