// SPDX-License-Identifier: BSD-3-Clause
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

#include "near.h"

namespace tare_cuda {
namespace {

constexpr int kThreads = 256;

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
  work.norms = DeviceArray<float>(tiles);
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

int make_tiles(const RowsView& rows, const BatchView& batch, const RegionsView& regions,
               NearWorkspace& work, cudaStream_t stream) {
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
      rows, batch, work.order.data(), work.ranges.data(), work.boxes.data(), work.norms.data());
  check_launch("making tiles of queries");
  return tiles;
}

}  // namespace tare_cuda
