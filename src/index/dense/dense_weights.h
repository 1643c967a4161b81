// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cache_aligned.h"
#include "index/dense/dense_rows.h"
#include "tare/base/matrix.h"

namespace tare {

/// The kernel weights of all rows for a block of queries, added up over chunks of rows. Nothing
/// else is kept: the weights of a chunk are computed again, to the same bits, where a quantile
/// falls into it.
class DenseSums {
 public:
  double total(std::size_t lane) const { return total_[lane]; }
  double squares(std::size_t lane) const { return squares_[lane]; }
  /// The smallest squared distance of a chunk's rows, and of all.
  std::span<const float, kDenseBlock> chunk_nearest(std::size_t chunk) const {
    return std::span<const float, kDenseBlock>(nearest_.data() + chunk * kDenseBlock, kDenseBlock);
  }
  float nearest(std::size_t lane) const { return least_[lane]; }

  /// after[k][c], for queries `lane` + k = `lane` up to `lane` + kAtOnce - 1: the weight of chunk c
  /// and of all before it.
  static constexpr std::size_t kAtOnce = 4;  // one chain of additions would leave the units waiting
  void cumulate(std::size_t lane, const std::array<double*, kAtOnce>& after) const;

 private:
  friend void sum_dense_weights(const DenseRows& rows, std::span<const DenseQueries> blocks,
                                DenseCurve curve, std::span<DenseSums> out);
  void start(std::size_t chunks);
  void finish();

  std::size_t chunks_ = 0;
  AlignedVector<float> sums_;     // [chunk][lane]
  AlignedVector<float> nearest_;  // [chunk][lane]
  std::array<double, kDenseBlock> total_{};
  std::array<double, kDenseBlock> squares_{};
  std::array<float, kDenseBlock> least_{};
};

/// Fills out[b] for blocks[b]. Several blocks at once use rows while they are in the cache; it does
/// not change a bit of the result.
void sum_dense_weights(const DenseRows& rows, std::span<const DenseQueries> blocks,
                       DenseCurve curve, std::span<DenseSums> out);

/// The smallest places with positive weight at which the cumulated weight has reached targets,
/// for the first queries of some blocks: targets(q, t), for lane q % kDenseBlock of block
/// q / kDenseBlock, are ascending in t, positive and at most the total. The answer goes to
/// out[q * targets.cols() + t]. The rows of `targets` lie side by side.
void dense_places(const DenseRows& rows, std::span<const DenseQueries> blocks, DenseCurve curve,
                  std::span<const DenseSums> sums, MatrixView targets,
                  std::span<std::uint32_t> out);

}  // namespace tare
