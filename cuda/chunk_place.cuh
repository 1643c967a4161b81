// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows_view.h"

namespace tare_cuda {

/// The first chunk whose cumulated sum has reached `sought`, or the last one.
__device__ inline int first_chunk(const float* cumulated, int pitch, int chunks, float sought) {
  int low = 0;
  int high = chunks - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (cumulated[static_cast<long>(middle) * pitch] >= sought) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The first row with a weight at which the chunk's cumulated weight has reached `want`; the last
/// one where rounding leaves it out of reach. The whole warp gets it.
template <int kPerLane>
__device__ inline int place_in_chunk(const float (&weight)[kPerLane], float want, int lane) {
  float up_to[kPerLane];
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) up_to[i] = sum += weight[i];
  float inclusive = sum;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(~0U, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  const float shifted = __shfl_up_sync(~0U, inclusive, 1);
  const float start = lane == 0 ? 0.0F : shifted;
  const float reachable = fminf(want, __shfl_sync(~0U, inclusive, 31));
  const unsigned reached = __ballot_sync(~0U, inclusive >= reachable && sum > 0.0F);
  const int who = reached != 0 ? __ffs(static_cast<int>(reached)) - 1 : 31;
  int place = 0;
  int last = 0;
  bool found = false;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (weight[i] > 0.0F) {
      last = i;
      if (!found && start + up_to[i] >= reachable) {
        place = i;
        found = true;
      }
    }
  }
  if (!found) place = last;
  return who * kPerLane + __shfl_sync(~0U, place, who);
}

}  // namespace tare_cuda
