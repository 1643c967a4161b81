// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device_memory.h"

namespace tare_cuda {

/// Rows are stored in blocks, of which each is one chunk or several: rows whose weights are added
/// up together. A quantile falls into one chunk, whose weights are then computed again.
inline constexpr int kBlock = 128;

/// What kernels see of the calibration rows. Features are centred at their means, as rounding
/// errors grow with norms. Rows that fill up the last block have no weight.
struct RowsView {
  int rows = 0;
  int blocks = 0;  // of kBlock rows
  int dims = 0;
  int padded = 0;                      // dims, filled up with zeros to 4, 8, 16, 32 or 64
  const float* by_row = nullptr;       // [row][padded]
  const float* by_column = nullptr;    // [dim][blocks * kBlock]
  const unsigned* words = nullptr;     // for tensor cores: tensor_split.cuh
  float word_unit = 1.0F;              // a feature is this times what the words hold
  const float* norms = nullptr;        // squared, of what the words hold
  const float* weights = nullptr;      // the largest is 1; null: all 1
  const float* log_weights = nullptr;  // base 2
  const double* columns = nullptr;     // [dim][rows], as they were given
  const double* residuals = nullptr;
  const double* means = nullptr;
  float largest_norm = 0.0F;  // not squared
};

}  // namespace tare_cuda
