// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.h"

namespace tare_cuda {

__device__ inline float exp2_quick(float x) {
  float result = 0.0F;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Exponents of 2 without the special unit, which is what bounds the sums; for x up to about 0. A
/// polynomial for the part behind the point, good to 2e-7, and the rest goes to the exponent's
/// bits.
__device__ inline float exp2_by_polynomial(float x) {
  x = fmaxf(x, -126.0F);
  constexpr float kToWhole = 12582912.0F;  // 1.5 * 2^23: a sum with it is rounded to a whole number
  const float shifted = x + kToWhole;
  const float f = x - (shifted - kToWhole);
  float p = 1.3254602e-3F;
  p = fmaf(p, f, 9.6719992e-3F);
  p = fmaf(p, f, 5.5507793e-2F);
  p = fmaf(p, f, 2.4022232e-1F);
  p = fmaf(p, f, 6.9314693e-1F);
  p = fmaf(p, f, 1.0F);
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

__device__ inline float root_quick(float x) {
  float result = 0.0F;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// The numbers that turn a squared distance into a weight.
struct Curve {
  float scale =
      0.0F;  // gaussian: of the square; laplace: of the distance; others: 1 / h or 1 / h^2
  float reach2 = 0.0F;  // h^2
};

inline Curve curve_of(int kernel, double bandwidth) {
  constexpr double kLog2E = 1.4426950408889634;
  Curve curve;
  curve.reach2 = static_cast<float>(bandwidth * bandwidth);
  switch (kernel) {
    case kTareCudaGaussian:
      curve.scale = static_cast<float>(-gaussian_scale(bandwidth));
      break;
    case kTareCudaLaplace:
      curve.scale = static_cast<float>(-kLog2E / bandwidth);
      break;
    case kTareCudaEpanechnikov:
      curve.scale = static_cast<float>(1.0 / (bandwidth * bandwidth));
      break;
    default:
      curve.scale = static_cast<float>(1.0 / bandwidth);
  }
  return curve;
}

__host__ __device__ constexpr bool is_compact(int kernel) {
  return kernel == kTareCudaEpanechnikov || kernel == kTareCudaTriangular ||
         kernel == kTareCudaTricube;
}

/// The kernel is a constant in every loop, so that nothing is left of the switch. `rim`: rows so
/// near to the rim of a compact kernel that single precision cannot tell the side have no weight;
/// what they have is smaller than the error of the others, and an answer must not be a row without
/// any.
template <int kKernel>
__device__ inline float weight_of(float squared, const Curve& curve, float rim) {
  if constexpr (kKernel == kTareCudaGaussian) return exp2_quick(squared * curve.scale);
  if constexpr (kKernel == kTareCudaLaplace) return exp2_quick(root_quick(squared) * curve.scale);
  if constexpr (kKernel == kTareCudaNaive) return squared <= curve.reach2 ? 1.0F : 0.0F;
  float weight = 0.0F;
  if constexpr (kKernel == kTareCudaEpanechnikov) weight = fmaf(-squared, curve.scale, 1.0F);
  if constexpr (kKernel == kTareCudaTriangular) {
    weight = fmaf(-root_quick(squared), curve.scale, 1.0F);
  }
  if constexpr (kKernel == kTareCudaTricube) {
    const float s = root_quick(squared) * curve.scale;
    const float base = fmaxf(0.0F, fmaf(-s * s, s, 1.0F));
    weight = base * base * base;
  }
  return squared < curve.reach2 - rim ? fmaxf(0.0F, weight) : 0.0F;
}

/// Calls function(std::integral_constant-like value) for the kernel's number.
template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};
template <int... kKernels, class Function>
void with_one_of(int kernel, const Function& function) {
  (void)((kernel == kKernels && (function(Constant<kKernels>()), true)) || ...);
}
template <class Function>
void with_kernel(int kernel, const Function& function) {
  with_one_of<kTareCudaGaussian, kTareCudaLaplace, kTareCudaEpanechnikov, kTareCudaTriangular,
              kTareCudaTricube, kTareCudaNaive>(kernel, function);
}
/// The same for those that have windows.
template <class Function>
void with_window_kernel(int kernel, const Function& function) {
  with_one_of<kTareCudaNaive, kTareCudaKnn, kTareCudaEpanechnikov, kTareCudaTriangular,
              kTareCudaTricube>(kernel, function);
}
template <class Function>
void with_dims(int padded, const Function& function) {
  switch (padded) {
    case 4:
      return function(Constant<4>());
    case 8:
      return function(Constant<8>());
    case 16:
      return function(Constant<16>());
    case 32:
      return function(Constant<32>());
    default:
      return function(Constant<64>());
  }
}

/// A squared distance in double precision, by the additions of the host in their order, so that
/// both have the same rows in a window.
__device__ inline double exact_squared_distance(const RowsView& rows, const double* query,
                                                long row) {
  double sum = 0.0;
  for (int j = 0; j < rows.dims; ++j) {
    const double difference = rows.columns[static_cast<long>(j) * rows.rows + row] - query[j];
    sum = __dadd_rn(sum, __dmul_rn(difference, difference));
  }
  return sum;
}

/// Whether a row is in the window of the naive kernel.
__device__ inline bool within_exactly(const RowsView& rows, const double* query, long row,
                                      double bandwidth) {
  return exact_squared_distance(rows, query, row) <= __dmul_rn(bandwidth, bandwidth);
}

/// A row of a tile in shared memory, four numbers at a time; all threads read the same one.
template <int kDims>
__device__ inline void read_row(const float* tile, int i, float (&row)[kDims]) {
#pragma unroll
  for (int j = 0; j < kDims; j += 4) {
    const float4 four = *reinterpret_cast<const float4*>(&tile[i * kDims + j]);
    row[j] = four.x;
    row[j + 1] = four.y;
    row[j + 2] = four.z;
    row[j + 3] = four.w;
  }
}

constexpr float kUnit = 0x1p-24F;  // relative error of one rounding

/// No squared distance by differences is farther from the true one than this: for points of these
/// norms at about this distance. The same bound as that of the host's dense engine.
__host__ __device__ inline float difference_error(int dims, float query_norm, float row_norm,
                                                  float distance) {
  const float moved = 2.0F * kUnit * (query_norm + row_norm);
  return (2.0F * distance + moved) * moved +
         (static_cast<float>(dims) + 6.0F) * kUnit * distance * distance;
}

/// No squared distance by tensor cores is farther from the true one than this. Three things add up:
/// the product of the low parts, which is left out; the sums, which are cut off rather than
/// rounded; and what both parts together leave of each number, which moves the points.
__host__ __device__ inline float tensor_error(int dims, float query_norm, float row_norm,
                                              float distance) {
  const float norms = query_norm + row_norm;
  const float moved = 0x1p-21F * norms;
  return (2.0F * distance + moved) * moved +
         (0x1p-21F + (static_cast<float>(dims) * 0.25F + 4.0F) * 0x1p-23F) * norms * norms;
}

/// Squared distances below this are not told apart in single precision: their errors underflow, and
/// 2^31 steps up to one of them would be shorter than the smallest float.
constexpr float kLeastSquare = 1e-28F;

/// How near to the rim of the naive kernel's window, in squared distances, single precision cannot
/// tell the side. Twice the bound, as the bandwidth is rounded, too.
__host__ __device__ inline float rim_of(const RowsView& rows, Metric metric, float query_norm,
                                        float bandwidth) {
  const float row_norm = query_norm + bandwidth;
  return 2.0F * (metric == Metric::kTensor
                     ? tensor_error(rows.dims, query_norm, row_norm, bandwidth)
                     : difference_error(rows.dims, query_norm, row_norm, bandwidth));
}

}  // namespace tare_cuda
