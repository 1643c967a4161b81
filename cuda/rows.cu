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

/// Arrays one behind the other in one piece of memory: to get and give back each alone takes as
/// long as to fill it.
class Layout {
 public:
  /// Without memory it only counts the bytes that are needed.
  explicit Layout(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* array(std::size_t count) {
    constexpr std::size_t kAlignment = 256;
    T* place = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

/// Where the arrays of the rows are.
struct RowArrays {
  RowArrays(Layout layout, const RowsView& view, bool weighted) {
    const auto rows = static_cast<std::size_t>(view.rows);
    const auto dims = static_cast<std::size_t>(view.dims);
    const auto blocks = static_cast<std::size_t>(view.blocks);
    const std::size_t pitch = blocks * kBlock;
    const std::size_t cells = pitch * static_cast<std::size_t>(view.padded);
    columns = layout.array<double>(rows * dims);
    residuals = layout.array<double>(rows);
    means = layout.array<double>(dims);
    given_weights = layout.array<double>(weighted ? rows : 0);
    by_row = layout.array<float>(cells);
    by_column = layout.array<float>(cells);
    words = layout.array<unsigned>(blocks *
                                   static_cast<std::size_t>(words_of_rows(view.padded, kBlock)));
    norms = layout.array<float>(pitch);
    weights = layout.array<float>(weighted ? pitch : 0);
    log_weights = layout.array<float>(weighted ? pitch : 0);
    bytes = layout.bytes();
  }

  double* columns;
  double* residuals;
  double* means;
  double* given_weights;
  float* by_row;
  float* by_column;
  unsigned* words;
  float* norms;
  float* weights;
  float* log_weights;
  std::size_t bytes;
};

void copy(double* to, const double* from, std::size_t count) {
  check(cudaMemcpy(to, from, count * sizeof(double), cudaMemcpyDefault), "copying rows");
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
  const bool weighted = sample.weights != nullptr;
  memory_ = DeviceArray<std::byte>(RowArrays(Layout(nullptr), view, weighted).bytes);
  const RowArrays arrays(Layout(memory_.data()), view, weighted);
  copy(arrays.columns, sample.columns, sample.rows * sample.dims);
  copy(arrays.residuals, sample.residuals, sample.rows);
  copy(arrays.means, means.data(), means.size());
  double largest_weight = 1.0;
  if (weighted) {
    largest_weight = *std::max_element(sample.weights, sample.weights + sample.rows);
    copy(arrays.given_weights, sample.weights, sample.rows);
  }
  view.columns = arrays.columns;
  view.residuals = arrays.residuals;
  view.means = arrays.means;
  view.by_row = arrays.by_row;
  view.by_column = arrays.by_column;
  view.words = arrays.words;
  view.norms = arrays.norms;
  view.weights = weighted ? arrays.weights : nullptr;
  view.log_weights = weighted ? arrays.log_weights : nullptr;
  constexpr int kThreads = 256;
  const long pitch = static_cast<long>(view.blocks) * kBlock;
  prepare_rows<<<static_cast<unsigned>((pitch + kThreads - 1) / kThreads), kThreads>>>(
      view, arrays.given_weights, largest_weight, arrays.by_row, arrays.by_column, arrays.words,
      arrays.norms, weighted ? arrays.weights : nullptr, weighted ? arrays.log_weights : nullptr);
  check_launch("preparing rows");
  check(cudaDeviceSynchronize(), "preparing rows");
}
