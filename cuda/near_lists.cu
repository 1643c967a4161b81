// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "near.h"
#include "near_reach.cuh"

namespace tare_cuda {
namespace {

constexpr int kThreads = 256;

/// The square of the smallest distance between points of two boxes.
__device__ inline float least_distance2(const RowsView& rows, const float* a, const float* b) {
  float sum = 0.0F;
  for (int j = 0; j < rows.dims; ++j) {
    const float gap = fmaxf(0.0F, fmaxf(a[j] - b[rows.padded + j], b[j] - a[rows.padded + j]));
    sum = fmaf(gap, gap, sum);
  }
  return sum;
}
/// The same between a box and a point.
__device__ inline float point_distance2(const RowsView& rows, const float* box,
                                        const float* point) {
  float sum = 0.0F;
  for (int j = 0; j < rows.dims; ++j) {
    const float gap = fmaxf(0.0F, fmaxf(box[j] - point[j], point[j] - box[rows.padded + j]));
    sum = fmaf(gap, gap, sum);
  }
  return sum;
}

__device__ inline int rows_of_leaf(const RowsView& rows, const RegionsView& regions, int leaf) {
  return part_begin(rows.rows, regions.depth, leaf + 1) -
         part_begin(rows.rows, regions.depth, leaf);
}

/// The sum over all threads of the block, for each of them.
__device__ inline int block_sum(int value) {
  __shared__ int sums[kThreads / 32];
  value = static_cast<int>(__reduce_add_sync(~0U, value));
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < kThreads / 32; ++k) sum += sums[k];
  return sum;
}

/// Rows in leaves within the reach of a box.
__device__ inline int rows_within(const RowsView& rows, const RegionsView& regions,
                                  const float* box, float reach2) {
  int count = 0;
  for (int leaf = static_cast<int>(threadIdx.x); leaf < regions.leaves(); leaf += kThreads) {
    const float* other = regions.boxes + static_cast<long>(leaf) * 2 * rows.padded;
    if (least_distance2(rows, box, other) <= reach2) count += rows_of_leaf(rows, regions, leaf);
  }
  return block_sum(count);
}

/// The smallest squared distance within which leaves with so many rows are, by bisection over the
/// bits of a float.
__device__ inline float reach_of_leaves(const RowsView& rows, const RegionsView& regions,
                                        const float* box, int wanted) {
  unsigned low = 0;
  auto high = static_cast<unsigned>(__float_as_int(3e38F));
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (rows_within(rows, regions, box, __int_as_float(static_cast<int>(middle))) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return __int_as_float(static_cast<int>(low));
}

/// How far from a tile rows may be that count. Of knn: so far that enough leaves for the nearest
/// rows are within; find_reach makes it less.
__global__ void __launch_bounds__(kThreads)
    tile_reach(RowsView rows, RegionsView regions, NearRule rule, const float* boxes,
               const float* norms, float* reach2) {
  constexpr int kMoreLeaves = 4;  // the bound is the better for it
  const float norm = norms[blockIdx.x];
  if (norm < 0.0F) {  // no query
    if (threadIdx.x == 0) reach2[blockIdx.x] = -1.0F;
    return;
  }
  float squared = static_cast<float>(rule.bandwidth * rule.bandwidth);
  if (rule.kernel == kTareCudaKnn) {
    const double wanted = kMoreLeaves * rule.bandwidth;
    const float* box = boxes + static_cast<long>(blockIdx.x) * 2 * rows.padded;
    squared = reach_of_leaves(rows, regions, box,
                              wanted < rows.rows ? static_cast<int>(wanted) : rows.rows);
  }
  if (threadIdx.x == 0) reach2[blockIdx.x] = widened(rows, squared, norm);
}

/// Calls use(row) for the rows within the reach of a box, or for all rows of leaves within it; each
/// warp of the block takes some.
template <class Use>
__device__ inline void for_each_row_within(const RowsView& rows, const RegionsView& regions,
                                           const float* box, float reach2, bool whole_leaves,
                                           const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int group = static_cast<int>(threadIdx.x) - lane; group < regions.leaves();
       group += kThreads) {
    const int mine = group + lane;
    const bool near =
        mine < regions.leaves() &&
        least_distance2(rows, box, regions.boxes + static_cast<long>(mine) * 2 * rows.padded) <=
            reach2;
    for (unsigned left = __ballot_sync(~0U, near); left != 0; left &= left - 1) {
      const int leaf = group + __ffs(static_cast<int>(left)) - 1;
      const int end = part_begin(rows.rows, regions.depth, leaf + 1);
      for (int k = part_begin(rows.rows, regions.depth, leaf) + lane; k < end; k += 32) {
        if (whole_leaves ||
            point_distance2(rows, box, regions.values + static_cast<long>(k) * rows.padded) <=
                reach2) {
          use(regions.rows[k]);
        }
      }
    }
  }
}

/// One block a tile.
__global__ void __launch_bounds__(kThreads)
    count_near(RowsView rows, RegionsView regions, bool whole_leaves, const float* boxes,
               const float* reach2, int* counts) {
  const float reach = reach2[blockIdx.x];
  int count = 0;
  if (reach >= 0.0F) {
    for_each_row_within(rows, regions, boxes + static_cast<long>(blockIdx.x) * 2 * rows.padded,
                        reach, whole_leaves, [&](int) { ++count; });
  }
  count = block_sum(count);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

constexpr int kLeavesOfTile = 4;  // about, where queries are as many as rows

/// Rows that are looked at for the queries of some leaves.
__global__ void __launch_bounds__(kThreads)
    rows_near_leaves(RowsView rows, RegionsView regions, float reach2, int* counts) {
  __shared__ float box[2 * TARE_CUDA_MOST_DIMS];
  const auto leaf = static_cast<int>(static_cast<long>(blockIdx.x) * regions.leaves() / gridDim.x) /
                    kLeavesOfTile * kLeavesOfTile;
  const int last = min(regions.leaves(), leaf + kLeavesOfTile);
  for (int j = static_cast<int>(threadIdx.x); j < rows.padded; j += kThreads) {
    float low = INFINITY;
    float high = -INFINITY;
    for (int k = leaf; k < last; ++k) {
      const float* one = regions.boxes + static_cast<long>(k) * 2 * rows.padded;
      low = fminf(low, one[j]);
      high = fmaxf(high, one[rows.padded + j]);
    }
    box[j] = low;
    box[rows.padded + j] = high;
  }
  __syncthreads();
  int count = 0;
  for_each_row_within(rows, regions, box, reach2, false, [&](int) { ++count; });
  count = block_sum(count);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

// Rows that a bitmap in shared memory has room for.
constexpr int kMapWords = 11 * 1024;
constexpr int kMapRows = 32 * kMapWords;
constexpr int kWarps = kThreads / 32;
constexpr int kWordsOfWarp = kMapWords / kWarps;

/// One block a tile: the rows of near leaves, in the order of residuals, by a map with one bit for
/// each row, filled and read in parts where the rows are many.
__global__ void __launch_bounds__(kThreads)
    list_near(RowsView rows, TilesView tiles, bool whole_leaves) {
  __shared__ unsigned map[kMapWords];
  __shared__ int warp_counts[kWarps];
  const int tile = tiles.first + static_cast<int>(blockIdx.x);
  const float reach2 = tiles.reach2[tile];
  if (reach2 < 0.0F) return;
  const RegionsView& regions = tiles.regions;
  const float* box = tiles.boxes + static_cast<long>(tile) * 2 * rows.padded;
  int* list = tiles.lists + tiles.offsets[blockIdx.x];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int listed = 0;
  for (int first = 0; first < rows.rows; first += kMapRows) {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kMapWords; i += kThreads) map[i] = 0;
    __syncthreads();
    for_each_row_within(rows, regions, box, reach2, whole_leaves, [&](int row) {
      row -= first;
      if (row >= 0 && row < kMapRows) atomicOr(&map[row / 32], 1U << (row % 32));
    });
    __syncthreads();
    int mine = 0;
    for (int i = lane; i < kWordsOfWarp; i += 32) mine += __popc(map[warp * kWordsOfWarp + i]);
    mine = static_cast<int>(__reduce_add_sync(~0U, mine));
    if (lane == 0) warp_counts[warp] = mine;
    __syncthreads();
    int to = listed;
    for (int k = 0; k < kWarps; ++k) {
      if (k < warp) to += warp_counts[k];
      listed += warp_counts[k];
    }
    for (int i = lane; i < kWordsOfWarp; i += 32) {
      unsigned word = map[warp * kWordsOfWarp + i];
      int upto = __popc(word);
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0U, upto, step);
        if (lane >= step) upto += other;
      }
      int place = to + upto - __popc(word);
      to += __shfl_sync(~0U, upto, 31);
      for (; word != 0; word &= word - 1) {
        list[place++] = first + (warp * kWordsOfWarp + i) * 32 + __ffs(static_cast<int>(word)) - 1;
      }
    }
  }
}

}  // namespace

