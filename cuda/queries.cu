// SPDX-License-Identifier: BSD-3-Clause
#include "batch.h"

namespace tare_cuda {
namespace {

constexpr double kLargestNorm = 1e12;

template <class Given>
__global__ void prepare(RowsView rows, const Given* given, int count, double* raw, float* values,
                        float* norms) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= count) return;
  double norm = 0.0;
  for (int j = 0; j < rows.dims; ++j) {
    const auto value = static_cast<double>(given[static_cast<long>(query) * rows.dims + j]);
    raw[static_cast<long>(query) * rows.dims + j] = value;
    norm += (value - rows.means[j]) * (value - rows.means[j]);
  }
  norm = sqrt(norm);
  const bool fits = norm <= kLargestNorm;  // false for NaN
  for (int j = 0; j < rows.padded; ++j) {
    float value = 0.0F;
    if (fits && j < rows.dims) {
      value = static_cast<float>(raw[static_cast<long>(query) * rows.dims + j] - rows.means[j]);
    }
    values[static_cast<long>(query) * rows.padded + j] = value;
  }
  norms[query] = fits ? static_cast<float>(norm) : INFINITY;
}

}  // namespace

void prepare_queries(const RowsView& rows, const void* given, bool single_precision, int count,
                     double* raw, float* values, float* norms, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int blocks = (count + kThreads - 1) / kThreads;
  if (single_precision) {
    prepare<<<blocks, kThreads, 0, stream>>>(rows, static_cast<const float*>(given), count, raw,
                                             values, norms);
  } else {
    prepare<<<blocks, kThreads, 0, stream>>>(rows, static_cast<const double*>(given), count, raw,
                                             values, norms);
  }
  check_launch("preparing queries");
}

}  // namespace tare_cuda
