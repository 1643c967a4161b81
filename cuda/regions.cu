// SPDX-License-Identifier: BSD-3-Clause
#include "regions.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstdint>

namespace tare_cuda {
namespace {

constexpr int kLeafRows = 64;
constexpr int kThreads = 256;

/// Whole numbers in the order of floats.
__device__ inline unsigned ordered(float value) {
  const auto bits = static_cast<unsigned>(__float_as_int(value));
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ inline float from_ordered(unsigned value) {
  const unsigned bits = (value & 0x80000000U) != 0 ? value & 0x7fffffffU : ~value;
  return __int_as_float(static_cast<int>(bits));
}

/// The part, of 2^depth, in which a place among the rows is.
__device__ inline int part_of(int rows, int depth, int place) {
  int part = static_cast<int>((static_cast<long>(place) << depth) / rows);
  if (place >= part_begin(rows, depth, part + 1)) ++part;
  return part;
}

__global__ void number(int* order, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) order[i] = i;
}

__global__ void empty_boxes(unsigned* boxes, int parts, int padded) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < parts * 2 * padded) boxes[i] = i / padded % 2 == 0 ? ~0U : 0U;
}

/// Widens the boxes of all parts. Smallest and largest do not depend on the order in which threads
/// come.
__global__ void widen_boxes(RowsView rows, const int* order, int depth, unsigned* boxes) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const bool real = place < rows.rows;
  const int part = part_of(rows.rows, depth, min(place, rows.rows - 1));
  const long row = order[min(place, rows.rows - 1)];
  const bool together = __all_sync(~0U, part == __shfl_sync(~0U, part, 0));
  for (int j = 0; j < rows.dims; ++j) {
    const unsigned value = ordered(rows.by_row[row * rows.padded + j]);
    unsigned* low = boxes + (static_cast<long>(part) * 2) * rows.padded + j;
    unsigned* high = low + rows.padded;
    if (together) {
      const unsigned least = __reduce_min_sync(~0U, value);
      const unsigned most = __reduce_max_sync(~0U, value);
      if (threadIdx.x % 32 == 0) {
        atomicMin(low, least);
        atomicMax(high, most);
      }
    } else if (real) {
      atomicMin(low, value);
      atomicMax(high, value);
    }
  }
}

__global__ void choose_splits(RowsView rows, int depth, const unsigned* boxes, int* split_dims) {
  const int part = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (part >= 1 << depth) return;
  const unsigned* low = boxes + static_cast<long>(part) * 2 * rows.padded;
  int widest = 0;
  float width = -1.0F;
  for (int j = 0; j < rows.dims; ++j) {
    const float wide = from_ordered(low[rows.padded + j]) - from_ordered(low[j]);
    if (wide > width) {
      width = wide;
      widest = j;
    }
  }
  split_dims[(1 << depth) + part] = widest;
}

__global__ void make_keys(RowsView rows, const int* order, int depth, const int* split_dims,
                          std::uint64_t* keys) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= rows.rows) return;
  const int part = part_of(rows.rows, depth, place);
  const long row = order[place];
  const float value = rows.by_row[row * rows.padded + split_dims[(1 << depth) + part]];
  keys[place] = (static_cast<std::uint64_t>(part) << 32) | ordered(value);
}

__global__ void keep_splits(RowsView rows, const int* order, int depth, const int* split_dims,
                            float* split_values) {
  const int part = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (part >= 1 << depth) return;
  const int node = (1 << depth) + part;
  const int middle = part_begin(rows.rows, depth + 1, 2 * part + 1);
  split_values[node] =
      rows.by_row[static_cast<long>(order[middle]) * rows.padded + split_dims[node]];
}

__global__ void keep_boxes(const unsigned* given, int count, int padded, int dims, float* boxes) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) boxes[i] = i % padded < dims ? from_ordered(given[i]) : 0.0F;
}

__global__ void keep_values(RowsView rows, const int* order, float* values) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long>(rows.rows) * rows.padded) return;
  const long row = order[i / rows.padded];
  values[i] = rows.by_row[row * rows.padded + i % rows.padded];
}

unsigned blocks_for(long threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

Regions::Regions(const RowsView& rows) {
  while (rows.rows > static_cast<long>(kLeafRows) << view_.depth) ++view_.depth;
  const auto count = static_cast<std::size_t>(rows.rows);
  const auto leaves = static_cast<std::size_t>(view_.leaves());
  const std::size_t box_cells = leaves * 2 * static_cast<std::size_t>(rows.padded);
  rows_ = DeviceArray<int>(count);
  boxes_ = DeviceArray<float>(box_cells);
  split_dims_ = DeviceArray<int>(leaves);
  split_values_ = DeviceArray<float>(leaves);
  DeviceArray<int> other(count);
  DeviceArray<std::uint64_t> keys(count);
  DeviceArray<std::uint64_t> other_keys(count);
  DeviceArray<unsigned> bounds(box_cells);
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys.data(), other_keys.data(),
                                        rows_.data(), other.data(), rows.rows, 0, 64),
        "sorting rows");
  const DeviceArray<char> sorting(bytes);

  number<<<blocks_for(rows.rows), kThreads>>>(rows_.data(), rows.rows);
  const auto measure = [&](int depth) {
    const int cells = (1 << depth) * 2 * rows.padded;
    empty_boxes<<<blocks_for(cells), kThreads>>>(bounds.data(), 1 << depth, rows.padded);
    widen_boxes<<<blocks_for(rows.rows), kThreads>>>(rows, rows_.data(), depth, bounds.data());
  };
  for (int depth = 0; depth < view_.depth; ++depth) {
    measure(depth);
    choose_splits<<<blocks_for(1L << depth), kThreads>>>(rows, depth, bounds.data(),
                                                         split_dims_.data());
    make_keys<<<blocks_for(rows.rows), kThreads>>>(rows, rows_.data(), depth, split_dims_.data(),
                                                   keys.data());
    check(cub::DeviceRadixSort::SortPairs(sorting.data(), bytes, keys.data(), other_keys.data(),
                                          rows_.data(), other.data(), rows.rows, 0, 32 + depth),
          "sorting rows");
    std::swap(rows_, other);
    keep_splits<<<blocks_for(1L << depth), kThreads>>>(rows, rows_.data(), depth,
                                                       split_dims_.data(), split_values_.data());
  }
  measure(view_.depth);
  keep_boxes<<<blocks_for(static_cast<long>(box_cells)), kThreads>>>(
      bounds.data(), static_cast<int>(box_cells), rows.padded, rows.dims, boxes_.data());
  const std::size_t cells = count * static_cast<std::size_t>(rows.padded);
  values_ = DeviceArray<float>(cells);
  keep_values<<<blocks_for(static_cast<long>(cells)), kThreads>>>(rows, rows_.data(),
                                                                  values_.data());
  check_launch("finding where rows are");
  check(cudaDeviceSynchronize(), "finding where rows are");
  view_.rows = rows_.data();
  view_.values = values_.data();
  view_.boxes = boxes_.data();
  view_.split_dims = split_dims_.data();
  view_.split_values = split_values_.data();
}

}  // namespace tare_cuda
