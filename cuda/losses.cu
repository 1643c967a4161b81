// SPDX-License-Identifier: BSD-3-Clause
#include "losses.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "chunk_place.cuh"
#include "weights.cuh"

// Rows are left out one by one and predicted from all others, at several bandwidths: one distance,
// many weights; a block of rows is a chunk. Weights are relative to that of the nearest row, so
// that they do not underflow.

namespace tare_cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kAtOnce = 8;                   // bandwidths
constexpr int kLossRows = kBlock / 32;       // of a chunk, for each lane
constexpr std::size_t kMostPlaces = 65'536;  // of a batch
constexpr std::size_t kFewestPlaces = 256;
constexpr float kLargestBlur = 1e-4F;  // of a distance, in bandwidths
constexpr double kLeastTotal = 0x1p-30;
constexpr double kLogReach = -322.36;  // log(1e-140): below it no row is within the bandwidth

__host__ __device__ constexpr int rows_per_thread(int dims) {
  return dims <= 8 ? 4 : dims <= 16 ? 2 : 1;
}

struct Scales {
  float of[kAtOnce];  // from a squared distance, or from a distance, to an exponent of 2
  double bandwidth[kAtOnce];
  int count;
};

struct LossBatch {
  int count = 0;
  int pitch = 0;
  const std::uint32_t* places = nullptr;
  float* nearest = nullptr;  // [place]: squared distance, or distance for laplace
  float* sums = nullptr;     // [bandwidth][chunk][place]
  double* totals = nullptr;  // [bandwidth][place]
  double* losses = nullptr;  // [bandwidth][place]
};

template <int kKernel>
__device__ inline float length_of(float squared) {
  return kKernel == kTareCudaLaplace ? root_quick(squared) : squared;
}

template <int kDims, int kMine>
struct LeftOut {
  float values[kMine][kDims];
  int place[kMine];

  __device__ void load(const RowsView& rows, const LossBatch& batch, int first) {
#pragma unroll
    for (int k = 0; k < kMine; ++k) {
      place[k] = static_cast<int>(batch.places[min(first + k, batch.count - 1)]);
#pragma unroll
      for (int j = 0; j < kDims; ++j) {
        values[k][j] = rows.by_row[static_cast<long>(place[k]) * kDims + j];
      }
    }
  }
};

template <int kDims>
__device__ inline void load_tile(const RowsView& rows, int chunk, float* tile, float* weights) {
  const auto* source =
      reinterpret_cast<const float4*>(rows.by_row + static_cast<long>(chunk) * kBlock * kDims);
  for (int i = threadIdx.x; i < kBlock * kDims / 4; i += kThreads) {
    reinterpret_cast<float4*>(tile)[i] = source[i];
  }
  if (weights != nullptr && rows.weights != nullptr) {
    for (int i = threadIdx.x; i < kBlock; i += kThreads) {
      weights[i] = rows.weights[static_cast<long>(chunk) * kBlock + i];
    }
  }
}

/// The squared distances of a row of the tile, infinite to itself.
template <int kDims, int kMine>
__device__ inline void measure(const float* tile, int i, int row_place, bool own_chunk,
                               const LeftOut<kDims, kMine>& mine, float (&squared)[kMine]) {
  float row[kDims];
  read_row(tile, i, row);
#pragma unroll
  for (int k = 0; k < kMine; ++k) {
    squared[k] = 0.0F;
#pragma unroll
    for (int j = 0; j < kDims; ++j) {
      const float difference = row[j] - mine.values[k][j];
      squared[k] = fmaf(difference, difference, squared[k]);
    }
    if (own_chunk && row_place == mine.place[k]) squared[k] = INFINITY;
  }
}

/// Bits of floats that are not negative are in the order of the floats, and the least of several
/// does not depend on the order in which they come.
__device__ inline void keep_least(float* least, float value) {
  atomicMin(reinterpret_cast<int*>(least), __float_as_int(value));
}

__global__ void start_nearest(LossBatch batch) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < batch.count) batch.nearest[at] = INFINITY;
}

