// SPDX-License-Identifier: BSD-3-Clause
#include "rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "host_threads.h"
#include "tensor_split.cuh"

namespace tare_cuda {
namespace {

constexpr float kFarAway = 1e18F;    // its square is far beyond every bandwidth
constexpr float kNoWeight = -1e30F;  // 2 to the power of it is 0

int padded_dims(int dims) {
  int padded = 4;
  while (padded < dims) padded *= 2;
  return padded;
}

/// One thread a row: what the sums need, in single precision.
__global__ void prepare_rows(RowsView view, const double* given_weights, double largest_weight,
                             float* by_row, float* by_column, unsigned* words, float* norms,
                             float* weights, float* log_weights) {
  const long pitch = static_cast<long>(view.blocks) * kBlock;
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= pitch) return;
  const bool real = i < view.rows;
  double norm = 0.0;
  Split split[TARE_CUDA_MOST_DIMS];
  for (int j = 0; j < view.padded; ++j) {
    float value = 0.0F;
    if (j < view.dims) {
      value = real ? static_cast<float>(view.columns[static_cast<long>(j) * view.rows + i] -
                                        view.means[j])
                   : kFarAway;
    }
    by_row[i * view.padded + j] = value;
    by_column[j * pitch + i] = value;
    split[j] = split_in_halves(real ? value / view.word_unit : 0.0F);
    const double kept = held(split[j]) * static_cast<double>(view.word_unit);
    norm += kept * kept;
  }
  put_row(words, view.padded, i, split);
  norms[i] = static_cast<float>(norm);
  if (weights == nullptr) return;
  const double share = real ? given_weights[i] / largest_weight : 0.0;
  weights[i] = static_cast<float>(share);
  log_weights[i] = share > 0.0 ? static_cast<float>(log2(share)) : kNoWeight;
}

template <class T>
DeviceArray<T> copied(const T* values, std::size_t count) {
  DeviceArray<T> array(count);
  check(cudaMemcpy(array.data(), values, array.bytes(), cudaMemcpyDefault), "copying rows");
  return array;
}

constexpr std::size_t kPartRows = 65'536;  // that a thread takes at a time

std::vector<double> means_of(const TareCudaSample& sample) {
  const std::size_t parts = (sample.rows + kPartRows - 1) / kPartRows;
  std::vector<double> sums(sample.dims * parts, 0.0);
  by_threads(sums.size(), [&](std::size_t task) {
    const std::size_t first = task % parts * kPartRows;
    const double* column = sample.columns + task / parts * sample.rows + first;
    const std::size_t count = std::min(kPartRows, sample.rows - first);
    const auto rows = static_cast<double>(sample.rows);
    for (std::size_t i = 0; i < count; ++i) sums[task] += column[i] / rows;
  });
  std::vector<double> means(sample.dims, 0.0);
  for (std::size_t task = 0; task < sums.size(); ++task) means[task / parts] += sums[task];
  return means;
}

float largest_norm_of(const TareCudaSample& sample, const std::vector<double>& means) {
  std::vector<double> largest((sample.rows + kPartRows - 1) / kPartRows, 0.0);
  by_threads(largest.size(), [&](std::size_t part) {
    const std::size_t first = part * kPartRows;
    std::vector<double> squares(std::min(kPartRows, sample.rows - first), 0.0);
    for (std::size_t j = 0; j < sample.dims; ++j) {
      const double* column = sample.columns + j * sample.rows + first;
      for (std::size_t i = 0; i < squares.size(); ++i) {
        squares[i] += (column[i] - means[j]) * (column[i] - means[j]);
      }
    }
    largest[part] = *std::max_element(squares.begin(), squares.end());
  });
  return static_cast<float>(std::sqrt(*std::max_element(largest.begin(), largest.end())));
}

/// A power of two, so that dividing by it rounds nothing. The largest feature in its units is from
/// 8 to 16: small enough for half precision, and large enough for the low parts.
float word_unit_of(float largest) {
  return largest > 0.0F ? std::exp2(std::floor(std::log2(largest)) - 3.0F) : 1.0F;
}

}  // namespace
}  // namespace tare_cuda

TareCudaRows::TareCudaRows(int at, const TareCudaSample& sample) : device(at) {
  using namespace tare_cuda;
  check(cudaSetDevice(device), "choosing the device");
  view.rows = static_cast<int>(sample.rows);
  view.dims = static_cast<int>(sample.dims);
  view.padded = padded_dims(view.dims);
  view.blocks = (view.rows + kBlock - 1) / kBlock;
  const std::vector<double> means = means_of(sample);
  view.largest_norm = largest_norm_of(sample, means);
  view.word_unit = word_unit_of(view.largest_norm);
  columns_ = copied(sample.columns, sample.rows * sample.dims);
  residuals_ = copied(sample.residuals, sample.rows);
  means_ = copied(means.data(), means.size());
  const auto pitch = static_cast<std::size_t>(view.blocks) * kBlock;
  const std::size_t cells = pitch * static_cast<std::size_t>(view.padded);
  by_row_ = DeviceArray<float>(cells);
  by_column_ = DeviceArray<float>(cells);
  words_ = DeviceArray<unsigned>(static_cast<std::size_t>(view.blocks) *
                                 static_cast<std::size_t>(words_of_rows(view.padded, kBlock)));
  norms_ = DeviceArray<float>(pitch);
  double largest_weight = 1.0;
  if (sample.weights != nullptr) {
    largest_weight = *std::max_element(sample.weights, sample.weights + sample.rows);
    given_weights_ = copied(sample.weights, sample.rows);
    weights_ = DeviceArray<float>(pitch);
    log_weights_ = DeviceArray<float>(pitch);
  }
  view.columns = columns_.data();
  view.residuals = residuals_.data();
  view.means = means_.data();
  view.by_row = by_row_.data();
  view.by_column = by_column_.data();
  view.words = words_.data();
  view.norms = norms_.data();
  view.weights = weights_.data();
  view.log_weights = log_weights_.data();
  constexpr int kThreads = 256;
  prepare_rows<<<static_cast<unsigned>((pitch + kThreads - 1) / kThreads), kThreads>>>(
      view, given_weights_.data(), largest_weight, by_row_.data(), by_column_.data(), words_.data(),
      norms_.data(), weights_.data(), log_weights_.data());
  check_launch("preparing rows");
  check(cudaDeviceSynchronize(), "preparing rows");
}
