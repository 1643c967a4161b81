// SPDX-License-Identifier: BSD-3-Clause
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

#include "near.h"
#include "weights.cuh"

namespace tare_cuda {
namespace {

constexpr int kThreads = 256;
// A bound in single precision is widened by this.
constexpr float kSlack = 1.0F + 1e-5F;

__global__ void locate(RowsView rows, BatchView batch, RegionsView regions, int* leaves,
                       int* numbers) {
  const int query = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (query >= batch.count) return;
  const float* values = batch.values + static_cast<long>(query) * rows.padded;
  int node = 1;
  for (int depth = 0; depth < regions.depth; ++depth) {
    node = 2 * node + (values[regions.split_dims[node]] >= regions.split_values[node] ? 1 : 0);
  }
  leaves[query] = node - regions.leaves();
  numbers[query] = query;
}

/// The first query of a part, of 2^depth, or of a later one.
__device__ inline int first_of_part(const int* sorted_leaves, int count, int leaf_bits, int part) {
  int low = 0;
  int high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted_leaves[middle] >> leaf_bits >= part) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

__global__ void count_tiles(const int* sorted_leaves, int count, int leaf_bits, int parts,
                            int* part_tiles) {
  const int part = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (part >= parts) return;
  const int begin = first_of_part(sorted_leaves, count, leaf_bits, part);
  const int end = first_of_part(sorted_leaves, count, leaf_bits, part + 1);
  part_tiles[part] = (end - begin + kTile - 1) / kTile;
}

__global__ void cut_tiles(const int* sorted_leaves, int count, int leaf_bits, int parts,
                          const int* first_tiles, int2* ranges) {
  const int part = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (part >= parts) return;
  int begin = first_of_part(sorted_leaves, count, leaf_bits, part);
  const int end = first_of_part(sorted_leaves, count, leaf_bits, part + 1);
  for (int tile = first_tiles[part]; begin < end; ++tile, begin += kTile) {
    ranges[tile] = make_int2(begin, min(end, begin + kTile));
  }
}

/// One block a tile, one thread a query of it. A query out of reach of single precision is not part
/// of the box: it is not answered here.
__global__ void __launch_bounds__(kTile)
    tile_boxes(RowsView rows, BatchView batch, const int* order, const int2* ranges, float* boxes,
               float* norms) {
  __shared__ float low[kTile / 32];
  __shared__ float high[kTile / 32];
  const int2 range = ranges[blockIdx.x];
  const int at = range.x + static_cast<int>(threadIdx.x);
  const int query = at < range.y ? order[at] : -1;
  const float norm = query >= 0 ? batch.norms[query] : INFINITY;
  const bool real = isfinite(norm);
  const auto reduce = [&](float least, float most, float* low_to, float* high_to) {
    for (int step = 16; step > 0; step /= 2) {
      least = fminf(least, __shfl_xor_sync(~0U, least, step));
      most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      low[threadIdx.x / 32] = least;
      high[threadIdx.x / 32] = most;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int k = 1; k < kTile / 32; ++k) {
        least = fminf(least, low[k]);
        most = fmaxf(most, high[k]);
      }
      if (low_to != nullptr) *low_to = least;
      *high_to = most;
    }
  };
  float* box = boxes + static_cast<long>(blockIdx.x) * 2 * rows.padded;
  for (int j = 0; j < rows.padded; ++j) {
    const float value = real ? batch.values[static_cast<long>(query) * rows.padded + j] : 0.0F;
    reduce(real ? value : INFINITY, real ? value : -INFINITY, box + j, box + rows.padded + j);
  }
  reduce(0.0F, real ? norm : -1.0F, nullptr, norms + blockIdx.x);
}

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

/// A squared distance with room for the errors of single precision.
__device__ inline float widened(const RowsView& rows, float squared, float query_norm) {
  const float reach = sqrtf(squared);
  return kSlack * squared +
         2.0F * difference_error(rows.dims, query_norm, query_norm + reach, reach);
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
               float* reach2) {
  constexpr int kMoreLeaves = 4;          // the bound is the better for it
  const float norm = reach2[blockIdx.x];  // the largest of the tile
  if (norm < 0.0F) return;                // no query
  float squared = static_cast<float>(rule.bandwidth * rule.bandwidth);
  if (rule.kernel == kTareCudaKnn) {
    const double wanted = kMoreLeaves * rule.bandwidth;
    const float* box = boxes + static_cast<long>(blockIdx.x) * 2 * rows.padded;
    squared = reach_of_leaves(rows, regions, box,
                              wanted < rows.rows ? static_cast<int>(wanted) : rows.rows);
  }
  __syncthreads();  // all have read the norm
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

/// So deep that a part has most of a tile's queries, if these are spread like the rows.
int depth_of_parts(int queries, int most) {
  constexpr int kMean = 96;
  int depth = 0;
  while (depth < most && queries >> (depth + 1) >= kMean) ++depth;
  return depth;
}

void reserve(NearWorkspace& work, int query_count, int tile_count, int padded) {
  const auto queries = static_cast<std::size_t>(query_count);
  const auto tiles = static_cast<std::size_t>(tile_count);
  if (work.queries >= queries && work.tiles >= tiles) return;
  work = NearWorkspace();
  work.leaves = DeviceArray<int>(queries);
  work.sorted_leaves = DeviceArray<int>(queries);
  work.numbers = DeviceArray<int>(queries);
  work.order = DeviceArray<int>(queries);
  work.part_tiles = DeviceArray<int>(tiles);
  work.first_tiles = DeviceArray<int>(tiles);
  std::size_t to_sort = 0;
  std::size_t to_scan = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, to_sort, work.leaves.data(),
                                        work.sorted_leaves.data(), work.numbers.data(),
                                        work.order.data(), query_count),
        "sorting queries");
  check(cub::DeviceScan::ExclusiveSum(nullptr, to_scan, work.part_tiles.data(),
                                      work.first_tiles.data(), tile_count),
        "making tiles of queries");
  work.sorting = DeviceArray<char>(std::max(to_sort, to_scan));
  work.ranges = DeviceArray<int2>(tiles);
  work.boxes = DeviceArray<float>(tiles * 2 * static_cast<std::size_t>(padded));
  work.reach2 = DeviceArray<float>(tiles);
  work.counts = DeviceArray<int>(tiles);
  work.host_counts = PinnedArray<int>(tiles);
  work.offsets = DeviceArray<long>(tiles);
  work.host_offsets = PinnedArray<long>(tiles);
  work.query_reach2 = DeviceArray<double>(queries);
  work.queries = queries;
  work.tiles = tiles;
}

