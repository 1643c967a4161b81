// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device_memory.h"

namespace tare_cuda {

/// The memory of a batch of queries that are answered by the rows near to them, kept between calls.
struct NearWorkspace {
  std::size_t queries = 0;
  std::size_t tiles = 0;
  std::size_t candidates = 0;
  DeviceArray<int> leaves;  // of queries, as they came and sorted
  DeviceArray<int> sorted_leaves;
  DeviceArray<int> numbers;
  DeviceArray<int> order;
  DeviceArray<char> sorting;
  DeviceArray<int> part_tiles;  // of each part of the regions
  DeviceArray<int> first_tiles;
  DeviceArray<int2> ranges;
  DeviceArray<float> boxes;
  DeviceArray<float> norms;  // the largest of each tile; -1: it has no query
  DeviceArray<float> reach2;
  DeviceArray<int> counts;
  PinnedArray<int> host_counts;
  DeviceArray<long> offsets;
  PinnedArray<long> host_offsets;
  DeviceArray<double> query_reach2;
  DeviceArray<int> lists;
  DeviceArray<double> sums;
};

}  // namespace tare_cuda
