// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "weights.cuh"

namespace tare_cuda {

/// A squared distance with room for the errors of single precision.
__device__ inline float widened(const RowsView& rows, float squared, float query_norm) {
  constexpr float kSlack = 1.0F + 1e-5F;
  const float reach = sqrtf(squared);
  return kSlack * squared +
         2.0F * difference_error(rows.dims, query_norm, query_norm + reach, reach);
}

}  // namespace tare_cuda
