// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/features/feature_map.h"
#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/math/kernel.h"

namespace tare {

/// What the kernel of a local guarantee may measure distances on: the columns of x, then the
/// median that the model itself predicts, and the distance of its quartiles.
Matrix local_candidates(const Rows& rows, const QuantileModel& inner, const Execution& how);

/// The same, without asking the model where only columns of x are used.
Matrix local_features(const Rows& rows, const QuantileModel& inner, const FeatureMap& map,
                      const Execution& how);

/// Kernel, features and bandwidth of a local guarantee.
struct LocalChoice {
  FeatureMap map;  // of local_candidates
  KernelKind kernel = KernelKind::kGaussian;
  double bandwidth = 0.0;    // infinite: rows rank alike everywhere
  std::size_t tuned_on = 0;  // rows
  double usual_rows = 0.0;   // median over these rows of the effective number of rows they rank by
};

/// Chooses them on rows that are not ranked and that the model was not trained on. `score` says
/// where their targets lie in the model's own distribution, as a normal score.
///
/// Features are those on which the distribution of the score depends (screen_columns), the
/// strongest first, as long as SNQ's leave-one-out loss of the score falls. The bandwidth is SNQ's,
/// scaled to `ranked` rows by Theorem 1's rate, and widened until nineteen of twenty rows can keep
/// a 95 % interval among so many rows.
LocalChoice choose_local(MatrixView candidates, std::span<const double> score, std::size_t ranked,
                         KernelKind kernel, Seed seed, const Execution& how);

}  // namespace tare
