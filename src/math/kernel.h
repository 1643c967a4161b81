// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/math/kernel.h"

namespace tare {

/// Kernel weights are added up in groups of this many rows; see WeightedSample.
inline constexpr std::size_t kChunkRows = 64;

/// The squared Euclidean distance of two points.
inline double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/// weight[i] = k(sqrt(squared_distance[i]) / bandwidth). Not for kKnn, whose window depends on the
/// sample. An infinite bandwidth gives every row the weight 1. The same bytes on every processor.
void kernel_weights(KernelKind kind, double bandwidth, std::span<const double> squared_distance,
                    std::span<double> weight);

/// The radius beyond which a kernel's weight is zero, in bandwidths; infinite for gaussian and
/// laplace.
double kernel_support(KernelKind kind);

/// The factor from a bandwidth of the naive kernel to the equivalent bandwidth of this kernel: the
/// kernels' second moments agree.
double kernel_width_factor(KernelKind kind);

}  // namespace tare
