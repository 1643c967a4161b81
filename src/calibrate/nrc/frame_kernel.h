// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/features/feature_map.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// Residuals in a frame, and what SNQ may see of their rows.
struct FramedRows {
  MatrixView features;
  std::span<const double> u;
  std::span<const double> unit;    // of each, in units of y
  std::span<const double> weight;  // may be empty
};

/// SNQ on the columns that were chosen for it.
struct FrameKernel {
  FeatureMap map;
  Snq snq;
  BandwidthChoice choice;
};

/// The k nearest rows along the column on which u depends most, k by the loss of rows left out; or
/// a Gaussian kernel on all columns, where that loses 2 % and two standard errors less (1 % and one
/// for up to 512 rows).
FrameKernel choose_frame_kernel(const FramedRows& rows, Seed seed, const Execution& how);

}  // namespace tare