void set_reach(const RowsView& rows, const RegionsView& regions, const NearRule& rule, int tiles,
               NearWorkspace& work, cudaStream_t stream) {
  tile_reach<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      rows, regions, rule, work.boxes.data(), work.norms.data(), work.reach2.data());
  check_launch("finding near rows");
}

void count_rows(const RowsView& rows, const RegionsView& regions, bool whole_leaves, int tiles,
                NearWorkspace& work, cudaStream_t stream) {
  count_near<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      rows, regions, whole_leaves, work.boxes.data(), work.reach2.data(), work.counts.data());
  check_launch("counting near rows");
}

void list_rows(const RowsView& rows, const TilesView& tiles, bool whole_leaves, int count,
               cudaStream_t stream) {
  list_near<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(rows, tiles, whole_leaves);
  check_launch("listing near rows");
}

}  // namespace tare_cuda

const tare_cuda::Regions& TareCudaRows::regions() {
  if (regions_ == nullptr) regions_ = std::make_unique<tare_cuda::Regions>(view);
  return *regions_;
}

double TareCudaRows::near_share(double bandwidth) {
  using namespace tare_cuda;
  if (share_bandwidth_ == bandwidth) return share_;
  constexpr int kSome = 256;
  const RegionsView& by_place = regions().view();
  const int some = std::min(kSome, by_place.leaves());
  DeviceArray<int> counts(kSome);
  int host[kSome] = {};
  rows_near_leaves<<<static_cast<unsigned>(some), kThreads>>>(
      view, by_place, static_cast<float>(bandwidth * bandwidth), counts.data());
  check_launch("counting near rows");
  check(cudaMemcpy(host, counts.data(), sizeof(int) * static_cast<std::size_t>(some),
                   cudaMemcpyDeviceToHost),
        "counting near rows");
  double sum = 0.0;
  for (int i = 0; i < some; ++i) sum += host[i];
  share_ = sum / some / static_cast<double>(view.rows);
  share_bandwidth_ = bandwidth;
  return share_;
}
