// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tare/base/rng.h"

namespace tare {

/// One of the paper's failures of objectives that look at all rows together, in numbers.
struct FailureTable {
  std::string title;
  std::string words;                 // what the numbers show
  std::vector<std::string> heading;  // of the columns; the first names the rows
  std::vector<std::string> names;    // of the rows
  std::vector<std::vector<double>> values;
};

/// Example 1: sharpness subject to calibration on average, on Y|x ~ U[0, x], at tau = 0.9.
FailureTable sharpness_failure(Seed seed);
/// Appendix B: the loss of CCL on Y = uX at the pair (1/4, 3/4) for the truth, for the jump that
/// covers all of Y below x = 1/2 and nothing above, and for zero; and what a network reaches.
FailureTable ccl_loss_failure();
FailureTable ccl_network_failure(Seed seed);
/// Appendix B: MMD between draws of predicted distributions and targets, before and after the
/// distributions are permuted among the rows.
FailureTable mmd_failure(Seed seed);

/// All four, some seconds on one core.
std::vector<FailureTable> all_failures(Seed seed);

}  // namespace tare