template <int kDims, int kKernel>
__global__ void __launch_bounds__(kThreads)
    find_nearest(RowsView rows, LossBatch batch, int chunks_per_slice) {
  constexpr int kMine = rows_per_thread(kDims);
  __shared__ __align__(16) float tile[kBlock * kDims];
  const int first = (blockIdx.x * kThreads + threadIdx.x) * kMine;
  LeftOut<kDims, kMine> mine;
  mine.load(rows, batch, first);
  float least[kMine];
#pragma unroll
  for (int k = 0; k < kMine; ++k) least[k] = INFINITY;
  const int begin = blockIdx.y * chunks_per_slice;
  const int end = min(rows.blocks, begin + chunks_per_slice);
  for (int chunk = begin; chunk < end; ++chunk) {
    __syncthreads();
    load_tile<kDims>(rows, chunk, tile, nullptr);
    __syncthreads();
    const bool own = mine.place[0] / kBlock <= chunk && chunk <= mine.place[kMine - 1] / kBlock;
#pragma unroll 4
    for (int i = 0; i < kBlock; ++i) {
      float squared[kMine];
      measure(tile, i, chunk * kBlock + i, own, mine, squared);
#pragma unroll
      for (int k = 0; k < kMine; ++k) least[k] = fminf(least[k], squared[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < kMine; ++k) {
    if (first + k < batch.count)
      keep_least(batch.nearest + first + k, length_of<kKernel>(least[k]));
  }
}

template <int kDims, int kKernel>
__global__ void __launch_bounds__(kThreads)
    loss_sums(RowsView rows, LossBatch batch, Scales scales, int chunks_per_slice) {
  constexpr int kMine = rows_per_thread(kDims);
  __shared__ __align__(16) float tile[kBlock * kDims];
  __shared__ float weights[kBlock];
  const int first = (blockIdx.x * kThreads + threadIdx.x) * kMine;
  LeftOut<kDims, kMine> mine;
  mine.load(rows, batch, first);
  float nearest[kMine];
#pragma unroll
  for (int k = 0; k < kMine; ++k) nearest[k] = batch.nearest[min(first + k, batch.count - 1)];
  const int begin = blockIdx.y * chunks_per_slice;
  const int end = min(rows.blocks, begin + chunks_per_slice);
  for (int chunk = begin; chunk < end; ++chunk) {
    __syncthreads();
    load_tile<kDims>(rows, chunk, tile, weights);
    __syncthreads();
    const bool own = mine.place[0] / kBlock <= chunk && chunk <= mine.place[kMine - 1] / kBlock;
    float sums[kMine][kAtOnce] = {};
#pragma unroll 2
    for (int i = 0; i < kBlock; ++i) {
      float squared[kMine];
      measure(tile, i, chunk * kBlock + i, own, mine, squared);
      const float weight = rows.weights != nullptr ? weights[i] : 1.0F;
#pragma unroll
      for (int k = 0; k < kMine; ++k) {
        // From the nearest row on, so that no exponent is positive.
        const float beyond = length_of<kKernel>(squared[k]) - nearest[k];
#pragma unroll
        for (int b = 0; b < kAtOnce; ++b) {
          // Every third by the other units: both are then busy for as long.
          const float w = b % 3 == 2 ? exp2_by_polynomial(beyond * scales.of[b])
                                     : exp2_quick(beyond * scales.of[b]);
          if (rows.weights != nullptr) {
            sums[k][b] = fmaf(w, weight, sums[k][b]);
          } else {
            sums[k][b] += w;
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kMine; ++k) {
      if (first + k >= batch.count) continue;
#pragma unroll
      for (int b = 0; b < kAtOnce; ++b) {
        if (b < scales.count) {
          batch.sums[(static_cast<long>(b) * rows.blocks + chunk) * batch.pitch + first + k] =
              sums[k][b];
        }
      }
    }
  }
}

__global__ void cumulate_losses(RowsView rows, LossBatch batch) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= batch.count) return;
  const int b = blockIdx.y;
  float* sums = batch.sums + static_cast<long>(b) * rows.blocks * batch.pitch + place;
  double total = 0.0;
#pragma unroll 8
  for (int chunk = 0; chunk < rows.blocks; ++chunk) {
    total += static_cast<double>(sums[static_cast<long>(chunk) * batch.pitch]);
    sums[static_cast<long>(chunk) * batch.pitch] = static_cast<float>(total);
  }
  batch.totals[static_cast<long>(b) * batch.pitch + place] = total;
}

__device__ bool is_usable(const RowsView& rows, int kernel, double total, double nearest,
                          double bandwidth, float norm) {
  if (!(total >= kLeastTotal)) return false;
  const double exponent =
      kernel == kTareCudaLaplace ? nearest / bandwidth : nearest / (2.0 * bandwidth * bandwidth);
  if (log(total) - exponent <= kLogReach) return false;
  const auto h = static_cast<float>(bandwidth);
  const float row_norm = fminf(norm + h, rows.largest_norm);
  const float moved = 2.0F * kUnit * (norm + row_norm);
  return moved + (static_cast<float>(rows.dims) + 4.0F) * kUnit * h <= kLargestBlur * h;
}

/// One warp a left-out row and bandwidth, one lane a level, as in pick.cu.
template <int kDims, int kKernel>
__global__ void __launch_bounds__(256)
    losses_of(RowsView rows, LossBatch batch, Scales scales, const double* levels, int level_count,
              double tie_slack) {
  const int at = static_cast<int>((static_cast<long>(blockIdx.x) * 256 + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (at >= batch.count) return;
  const int b = blockIdx.y;
  const int place = static_cast<int>(batch.places[at]);
  float values[kDims];
  float norm = 0.0F;
#pragma unroll
  for (int j = 0; j < kDims; ++j) {
    values[j] = rows.by_row[static_cast<long>(place) * kDims + j];
    norm = fmaf(values[j], values[j], norm);
  }
  const double total = batch.totals[static_cast<long>(b) * batch.pitch + at];
  const float nearest = batch.nearest[at];
  const double h = b < scales.count ? scales.bandwidth[b] : 1.0;
  double* loss = batch.losses + static_cast<long>(b) * batch.pitch + at;
  if (!is_usable(rows, kKernel, total, static_cast<double>(nearest), h, sqrtf(norm))) {
    if (lane == 0) *loss = nan("");
    return;
  }
  const float* sums = batch.sums + static_cast<long>(b) * rows.blocks * batch.pitch + at;
  const long pitch = static_cast<long>(rows.blocks) * kBlock;
  const double u = rows.residuals[place];
  const float scale = scales.of[b];
  double sum = 0.0;
  for (int first = 0; first < level_count; first += 32) {
    const int mine = first + lane;
    const bool active = mine < level_count;
    const double level = active ? levels[mine] : 0.5;
    const double target = level * total * (1.0 - tie_slack);
    const int chunk = first_chunk(sums, batch.pitch, rows.blocks, static_cast<float>(target));
    const double before =
        chunk > 0 ? static_cast<double>(sums[static_cast<long>(chunk - 1) * batch.pitch]) : 0.0;
    const float want = fmaxf(static_cast<float>(target - before), 1e-37F);
    int row = 0;
    const int last = min(32, level_count - first);
    for (int k = 0; k < last; ++k) {
      const int here = __shfl_sync(~0U, chunk, k);
      const long start = static_cast<long>(here) * kBlock + lane * kLossRows;
      float squared[kLossRows] = {};
#pragma unroll
      for (int j = 0; j < kDims; ++j) {
        const float4 four = *reinterpret_cast<const float4*>(rows.by_column + j * pitch + start);
        const float d[kLossRows] = {four.x - values[j], four.y - values[j], four.z - values[j],
                                    four.w - values[j]};
#pragma unroll
        for (int i = 0; i < kLossRows; ++i) squared[i] = fmaf(d[i], d[i], squared[i]);
      }
      float weight[kLossRows];
#pragma unroll
      for (int i = 0; i < kLossRows; ++i) {
        weight[i] = start + i == place
                        ? 0.0F
                        : exp2_quick((length_of<kKernel>(squared[i]) - nearest) * scale);
        if (rows.weights != nullptr) weight[i] *= rows.weights[start + i];
      }
      const int found = place_in_chunk(weight, __shfl_sync(~0U, want, k), lane);
      if (lane == k) row = here * kBlock + found;
    }
    if (active) {
      const double error = u - rows.residuals[min(row, rows.rows - 1)];
      sum += error >= 0.0 ? level * error : (level - 1.0) * error;
    }
  }
  for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (lane == 0) *loss = sum / static_cast<double>(level_count);
}

template <class T>
void copy(T* to, const T* from, std::size_t count) {
  check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDefault), "copying losses");
}

class Losses {
 public:
  Losses(const RowsView& rows, const TareCudaLosses& asked)
      : rows_(rows), asked_(asked), batch_(batch_size()) {
    levels_ = DeviceArray<double>(asked.level_count);
    copy(levels_.data(), asked.levels, asked.level_count);
    while (true) {
      try {
        reserve();
        return;
      } catch (const DeviceError& error) {
        sums_ = {};
        if (error.code != cudaErrorMemoryAllocation || batch_ <= kFewestPlaces) throw;
        batch_ = std::max(kFewestPlaces, batch_ / 2);
      }
    }
  }

  void run() {
    for (std::size_t first = 0; first < asked_.count; first += batch_) {
      const std::size_t count = std::min(batch_, asked_.count - first);
      copy(places_.data(), asked_.places + first, count);
      LossBatch view;
      view.count = static_cast<int>(count);
      view.pitch = static_cast<int>(batch_);
      view.places = places_.data();
      view.nearest = nearest_.data();
      view.sums = sums_.data();
      view.totals = totals_.data();
      view.losses = losses_.data();
      with_dims(rows_.padded, [&](auto dims) {
        if (asked_.kernel == kTareCudaLaplace) {
          run_batch<decltype(dims)::value, kTareCudaLaplace>(view, first);
        } else {
          run_batch<decltype(dims)::value, kTareCudaGaussian>(view, first);
        }
      });
      const double share = static_cast<double>(first + count) / static_cast<double>(asked_.count);
      if (asked_.go_on != nullptr && asked_.go_on(asked_.context, share) == 0) throw StoppedWork();
    }
  }

 private:
  std::size_t batch_size() const {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for the device's memory");
    const std::size_t of_place =
        kAtOnce * (static_cast<std::size_t>(rows_.blocks) * sizeof(float) + 16) + 64;
    const std::size_t most = free / 2 / of_place / kFewestPlaces * kFewestPlaces;
    const std::size_t asked = (asked_.count + kFewestPlaces - 1) / kFewestPlaces * kFewestPlaces;
    return std::min(asked, std::clamp(most, kFewestPlaces, kMostPlaces));
  }

  void reserve() {
    sums_ = DeviceArray<float>(kAtOnce * batch_ * static_cast<std::size_t>(rows_.blocks));
    totals_ = DeviceArray<double>(kAtOnce * batch_);
    losses_ = DeviceArray<double>(kAtOnce * batch_);
    nearest_ = DeviceArray<float>(batch_);
    places_ = DeviceArray<std::uint32_t>(batch_);
    on_host_.resize(kAtOnce * batch_);
  }

  template <int kDims, int kKernel>
  void run_batch(const LossBatch& view, std::size_t first) {
    constexpr int kPerBlock = kThreads * rows_per_thread(kDims);
    constexpr int kSlices = 16;
    const auto blocks = static_cast<unsigned>((view.count + kPerBlock - 1) / kPerBlock);
    const int per_slice = (rows_.blocks + kSlices - 1) / kSlices;
    const dim3 grid(blocks, static_cast<unsigned>((rows_.blocks + per_slice - 1) / per_slice));
    start_nearest<<<(static_cast<unsigned>(view.count) + 127) / 128, 128>>>(view);
    find_nearest<kDims, kKernel><<<grid, kThreads>>>(rows_, view, per_slice);
    check_launch("nearest rows");
    for (std::size_t group = 0; group < asked_.bandwidth_count; group += kAtOnce) {
      const Scales scales = scales_from(group);
      loss_sums<kDims, kKernel><<<grid, kThreads>>>(rows_, view, scales, per_slice);
      check_launch("sums at several bandwidths");
      const auto count = static_cast<unsigned>(scales.count);
      cumulate_losses<<<dim3((static_cast<unsigned>(view.count) + 127) / 128, count), 128>>>(rows_,
                                                                                             view);
      check_launch("sums over chunks");
      const auto warps = static_cast<unsigned>((32L * view.count + 255) / 256);
      losses_of<kDims, kKernel><<<dim3(warps, count), 256>>>(rows_, view, scales, levels_.data(),
                                                             static_cast<int>(asked_.level_count),
                                                             asked_.tie_slack);
      check_launch("losses");
      copy(on_host_.data(), losses_.data(), count * batch_);
      for (int b = 0; b < scales.count; ++b) {
        for (int i = 0; i < view.count; ++i) {
          asked_.losses[(first + static_cast<std::size_t>(i)) * asked_.bandwidth_count + group +
                        static_cast<std::size_t>(b)] =
              on_host_[static_cast<std::size_t>(b) * batch_ + static_cast<std::size_t>(i)];
        }
      }
    }
  }

  Scales scales_from(std::size_t group) const {
    Scales scales{};
    scales.count = static_cast<int>(std::min<std::size_t>(kAtOnce, asked_.bandwidth_count - group));
    for (int b = 0; b < kAtOnce; ++b) {
      const double h =
          asked_.bandwidths[group + static_cast<std::size_t>(std::min(b, scales.count - 1))];
      scales.bandwidth[b] = h;
      scales.of[b] = curve_of(asked_.kernel, h).scale;
    }
    return scales;
  }

  RowsView rows_;
  const TareCudaLosses& asked_;
  std::size_t batch_;
  DeviceArray<double> levels_;
  DeviceArray<float> sums_;
  DeviceArray<double> totals_;
  DeviceArray<double> losses_;
  DeviceArray<float> nearest_;
  DeviceArray<std::uint32_t> places_;
  std::vector<double> on_host_;
};

}  // namespace

void leave_one_out(TareCudaRows& rows, const TareCudaLosses& losses) {
  check(cudaSetDevice(rows.device), "choosing the device");
  rows.workspace = Workspace();  // the memory is needed here
  if (losses.count == 0 || losses.bandwidth_count == 0) return;
  Losses(rows.view, losses).run();
}

}  // namespace tare_cuda
