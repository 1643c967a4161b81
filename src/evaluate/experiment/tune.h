// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/calibrate/methods.h"

namespace tare {

/// An option and the values to try.
struct GridAxis {
  std::string name;
  std::vector<std::string> values;
};

/// The axes that a method's options and those of its regressor propose (ParamInfo::grid), without
/// the ones that `fixed` sets.
std::vector<GridAxis> default_grid(const Method& method, const Params& fixed);

struct TuneOptions {
  Params fixed;  // the same in all trials
  std::vector<GridAxis> grid;
  std::size_t random = 0;          // points of the grid to try, drawn at random; 0: all of them
  std::size_t splits = 9;          // splits that a finalist is scored on
  double validation_share = 0.15;  // of the rows, drawn anew for each split
  double calibrate_share = 0.3;    // of the others, for a method with a calibration step
  Seed seed;
};

/// A point of the grid and its score.
struct TuneTrial {
  Params params;           // without the fixed ones
  std::size_t splits = 0;  // splits it was scored on before it was dropped; finalists have all
  double score = 0.0;      // mean CheckScore on validation rows
};

struct Tuned {
  Params params;                 // the winner's, without the fixed ones
  std::vector<TuneTrial> trail;  // best first: more splits, then a lower score
};

/// Searches the grid by successive halving: every point is scored on one split of the rows, the
/// best third on three, and so on until `splits`. Points are always compared on the same splits.
/// Trials run side by side; the result does not depend on threads. A point whose fit throws scores
/// infinity; where all do, the error is thrown.
Tuned tune_method(const Method& method, MatrixView x, std::span<const double> y,
                  const TuneOptions& options, const Execution& how);

}  // namespace tare