unsigned blocks_for(long threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

int make_tiles(const RowsView& rows, const BatchView& batch, const NearRule& rule,
               const RegionsView& regions, NearWorkspace& work, cudaStream_t stream) {
  const int part_depth = depth_of_parts(batch.count, regions.depth);
  const int parts = 1 << part_depth;
  const int tiles = parts + batch.count / kTile;  // each part has one that is not full
  reserve(work, batch.count, tiles, rows.padded);
  locate<<<blocks_for(batch.count), kThreads, 0, stream>>>(rows, batch, regions, work.leaves.data(),
                                                           work.numbers.data());
  std::size_t bytes = work.sorting.size();
  check(cub::DeviceRadixSort::SortPairs(work.sorting.data(), bytes, work.leaves.data(),
                                        work.sorted_leaves.data(), work.numbers.data(),
                                        work.order.data(), batch.count, 0,
                                        std::max(1, regions.depth), stream),
        "sorting queries");
  const int leaf_bits = regions.depth - part_depth;
  count_tiles<<<blocks_for(parts), kThreads, 0, stream>>>(work.sorted_leaves.data(), batch.count,
                                                          leaf_bits, parts, work.part_tiles.data());
  bytes = work.sorting.size();
  check(cub::DeviceScan::ExclusiveSum(work.sorting.data(), bytes, work.part_tiles.data(),
                                      work.first_tiles.data(), parts, stream),
        "making tiles of queries");
  check(cudaMemsetAsync(work.ranges.data(), 0, static_cast<std::size_t>(tiles) * sizeof(int2),
                        stream),
        "making tiles of queries");
  cut_tiles<<<blocks_for(parts), kThreads, 0, stream>>>(work.sorted_leaves.data(), batch.count,
                                                        leaf_bits, parts, work.first_tiles.data(),
                                                        work.ranges.data());
  tile_boxes<<<static_cast<unsigned>(tiles), kTile, 0, stream>>>(
      rows, batch, work.order.data(), work.ranges.data(), work.boxes.data(), work.reach2.data());
  tile_reach<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      rows, regions, rule, work.boxes.data(), work.reach2.data());
  check_launch("finding near rows");
  return tiles;
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
