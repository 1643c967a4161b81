// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_fp16.h>

// Single precision by tensor cores: a number is the sum of two numbers of 11 bits each (half
// precision), and of the four products of two such sums the smallest is left out. One instruction
// multiplies 16 queries by 8 rows over 16 places; these hold
//
//   4 features: high high, high low, low high (query's part first), and the query's bias times 1
//   8 features: high high, high low; in a second one low high, and the bias
//   more:       16 features; high high, high low and low high in three; the bias is added
//   afterwards
//
// Lane 4 g + t of a warp has row g of a tile and places 2 t, 2 t + 1, 2 t + 8 and 2 t + 9.

namespace tare_cuda {

inline constexpr int kTileRows = 8;
inline constexpr int kTilePlaces = 16;
inline constexpr float kLargestHalf = 60'000.0F;

struct Split {
  __half high;
  __half low;
};

__device__ inline Split split_in_halves(float value) {
  Split split;
  split.high = __float2half_rn(value);
  split.low = __float2half_rn(value - __half2float(split.high));
  return split;
}

__device__ inline double held(Split split) {
  return static_cast<double>(__half2float(split.high)) +
         static_cast<double>(__half2float(split.low));
}

__device__ inline unsigned pair_of(__half first, __half second) {
  return static_cast<unsigned>(__half_as_ushort(first)) |
         static_cast<unsigned>(__half_as_ushort(second)) << 16;
}

/// Words (pairs of numbers) that a lane has of a tile of rows.
__host__ __device__ constexpr int words_of_lane(int padded) { return padded <= 8 ? 2 : padded / 4; }

/// Words of a block of rows, for all lanes.
__host__ __device__ constexpr int words_of_rows(int padded, int rows) {
  return rows / kTileRows * 32 * words_of_lane(padded);
}

/// Stores a row where the lanes of a warp read it as the second factor.
__device__ inline void put_row(unsigned* words, int padded, long row, const Split* features) {
  const long tile = row / kTileRows;
  const int g = static_cast<int>(row % kTileRows);
  const auto high = [&](int j) { return pair_of(features[j].high, features[j + 1].high); };
  const auto low = [&](int j) { return pair_of(features[j].low, features[j + 1].low); };
  const unsigned one = pair_of(__float2half_rn(1.0F), __float2half_rn(1.0F));
  for (int t = 0; t < 4; ++t) {
    unsigned* at = words + (tile * 32 + g * 4 + t) * words_of_lane(padded);
    if (padded == 4) {
      at[0] = t < 2 ? high(2 * t) : low(2 * t - 4);
      at[1] = t < 2 ? high(2 * t) : one;
    } else if (padded == 8) {
      at[0] = high(2 * t);
      at[1] = low(2 * t);
    } else {
      const int parts = padded / kTilePlaces;
      for (int part = 0; part < parts; ++part) {
        // Parts lie one after the other for all lanes, four words a lane.
        unsigned* of_part = words + ((tile * parts + part) * 32 + g * 4 + t) * 4;
        const int j = part * kTilePlaces + 2 * t;
        of_part[0] = high(j);
        of_part[1] = high(j + 8);
        of_part[2] = low(j);
        of_part[3] = low(j + 8);
      }
    }
  }
}

}  // namespace tare_cuda
